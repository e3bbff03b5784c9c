"""The words of a comparison: headline, terms in words, notes."""

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.compare.attribution import TERMS
from roofline.compare.changes import Comparison
from roofline.compare.run import CAPTURE, EXECUTION, STEP
from roofline.presentation.quantities import percent
from roofline.presentation.sentences import Number, Sentence, say

TERM_LABELS: Mapping[str, str] = {
    "calls": "calls",
    "work": "FLOPs per call",
    "traffic": "bytes per call",
    "peaks": "peaks",
    "closeness": "closeness to the roof",
    "regrouped": "regrouped",
    "new": "new operations",
    "gone": "operations gone",
    "unknown": "time of unknown cost",
    "idle": "idle",
    "communication": "exposed communication",
    "transfers": "host transfers",
}
"""The name of each term within a sentence and in a table."""

TIER_LABELS: Mapping[str, str] = {
    "1": "path, shapes, name",
    "2": "path and shapes",
    "3": "path and result",
    "4": "path, shape changed",
    "5": "scope, leaf renamed",
    "6": "no path: equal work",
    "7": "no path: shapes",
    "8": "no path: name alone",
    "9": "groups",
    "only": "only in A or only in B",
}
"""How sure a match is, from the surest tier down."""

CHECK_LABELS: Mapping[str, str] = {
    "classification": "Bound",
    "time_bounds": "Time between its bounds",
    "lever": "Lever",
    "dtype": "Element types",
    "distributed_flip": "Communication against work",
}
"""The name of each check of the model."""

STATE_LABELS: Mapping[str, str] = {
    "held": "the model holds",
    "broken": "the model does not hold",
    "told": "no verdict",
    "untested": "not tested",
}

PER: Mapping[str, str] = {STEP: "a step", EXECUTION: "an execution", CAPTURE: "in the capture"}

NOTES: Mapping[str, str] = {
    "no-time": "No operation of these captures has a time.",
    "little-matched": "Most of the time is in operations that only one of the runs has.",
    "other-provenance": "FLOPs or bytes of the two runs were obtained in different ways, so only "
    "time is compared.",
    "no-peaks": "No peak of the device is known on one side, so only time is compared. On the "
    "command line a device or peaks can be given.",
    "other-device": "The runs were captured on different devices.",
    "other-cores": "The runs used different numbers of cores; times are per core.",
    "above-roof": "Some operations run above their roof: their bytes or FLOPs are not those that "
    "ran. The terms add up, but closeness of these operations says little.",
    "few-captures": "One capture says nothing about noise: steps of one capture share its machine, "
    "its clocks and its neighbours.",
}
"""The limits of a comparison, by code, as a page and JSON have them."""

TERMINAL_NOTES: Mapping[str, str] = {
    **NOTES,
    "no-peaks": "No peak of the device is known on one side, so only time is compared. Name the "
    "device with `--device`, or peaks with `--peak`.",
}
"""The same for people who call the command line, with its options."""

_WORTH_A_WORD = 0.05  # of the change, or of all changes together
_MOST_TERMS = 4
_MINUS = "−"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeVerdict:
    """`state` is none, slower, faster, within, more, less or apart; then the sentences."""

    state: str
    headline: Sentence
    lead: Sentence


def change_verdict(found: Comparison) -> ChangeVerdict:
    """The sentences on top of a comparison."""
    state = _state(found)
    is_timed = found.a_us > 0 and found.b_us > 0
    headline = say(
        f"change_{state}" if is_timed or state != "apart" else "change_no_time",
        share=_ratio(found),
        sign=sign(found.change_us),
        change=Number(abs(found.change_us), "time_us"),
        total=Number(found.a_us, "time_us"),
        after=Number(found.b_us, "time_us"),
        per=PER[found.unit],
    )
    return ChangeVerdict(state=state, headline=headline, lead=[*_terms(found), *_certainty(found)])


def sign(value: float) -> str:
    """The sign that stands before an amount."""
    return _MINUS if value < 0 else "+"


def _state(found: Comparison) -> str:
    if not found.is_comparable:
        return "apart"
    if found.change_us == 0 and not any(found.terms.values()):
        return "none"
    test = found.tested
    if test is None or test.low is None or test.high is None:
        return "more" if found.change_us >= 0 else "less"
    if test.low > 1:
        return "slower"
    return "faster" if test.high < 1 else "within"


def _ratio(found: Comparison) -> Number:
    if found.tested is not None:
        return Number(abs(found.tested.ratio - 1), "ratio")
    return Number(abs(found.change_us) / found.a_us if found.a_us else 0.0, "ratio")


def _terms(found: Comparison) -> Sentence:
    """The largest terms: first those in the direction of the change, then what hides in it."""
    every = sum(abs(value) for value in found.terms.values())
    large = [
        name
        for name in sorted(TERMS, key=lambda name: -abs(found.terms[name]))
        if every and abs(found.terms[name]) >= _WORTH_A_WORD * every
    ]
    down = found.change_us < 0
    with_it = [name for name in large if (found.terms[name] < 0) == down]
    against = [name for name in large if (found.terms[name] < 0) != down]
    said = _listed(found, with_it)
    if down and against:
        losses = sum(value for value in found.terms.values() if value > 0)
        number = Number(losses, "time_us")
        said += say("change_hidden", sign="+", change=number) + _listed(found, against, first=False)
    elif against:
        said += _listed(found, against)
    return said


def _listed(found: Comparison, names: list[str], *, first: bool = True) -> Sentence:
    said: Sentence = []
    for number, name in enumerate(names[:_MOST_TERMS]):
        label = TERM_LABELS[name]
        if number == 0 and first:
            label = label[:1].upper() + label[1:]
        amount = found.terms[name]
        if number:
            said.append({"kind": "plain", "text": ", "})
        said += say(
            "change_term", term=label, sign=sign(amount), change=Number(abs(amount), "time_us")
        )
    return [*said, {"kind": "plain", "text": ". "}] if said else []


def _certainty(found: Comparison) -> Sentence:
    old, new = len(found.captures_a.time_us), len(found.captures_b.time_us)
    counts = {"old": Number(old, "count"), "new": Number(new, "count")}
    test = found.tested
    said: Sentence = []
    if test is not None and test.low is not None and test.high is not None:
        ends = {"low": percent(test.low), "high": percent(test.high)}
        said += say("change_tested", **counts, **ends, chance=Number(test.p, "ratio"))
    elif found.change_us:
        said += say("change_untested", **counts)
        spread = found.captures_a.spread_us
        if spread is not None:
            low, high = (Number(value, "time_us") for value in spread)
            said += say("change_spread", low=low, high=high)
    alone = found.matched.get("only", 0.0)
    if alone:
        said += say("change_only", share=Number(alone, "ratio"))
    return said
