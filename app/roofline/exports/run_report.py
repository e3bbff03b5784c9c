"""A run of many hosts for people and their tools: JSON and text.

Keys carry units; `null` is "not known", 0 is a real zero. The same files give the same bytes,
whatever their order.
"""

from collections.abc import Sequence
from typing import Any

from roofline.model.units import GIB, PS_PER_US
from roofline.pods.definitions import outliers
from roofline.pods.folders import some_of
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    ChipReport,
    CollectiveReport,
    Deviation,
    HostReport,
    NoVerdict,
    OpReport,
    RunReport,
    State,
    StepReport,
    Verdict,
)
from roofline.pods.workers import OpOnHost, op_id
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, percent
from roofline.presentation.sentences import Number, Sentence, plain_text, say
from roofline.presentation.text_table import cut, named, plain, spaced, table

_SENTENCES = {verdict: f"hosts_{verdict.name.lower()}" for verdict in Verdict}


def run_verdict(run: RunReport) -> str:
    """The sentences on top of a run."""
    said = _read(run) + _judged(run)
    for one in outliers(run.hosts):
        said += [*say("hosts_next"), *_outlier(one, len(run.steps))]
    return plain_text([*said, *say("hosts_end")])


def outlier_sentence(one: HostReport, steps: int) -> str:
    """The sentence about one host that holds the others up."""
    return plain_text(_outlier(one, steps))


def _read(run: RunReport) -> Sentence:
    states = [one.state for one in run.hosts]
    read = len(states) - states.count(State.UNREADABLE)
    said = say("hosts_read", read=Number(read, "count"), hosts=Number(len(states), "count"))
    idle = states.count(State.NO_ACCELERATOR)
    said += say("hosts_working", count=Number(idle, "count")) if idle else []
    apart = [one.host for one in run.hosts if one.state is State.OTHER_PROGRAM]
    if not apart:
        return said
    return said + say("hosts_elsewhere", count=Number(len(apart), "count"), names=some_of(apart))


def _judged(run: RunReport) -> Sentence:
    match run.no_verdict:
        case NoVerdict.FEW_HOSTS:
            return say("hosts_few", fewest=Number(FEWEST_HOSTS, "count"))
        case NoVerdict.UNREADABLE:
            return say("hosts_unreadable", share=Number(LEAST_READABLE, "ratio"))
        case NoVerdict.SEVERAL_CAPTURES:
            return say("hosts_several_captures")
        case NoVerdict.SEVERAL_PROGRAMS:
            return say("hosts_several_programs")
    if run.late is not None:
        return say("hosts_late", host=run.late.host, share=Number(run.late.share, "ratio"))
    if not outliers(run.hosts):
        return say("hosts_even")
    return say("hosts_cost", share=Number(run.cost_ratio or 0.0, "ratio"))


def _outlier(one: HostReport, steps: int) -> Sentence:
    assert one.verdict is not None
    slow = [chip.name for chip in one.chips if chip.is_slow]
    return say(
        _SENTENCES[one.verdict],
        host=one.host,
        share=Number((one.same_work_ratio or 1.0) - 1, "ratio"),
        chips=", ".join(slow),
        slow=Number(one.slow_steps, "count"),
        steps=Number(steps, "count"),
    )


Record = dict[str, Any]

_HOSTS_SHOWN = 32
_OPS_SHOWN = 20
_NAME_WIDTH = 44


def render_run(run: RunReport, output_format: str) -> bytes:
    """`run` as `text` or `json`."""
    if output_format == "json":
        return to_json(run_record(run)) + b"\n"
    return run_to_text(run).encode("utf-8", "replace")


def run_record(run: RunReport) -> Record:
    """The document of `roofline analyze --engine local --format json`."""
    return {
        "verdict": run_verdict(run),
        "no_verdict": None if run.no_verdict is None else run.no_verdict.value,
        "outliers": [
            {"host": one.host, "kind": one.verdict, "sentence": outlier_sentence(one, _steps(run))}
            for one in outliers(run.hosts)
        ],
        "stragglers_cost_ratio": run.cost_ratio,
        "gains": [{"host": one.host, "share_ratio": one.share} for one in run.gains],
        "late_host": None
        if run.late is None
        else {"host": run.late.host, "share_ratio": run.late.share},
        "representative": run.representative,
        "step_us": _us(run.step_ps),
        "hosts": [_host(one) for one in run.hosts],
        "ops": [_op(one) for one in run.ops],
        "steps": [_step(one) for one in run.steps],
        "collectives": [_collective(one) for one in run.collectives],
        "digest": run.digest,
    }


def _steps(run: RunReport) -> int:
    return max(len(run.steps), 1)


