"""The words of a comparison: headline, terms in words, notes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from roofline.analysis.subjects.records import Kind
from roofline.compare.attribution import TERMS
from roofline.compare.changes import CATEGORY, OPERATION, UNNAMED, WAIT, Comparison, PlaceChange
from roofline.compare.places import Part
from roofline.compare.run import CAPTURE, EXECUTION, HOST_WAIT, STEP
from roofline.devices import catalogue
from roofline.model.compute import ComputeUnit
from roofline.presentation.goal_numbers import Scale, marked
from roofline.presentation.quantities import percent
from roofline.presentation.sentences import Number, Segment, Sentence, plain, say
from roofline.presentation.text_table import cut, named
from roofline.presentation.words import TERM_LABELS, ceiling_words

_SAID: Mapping[str, tuple[str, str]] = {
    "calls": ("Fewer calls:", "More calls:"),
    "work": ("Fewer FLOPs per call:", "More FLOPs per call:"),
    "traffic": ("Fewer bytes per call:", "More bytes per call:"),
    "peaks": ("Faster units:", "Slower units:"),
    "closeness": ("B uses its hardware better:", "B uses its hardware less well:"),
    "regrouped": ("Operations fused or split:", "Operations fused or split:"),
    "new": ("New operations:", "New operations:"),
    "gone": ("Operations gone:", "Operations gone:"),
    "unknown": ("Operations of unknown cost:", "Operations of unknown cost:"),
    "idle": ("Less idle time:", "More idle time:"),
    "communication": ("Less waiting for links:", "More waiting for links:"),
    "transfers": ("Shorter host transfers:", "Longer host transfers:"),
}
"""What a term says of B where it takes less time, and where it takes more."""

_KINDS: Mapping[str, str] = {
    "serving": "a step of a server",
    "step": "a step",
    "capture": "a capture",
    "range": "a range of a capture",
    "kernels": "a table of kernels",
    "host": "a host",
}
"""A subject by its kind."""

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
    "held": "yes",
    "broken": "not for this pair",
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
    "unknown-cores": "One file does not say of how many cores its times are: they may be sums.",
    "above-roof": "Some operations run above their roof: their bytes or FLOPs are not those that "
    "ran. The terms add up, but how well they use the hardware is not known.",
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
_MOST = 4
_MINUS = "−"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeVerdict:
    """`state` is none, slower, faster, within, more, less, kinds or apart; then the sentences: the
    headline, the largest changes, how sure that is, and what the change was split into."""

    state: str
    headline: Sentence
    largest: Sentence
    lead: Sentence
    split: Sentence


def change_verdict(found: Comparison) -> ChangeVerdict:
    """The sentences on top of a comparison."""
    state = _state(found)
    return ChangeVerdict(
        state=state,
        headline=_headline(found, state),
        largest=[]
        if state in {"none", "apart"} or _are_of_two_lengths(found)
        else largest_changes(found),
        lead=[*_beyond(state), *_certainty(found), *_busy(found)],
        split=_terms(found),
    )


def _headline(found: Comparison, state: str) -> Sentence:
    scale = Scale.of(max(found.a_us, found.b_us))
    before, after = scale.number(found.a_us), scale.number(found.b_us)
    fillings: dict[str, str | Number | Segment] = {
        "sign": sign(found.change_us),
        "change": Number(abs(found.change_us), "time_us"),
        "total": Number(found.a_us, "time_us"),
        "after": Number(found.b_us, "time_us"),
        "per": per_of(found),
    }
    if state == "apart" and not (found.a_us > 0 and found.b_us > 0):
        return say("change_no_time")
    if "unknown-cores" in found.notes:
        return say("change_no_cores")
    if state == "kinds":
        first, second = (
            f"{_KINDS[one.kind]} of {Scale.of(us).length(us)}"
            for one, us in zip(found.subjects, (found.a_us, found.b_us), strict=True)
            if one is not None
        )
        return say("change_kinds", first=first.capitalize(), second=second)
    if state in {"none", "apart", "within"}:
        return say(f"change_{state}", **fillings)
    other, who = side_names(found)
    who = f"The{who[3:]}" if who.startswith("the ") else who
    if before == after:
        length = marked(scale.length(found.b_us), "length", found.b_us)
        return say("change_as_long", **fillings | {"who": who, "other": other, "after": length})
    return say(
        "change_to",
        who=who,
        change=scale.length(abs(found.change_us)),
        how=_more(found.change_us),
        per=per_of(found),
        after=marked(after, "length", found.b_us),
        before=marked(before, "length", found.a_us),
    )


def _more(us: float) -> str:
    return "more" if us > 0 else "less"


# ------------------------------------------------------------------------------------------- names


def side_names(found: Comparison) -> tuple[str, str]:
    """What tells A and B apart in a sentence: their devices where the catalogue has both, else
    their titles, else what the files call the devices, else A and B."""
    devices = next((one for one in found.differences if one.name == "Device"), None)
    named = (devices.a, devices.b) if devices is not None and devices.a != devices.b else ("", "")
    if all(map(catalogue.find, named)):
        a, b = map(short_device, named)
        return (f"the {a}", f"the {b}") if a != b else named
    if len(found.captures_a.labels) == len(found.captures_b.labels) == 1:
        a, b = found.captures_a.labels[0], found.captures_b.labels[0]
        if a and b and a != b:
            return cut(a, _NAME_WIDTH), cut(b, _NAME_WIDTH)
    return (f"the {named[0]}", f"the {named[1]}") if all(named) else ("A", "B")


_NAME_WIDTH = 40
_BRANDS = frozenset({"Instinct", "Tesla", "GeForce", "Radeon", "Quadro"})
_FORM = re.compile(r"SXM\d*|PCIe|NVL|\d+[GM]B|OAM|VF")


def short_device(name: str) -> str:
    """A part as people call it: "H100" for "NVIDIA H100 80GB HBM3"."""
    part = catalogue.find(name)
    if part is None:
        return name
    words = [word for word in part.name.split() if word not in _BRANDS]
    return " ".join(word for word in words if not _FORM.fullmatch(word)) or part.name


_WAIT_NAMES = {"unknown": "not an operation", HOST_WAIT: "waiting for the host"}


def place_name(one: PlaceChange) -> str:
    """The name of a row of the change by module."""
    if one.kind == WAIT:
        return _WAIT_NAMES.get(one.name) or TERM_LABELS[one.name]
    if one.kind == UNNAMED:
        return "without a module"
    return part_name(one)


def _is_worded(one: PlaceChange) -> bool:
    """True where words of ours name a row; names of a program keep their case in a sentence."""
    return one.kind in {WAIT, UNNAMED, CATEGORY}


def part_name(one: PlaceChange | Part) -> str:
    """The same of work, also where another number than time changed: "copy in backward"."""
    if one.kind == OPERATION:
        return named(one.name, _NAME_WIDTH)
    name = one.name or ("without a module" if one.kind == UNNAMED else "(no name)")
    return f"{name}{' itself' if one.is_itself else ''}{f' in {one.phase}' if one.phase else ''}"


def everywhere(one: PlaceChange | Part) -> str:
    """Where a module that is new or gone stands: " in each of 3 Blocks"."""
    return f" in each of {one.copies} {one.around}s" if one.copies > 1 and one.around else ""


def line_of(source: str, library: str = "") -> str:
    """A line in short, and behind it that of the library: "net.py:17, in linear.py:287"."""
    own = PurePath(source.replace("\\", "/")).name
    return f"{own}, in {'/'.join(PurePath(library).parts[-2:])}" if library else own


def where(found: Comparison, one: PlaceChange, *, has_library: bool = True) -> str:
    """The line of a row. A user's line that all rows have, as where a library has the whole model,
    tells none apart: then it is the library's."""
    lines = [each.source for each in found.places if each.source]
    if one.library and len(lines) > 1 and len(set(lines)) == 1:
        return line_of(one.library)
    return line_of(one.source, one.library if has_library else "") if one.source else ""


