"""Advice for people and their tools: JSON, text and Markdown.

Keys carry units; `null` is "not known", 0 is a real zero.
"""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from roofline.advice.cures import stacks_of
from roofline.advice.findings import Advice, Chain, Finding, Landing
from roofline.advice.rule import EXPOSED, HOST, IDLE, INFEED, Found
from roofline.advice.rules import RULES
from roofline.analysis.records import RooflineAnalysis
from roofline.exports.advice_words import (
    formula_of,
    limit,
    note,
    saves,
    summary,
    texts_of,
    verify,
    waiting,
)
from roofline.model.plain_data import taken
from roofline.model.units import KILO
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import amount, duration, intensity
from roofline.presentation.sentences import Sentence, next_to, plain_text
from roofline.presentation.shown import places_of
from roofline.presentation.text_table import line_width, named, plain, spaced, table

Record = dict[str, Any]

_NAMES = 3
_NAME_WIDTH = 60
FILTERED = frozenset({IDLE, INFEED, HOST})
"""Parts of the time that the page filters by, beside exposed communication."""


def advice_record(advice: Advice, analysis: RooflineAnalysis, headline: Sentence) -> Record:
    """The document of `roofline advise --format json` and of the API.

    `headline` is the goal of the subject, as every place says it.
    """
    is_host_only, stacks = analysis.profile.is_host_only, stacks_of(analysis)
    places = places_of(analysis)
    findings = [_finding(one, advice, analysis, stacks, places) for one in advice.findings]
    return {
        "state": advice.state,
        "device": analysis.device.part_id or analysis.device.name,
        **taken(advice, "unit", "now_us", "after_us", "floor_us", "unknown_us", "at_roof_us"),
        **taken(advice, "left_out", "has_peaks"),
        "is_host_only": is_host_only,
        "headline": _written(headline),
        "summary": _written(summary(advice, is_host_only)),
        "first": first_of(findings),
        "findings": findings,
        "dismissed": [],
        "done": [],
        "note": _written(note(advice, analysis.profile)),
        "waiting": advice.waiting,
        "waiting_summary": _written(waiting(advice.waiting, advice.doubtful)),
        "fusions": [chain_record(one, analysis.ops.name, places) for one in advice.chains],
    }


def first_of(findings: Sequence[Record]) -> Record | None:
    """What to do first, as every place says it; its saving is `None` where it is not one."""
    if not findings:
        return None
    one = findings[0]
    return {
        "finding": one["id"],
        "title": one["title"],
        "saving_us": one["predicted"]["saving_us"] if one["in_plan"] else None,
        "measured": one["measured"],
    }


def render_record(record: Record, output_format: str, top: int) -> bytes:
    """An advice as "json" (everything), or its first `top` findings as "text" or "markdown"."""
    if output_format == "json":
        return to_json(record)
    lines = _markdown(record, top) if output_format == "markdown" else _text(record, top)
    return spaced("\n".join([*lines, ""])).encode()