def _host(one: HostReport) -> Record:
    return {
        "host": one.host,
        "rank": one.rank,
        "state": one.state.value,
        "reason": one.reason or None,
        "device": one.device or None,
        "step_us": _us(one.step_ps),
        "work_us": _us(one.work_ps),
        "wait_us": _us(one.wait_ps),
        "wait_is": None if one.wait_bound is None else one.wait_bound.value,
        "same_work_ratio": one.same_work_ratio,
        "memory_bandwidth_gibs": None if one.bandwidth is None else one.bandwidth / GIB,
        "score": one.score,
        "slow_steps": one.slow_steps,
        "verdict": None if one.verdict is None else one.verdict.value,
        "file_sha256": one.file_digest or None,
        "deviations": [_deviation(each) for each in one.deviations],
        "chips": [_chip(chip) for chip in one.chips],
    }


def _chip(one: ChipReport) -> Record:
    return {
        "chip": one.name,
        "work_us": _us(one.work_ps),
        "same_work_ratio": one.same_work_ratio,
        "compared_share_ratio": one.compared_share,
        "is_divided_by_work": one.divided,
        "is_slow": one.is_slow,
    }


def _deviation(one: Deviation) -> Record:
    return {
        "name": one.key.name,
        "program": one.key.program,
        "category": one.key.category,
        "time_us": _us(one.time_ps),
        "representative_us": _us(one.representative_ps),
    }


def op_record(hosts: Sequence[OpOnHost]) -> bytes:
    """The times of one operation on each host, as JSON."""
    rows = [
        {"host": one.host, "self_us": _us(one.self_ps), "occurrences": one.occurrences}
        for one in hosts
    ]
    return to_json({"hosts": rows})


def _op(one: OpReport) -> Record:
    return {
        "id": op_id(one.key),
        "name": one.key.name,
        "program": one.key.program,
        "category": one.key.category,
        "hosts": one.hosts,
        "flop": one.flop,
        "bytes": one.bytes,
        "min_us": _us(one.min_ps),
        "median_us": _us(one.median_ps),
        "p95_us": _us(one.p95_ps),
        "max_us": _us(one.max_ps),
        "max_host": one.max_host,
        "imbalance_ratio": one.imbalance_ratio,
        "time_lost_us": _us(one.lost_ps),
    }


def _step(one: StepReport) -> Record:
    return {
        "step": one.step,
        "min_us": _us(one.min_ps),
        "median_us": _us(one.median_ps),
        "max_us": _us(one.max_ps),
        "spread_ratio": one.spread_ratio,
        "min_work_us": _us(one.min_work_ps),
        "median_work_us": _us(one.median_work_ps),
        "p95_work_us": _us(one.p95_work_ps),
        "max_work_us": _us(one.max_work_ps),
        "critical_host": one.critical_host,
    }


def _collective(one: CollectiveReport) -> Record:
    return {
        "name": one.name,
        "kind": one.kind,
        "group": one.group or None,
        "ranks": one.ranks,
        "instances": one.instances or None,
        "transfer_us": _us(one.transfer_ps),
        "mean_wait_us": _us(one.wait_ps),
        "wait_is": one.wait_bound.value,
        "waited_for": one.waited_for,
    }


def _us(time_ps: int | None) -> float | None:
    return None if time_ps is None else time_ps / PS_PER_US


# ------------------------------------------------------------------------------------------- text


def run_to_text(run: RunReport) -> str:
    """The run for a terminal: verdict, hosts, and the operations that lose the most time."""
    parts = [plain(run_verdict(run)), _hosts_text(run), _ops_text(run), f"Digest {run.digest}"]
    return spaced("\n\n".join(part for part in parts if part)) + "\n"


def _hosts_text(run: RunReport) -> str:
    first = {one.host for one in outliers(run.hosts)}
    order = sorted(run.hosts, key=lambda one: (one.host not in first, one.state is State.READ))
    rows = [
        (
            cut(one.host, _NAME_WIDTH),
            one.state.value,
            _time(one.step_ps),
            _time(one.work_ps),
            _time(one.wait_ps),
            "–" if one.same_work_ratio is None else f"{one.same_work_ratio:.3f}",
            plain(one.verdict.value if one.verdict else one.reason),
        )
        for one in order[:_HOSTS_SHOWN]
    ]
    shown = table(("host", "state", "step", "work", "wait", "same work", ""), rows, left={0, 1, 6})
    more = len(order) - len(rows)
    return f"{shown}\nand {more} more" if more else shown


def _ops_text(run: RunReport) -> str:
    rows = [
        (
            named(one.key.name, _NAME_WIDTH),
            _time(one.median_ps),
            _time(one.p95_ps),
            _time(one.max_ps),
            cut(one.max_host, _NAME_WIDTH),
            "–" if one.imbalance_ratio is None else percent(one.imbalance_ratio),
            _time(one.lost_ps),
        )
        for one in run.ops[:_OPS_SHOWN]
    ]
    heads = ("operation", "median", "p95", "max", "slowest host", "imbalance", "time lost")
    return table(heads, rows, left={0, 4}) if rows else ""


def _time(time_ps: int | None) -> str:
    return "–" if time_ps is None else duration(time_ps / PS_PER_US)
