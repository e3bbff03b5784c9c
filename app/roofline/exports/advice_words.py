"""The words of advice: titles, reasons, what to try, how to verify; and each rule's formula."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.advice.findings import Advice, Candidate, Finding
from roofline.advice.fusion import CHAIN
from roofline.advice.ledger import Rate
from roofline.advice.op_kinds import ATTENTION, profiler_of
from roofline.analysis.records import RooflineAnalysis
from roofline.exports.advice_names import names_of
from roofline.exports.comparison_words import TERM_LABELS
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.presentation.goal_numbers import MINUS, Scale
from roofline.presentation.sentences import (
    SENTENCES,
    Filling,
    Number,
    Sentence,
    plain_text,
    say,
)

_CLOSE = "T' = min(T, ρ ÷ η)"
_SCALE = "T' = max(ρ' ÷ e, ρ'), e = ρ ÷ T"
_NO_GAIN = "e = ρ ÷ T, no gain above 1.03"
_BOOK = "https://jax-ml.github.io/scaling-book/"
_TRIAGE = "https://docs.nvidia.com/nsight-compute/ProfilingGuide/"
_BRRR = "https://horace.io/brrr_intro.html"
_MATMUL = "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/"
_SPECULATIVE = "https://arxiv.org/abs/2211.17192"
_XPROF = "https://github.com/openxla/xprof"


@dataclass(frozen=True, slots=True)
class RuleText:
    """The formula of a rule's gain, and where the rule comes from."""

    formula: str
    source: str


RULES: Mapping[str, RuleText] = {
    "V1": RuleText(_NO_GAIN, _BOOK + "roofline"),
    "V2": RuleText("counted bytes ÷ modelled bytes > 1.10", _XPROF),
    "V3": RuleText("counted FLOPs ÷ modelled FLOPs > 1.10", _XPROF),
    "V7": RuleText("time of unknown cost ÷ busy time > 0.30", _XPROF),
    "V4": RuleText("T_v = FLOPs ÷ vector peak > T_min", _BOOK + "roofline"),
    "V5": RuleText(_SCALE, _MATMUL),
    "C1": RuleText("T' = T - min(0.7 × exposed, other work)", _BOOK + "sharding"),
    "C2": RuleText("2 T_link ÷ max(2 T_work, T_link)", _BOOK + "training"),
    "C3": RuleText("exposed' = exposed × reached ÷ max(0.80, reached to the peak)", _BOOK + "gpus"),
    "C5": RuleText("exposed' = T_link of the busier direction - T_needed", _BOOK + "gpus"),
    "C4": RuleText("0.6745 (x - median) ÷ MAD > 3.5", _XPROF),
    "L1": RuleText("T' = n ÷ 2 × t0 + W", _BRRR),
    "L2": RuleText(_CLOSE + "; with counters T' ≥ T × nearest", _TRIAGE),
    "L3": RuleText("batch ratio ÷ time ratio, time ratio < 1.10 per doubling", _BRRR),
    "H1": RuleText("T' = T × (1 - idle)", _BRRR),
    "H2": RuleText("T' = T × (1 - infeed)", _XPROF),
    "O1": RuleText(_CLOSE + ", 0.9 T_max ≤ T ≤ 1.1 T_max", _BOOK + "roofline"),
    "M1": RuleText(_CLOSE, _TRIAGE),
    "M2": RuleText(_SCALE, _BRRR),
    "G1": RuleText(_SCALE, _BRRR),
    "G2": RuleText(_SCALE, _BOOK + "inference"),
    "G3": RuleText("2 T_m ÷ max(2 T_c, (2 - weights) T_m)", _BOOK + "inference"),
    "G4": RuleText(_SCALE, _BOOK + "inference"),
    "G5": RuleText(_SCALE, _BOOK + "roofline"),
    "G6": RuleText("(1 - a^(k+1)) ÷ (1 - a) ÷ (1 + k d), a 0.8, k 4, d 0.1", _SPECULATIVE),
    "G7": RuleText("T' = T - T of recomputed work", _BOOK + "training"),
    "K1": RuleText(_CLOSE, _MATMUL),
    "K2": RuleText(_CLOSE, _BOOK + "roofline"),
    "K3": RuleText(_SCALE, _BOOK + "roofline"),
    "W2": RuleText("T' = T × max(use, next ÷ nearest)", _TRIAGE),
    "P1": RuleText("T' = T × max(next, ρ ÷ (η T))", _TRIAGE),
}
"""Every rule that can appear in advice."""