# -------------------------------------------------------------------------------- largest changes


_NEXT = 0.2
"""A change in the other direction has a word from this share of the largest one on."""
_ALIKE = 0.5
"""The same of changes in its own direction after the second."""
_NAMED = 3
_HALF = 0.5


def largest_changes(found: Comparison) -> Sentence:
    """The largest changes by module, with the user's line of the first."""
    scale = Scale.of(max(found.a_us, found.b_us))
    places = [one for one in found.places if one.kind != WAIT or _has_waits(found)]
    if not places or not _prints(scale, places[0].change_us):
        return []
    first = places[0]
    if not first.beyond_us:
        return say("change_noise")
    if first.is_new or first.is_gone:
        return _new_or_gone(found, first, scale)
    shown = [one for one in places if one.beyond_us and _prints(scale, one.change_us)]
    against = _against(shown, first)
    named = _with(shown, first, 1 if against else 2)
    others = [_next(one, first, scale) for one in (*named[1:], *against)]
    in_all = abs(sum(one.change_us for one in named))
    change_us = sum(one.change_us for one in places)  # without the waits, where a side has none
    is_spread = first.change_us * change_us > 0 and in_all < _HALF * abs(change_us)
    return say(
        "change_spread_out" if is_spread else "change_largest",
        first=plain(place_name(first)) if _is_worded(first) else [plain(place_name(first))],
        change=scale.length(abs(first.change_us)),
        how=_more(first.change_us),
        where=_where(found, first),
        others=[segment for one in others for segment in one],
    )