def _finding(
    finding: Finding,
    advice: Advice,
    analysis: RooflineAnalysis,
    stacks: Sequence[str],
    places: Mapping[int, int],
) -> Record:
    of, predicted, rule = finding.of, finding.predicted, RULES[finding.of.rule]
    names = [analysis.ops.name[op] for op in of.ops]
    command = _command(analysis)
    title, why, attempt, snippet = texts_of(of, analysis, stacks)
    known = None
    if predicted is not None:
        known = {
            "time_us": max(of.time_us - predicted.saving_us, 0.0),
            "saving_us": predicted.saving_us,
            "saving_if_alone_us": predicted.alone_us,
            "at_roof_saving_us": predicted.at_roof_us,
            "range_us": list(predicted.range_us),
            "limited_by": predicted.limited_by,
        }
    expect = {"term": of.term, "change_us": -predicted.saving_us} if predicted else None
    return {
        "id": _id(finding, names),
        "rule": of.rule,
        "also": list(of.also),
        "what": of.what,
        "ops": [places[op] for op in of.ops if op in places],
        "op_names": names,
        "lever": {"resource": of.resource, "factor": of.factor} if predicted else None,
        "observed": {
            "time_us": of.time_us,
            "roof_efficiency_ratio": of.e,
            "bound": None if of.bound is None else of.bound,
            **{name: value for name, value in of.facts.items() if isinstance(value, float)},
        },
        "predicted": known,
        "landing": []
        if predicted is None
        else [_landing(one, of, analysis) for one in predicted.landing],
        "decision": None,
        "kind": of.kind,
        "group": of.group,
        "in_plan": finding.is_in_plan,
        "hypothetical": of.is_hypothetical,
        "changes_results": of.changes_results,
        "measured": of.is_measured,
        "gain_ratio": of.gain,
        "share_ratio": predicted.saving_us / advice.now_us if predicted else None,
        "confidence": of.confidence,
        "verify": {"expect": expect, "command": command},
        "formula": formula_of(of),
        "source": [rule.id, rule.source],
        "part": _part(of),
        "title": _written(title),
        "saves": _written(saves(finding, advice)),
        "why": _written([*why, *next_to(limit(finding, analysis.device))]),
        "try": _written(attempt),
        "snippet": snippet,
        "how_to_verify": _written(verify(finding, command)),
    }


def _landing(one: Landing, of: Found, analysis: RooflineAnalysis) -> Record:
    return {
        "name": analysis.ops.name[one.op],
        "time_ratio": one.time_ratio,
        "flop_ratio": one.flop_ratio,
        "bytes_ratio": one.bytes_ratio,
        "level": of.resource.removesuffix("_bytes") if one.bytes_ratio < 1 else "",
    }


def _part(of: Found) -> str | None:
    """The part of the time that a finding without operations is about, as the page filters it."""
    is_shown = of.resource in FILTERED or of.resource.startswith(EXPOSED)
    return of.resource if is_shown and not of.ops else None


def _id(finding: Finding, names: list[str]) -> str:
    more = f"+{len(names) - 1}" if len(names) > 1 else ""
    tiles = ":tiles" if "filled" in finding.of.forms else ""  # beside another K1 of the same ops
    return f"{finding.of.rule}:{names[0] if names else finding.of.what}{more}{tiles}"


def _command(analysis: RooflineAnalysis) -> str:
    """How the next capture is compared with this one."""
    hosts = analysis.profile.hosts
    return f"roofline compare {shlex.quote(hosts[0].file_name) if hosts else 'BEFORE'} AFTER"


def _written(sentence: Sentence) -> str:
    return plain_text(sentence).strip()


def _line(text: str) -> str:
    return plain(spaced(text))


# ------------------------------------------------------------------------------------------- text


def _text(record: Record, top: int) -> list[str]:
    lines = [line for one in record["done"] for line in _wrapped(one["text"], "")]
    lines += _wrapped(_summary(record), "")
    for number, one in enumerate(record["findings"][:top], 1):
        lines += ["", *_wrapped(f"{number}. {_head(one)} [{one['rule']}]", "")]
        lines += _wrapped(one["why"], "   ") + _wrapped(one["try"], "   ")
        lines += [f"       {_line(code)}" for code in one["snippet"].splitlines()]
        lines += _wrapped(one["how_to_verify"], "   ") + _named(one)
    return [*lines, *_waiting(record), *_rest(record, top), *_dismissed(record)]


def _head(one: Record) -> str:
    saved = f" · {one['saves']}" if one["saves"] else ""
    accepted = f" · done: {one['decision']['said']}" if one["decision"] else ""
    return f"{one['title']}{saved} · confidence: {one['confidence']}{accepted}"


def _waiting(record: Record) -> list[str]:
    """How many findings say nothing until impossible numbers are settled; how to judge the rest."""
    said = [f"{record['waiting_summary']}."] if record["waiting"] else []
    return ["", *said, *filter(None, [record["note"]])] if said or record["note"] else []


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        _line(text),
        line_width(),
        initial_indent=indent,
        subsequent_indent=indent or "   ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _named(one: Record) -> list[str]:
    names = one["op_names"]
    if not names:
        return []
    shown = ", ".join(named(name, _NAME_WIDTH) for name in names[:_NAMES])
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return _wrapped(f"Operations: {shown}{more}", "   ")