_FUSING = frozenset({"G1", "G4"})
_MANY = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def title(of: Candidate, analysis: RooflineAnalysis) -> Sentence:
    """The title of the finding: a change to make, and to what."""
    return _said(of, analysis, "")


def why(of: Candidate, analysis: RooflineAnalysis) -> Sentence:
    """The observation, with its numbers."""
    return _said(of, analysis, "_why")


def try_this(of: Candidate, analysis: RooflineAnalysis) -> Sentence:
    """The change to try, in the words of the reader's profiler."""
    return _said(of, analysis, "_try")


def _said(of: Candidate, analysis: RooflineAnalysis, part: str) -> Sentence:
    """The most special template that exists: of rule + kind + profiler, rule + kind, and so on."""
    profiler = profiler_of(analysis)
    forms = [
        f"{of.rule}_{kind}{end}"
        for kind in _kinds(of, analysis, part)
        for end in (f"_{profiler}", "")
    ]
    found = next(
        name
        for form in (*forms, f"{of.rule}_{profiler}", of.rule)
        if (name := f"advice_{form}{part}") in SENTENCES
    )
    return say(found, **_fillings(of, analysis))


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
    condition = say(f"advice_assumed_{rule}") if kind == "advice_assumed" else []
    return say(kind, saving=_two_digits(saving_us, now_us), condition=condition)


def correction(rate: Rate, raw_us: float) -> str:
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


def limit(finding: Finding) -> Sentence:
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
    return say("advice_limit", roof=roof_label(finding.predicted.limited_by))


def summary(advice: Advice) -> Sentence:
    """The time after the plan; or why there is no plan."""
    rules = [one.of.rule for one in advice.planned]
    return _summary(
        {
            "now_us": advice.now_us,
            "after_us": advice.after_us,
            "floor_us": advice.floor_us,
            "left_out": advice.left_out,
            "at_roof_us": advice.at_roof_us,
            "has_peaks": advice.has_peaks,
            "is_host_only": any(one.of.kind == "host_only" for one in advice.findings),
        },
        rules,
    )


def summary_text(record: Mapping[str, Any]) -> str:
    """The same of an advice as JSON."""
    rules = [one["rule"] for one in record["findings"] if one["in_plan"]]
    return plain_text(_summary(record, rules)).strip()


def _summary(record: Mapping[str, Any], planned: Sequence[str]) -> Sentence:
    if record["is_host_only"]:
        return []
    if not record["now_us"]:
        return say("advice_no_time")
    without = [] if record["has_peaks"] else say("advice_no_peaks")
    if without and not planned:
        return without
    return [
        *_after(record, planned),
        *without,
        *_left_out(record),
        *_at_roof(record, planned),
    ]


def _after(record: Mapping[str, Any], planned: Sequence[str]) -> Sentence:
    """What all of the plan leaves: below the floor only where it removes work."""
    if not planned:
        at_roofs = record["at_roof_us"] >= record["now_us"] / 2
        return say("advice_at_roofs" if at_roofs else "advice_nothing")
    after_us, floor_us = record["after_us"], record["floor_us"]
    since: Sentence = []
    if floor_us is not None and after_us < floor_us * (1 - 1e-9):
        since = say("advice_since_fusing" if _FUSING & {*planned} else "advice_since")
    after = _two_digits(after_us, record["now_us"])
    if len(planned) < 3:
        return say("advice_one" if len(planned) == 1 else "advice_both", after=after, since=since)
    return say("advice_all", many=_many(len(planned)), after=after, since=since)


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