def _next(one: PlaceChange, first: PlaceChange, scale: Scale) -> Sentence:
    """A further change: with "more" or "less" where that is not the first one's."""
    if one.change_us * first.change_us > 0:
        return say("change_next", name=place_name(one), change=scale.number(abs(one.change_us)))
    change = f"{scale.length(abs(one.change_us))} {_more(one.change_us)}"
    return say("change_next", name=place_name(one), change=change)


def _has_waits(found: Comparison) -> bool:
    """False where a side is a table of kernels: it says nothing of the time between them."""
    return not any(one is not None and one.kind == Kind.KERNELS for one in found.subjects)


def _new_or_gone(found: Comparison, one: PlaceChange, scale: Scale) -> Sentence:
    """Code that one run alone has, with its part of the change where both have one direction."""
    amount = f"{sign(one.change_us)}{scale.length(abs(one.change_us))}"
    if one.change_us * found.change_us > 0:
        of_all = scale.length(abs(found.change_us))
        amount = f"{sign(one.change_us)}{scale.number(abs(one.change_us))} of "
        amount += f"{sign(found.change_us)}{of_all}"
    return say(
        "change_new",
        name=place_name(one),
        new="new" if one.is_new else "gone",
        places=everywhere(one),
        change=amount,
        where=_where(found, one),
    )


def _where(found: Comparison, one: PlaceChange) -> str:
    line = where(found, one, has_library=False)
    return f" ({line})" if line else ""


def _with(places: Sequence[PlaceChange], first: PlaceChange, least: int) -> list[PlaceChange]:
    """Changes in the direction of the first: it, and those of nearly its size; at least `least`."""
    same = [one for one in places if one.change_us * first.change_us > 0][:_NAMED]
    size = _ALIKE * abs(first.change_us)
    return [one for at, one in enumerate(same) if at < least or abs(one.change_us) >= size]


def _against(places: Sequence[PlaceChange], first: PlaceChange) -> list[PlaceChange]:
    """The largest change the other way, where it is worth a word."""
    turned = [one for one in places if one.change_us * first.change_us < 0]
    return [one for one in turned[:1] if abs(one.change_us) >= _NEXT * abs(first.change_us)]


def _prints(scale: Scale, us: float) -> bool:
    return bool(float(scale.number(abs(us)).replace(",", "")))


# ----------------------------------------------------------------------------------------- details


def per_of(found: Comparison) -> str:
    """What the times are per, in words: those of the subject, where both sides have one of them."""
    words = {one.unit_word for one in found.subjects if one is not None}
    return (words.pop() if len(words) == 1 else "") or PER[found.unit]


def term_label(found: Comparison, name: str) -> str:
    """The name of a term of `found`; where operations moved to other units, it names these.

    As in "slower units (TF32 tensor cores → fp32)".
    """
    moved = _moved_words(found, name)
    if not moved:
        return TERM_LABELS[name]
    return f"{'slower' if found.terms[name] > 0 else 'faster'} units{moved}"


def _moved_words(found: Comparison, name: str) -> str:
    """The units that most of the term is a move between: " (TF32 tensor cores → fp32)"; or ""."""
    units = _moved_units(found) if name == "peaks" else ()
    words = [_unit_words(found, unit) for unit in units]
    return f" ({' → '.join(words)})" if words else ""


def _moved_units(found: Comparison) -> tuple[str, ...]:
    """The unit before and after of the operation that makes most of the term; empty if the same."""
    moved = max(found.ops, key=lambda op: abs(op.terms["peaks"]), default=None)
    if moved is None or 2 * abs(moved.terms["peaks"]) < abs(found.terms["peaks"]):
        return ()
    units = tuple(side.bound or "" for side in (moved.a, moved.b))
    return units if set(units) <= set(ComputeUnit) and len(set(units)) == len(units) else ()


