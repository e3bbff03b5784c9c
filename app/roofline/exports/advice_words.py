"""The words of advice: a rule's texts filled, what the plan saves, and how to verify it."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from roofline.advice.cures import cure_of
from roofline.advice.findings import Advice, Finding
from roofline.advice.op_kinds import profiler_of
from roofline.advice.rule import Form, Found
from roofline.advice.rules import RULES
from roofline.analysis.kernel_names import without_brackets
from roofline.analysis.records import RooflineAnalysis
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import Device
from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import taken
from roofline.model.profile import Profile
from roofline.presentation.goal_numbers import COMPLETE, MINUS, Scale
from roofline.presentation.quantities import SPACE, count
from roofline.presentation.sentences import (
    Filling,
    Number,
    Sentence,
    fill,
    plain_text,
    say,
)
from roofline.presentation.verdict import work_hint
from roofline.presentation.words import TERM_LABELS, ceiling_words

if TYPE_CHECKING:
    from roofline.advice.ledger import Rate

_FUSING = frozenset({"G1", "G4"})
_MANY = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Texts(NamedTuple):
    """The texts of a finding: title, why, what to try, and code that does it."""

    title: Sentence
    why: Sentence
    attempt: Sentence
    snippet: str


def texts_of(of: Found, analysis: RooflineAnalysis, stacks: Sequence[str]) -> Texts:
    """The texts of a finding in the words of the reader's profiler and stack.

    The first text of the rule that exists of form + profiler, form, profiler, and its own: a text
    never names an option of another profiler.
    """
    rule, profiler = RULES[of.rule], profiler_of(analysis)
    kinds = (*of.forms, of.kind)
    names = [name for form in kinds for name in (f"{form}_{profiler}", form)]
    forms = [rule.forms[name] for name in (*names, profiler) if name in rule.forms]
    own = Form(rule.title, rule.why)
    templates = (next(filter(None, texts), "") for texts in zip(*forms, own, strict=True))
    fillings, cure = _fillings(of, analysis), cure_of(of.rule, kinds, stacks)
    title, why, attempt = (fill(text, fillings) for text in (*templates, cure.text))
    return Texts(title, why, attempt, cure.snippet)


def formula_of(of: Found) -> str:
    """The formula of a finding, with the share of a roof that its saving takes as reached."""
    formula, target = RULES[of.rule].formula, of.facts.get("target")
    text = formula.text if formula else ""
    return f"{text}, η = {target:.2f}" if isinstance(target, float) and "η" in text else text


def verify(finding: Finding, command: str) -> Sentence:
    """How to see whether it helped."""
    if finding.of.gain is not None:
        return say("advice_verify_option", command=command)
    if finding.predicted is None:
        return say("advice_verify_flag", command=command)
    return _verify(command, finding.of.term, finding.predicted.saving_us)


def verify_text(command: str, term: str, saving_us: float) -> str:
    """The same of a saving."""
    return plain_text(_verify(command, term, saving_us)).strip()


def _verify(command: str, term: str, saving_us: float) -> Sentence:
    return say(
        "advice_verify",
        command=command,
        term=TERM_LABELS[term],
        sign="−",
        change=Number(saving_us, "time_us"),
    )


def saves(finding: Finding, advice: Advice) -> Sentence:
    """The saving, or an option's gain; nothing where there is none."""
    of = finding.of
    changes = say("advice_changes") if of.changes_results else []
    if of.gain is not None:
        return [*say("advice_gain", most=Number(of.gain, "number")), *changes]
    if finding.predicted is None:
        return []
    kind = _saved_as(of.rule, of.is_hypothetical, finding.is_in_plan, of.is_measured)
    return [*_saves(kind, of.rule, finding.predicted.saving_us, advice.now_us), *changes]


def saves_text(one: Mapping[str, Any], saving_us: float, now_us: float) -> str:
    """The same of a finding as JSON, with another saving."""
    kind = _saved_as(one["rule"], one["hypothetical"], one["in_plan"], one["measured"])
    changes = say("advice_changes") if one["changes_results"] else []
    return plain_text([*_saves(kind, one["rule"], saving_us, now_us), *changes]).strip()


