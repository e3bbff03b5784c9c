"""The words of advice: titles, reasons, what to try, how to verify; and each rule's formula."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.advice.findings import Advice, Candidate, Finding
from roofline.advice.ledger import Rate
from roofline.advice.rows import STEP
from roofline.exports.comparison_words import TERM_LABELS
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.presentation.sentences import Filling, Number, Sentence, plain_text, say

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
    "C1": RuleText("T' = T - 0.7 × exposed", _BOOK + "sharding"),
    "C2": RuleText("2 T_link ÷ max(2 T_work, T_link)", _BOOK + "training"),
    "C3": RuleText("exposed' = exposed × reached ÷ 0.80", _BOOK + "gpus"),
    "C4": RuleText("0.6745 (x - median) ÷ MAD > 3.5", _XPROF),
    "L1": RuleText("T' = n ÷ 2 × t0 + W", _BRRR),
    "L2": RuleText(_CLOSE, _TRIAGE),
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
    "W1": RuleText("T' = T × ρ' ÷ ρ of each operation", _BOOK + "roofline"),
}
"""Every rule that can appear in advice."""

PER: Mapping[str, str] = {STEP: "a step"}


def title(of: Candidate) -> Sentence:
    """The title of the finding: a change to make."""
    return say(f"advice_{_form(of)}", **_fillings(of))


def why(of: Candidate) -> Sentence:
    """The observation, with its numbers."""
    return say(f"advice_{_form(of)}_why", **_fillings(of))


def try_this(of: Candidate) -> Sentence:
    """The change to try."""
    fillings = _fillings(of)
    if "precision" in of.facts:
        fillings["what"] = str(of.facts["precision"])
    return say(f"advice_{_form(of)}_try", **fillings)


def verify(finding: Finding, command: str) -> Sentence:
    """How to see whether it helped."""
    if finding.of.rule == "W1":
        return say("advice_verify_elsewhere", command=command)
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
    """The saving as time and share, or an option's gain; nothing where there is none."""
    if finding.of.gain is not None:
        return say("advice_gain", most=Number(finding.of.gain, "number"))
    if finding.predicted is None:
        return []
    return _saves(finding.predicted.saving_us, advice.now_us)


def saves_text(saving_us: float, now_us: float) -> str:
    """The same of a saving."""
    return plain_text(_saves(saving_us, now_us)).strip()


def _saves(saving_us: float, now_us: float) -> Sentence:
    return say(
        "advice_saves",
        saving=Number(saving_us, "time_us"),
        total=Number(now_us, "time_us"),
        share=Number(saving_us / now_us, "ratio"),
    )


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
    if finding.of.e is None or finding.predicted.limited_by == finding.of.bound:
        return []
    return say("advice_limit", roof=roof_label(finding.predicted.limited_by))


def summary(advice: Advice) -> Sentence:
    """Time now, after the plan, floor; or why there is no plan."""
    return _summary(
        {
            "state": advice.state,
            "unit": advice.unit,
            "now_us": advice.now_us,
            "after_us": advice.after_us,
            "floor_us": advice.floor_us,
            "left_out": advice.left_out,
            "at_roof_us": advice.at_roof_us,
            "has_peaks": advice.has_peaks,
        }
    )


def summary_text(record: Mapping[str, Any]) -> str:
    """The same of an advice as JSON."""
    return plain_text(_summary(record)).strip()


def _summary(record: Mapping[str, Any]) -> Sentence:
    now, floor = Number(record["now_us"], "time_us"), Number(record["floor_us"], "time_us")
    if record["state"] == "contradicts":
        return say("advice_contradicts")
    if not record["now_us"]:
        return say("advice_no_time")
    without = [] if record["has_peaks"] else say("advice_no_peaks")
    if record["state"] == "nothing" and without:
        return without
    if record["state"] == "nothing":
        return [*say("advice_nothing", total=now, floor=floor), *_at_roof(record)]
    per = PER.get(record["unit"], "in the capture")
    after = Number(record["after_us"], "time_us")
    return [
        *say("advice_bar", total=now, per=per, after=after, floor=floor),
        *without,
        *_left_out(record),
        *_at_roof(record),
    ]


def waiting(advice: Advice) -> Sentence:
    """How many findings do not depend on the contradiction; nothing without any."""
    count = Number(len(advice.waiting), "count")
    return say("advice_waiting", count=count) if advice.waiting else []


def _left_out(record: Mapping[str, Any]) -> Sentence:
    count = Number(record["left_out"], "count")
    return say("advice_left_out", count=count) if record["left_out"] else []


def _at_roof(record: Mapping[str, Any]) -> Sentence:
    at_roof_us = record["at_roof_us"]
    if at_roof_us < 0.01 * record["now_us"]:
        return []
    return say("advice_at_roof", saving=Number(at_roof_us, "time_us"))


def roof_label(name: str) -> str:
    """A resource as people call it: HBM, compute, Matrix bf16."""
    if name in {one.value for one in MemoryLevel}:
        return MemoryLevel(name).label
    if name in {one.value for one in ComputeUnit}:
        return ComputeUnit(name).label
    return "link" if name == "unknown" else name


def _form(of: Candidate) -> str:
    """The name of a rule's templates: some rules have a second form."""
    forms = {
        "K1": "K1_filled" if "filled" in of.facts else "K1",
        "V5": "V5" if of.lever is not None else "V5_wide",
        "G3": "G3" if of.ops else "G3_steps",
        "G4": "G4_scores" if "scores" in of.facts else "G4" if of.ops else "G4_steps",
    }
    return forms.get(of.rule, of.rule)


def _fillings(of: Candidate) -> dict[str, Filling]:
    """Every slot of the rules' templates; what a rule does not know it does not use."""
    facts = of.facts
    share = facts.get(
        "share",
        facts.get("weights", facts.get("filled", of.factor if of.rule in {"G1", "G4"} else 0.0)),
    )
    most = float(facts.get("worst", facts.get("ratio", facts.get("longer", 0.0))))
    return {
        "count": Number(len(of.ops), "count"),
        "what": of.what,
        "level": roof_label(of.what),
        "roof": roof_label(of.bound or ""),
        "efficiency": Number(float(facts.get("reached", of.e or 0.0)), "ratio"),
        "share": Number(float(share or 0.0), "ratio"),
        "most": Number(most, "ratio" if of.rule in {"V1", "V4"} else "number"),
        "few": Number(float(facts.get("small", 0.0)), "count"),
        "many": Number(float(facts.get("large", 0.0)), "count"),
        "after": Number(float(facts.get("after_us", facts.get("link_us", 0.0))), "time_us"),
        "total": Number(float(facts.get("here_us", 0.0)), "time_us"),
        "floor": Number(float(facts.get("work_us", 0.0)), "time_us"),
        "calls": Number(float(facts.get("calls", 0.0)), "count"),
        "average": Number(float(facts.get("call_us", 0.0)), "time_us"),
        "capped": Number(float(facts.get("target", 0.0)), "ratio"),
    }