def _dismissed(record: Record) -> list[str]:
    count = len(record.get("dismissed", ()))
    return ["", f"{count} dismissed."] if count else []


def _rest(record: Record, top: int) -> list[str]:
    more = len(record["findings"]) - top
    return ["", f"{more} more with --top {len(record['findings'])}."] if more > 0 else []


def _summary(record: Record) -> str:
    return f"{record['headline']} {record['summary']}".strip()


def _markdown(record: Record, top: int) -> list[str]:
    done = [_escaped(one["text"]) for one in record["done"]]
    lines = ["# What would help", "", *done, *([""] if done else [])]
    lines.append(f"{_summary(record)} (certain: {record['certain']})")
    for number, one in enumerate(record["findings"][:top], 1):
        saved = f" · {one['saves']}" if one["saves"] else ""
        lines += [
            "",
            f"{number}. **{_escaped(one['title'])}**{saved} · confidence: {one['confidence']}"
            f" · {_escaped(one['id'])}",
            *(f"   {_escaped(one[key])}  " for key in ("why", "try")),
            *_fenced(one["snippet"]),
            f"   {one['how_to_verify']}  ",
            f"   Rule {one['rule']}: `{one['formula']}`, <{one['source'][1]}>",
        ]
    return [*lines, *_rest(record, top)]


def _fenced(snippet: str) -> list[str]:
    """Code of this program, never of a file, as Markdown below a finding."""
    lines = ["```", *snippet.splitlines(), "```"] if snippet else []
    return [f"   {line}" for line in lines]


def _escaped(text: str) -> str:
    """Text from a file that cannot be Markdown or HTML."""
    escaped = "".join(f"\\{ch}" if ch in "\\`*_[]<>|" else ch for ch in _line(text))
    return escaped.replace("&", "&amp;")


_CHAIN_NAME_WIDTH = 44


def chain_record(one: Chain, names: Sequence[str], places: Mapping[int, int]) -> Record:
    """A chain as JSON takes it: us, bytes, FLOPs per unit; intensity and rate at both ends."""
    return {
        "ops": [places[op] for op in one.ops if op in places],
        "op_names": [names[op] for op in one.ops],
        **taken(one, "what", "known_by", "calls", "now_us", "after_us", "saving_us"),
        "bytes": {"now": one.bytes_now, "after": one.bytes_after},
        "flop": one.flop,
        "flop_estimated": one.is_flop_estimated,
        "flop_per_byte": {
            "now": _ratio(one.flop, one.bytes_now),
            "after": _ratio(one.flop, one.bytes_after),
        },
        "gflops": {
            "now": _ratio(one.flop, one.now_us * KILO),
            "after": _ratio(one.flop, one.after_us * KILO),
        },
        "limited_by": one.limited_by,
    }


def _ratio(value: float, by: float) -> float | None:
    return value / by if by > 0 else None


def chains_text(record: Mapping[str, Any], top: int) -> str:
    """The chains of an advice for a terminal, the largest saving first."""
    chains = record["fusions"]
    if not chains:
        return (
            "No chains are known that could be one kernel: the profile names no producers of "
            "operands,\nor no memory-bound operations hand tensors to each other.\n"
        )
    heads = ("Chain", "Ops", "Now", "Fused", "Saves", "Bytes", "Then", "FLOP/B", "Then", "Ends at")
    rows = [
        (
            named(one["what"], _CHAIN_NAME_WIDTH),
            str(len(one["op_names"])),
            duration(one["now_us"]),
            duration(one["after_us"]),
            duration(one["saving_us"]),
            amount(one["bytes"]["now"], "B"),
            amount(one["bytes"]["after"], "B"),
            intensity(one["flop_per_byte"]["now"]),
            intensity(one["flop_per_byte"]["after"]),
            one["limited_by"],
        )
        for one in chains[:top]
    ]
    return spaced(table(heads, rows, left={0, 9})) + "\n"