def _saved_as(rule: str, is_hypothetical: bool, is_in_plan: bool, is_measured: bool) -> str:
    if is_hypothetical:
        return "advice_assumed"
    if not is_in_plan:
        return "advice_instead"
    return "advice_waited" if is_measured else "advice_saves"


def _saves(kind: str, rule: str, saving_us: float, now_us: float) -> Sentence:
    saving = _two_digits(saving_us, now_us)
    return say(kind, saving=saving, condition=RULES[rule].condition)


def correction(rate: "Rate", raw_us: float) -> str:
    """The record of earlier predictions of the rule."""
    sentence = say(
        "advice_correction",
        count=Number(rate.count, "count"),
        share=Number(rate.median, "ratio"),
        least=Number(rate.low, "ratio"),
        most=Number(rate.high, "ratio"),
        saving=Number(raw_us, "time_us"),
    )
    return plain_text(sentence).strip()


def limit(finding: Finding, device: Device) -> Sentence:
    """The limit of the ops afterwards; empty if no roof is known or if the limit stays the same."""
    if finding.predicted is None:
        return []
    if finding.predicted.limited_by == "link":
        return say("advice_limit_link")
    if finding.of.e is None or finding.predicted.limited_by in {
        finding.of.bound,
        finding.of.resource,
    }:
        return []
    return say("advice_limit", roof=roof_label(finding.predicted.limited_by, device))


def note(advice: Advice, profile: Profile) -> Sentence:
    """How to judge the time whose cost is not known; nothing where it is little."""
    if advice.unjudged_ratio is None or not advice.has_peaks:
        return []
    how = plain_text(work_hint(profile)).partition(": ")[0].rstrip(".")
    is_all = advice.unjudged_ratio >= COMPLETE
    return say(
        "advice_note_all" if is_all else "advice_note",
        share=Number(advice.unjudged_ratio, "ratio"),
        how=how[:1].lower() + how[1:],
    )


def summary(advice: Advice, is_host_only: bool) -> Sentence:
    """The time after the plan; or why there is no plan."""
    rules = [one.of.rule for one in advice.planned]
    listed = len(advice.findings)
    return _summary(
        {
            **taken(advice, "now_us", "after_us", "floor_us", "left_out", "at_roof_us"),
            "has_peaks": advice.has_peaks,
            "is_host_only": is_host_only,
            "state": advice.state,
        },
        rules,
        listed,
    )


def summary_text(record: Mapping[str, Any]) -> str:
    """The same of an advice as JSON."""
    rules = [one["rule"] for one in record["findings"] if one["in_plan"]]
    return plain_text(_summary(record, rules, len(record["findings"]))).strip()


def _summary(record: Mapping[str, Any], planned: Sequence[str], listed: int) -> Sentence:
    if record["is_host_only"] or record["state"] == "missing":
        return []
    if not record["now_us"]:
        return say("advice_no_time")
    without = [] if record["has_peaks"] else say("advice_no_peaks")
    if without and not planned:
        return without
    return [
        *_after(record, planned, listed),
        *without,
        *_left_out(record),
        *_at_roof(record, planned),
    ]


def _after(record: Mapping[str, Any], planned: Sequence[str], listed: int) -> Sentence:
    """What all of the plan leaves, of which not all `listed` findings are: below the floor only
    where it removes work."""
    if not planned:
        at_roofs = record["at_roof_us"] >= record["now_us"] / 2
        return say(
            "advice_at_roofs" if at_roofs else "advice_unsure" if listed else "advice_nothing"
        )
    after_us, floor_us = record["after_us"], record["floor_us"]
    since: Sentence = []
    if floor_us is not None and after_us < floor_us * (1 - 1e-9):
        since = say("advice_since_fusing" if _FUSING & {*planned} else "advice_since")
    after = _about(after_us, record["now_us"])
    if 1 < len(planned) < listed:
        return say("advice_some", many=_many(len(planned)), after=after, since=since)
    if len(planned) < 3:
        return say("advice_one" if len(planned) == 1 else "advice_both", after=after, since=since)
    return say("advice_all", many=_many(len(planned)), after=after, since=since)


