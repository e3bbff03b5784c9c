"""Budgets and transfers of real and generated captures, held against a separate implementation."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.subjects.budget import budget_of
from roofline.analysis.subjects.choose import choose
from roofline.analysis.time_records import TransferRecord
from roofline.model.op_columns import Bools
from roofline.model.profile import Profile
from roofline.model.timeline import WHOLE_CAPTURE, CoreTimes, Timeline
from roofline.model.units import PS_PER_US
from tests.profiles import imported
from tests.shared_profiles import SHARED, analysed, needs_shared

EXPECTED = SHARED / "model" / "budget_expected"
pytestmark = pytest.mark.skipif(not EXPECTED.is_dir(), reason="needs the shared folder")

TPU = sorted(
    path.stem
    for path in EXPECTED.glob("*.json")
    if json.loads(path.read_text("utf-8"))["format"] == "xspace-tpu"
)


KINETO = sorted(
    path.stem
    for path in EXPECTED.glob("*.json")
    if (kineto := json.loads(path.read_text("utf-8")))["format"] == "kineto" and kineto["cores"]
)


GPU = sorted(
    path.stem
    for path in EXPECTED.glob("*.json")
    if json.loads(path.read_text("utf-8"))["format"] == "xspace-gpu"
)


# Times of these traces are whole microseconds. The other implementation keeps them as floats since
# 1970, which are off by up to 256 ns, so a gap of exactly 50 us is below the limit there.
WHOLE_MICROSECONDS = {
    "samples__a100_no_shapes",
    "samples__sampled_rank-0",
    "samples__simple_add_a100_2023_trace",
    "samples__v100_kineto_2021_resnet",
}


def assert_same(name: str, found: dict[str, float], wanted: dict[str, float]) -> None:
    if name in WHOLE_MICROSECONDS:
        found, wanted = without_limit(found), without_limit(wanted)
        assert found == pytest.approx(wanted, rel=5e-5, abs=1.0)
    else:
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def without_limit(parts: dict[str, float]) -> dict[str, float]:
    """Launch gaps and idle time as one part."""
    gaps = parts.pop("launch_gaps", 0.0) + parts.pop("idle", 0.0)
    return {**parts, "gaps": gaps}


def expected_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXPECTED / f"{name}.json").read_text("utf-8"))
    return found


def file_of(name: str) -> Path:
    """The capture that an expected file is about."""
    folder, _, rest = name.partition("__")
    if folder == "cases":
        case, host = (rest[:-7], rest[-6:]) if rest[-7:-1] == "_host_" else (rest, "host_0")
        return SHARED / folder / case / f"{host}.xplane.pb"
    if folder == "profiles":
        return SHARED / folder / rest / "host_0.xplane.pb"
    (found,) = (SHARED / "samples").rglob(expected_of(name)["file"])
    return found


@cache
def profile_of(name: str) -> Profile:
    return analysed(file_of(name)).profile


def timeline_of(name: str) -> Timeline:
    timeline = profile_of(name).timeline
    assert timeline is not None
    return timeline


def parts_of(timeline: Timeline, core: int, scopes: list[int]) -> dict[str, float]:
    """Mean over `scopes` of one core's times in us, all work as one part."""
    times, work = timeline.times, timeline.work
    rows = (times.core == core) & np.isin(times.scope, scopes)
    mine = (work.core == core) & np.isin(work.scope, scopes)
    columns = {
        "exposed_transfer.host": times.host_ps,
        "infeed_outfeed": times.infeed_outfeed_ps,
        "launch_gaps": times.launch_gaps_ps,
        "idle": times.idle_ps,
        **{f"exposed.{link or 'unknown'}": column for link, column in times.exposed_ps.items()},
    }
    parts = {name: float(column[rows].sum()) for name, column in columns.items()}
    parts["work"] = float(work.time_ps[mine].sum())
    parts["total"] = float(times.total_ps[rows].sum())
    return {name: value / len(scopes) / 1e6 for name, value in parts.items() if value}


