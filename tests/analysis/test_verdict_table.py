"""The decision table of the verdict: each row, and that shares are of the busy time."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from roofline.analysis.nearest_records import OP_CLASSES, NearestOps, OpClass
from roofline.analysis.verdict import Case, decide
from roofline.analysis.verdict_records import KnownShares, Verdict, VerdictClass

NAN = float("nan")
CEILINGS = ("hbm", "l1", "issue", "vector_fp32")
Op = tuple[OpClass, str, float, float | None]  # class, named ceiling, useful, busy


def nearest(ops: Sequence[Op]) -> NearestOps:
    useful, busy = np.full((len(CEILINGS), len(ops)), NAN), np.full((len(CEILINGS), len(ops)), NAN)
    for column, (_, name, work, counter) in enumerate(ops):
        if name:
            useful[CEILINGS.index(name), column] = work
            busy[CEILINGS.index(name), column] = NAN if counter is None else counter
    named = [CEILINGS.index(name) if name else -1 for _, name, _, _ in ops]
    is_late = [kind is OpClass.LATENCY for kind, *_ in ops]
    return NearestOps(
        ceilings=CEILINGS,
        useful=useful,
        busy=busy,
        named=np.array(named),
        largest=np.array(
            [
                np.nan if not name else np.fmax(work, counter or 0.0)
                for _, name, work, counter in ops
            ]
        ),
        kind=np.array([OP_CLASSES.index(kind) for kind, *_ in ops]),
        is_busy_known=np.isfinite(busy).any(axis=0),
        why=tuple("few_blocks" if late else "" for late in is_late),
        why_words=tuple("64 blocks for 80 SMs" if late else "" for late in is_late),
    )


HBM: Op = (OpClass.BOUND, "hbm", 0.5, None)
CASE = Case(
    nearest=nearest([HBM]),
    time_us=np.array([100.0]),
    total_us=100.0,
    idle_us=0.0,
    waits_us={},
    impossible_us=0.0,
    known=KnownShares(flop=1.0, bytes=1.0, both=1.0, busy=0.0),
    has_peaks=True,
    is_serving=False,
)


def of(ops: Sequence[Op], times: Sequence[float], **rest: object) -> Verdict:
    busy = float(sum(times))
    case = replace(CASE, nearest=nearest(ops), time_us=np.array(times), total_us=busy)
    return decide(replace(case, **rest))  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        ({"without": VerdictClass.HOST_ONLY, "coverage": 0.1}, VerdictClass.HOST_ONLY, ""),
        ({"coverage": 0.49, "impossible_us": 90.0}, VerdictClass.UNKNOWN, "coverage"),
        ({"impossible_us": 5.1, "is_serving": True}, VerdictClass.DOUBT, ""),
        ({"impossible_us": 4.9}, VerdictClass.BOUND, ""),
        ({"is_serving": True, "idle_us": 60.0}, VerdictClass.SERVING, ""),
        ({"idle_us": 50.0, "waits_us": {"ici": 30.0}}, VerdictClass.IDLE, ""),
        ({"waits_us": {"ici": 20.0}, "total_us": 300.0}, VerdictClass.UNKNOWN, "work"),
        ({"waits_us": {"ici": 60.0}, "total_us": 300.0}, VerdictClass.WAITS, ""),
        ({"total_us": 201.0}, VerdictClass.UNKNOWN, "work"),
        ({"has_peaks": False}, VerdictClass.UNKNOWN, "peaks"),
        ({"total_us": 0.0}, VerdictClass.UNKNOWN, "time"),
        ({}, VerdictClass.BOUND, ""),
    ],
)
def test_first_row_that_holds_decides(
    changes: dict[str, object], kind: VerdictClass, why: str
) -> None:
    found = decide(replace(CASE, **changes))  # type: ignore[arg-type]  # fields by name
    assert (found.kind, found.why) == (kind, why)


def test_shares_are_of_the_busy_time_and_idle_time_is_said_apart() -> None:
    found = decide(replace(CASE, total_us=140.0, idle_us=40.0))
    assert found.ceiling == "hbm"
    assert found.ratio == pytest.approx(0.5)
    assert found.idle_ratio == pytest.approx(40 / 140)


def test_what_is_left_of_an_idle_or_waiting_subject_has_a_verdict_of_its_own() -> None:
    idle = decide(replace(CASE, total_us=1000.0, idle_us=900.0))
    assert idle.then is not None
    assert idle.then.kind is VerdictClass.BOUND
    assert idle.then.ratio == pytest.approx(0.5)
    both = decide(replace(CASE, total_us=1000.0, idle_us=550.0, waits_us={"ici": 350.0}))
    assert both.then is not None
    assert (both.then.kind, both.then.ceiling) == (VerdictClass.WAITS, "ici")
    waits = decide(replace(CASE, total_us=200.0, waits_us={"host": 60.0, "ici": 40.0}))
    assert waits.ceiling == "host"
    assert waits.ratio == pytest.approx(0.3)
    assert waits.then is not None
    assert waits.then.ratio == pytest.approx(0.5)  # of the 100 µs that do not wait


def test_latency_by_work_is_the_mean_of_the_nearest_ceilings_below_20_percent() -> None:
    late: Op = (OpClass.LATENCY, "hbm", 0.1, None)
    found = of([late, HBM], [80.0, 20.0])
    assert found.kind is VerdictClass.LATENCY
    assert found.ratio == pytest.approx(0.18)
    assert (found.why, found.why_words) == ("few_blocks", "64 blocks for 80 SMs")
    assert of([late, HBM], [70.0, 30.0]).kind is VerdictClass.BOUND


def test_with_counters_what_holds_most_of_the_time_decides() -> None:
    l1: Op = (OpClass.BOUND, "l1", 0.1, 0.9)
    issue: Op = (OpClass.BOUND, "issue", NAN, 0.8)
    late: Op = (OpClass.LATENCY, "l1", 0.1, 0.4)
    bound = of([l1, issue], [60.0, 40.0])
    assert (bound.kind, bound.ceiling) == (VerdictClass.BOUND, "l1")
    assert bound.ratio == pytest.approx(0.54)
    assert bound.useful_ratio == pytest.approx(0.06)
    latency = of([l1, late], [40.0, 60.0])
    assert latency.kind is VerdictClass.LATENCY
    assert latency.ratio == pytest.approx(0.6)
    mixed = of([l1, issue, late], [40.0, 35.0, 25.0])
    assert (mixed.kind, mixed.ceiling, mixed.also) == (VerdictClass.MIXED, "l1", ("issue",))
    assert mixed.held == pytest.approx({"l1": 0.4, "issue": 0.35, "latency": 0.25})


def test_latency_names_the_unit_that_the_operation_names() -> None:
    """A line named "an SM unit the profiler does not name" where its table named L1."""
    late: Op = (OpClass.LATENCY, "issue", NAN, 0.51)
    ops = nearest([late])
    ops.busy[CEILINGS.index("l1")] = 0.50
    case = replace(CASE, nearest=ops, time_us=np.array([100.0]))
    latency = decide(case)
    assert (latency.kind, latency.ceiling) == (VerdictClass.LATENCY, "l1")
    assert latency.ratio == pytest.approx(0.50)


def test_shares_of_launches_add_up_to_that_of_the_whole() -> None:
    whole = of([(OpClass.BOUND, "l1", 0.2, 0.8)], [100.0])
    parts = of([(OpClass.BOUND, "l1", 0.1, 0.7), (OpClass.BOUND, "l1", 0.3, 0.9)], [50.0, 50.0])
    assert whole.ratio == pytest.approx(parts.ratio)
    assert whole.useful_ratio == pytest.approx(parts.useful_ratio)


def test_a_known_part_is_a_lower_bound() -> None:
    unknown: Op = (OpClass.UNKNOWN, "", NAN, None)
    found = of([HBM, unknown], [60.0, 40.0])
    assert (found.kind, found.is_least) == (VerdictClass.BOUND, True)
    assert found.ratio == pytest.approx(0.3)