def _about(after_us: float, now_us: float) -> str:
    """A predicted time after the plan: with two digits, or as many as show that it is shorter."""
    scale, now = Scale.of(now_us), Scale.of(now_us).number(now_us)
    if not float(scale.number(after_us).replace(",", "")):
        return f"{scale.least(after_us)}{SPACE}{scale.unit}"
    rough = _two_digits(after_us, now_us)
    is_shorter = float(rough.split(SPACE)[0].replace(",", "")) < float(now.replace(",", ""))
    return f"about {rough if is_shorter else scale.length(after_us)}"


def _two_digits(time_us: float, whole_us: float) -> str:
    """A predicted time in the unit of the whole, as the headline has it: "5.7 ms" of 34.9."""
    return Scale.of(whole_us).saving(time_us).removeprefix(MINUS)


def _many(count: int) -> str:
    """A number from two on as people write it in a sentence."""
    return _MANY[count - 2] if count - 2 < len(_MANY) else f"{count:,}"


def waiting(count: int, doubtful: int) -> Sentence:
    """How many findings touch operations with impossible numbers; nothing without any."""
    if not count:
        return []
    what = "one operation" if doubtful == 1 else f"{_many(doubtful)} operations"
    return say(
        "advice_waiting", count=Number(count, "count"), what=what, ops=Number(doubtful, "count")
    )


def _left_out(record: Mapping[str, Any]) -> Sentence:
    count = Number(record["left_out"], "count")
    return say("advice_left_out", count=count) if record["left_out"] else []


def _at_roof(record: Mapping[str, Any], planned: Sequence[str]) -> Sentence:
    at_roof_us = record["at_roof_us"]
    if at_roof_us < 0.01 * record["now_us"] or not planned:
        return []
    return say("advice_at_roof", saving=Number(at_roof_us, "time_us"))


_ROOFS: dict[str, str] = {
    **{level.value: level.label for level in MemoryLevel},
    "unknown": "link",
}
_CEILINGS: dict[str, str] = {ceiling.value: ceiling.label for ceiling in Ceiling}


def roof_label(name: str, device: Device) -> str:
    """A resource as people call it: HBM, compute, Tensor core bf16."""
    if name in {*ComputeUnit}:
        return ceiling_words(name, device)
    return _ROOFS.get(name, name)


def _reason(words: str) -> str:
    """Words of the profiler as a sentence."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


_COUNTS, _NUMBERS = frozenset({"calls", "small", "large"}), frozenset({"ratio", "longer"})


def _number(of: Found, fact: str, value: float) -> Number:
    """A fact as a slot shows it: by the rule's own unit, else by its name, else as a share."""
    named = "time_us" if fact.endswith("_us") else "count" if fact in _COUNTS else "ratio"
    return Number(value, RULES[of.rule].units.get(fact, "number" if fact in _NUMBERS else named))


def _fillings(of: Found, analysis: RooflineAnalysis) -> dict[str, Filling]:
    """Every slot of a rule's templates: its facts by name, and what every finding has."""
    facts = of.facts
    ceiling, device = str(facts.get("ceiling", "")), analysis.device
    ceiling = _CEILINGS.get(ceiling) or roof_label(ceiling, device)
    names, listed = names_of(analysis, of.ops)
    return {
        **{
            name: value if isinstance(value, str) else _number(of, name, value)
            for name, value in facts.items()
        },
        "count": Number(len(of.ops), "count"),
        "what": of.what,
        "names": names,
        "list": listed,
        "level": roof_label(of.what, device),
        "roof": roof_label(of.bound or "", device),
        "efficiency": Number(of.e or 0.0, "ratio"),
        "factor": Number(of.factor or 0.0, "ratio"),
        "ceiling": ceiling[:1].upper() + ceiling[1:],
        "are": "are" if ceiling.endswith("slots") else "is",
        "it": "them" if ceiling.endswith("slots") else "it",
        "reason": _reason(str(facts.get("reason", ""))),
    }


_MOST = 3
_LEAST_SHARE = 0.01
"""An operation with less of a finding's time is counted, not named."""

_WIDTH = 40
_MODULE = re.compile(r"[A-Z]\w*$")
_INNER = re.compile(r"\w*(Linear|Embedding|GraphModule|Sequential|ModuleList)$")
_NOUNS = {
    "matmul": ("matmul", "matmuls"),
    "convolution": ("convolution", "convolutions"),
    "copy": ("copy", "copies"),
    "reduction": ("reduction", "reductions"),
    "sort": ("sort", "sorts"),
    "attention": ("attention", "attentions"),
    "normalisation": ("normalisation", "normalisations"),
    "loop fusion": ("loop fusion", "loop fusions"),
    "convolution fusion": ("convolution fusion", "convolution fusions"),
    "custom fusion": ("custom fusion", "custom fusions"),
}
_PARTS = {
    "experts down": "the experts’ down projection",
    "experts gate and up": "the experts’ gate and up projection",
}