def wanted_parts(unit: dict[str, Any]) -> dict[str, float]:
    """The expected parts of a core or a step, all work as one part."""
    wanted: dict[str, float] = {"total": unit["total_us"]}
    for part in unit["parts"]:
        name = part["id"]
        if name.startswith(("at_roof", "below_roof")) or name == "unknown":
            name = "work"
        wanted[name] = wanted.get(name, 0.0) + part["time_us"]
    return {name: value for name, value in wanted.items() if value}


@pytest.mark.parametrize("name", [*TPU, *KINETO, *GPU])
def test_time_of_every_core_divides_as_expected(name: str) -> None:
    timeline = timeline_of(name)
    cores = expected_of(name)["cores"]
    assert len(timeline.cores) == len(cores)
    for number, core in enumerate(cores):
        found = parts_of(timeline, number, [WHOLE_CAPTURE])
        assert_same(name, found, wanted_parts(core))


@pytest.mark.parametrize("name", [*TPU, *KINETO, *GPU])
def test_mean_step_divides_as_expected(name: str) -> None:
    """A GPU that only copied has no step."""
    timeline, cores = timeline_of(name), expected_of(name)["cores"]
    counts = [core["step"]["steps"] for core in cores if core.get("step")]
    assert timeline.steps == max(counts, default=0)
    for number, core in enumerate(cores):
        step, times = core.get("step"), timeline.times
        scopes = times.scope[(times.core == number) & (times.scope != WHOLE_CAPTURE)].tolist()
        assert scopes == list(range(timeline.steps if step else 0))
        if step:
            found = parts_of(timeline, number, scopes)
            assert_same(name, found, wanted_parts(step))


def sum_of(values: list[float | None]) -> float | None:
    return None if None in values else sum(value for value in values if value is not None)


@pytest.mark.parametrize("name", TPU)
def test_transfers_are_as_expected(name: str) -> None:
    """Expected rows are by name; ops of one name in two programs are two rows of ours."""
    wanted = expected_of(name)["transfers"]
    analysis = analysed(file_of(name))
    names = [*analysis.profile.ops.name, None]
    rows: dict[str | None, list[TransferRecord]] = {}
    for row in analysis.transfers.rows:
        rows.setdefault(names[row.op], []).append(row)
    assert set(rows) == {transfer["op"] for transfer in wanted}
    for transfer in wanted:
        mine = rows[transfer["op"]]
        moved = sum_of([row.bytes for row in mine])
        assert {names[row.done] for row in mine} == {transfer["done"]}
        assert {row.kind for row in mine} == {transfer["kind"]}
        assert {str(row.link) for row in mine} == {transfer["link"]}
        assert {row.group_size for row in mine} == {transfer["group_size"]}
        assert sum(row.occurrences for row in mine) == transfer["occurrences"]
        assert moved == (transfer["bytes"] and pytest.approx(transfer["bytes"], rel=1e-6))
        times = (sum(row.time_us for row in mine), sum(row.exposed_us for row in mine))
        assert times == pytest.approx((transfer["time_us"], transfer["exposed_us"]), rel=1e-6)


@pytest.mark.parametrize("name", [*TPU, *KINETO, *GPU])
def test_parts_add_up_to_the_whole(name: str) -> None:
    analysis = analysed(file_of(name))
    for of in ("capture", None):
        budget = budget_of(analysis, choose(analysis, of))
        if budget is not None:
            assert sum(budget.parts.values()) == pytest.approx(budget.total_us, rel=1e-9)


def test_hosts_of_one_program_keep_their_cores() -> None:
    hosts = [file_of(f"cases__s06_v5e_three_hosts_host_{k}") for k in range(3)]
    timeline = imported(*hosts).timeline
    assert timeline is not None
    alone = [timeline_of(f"cases__s06_v5e_three_hosts_host_{k}") for k in range(3)]
    assert len(timeline.cores) == sum(len(one.cores) for one in alone) == 6
    assert timeline.times.total_ps.sum() == pytest.approx(
        sum(one.times.total_ps.sum() for one in alone)
    )
    moved = sum(float(np.nansum(one.transfers.occurrences.exposed_ps)) for one in alone)
    assert timeline.transfers.occurrences.exposed_ps.sum() == pytest.approx(moved)
    assert len(timeline.transfers) == len(alone[0].transfers)


