"""What advice says: titles, reasons, what to try, how to verify; and each rule's formula."""

from collections.abc import Mapping
from dataclasses import dataclass

from roofline.advice.findings import Advice, Candidate, Finding
from roofline.advice.rows import STEP
from roofline.exports.comparison_words import TERM_LABELS
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.presentation.sentences import Filling, Number, Sentence, say

_CLOSE = "T' = min(T, ρ ÷ η)"
_SCALE = "T' = max(ρ' ÷ e, ρ'), e = ρ ÷ T"
_NO_GAIN = "e = ρ ÷ T, no gain above 1.03"
_BOOK = "https://jax-ml.github.io/scaling-book/"
_TRIAGE = "https://docs.nvidia.com/nsight-compute/ProfilingGuide/"
_BRRR = "https://horace.io/brrr_intro.html"
_MATMUL = "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/"
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
    "C1": RuleText("T' = T - 0.7 × exposed", _BOOK + "sharding"),
    "C3": RuleText("exposed' = exposed × reached ÷ 0.80", _BOOK + "gpus"),
    "C4": RuleText("0.6745 (x - median) ÷ MAD > 3.5", _XPROF),
    "L1": RuleText("T' = n ÷ 2 × t0 + W", _BRRR),
    "L2": RuleText(_CLOSE, _TRIAGE),
    "H1": RuleText("T' = T × (1 - idle)", _BRRR),
    "H2": RuleText("T' = T × (1 - infeed)", _XPROF),
    "O1": RuleText(_CLOSE + ", 0.9 T_max ≤ T ≤ 1.1 T_max", _BOOK + "roofline"),
    "M1": RuleText(_CLOSE, _TRIAGE),
    "M2": RuleText(_SCALE, _BRRR),
    "G1": RuleText(_SCALE, _BRRR),
    "G2": RuleText(_SCALE, _BOOK + "inference"),
    "G7": RuleText("T' = T - T of recomputed work", _BOOK + "training"),
    "K1": RuleText(_CLOSE, _MATMUL),
    "K2": RuleText(_SCALE, _BOOK + "roofline"),
    "K3": RuleText(_SCALE, _BOOK + "roofline"),
}
"""Every rule that can appear in advice."""

PER: Mapping[str, str] = {STEP: "a step"}


def title(of: Candidate) -> Sentence:
    """What to do."""
    return say(f"advice_{_form(of)}", **_fillings(of))


def why(of: Candidate) -> Sentence:
    """What was observed, with its numbers."""
    return say(f"advice_{of.rule}_why", **_fillings(of))


def try_this(of: Candidate) -> Sentence:
    """What to change."""
    fillings = _fillings(of)
    if "precision" in of.facts:
        fillings["what"] = str(of.facts["precision"])
    return say(f"advice_{_form(of)}_try", **fillings)


def verify(finding: Finding, command: str) -> Sentence:
    """How to see whether it helped."""
    if finding.predicted is None:
        return say("advice_verify_flag", command=command)
    return say(
        "advice_verify",
        command=command,
        term=TERM_LABELS[finding.of.term],
        sign="−",
        change=Number(finding.predicted.saving_us, "time_us"),
    )


def saves(finding: Finding, advice: Advice) -> Sentence:
    """The saving as time and share; nothing where there is none."""
    if finding.predicted is None:
        return []
    return say(
        "advice_saves",
        saving=Number(finding.predicted.saving_us, "time_us"),
        total=Number(advice.now_us, "time_us"),
        share=Number(finding.predicted.saving_us / advice.now_us, "ratio"),
    )


def limit(finding: Finding) -> Sentence:
    """What holds the ops afterwards; nothing where there is no roof."""
    if finding.predicted is None:
        return []
    if finding.predicted.limited_by == "link":
        return say("advice_limit_link")
    if finding.of.e is None:
        return []
    return say("advice_limit", roof=roof_label(finding.predicted.limited_by))


def summary(advice: Advice) -> Sentence:
    """Time now, after the plan, floor; or why there is no plan."""
    now, floor = Number(advice.now_us, "time_us"), Number(advice.floor_us, "time_us")
    if advice.state == "contradicts":
        return say("advice_contradicts")
    if advice.state == "nothing":
        return [*say("advice_nothing", total=now, floor=floor), *_at_roof(advice)]
    per = PER.get(advice.unit, "in the capture")
    after = Number(advice.after_us, "time_us")
    return [
        *say("advice_bar", total=now, per=per, after=after, floor=floor),
        *_left_out(advice),
        *_at_roof(advice),
    ]


def _left_out(advice: Advice) -> Sentence:
    count = Number(advice.left_out, "count")
    return say("advice_left_out", count=count) if advice.left_out else []


def _at_roof(advice: Advice) -> Sentence:
    if advice.at_roof_us < 0.01 * advice.now_us:
        return []
    return say("advice_at_roof", saving=Number(advice.at_roof_us, "time_us"))


def roof_label(name: str) -> str:
    """A resource as people call it: HBM, compute, Matrix bf16."""
    if name in {one.value for one in MemoryLevel}:
        return MemoryLevel(name).label
    if name in {one.value for one in ComputeUnit}:
        return ComputeUnit(name).label
    return "link" if name == "unknown" else name


def _form(of: Candidate) -> str:
    return "K2_near" if of.rule == "K2" and "precision" not in of.facts else of.rule


def _fillings(of: Candidate) -> dict[str, Filling]:
    """Every slot of the rules' templates; what a rule does not know it does not use."""
    facts = of.facts
    share = facts.get("share", facts.get("weights", of.factor if of.rule == "G1" else 0.0))
    most = float(facts.get("worst", facts.get("ratio", 0.0)))
    return {
        "count": Number(len(of.ops), "count"),
        "what": of.what,
        "level": roof_label(of.what),
        "roof": roof_label(of.bound or ""),
        "efficiency": Number(float(facts.get("reached", of.e or 0.0)), "ratio"),
        "share": Number(float(share or 0.0), "ratio"),
        "most": Number(most, "ratio" if of.rule == "V1" else "number"),
        "calls": Number(float(facts.get("calls", 0.0)), "count"),
        "average": Number(float(facts.get("call_us", 0.0)), "time_us"),
        "capped": Number(float(facts.get("target", 0.0)), "ratio"),
    }