def names_of(analysis: RooflineAnalysis, ops: Sequence[int]) -> tuple[str, str]:
    """The operations in words, the largest first, and the same as a list without "and"."""
    table = analysis.profile.ops
    if not ops:
        return "", ""
    times = {op: float(table.self_time_ps[op]) for op in ops}
    least = _LEAST_SHARE * sum(times.values())
    main = [op for op in ops if times[op] >= least]
    names = list(dict.fromkeys(_PARTS.get(_part(table.name[op]), "") for op in main))
    if names and all(names) and len(names) <= _MOST:
        return _joined(names), ", ".join(names)
    modules = list(dict.fromkeys(filter(None, (_module(table.framework_path[op]) for op in main))))
    if modules and (len(main) > _MOST or any("::" in table.name[op] for op in main)):
        text = _by_module(_nouns(analysis, main), len(main), modules)
        return text, text
    short = list(dict.fromkeys(_short(table.name[op]) for op in main))
    names = _elided(sorted(short[:_MOST], key=_naturally))
    text = _joined(names, len(short) - _MOST)
    return text, text if len(short) > _MOST else ", ".join(names)


def _part(name: str) -> str:
    """The part of an operator that a name says: `vllm::moe_forward experts down [...]`."""
    return name.partition(" ")[2].partition(" [")[0]


def _module(path: str) -> str:
    """The innermost module of a program that calls an operator, but for layers of one product."""
    names = [one for one in path.split("/") if _MODULE.match(one) and not _INNER.match(one)]
    return names[-1] if names else ""


def _nouns(analysis: RooflineAnalysis, ops: Sequence[int]) -> tuple[str, str]:
    kinds = {analysis.profile.ops.category[op] for op in ops}
    kind = kinds.pop() if len(kinds) == 1 else ""
    word = kind + " " if kind and kind != "other" else ""
    return _NOUNS.get(kind, (f"{word}operation", f"{word}operations"))


def _by_module(nouns: tuple[str, str], ops: int, modules: list[str]) -> str:
    """ "the MLP matmul", "4 matmuls of MLP and Attention": modules without what they all share."""
    shown = _without_common(modules)
    if ops == 1:
        return f"the {shown[0]} {nouns[0]}"
    return f"{count(ops)} {nouns[1]} of {_joined(shown[:_MOST], len(shown) - _MOST)}"


def _without_common(modules: list[str]) -> list[str]:
    """Modules without the word that all begin with: MLP and Attention of Qwen2."""
    words = [re.findall(r"[A-Z][a-z]*\d*(?=[A-Z])|.+$", one) for one in modules]
    first = {one[0] for one in words}
    if len(modules) > 1 and len(first) == 1 and all(len(one) > 1 for one in words):
        return ["".join(one[1:]) for one in words]
    return modules


@lru_cache(maxsize=8192)  # views under other peaks name the same operations
def _short(name: str) -> str:
    """A name without its shapes, arguments and namespaces."""
    bare = without_brackets(name.removeprefix("void ").partition(" [")[0])
    own = bare.rpartition("::")[2].strip() or name
    return own if len(own) <= _WIDTH else f"{own[: _WIDTH - 1]}…"


def _naturally(name: str) -> tuple[str, float]:
    base, _, number = name.rpartition(".")
    return (base, float(number)) if base and number.isdecimal() else (name, -1.0)


def _elided(names: list[str]) -> list[str]:
    """Names without what the one before says already (".31")."""
    found = names[:1]
    for before, name in pairwise(names):
        base, _, number = name.rpartition(".")
        same = base and number.isdecimal() and before.rpartition(".")[0] == base
        found.append(f".{number}" if same else name)
    return found


def _joined(names: Sequence[str], more: int = 0) -> str:
    if more > 0:
        return f"{', '.join(names)} and {count(more)} more"
    if len(names) < 2:
        return ", ".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
