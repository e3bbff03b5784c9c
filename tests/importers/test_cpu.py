"""CPU captures: ops of XLA:CPU, once however many threads ran them, with their programs' costs."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from roofline.importers.xspace.hlo.cost import CostModel
from roofline.importers.xspace.hlo.ops import Programs, unit_on_cpu
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import open_space
from roofline.model.device import DeviceKind
from roofline.model.profile import Profile
from tests.builders import analysis_on
from tests.narrowing import known
from tests.profiles import imported
from tests.tools.gpu_captures import Event, gpu_plane, metadata_plane
from tests.tools.small_profiles import space_bytes
from tests.tools.xprof_json import our_tables
from tests.tools.xspace_wire import PlaneBuilder

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_profiles" / "xspace" / "jax-cpu-transformer.xplane.pb"
PROGRAM = gzip.decompress((ROOT / "tests/golden/hlo/gpu_control_flow.pb.gz").read_bytes())
US = 1_000_000


def op(name: str, begin_us: int, us: int, run: int = 1) -> Event:
    return (name, begin_us, us, [("hlo_op", name), ("program_id", 7), ("run_id", run)])


def record(begin_us: int, task: int) -> Event:
    return ("ThreadpoolListener::Record", begin_us, 0, [("_pt", 15), ("_p", task)])


def start(begin_us: int, task: int) -> Event:
    return ("ThreadpoolListener::StartRegion", begin_us, 0, [("_ct", 15), ("_c", task)])


def stop(begin_us: int) -> Event:
    return ("ThreadpoolListener::StopRegion", begin_us, 0, [])


def step(begin_us: int, us: int, number: int) -> Event:
    return ("train", begin_us, us, [("_r", 1, "i64"), ("step_num", number)])


def launch(begin_us: int) -> Event:
    return ("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", begin_us, 1, [])


def write(
    tmp_path: Path,
    *threads: Sequence[Event],
    extra: Sequence[PlaneBuilder] = (),
) -> Path:
    plane = PlaneBuilder("/host:CPU", 500)
    for at, events in enumerate(threads):
        line = plane.line(at + 1, f"thread {at}", 0)
        for name, begin, us, stats in events:
            plane.event(line, plane.event_meta(name, name), begin * US, us * US, stats)
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes([plane, metadata_plane({7: PROGRAM}), *extra]))
    return path


def times(profile: Profile) -> dict[str, tuple[int, int, int]]:
    columns = (profile.ops.occurrences, profile.ops.time_ps // US, profile.ops.self_time_ps // US)
    return dict(
        zip(profile.ops.name, zip(*(c.tolist() for c in columns), strict=True), strict=True)
    )


def codes(profile: Profile) -> set[str]:
    return {found.code for found in profile.diagnostics}


def launches_us(profile: Profile) -> dict[str, list[float]]:
    found, times = profile.launch_times, dict[str, list[float]]()
    assert found is not None
    for op, count, time_ps in zip(found.op, found.count, found.time_ps, strict=True):
        times.setdefault(profile.ops.name[op], []).extend([float(time_ps) / US] * int(count))
    return times


@pytest.fixture(scope="module")
def sample() -> Profile:
    return imported(SAMPLE)


def test_the_sample_has_its_program_its_steps_and_no_peaks(sample: Profile) -> None:
    assert sample.device.kind is DeviceKind.CPU
    assert (sample.device.core_count, sample.device.peak_gflops) == (1, None)
    assert sample.program_names == {32: "jit_step"}
    assert sample.steps.label == ("0", "1", "2", "3", "4")
    assert {"dot", "loop fusion", "custom fusion"} <= set(sample.ops.category)


def test_flops_of_the_sample_are_the_modules_times_five_steps(sample: Profile) -> None:
    space = open_space(np.frombuffer(SAMPLE.read_bytes(), np.uint8), SAMPLE.name)
    module = known(Programs(space, unit_on_cpu, Oddities(on=False)).module(32))
    model = CostModel(module, Oddities(on=False))
    costs = [model.cost_of(each) for each in known(module.entry).instructions]
    once = sum(cost.model_flop for cost in costs)
    assert int(sample.ops.flop.sum()) == 5 * once
    assert sample.steps.sums.flop.sum(axis=1).tolist() == [once] * 5


def test_time_in_ops_fits_the_wall_clock(sample: Profile) -> None:
    assert 0 < sample.op_time_ps <= sample.time_ps == sample.wall_time_ps
    assert all(count == 5 for count in sample.ops.occurrences.tolist())


def test_the_page_is_told_that_there_are_no_peaks(sample: Profile) -> None:
    analysis = analysis_on(sample)
    assert "no-peaks" in {found.code for found in analysis.diagnostics}


def test_xprofs_own_table_stays_empty() -> None:
    table = our_tables([SAMPLE])[0]
    assert table["rows"] == []
    assert table["p"]["peak_flop_rate"] == "0"


def test_end_markers_and_pool_events_are_no_ops(tmp_path: Path) -> None:
    marker: Event = ("end: cl", 9, 1, [("hlo_op", "cl"), ("program_id", 7)])
    profile = imported(write(tmp_path, [op("cl", 0, 10), marker, start(20, 3), stop(30)]))
    assert times(profile) == {"cl": (1, 10, 10)}


def test_tasks_on_other_threads_count_once_and_are_named(tmp_path: Path) -> None:
    """Own event 0 to 10, tasks 5 to 20 and 30 to 40: 30 us, 10 of them on two threads at once."""
    main = [op("cl", 0, 10), record(1, 4), record(2, 5)]
    pool = [start(5, 4), stop(20), start(30, 5), stop(40)]
    profile = imported(write(tmp_path, main, pool))
    assert times(profile) == {"cl": (1, 30, 30)}
    assert "on up to 2 threads" in profile.ops.long_name[0]
    assert "ops-on-several-threads" in codes(profile)


def test_a_task_that_goes_on_with_other_ops_ends_there(tmp_path: Path) -> None:
    main = [op("cl", 0, 10), record(1, 4)]
    pool = [start(5, 4), op("rp", 12, 20), stop(40)]
    assert times(imported(write(tmp_path, main, pool))) == {"cl": (1, 12, 12), "rp": (1, 20, 20)}


def test_an_op_whose_events_overlap_on_two_threads_occurred_once(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [op("cl", 0, 10)], [op("cl", 4, 10)]))
    assert times(profile) == {"cl": (1, 14, 14)}


def test_runs_one_after_the_other_are_occurrences(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [op("cl", 0, 10), op("cl", 10, 10)]))
    assert times(profile) == {"cl": (2, 20, 20)}


def test_an_occurrence_lasts_while_any_thread_works_for_it(tmp_path: Path) -> None:
    main = [op("cl", 0, 10), record(1, 4), op("rp", 12, 3), op("cl", 50, 7), op("cl", 70, 1)]
    pool = [start(5, 4), stop(20), op("cl", 52, 8)]
    profile = imported(write(tmp_path, main, pool))
    assert times(profile)["cl"] == (3, 20 + 10 + 1, 31)
    assert launches_us(profile) == {"cl": [1, 10, 20], "rp": [3]}


def test_self_time_is_without_the_ops_inside(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [op("wh", 0, 30), op("vy", 5, 10), op("vy", 15, 10)]))
    assert times(profile) == {"wh": (1, 30, 10), "vy": (2, 20, 20)}


def test_steps_are_the_annotations_in_which_ops_begin(tmp_path: Path) -> None:
    host = [step(0, 50, 8), step(60, 50, 9)]
    ops = [op("cl", 10, 10), op("rp", 55, 3), op("cl", 70, 10, run=2), op("cl", 130, 9, run=3)]
    steps = imported(write(tmp_path, host, ops)).steps
    assert steps.label == ("8", "9")
    assert (steps.sums.time_ps[:, 0] // US).tolist() == [13, 10]  # rp: by its run's first op


def test_steps_that_are_launched_ahead_last_until_the_next_begins(tmp_path: Path) -> None:
    calls = [launch(begin) for begin in (2, 12, 14, 22)]
    host = [step(0, 8, 4), calls[0], step(10, 8, 5), *calls[1:3], step(20, 8, 6), calls[3]]
    ops = [op("cl", at, 10, run=run) for run, at in enumerate((25, 50, 60, 90), 1)]
    steps = imported(write(tmp_path, host, ops)).steps
    assert steps.label == ("4", "5", "6")
    assert (steps.sums.time_ps[:, 0] // US).tolist() == [10, 20, 10]
    assert (steps.duration_ps // US).tolist() == [25, 40, 10]
    # A launch whose run is not in the capture: which launched which is not known.
    steps = imported(write(tmp_path, host, ops[1:])).steps
    assert steps.label == ()


def test_the_total_lasts_as_long_as_its_steps(tmp_path: Path) -> None:
    """In a step the core waits before its first op, too: no step is longer than the program."""
    profile = imported(write(tmp_path, [step(0, 100, 1), op("fusion", 80, 10)]))
    assert profile.steps.time_ps.tolist() == [100 * US]
    assert profile.time_ps == profile.wall_time_ps == 100 * US
    assert profile.op_time_ps == 10 * US
    assert imported(write(tmp_path, [op("fusion", 80, 10)])).time_ps == 10 * US


def test_without_annotations_there_are_no_steps(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [op("cl", 10, 10)]))
    assert not len(profile.steps)
    assert "no-steps" in codes(profile)


def test_a_program_that_is_not_in_the_capture_leaves_costs_unknown(tmp_path: Path) -> None:
    gone: Event = ("gone", 0, 5, [("hlo_op", "gone"), ("program_id", 99)])
    profile = imported(write(tmp_path, [gone]))
    assert not profile.ops.cost_known.any()


def test_what_the_host_of_a_gpu_computes_is_no_part_of_the_job(tmp_path: Path) -> None:
    kernels: list[Event] = [("k", 0, US, [("hlo_op", "rp"), ("program_id", 7)])]
    path = write(tmp_path, [op("cl", 0, 10)], extra=[gpu_plane([kernels])])
    assert imported(path).ops.name == ("rp",)


def test_two_cpu_hosts_are_one_profile_of_two_machines(tmp_path: Path) -> None:
    path = write(tmp_path, [op("cl", 0, 10)])
    profile = imported(path, path, xprof_compat=False)
    assert (profile.device.core_count, len(profile.hosts)) == (2, 2)
    assert launches_us(profile) == {"cl": [10, 10]}
    assert times(profile) == {"cl": (2, 20, 20)}