def _unit_words(found: Comparison, name: str) -> str:
    """A unit as people call it: "fp32", "TF32 tensor cores", AMD's are matrix cores."""
    unit = ComputeUnit(name)
    precision = unit.precision.value
    if not unit.is_matrix:
        return precision
    is_amd = any("AMD" in one.a + one.b for one in found.differences if one.name == "Device")
    word = precision.upper() if precision.startswith("tf") else precision
    return f"{word} {'matrix' if is_amd else 'tensor'} cores"


def sign(value: float) -> str:
    """The sign that stands before an amount."""
    return _MINUS if value < 0 else "+"


def _state(found: Comparison) -> str:
    if not found.is_comparable:
        return "apart"
    if _are_unlike(found):
        return "kinds"
    if found.change_us == 0 and not any(found.terms.values()):
        return "none"
    test = found.tested
    if test is None or test.low is None or test.high is None:
        return "more" if found.change_us >= 0 else "less"
    if test.low > 1:
        return "slower"
    return "faster" if test.high < 1 else "within"


def _are_unlike(found: Comparison) -> bool:
    """True where the subjects of the two sides are not of one kind."""
    a, b = found.subjects
    return a is not None and b is not None and a.kind != b.kind


def _are_of_two_lengths(found: Comparison) -> bool:
    """True where the kinds differ and one is not of a whole run: what its parts are less says
    nothing."""
    kinds = {one.kind for one in found.subjects if one is not None}
    return _are_unlike(found) and not kinds <= {Kind.CAPTURE, Kind.KERNELS}


def _beyond(state: str) -> Sentence:
    return say("change_beyond") if state in {"slower", "faster"} else []


def _terms(found: Comparison) -> Sentence:
    """The largest terms: first those in the direction of the change, then the others."""
    every = sum(abs(value) for value in found.terms.values())
    large = [
        name
        for name in sorted(TERMS, key=lambda name: -abs(found.terms[name]))
        if every and abs(found.terms[name]) >= _WORTH_A_WORD * every
    ]
    down = found.change_us < 0
    with_it = [name for name in large if (found.terms[name] < 0) == down]
    against = [name for name in large if (found.terms[name] < 0) != down]
    said = [_term(found, name) for side in (with_it, against) for name in side[:_MOST]]
    return [segment for one in said for segment in one]


def _term(found: Comparison, name: str) -> Sentence:
    us = found.terms[name]
    change, moved = Number(abs(us), "time_us"), _moved_words(found, name)
    return say("change_term", term=_SAID[name][us > 0], sign=sign(us), change=change, between=moved)


def _busy(found: Comparison) -> Sentence:
    """How busy the unit was that binds both sides, where counters say it."""
    a, b = found.subjects
    if a is None or b is None or a.ceiling != b.ceiling or not a.ceiling:
        return []
    if a.ratio is None or b.ratio is None or not (a.is_counted and b.is_counted):
        return []
    before, after = Number(a.ratio, "ratio"), Number(b.ratio, "ratio")
    return say("change_busy", unit=ceiling_words(a.ceiling), before=before, after=after)


def _certainty(found: Comparison) -> Sentence:
    old, new = len(found.captures_a.time_us), len(found.captures_b.time_us)
    counts = {"old": Number(old, "count"), "new": Number(new, "count")}
    test = found.tested
    said: Sentence = []
    if test is not None and test.low is not None and test.high is not None:
        ends = {"low": percent(test.low), "high": percent(test.high)}
        said += say("change_tested", **counts, **ends, chance=Number(test.p, "ratio"))
    elif found.change_us and found.is_comparable:
        is_one_each = old == new == 1
        said += say("change_one_each") if is_one_each else say("change_untested", **counts)
        spread = found.captures_a.spread_us
        if spread is not None:
            low, high = (Number(value, "time_us") for value in spread)
            is_within = abs(found.change_us) < spread[1] - spread[0]
            said += say("change_in_spread" if is_within else "change_spread", low=low, high=high)
    alone = found.matched.get("only", 0.0)
    if alone >= _WORTH_A_WORD:
        said += say("change_only", share=Number(alone, "ratio"))
    return said