def roof_label(name: str) -> str:
    """A resource as people call it: HBM, compute, Matrix bf16."""
    if name in {one.value for one in MemoryLevel}:
        return MemoryLevel(name).label
    if name in {one.value for one in ComputeUnit}:
        return ComputeUnit(name).label
    return "link" if name == "unknown" else name


def _kinds(of: Candidate, analysis: RooflineAnalysis, part: str) -> list[str]:
    """The kinds of a finding that may have a text of their own, the most special one first."""
    facts, named = of.facts, []
    if "filled" in facts:
        named.append("filled")
    if of.rule == "V5" and of.lever is None:
        named.append("wide")
    if of.rule in {"G3", "G4"} and not of.ops:
        named.append("steps")
    if "scores" in facts:
        named.append("scores")
    if of.rule == "G1" and of.what != CHAIN:
        named.append("module")
    if of.rule == "P1" and not part and (of.bound or "").startswith("matrix_"):
        named.append("tensor")
    if of.rule == "L2" and part == "_why" and facts.get("reason"):
        named.append("counted")
    if of.kind == ATTENTION:
        named += _attention(of, analysis)
    return [*named, of.kind] if of.kind else named


def _attention(of: Candidate, analysis: RooflineAnalysis) -> list[str]:
    table = analysis.profile.ops
    names = " ".join(f"{table.name[op]} {table.long_name[op]}" for op in of.ops)
    if analysis.device.kind is DeviceKind.CPU:
        return ["attention_cpu"]
    return ["attention_paged"] if "paged" in names else []


def _ceiling(name: str) -> str:
    return Ceiling(name).label if name in set(Ceiling) else roof_label(name)


def _reason(words: str) -> str:
    """Words of the profiler as a sentence."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


def _fillings(of: Candidate, analysis: RooflineAnalysis) -> dict[str, Filling]:
    """Every slot of the rules' templates; what a rule does not know it does not use."""
    facts = of.facts
    share = facts.get(
        "share",
        facts.get("weights", facts.get("filled", of.factor if of.rule in {"G1", "G4"} else 0.0)),
    )
    most = float(facts.get("worst", facts.get("ratio", facts.get("longer", 0.0))))
    ceiling, precision = _ceiling(str(facts.get("ceiling", ""))), str(facts.get("precision", ""))
    return {
        "count": Number(len(of.ops), "count"),
        "what": of.what,
        "names": names_of(analysis, of.ops),
        "list": names_of(analysis, of.ops, comma=True),
        "level": roof_label(of.what),
        "roof": roof_label(of.bound or ""),
        "efficiency": Number(float(facts.get("reached", of.e or 0.0)), "ratio"),
        "share": Number(float(share or 0.0), "ratio"),
        "most": Number(most, "ratio" if of.rule in {"V1", "V4"} else "number"),
        "few": Number(float(facts.get("small", 0.0)), "count"),
        "many": Number(float(facts.get("large", 0.0)), "count"),
        "after": Number(float(facts.get("link_us", 0.0)), "time_us"),
        "work": Number(float(facts.get("work_us", 0.0)), "time_us"),
        "floor": Number(float(facts.get("work_us", 0.0)), "time_us"),
        "calls": Number(float(facts.get("calls", 0.0)), "count"),
        "average": Number(float(facts.get("call_us", 0.0)), "time_us"),
        "capped": Number(float(facts.get("target", 0.0)), "ratio"),
        "busy": Number(float(facts.get("busy", 0.0)), "ratio"),
        "use": Number(float(facts.get("use", 0.0)), "ratio"),
        "ceiling": ceiling[:1].upper() + ceiling[1:],
        "are": "are" if ceiling.endswith("slots") else "is",
        "precision": precision,
        "reason": _reason(str(facts.get("reason", ""))),
    }