@pytest.mark.parametrize("name", [*KINETO, *GPU])
def test_copies_and_collectives_of_streams_are_as_expected(name: str) -> None:
    wanted: dict[tuple[str, str], list[float]] = {}
    for transfer in expected_of(name)["transfers"]:
        key = (transfer["op"], transfer["link"])
        total = wanted.setdefault(key, [0.0, 0.0, 0.0])
        total[0] += transfer["occurrences"]
        total[1] += transfer["time_us"]
        total[2] += transfer["exposed_us"]
    analysis = analysed(file_of(name))
    names = analysis.profile.ops.name
    found: dict[tuple[str, str], tuple[float, ...]] = dict.fromkeys(wanted, (0.0, 0.0, 0.0))
    for row in analysis.transfers.rows:
        key = (names[row.op], row.link.value if row.link else "unknown")
        occurrences, time_us, exposed_us = found[key]
        found[key] = (
            occurrences + row.occurrences,
            time_us + row.time_us,
            exposed_us + row.exposed_us,
        )
    for key, expected in wanted.items():
        assert found[key] == pytest.approx(expected, rel=1e-5, abs=0.3)


def test_message_sizes_of_kernel_arguments_count() -> None:
    analysis = analysed(file_of("samples__nccl_message_sizes"))
    rows = {row.kind: row for row in analysis.transfers.rows}
    reduce = rows["all-reduce"]
    assert (reduce.group_size, reduce.occurrences, reduce.bytes) == (2, 15, 306684384)
    assert reduce.achieved_gbs == pytest.approx(6.558388033366894)
    assert rows["broadcast"].bytes == 638712


# Of GPU time: idle, and what of it and of launch gaps waited for a launch, as a plain loop over
# each trace's events in order of time finds them: the first event after a gap was launched after
# the gap began.
LAUNCHES = {
    "samples__b200_vllm_eager": (65_628.765, 72_470.096),
    "samples__mi300x_qwen_causal": (3_221.139, 3_393.823),
    "samples__mi300x_sglang_decode": (463_932.28, 463_694.044),
    "samples__sampled_rank-0": (669_090.0, 362_945.0),
}


def whole_capture(name: str) -> tuple[CoreTimes, Bools]:
    """The times of all cores, and which rows are of the whole capture."""
    timeline = analysed(file_of(name)).profile.timeline
    assert timeline is not None
    return timeline.times, timeline.times.scope == WHOLE_CAPTURE


@pytest.mark.parametrize("name", LAUNCHES)
def test_idle_time_tells_how_much_waited_for_a_launch(name: str) -> None:
    times, whole = whole_capture(name)
    waited_ps = times.host_wait_ps + times.start_idle_ps  # an idle start waited for its launch
    found = (times.idle_ps[whole].mean(), waited_ps[whole].mean())
    assert np.array(found) / PS_PER_US == pytest.approx(LAUNCHES[name], rel=1e-6)


def test_inference_is_idle_at_its_start() -> None:
    times, whole = whole_capture("profiles__tpu-v6e-inference")
    assert times.start_idle_ps[whole].mean() == pytest.approx(times.idle_ps[whole].mean())
    assert not times.host_wait_ps.any(), "launches of a TPU's programs are not in the file"


@needs_shared
def test_a_step_of_a_trace_lasts_as_long_in_the_table_as_in_the_budget() -> None:
    """The host was in the step for 47.2 ms; the device worked on it for 34.9 ms."""
    path = SHARED / "samples" / "pytorch" / "h100_qwen_causal.json.gz"
    profile = analysed(path).profile
    assert profile.steps.time_ps.tolist() == pytest.approx([34_892_419_000], rel=1e-6)
