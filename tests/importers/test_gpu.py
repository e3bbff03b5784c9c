"""GPU captures: XProf's numbers in its mode, mended ones in ours."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, Cost, RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.devices.resolve import resolve
from roofline.errors import RooflineError
from roofline.importers.xspace.kernels import framework_op, is_memcpy
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from tests.builders import analysis_on
from tests.profiles import imported
from tests.tools.comparison import compare
from tests.tools.gpu_captures import HOPPER, Event, gpu_plane, host_plane, metadata_plane
from tests.tools.small_profiles import space_bytes
from tests.tools.xprof_json import our_tables
from tests.tools.xspace_wire import Stat

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
REAL = GOLDEN.parents[2] / "shared" / "profiles"
PROGRAM = gzip.decompress((GOLDEN / "hlo" / "gpu_fusions.pb.gz").read_bytes())
US = 1_000_000


def kernel(
    name: str,
    begin_us: int,
    *,
    op: str | None = None,
    us: int = 10,
    correlation: int | None = None,
    **stats: int | str,
) -> Event:
    found: list[Stat] = [*stats.items()]
    if op is not None:
        found += [("hlo_op", op), ("program_id", 7)]
    if correlation is not None:
        found += [("correlation_id", correlation)]
    return (name, begin_us * US, us * US, found)


def write(
    tmp_path: Path,
    *streams: Sequence[Event],
    host: Sequence[Event] = (),
    capabilities: Mapping[str, int | str] | None = None,
) -> Path:
    gpu = gpu_plane(streams, capabilities=capabilities)
    planes = [gpu, host_plane(host), metadata_plane({7: PROGRAM})]
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes(planes))
    return path


def analysed(path: Path) -> RooflineAnalysis:
    profile = imported(path)
    return analysis_on(profile)


def column(profile: Profile, name: str) -> dict[str, int]:
    return dict(zip(profile.ops.name, getattr(profile.ops, name).tolist(), strict=True))


def codes(profile: Profile) -> set[str]:
    return {found.code for found in profile.diagnostics}


@pytest.mark.covers(5)
@pytest.mark.parametrize("name", ["amd-mi300x-conv-jax08", "gpu-v100-tf-multiworker"])
def test_real_capture_equals_xprof(name: str) -> None:
    folder = REAL / name
    if not folder.exists():
        pytest.skip(f"{folder.name} is not beside this repository")
    expected = json.loads((folder / "reference.json").read_text())
    comparison = compare(expected, our_tables([folder / "host_0.xplane.pb"]))
    assert not comparison.mismatches, comparison.summary()


def test_costs_come_from_the_program(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [kernel("gemm", 0, op="d0"), kernel("gemm", 20, op="d0")]))
    assert column(profile, "flop")["d0"] == 2 * (2 * 64 * 32 * 48)
    assert column(profile, "time_ps")["d0"] == 20 * US
    assert profile.program_names == {7: "m"}


def test_nested_op_names_end_in_the_instruction(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [kernel("gemm", 0, op="while::body::d0")]))
    assert profile.ops.name == ("d0",)


def test_an_instruction_of_several_kernels_costs_once_per_execution(tmp_path: Path) -> None:
    """XProf counts it once per kernel."""
    stream = [
        kernel(name, at, op="d0") for at, name in enumerate(["split", "add", "split", "add"] * 2)
    ]
    path = write(tmp_path, stream)
    ours, xprofs = imported(path), imported(path, xprof_compat=True)
    assert (column(ours, "occurrences")["d0"], column(xprofs, "occurrences")["d0"]) == (4, 8)
    assert column(xprofs, "flop")["d0"] == 2 * column(ours, "flop")["d0"]
    assert "several-kernels-per-op" in codes(ours)


def test_kernels_without_hlo_keep_their_time_and_have_no_known_cost(tmp_path: Path) -> None:
    stream = [kernel("mystery", 0), kernel("other", 20, op="no such op"), kernel("MemcpyD2H", 40)]
    analysis = analysed(write(tmp_path, stream))
    found = dict(zip(analysis.ops.name, analysis.ops.cost, strict=True))
    assert (found["mystery"], found["other"]) == (Cost.UNKNOWN, Cost.UNKNOWN)
    assert found["MemcpyD2H"] is Cost.TRANSFER
    assert analysis.ops.category[analysis.ops.name.index("MemcpyD2H")] == "memcpy"
    assert "kernels-without-hlo" in codes(analysis.profile)
    assert not len(imported(write(tmp_path, stream), xprof_compat=True).ops)


def test_a_custom_calls_kernel_may_bring_its_own_costs(tmp_path: Path) -> None:
    stream = [kernel("flash", 0, op="gl0", flops=100, bytes_accessed=50)]
    profile = imported(write(tmp_path, stream), xprof_compat=True)
    assert (column(profile, "flop")["gl0"], column(profile, "bytes_accessed")["gl0"]) == (100, 50)


def test_bytes_that_a_kernel_states_are_the_programs_too(tmp_path: Path) -> None:
    """XProf's row of the program has breakdowns only, though the kernel's own row says HBM."""
    own = kernel("flash", 30, op="gl0", flops=100, bytes_accessed=50 * 1000)
    path = write(tmp_path, [kernel("copy", 0, op="cpy"), own])
    ours = analysed(path)
    ops, program = ours.ops.measures, ours.with_infeed.program.measures
    moved = ops.bandwidth_gibs[MemoryLevel.HBM] * ops.total_time_us
    total = program.bandwidth_gibs[MemoryLevel.HBM] * program.total_time_us
    assert total[0] == pytest.approx(np.nansum(moved))
    assert total[0] == pytest.approx(program.memory_bandwidth_gibs[0] * program.total_time_us[0])
    theirs = imported(path, xprof_compat=True).ops
    assert theirs.traffic_bytes[MemoryLevel.HBM].sum() < theirs.bytes_accessed.sum()


def test_streams_that_run_at_once_are_busy_once(tmp_path: Path) -> None:
    profile = imported(write(tmp_path, [kernel("a", 0, us=10)], [kernel("b", 5, us=10)]))
    assert (profile.time_ps, profile.op_time_ps) == (15 * US, 15 * US)


def test_nothing_is_bound_by_shared_memory_that_nobody_counted(tmp_path: Path) -> None:
    slow = {**HOPPER, "memory_bandwidth": 0}
    path = write(tmp_path, [kernel("copy", 0, op="cpy")], capabilities=slow)
    analysis = analysed(path)
    assert MemoryLevel.SHARED_L1 not in analysis.ops.measures.bandwidth_gibs
    assert analysis.bound_label(int(analysis.ops.measures.bound[0])) == "Unknown"
    rows = our_tables([path])[0]
    bound = [column["id"] for column in rows["cols"]].index("bound_by")
    assert rows["rows"][1]["c"][bound]["v"] == "Shm/L1"


def test_shared_memory_peak_is_128_bytes_per_clock_and_multiprocessor(tmp_path: Path) -> None:
    path = write(tmp_path, [kernel("a", 0)])
    ours, xprofs = (imported(path, xprof_compat=compat).device for compat in (False, True))
    assert ours.bandwidth_gbs[MemoryLevel.SHARED_L1] == pytest.approx(100 * 128)
    assert xprofs.bandwidth_gbs[MemoryLevel.SHARED_L1] == pytest.approx(100 * 256)


@pytest.mark.parametrize(
    ("version", "name", "flop"),
    [
        ((7, 0), "Nvidia GPU (Volta)", 1024),
        ((7, 5), "Nvidia GPU (Turing)", 1024),
        ((8, 6), "Nvidia GPU (Ampere)", 1024),
        ((8, 9), "Nvidia GPU (Ada Lovelace)", 1024),
        ((10, 3), "Nvidia GPU (Blackwell)", 8192),
        ((12, 0), "Nvidia GPU", 8192),
    ],
)
def test_nvidia_model_and_peak_follow_the_compute_capability(
    tmp_path: Path, version: tuple[int, int], name: str, flop: int
) -> None:
    stats = {**HOPPER, "compute_cap_major": version[0], "compute_cap_minor": version[1]}
    device = imported(write(tmp_path, [kernel("a", 0)], capabilities=stats)).device
    assert device.name == name
    assert device.peak_gflops == pytest.approx(100 * flop)


@pytest.mark.parametrize(
    ("stats", "name"),
    [
        ({"gpu_device_name": "gfx90a:sramecc+"}, "AMD GPU - gfx90a"),
        ({"compute_cap_major": 9, "compute_cap_minor": 5}, "AMD GPU - gfx950"),
        ({"compute_cap_major": 9, "compute_cap_minor": 0}, "AMD GPU - gfx-9XX series"),
        ({"compute_cap_major": 1}, "AMD GPU"),
    ],
)
def test_amd_model_follows_the_architecture(
    tmp_path: Path, stats: Mapping[str, int | str], name: str
) -> None:
    capabilities = {"device_vendor": "AMD", "clock_rate": 10**6, "core_count": 9, **stats}
    path = write(tmp_path, [kernel("a", 0)], capabilities=capabilities)
    assert imported(path).device.name == name


def test_on_chip_peaks_are_those_of_a_known_architecture(tmp_path: Path) -> None:
    """Without a minor version the architecture is unknown, and so is its shared memory."""
    cases: Mapping[str, Mapping[str, int | str]] = {
        "named": {"gpu_device_name": "gfx942:sramecc+:xnack-"},
        "unknown": {"compute_cap_major": 9},
    }
    peaks = {}
    for name, stats in cases.items():
        amd = {"device_vendor": "AMD", "clock_rate": 2_100_000, "core_count": 304, **stats}
        device = imported(write(tmp_path, [kernel("a", 0)], capabilities=amd)).device
        peaks[name] = (device.peak_gflops, device.bandwidth_gbs.get(MemoryLevel.SHARED_L1))
        assert ("shared_l1" in device.derivation) == (name == "named")
    assert peaks["named"] == pytest.approx((304 * 2.1 * 2048, 304 * 2.1 * 128))
    assert peaks["unknown"] == (None, None)


def test_an_nvidia_part_of_unknown_capability_has_no_peaks(tmp_path: Path) -> None:
    stats = {k: v for k, v in HOPPER.items() if not k.startswith("compute_cap")}
    device = imported(write(tmp_path, [kernel("a", 0)], capabilities=stats)).device
    assert (device.name, device.peak_gflops) == ("Nvidia GPU", None)
    assert list(device.bandwidth_gbs) == [MemoryLevel.HBM]


def test_a_kernel_of_a_whole_program_names_no_op(tmp_path: Path) -> None:
    """XProf lists it as an op "XlaModule/copy" of category "XlaModule"."""
    stream = [kernel("copy", 0, tf_op="XlaModule:"), kernel("add", 20, tf_op="a/b/Add:")]
    path = write(tmp_path, stream)
    ours, xprofs = imported(path).ops, imported(path, xprof_compat=True).ops
    assert dict(zip(ours.name, ours.category, strict=True)) == {
        "copy": "kernel without HLO",
        "a/b/Add/add": "Add",
    }
    assert dict(zip(xprofs.name, xprofs.category, strict=True)) == {
        "XlaModule/copy": "XlaModule",
        "a/b/Add/add": "Add",
    }


def stepped(tmp_path: Path, steps: int) -> Path:
    launches: list[Event] = [
        ("launch", (100 * k + 1) * US, US, [("correlation_id", k)]) for k in range(steps)
    ]
    roots: list[Event] = [
        ("train", 100 * k * US, 50 * US, [("_r", 1, "i64"), ("step_num", 40 + k)])
        for k in range(steps)
    ]
    host = sorted(roots + launches, key=lambda event: event[1])
    kernels = [kernel("gemm", 100 * k + 20, op="d0", correlation=k) for k in range(steps)]
    return write(tmp_path, kernels, host=host)


def test_steps_have_their_kernels_work_and_the_annotations_numbers(tmp_path: Path) -> None:
    steps = imported(stepped(tmp_path, 3)).steps
    assert steps.label == ("40", "41", "42")
    assert steps.duration_ps.tolist() == [10 * US] * 3
    assert steps.sums.flop[:, 0].tolist() == [2 * 64 * 32 * 48] * 3


def test_xprof_shows_steps_of_zeros_and_leaves_out_the_ends_of_many(tmp_path: Path) -> None:
    few, many = (imported(stepped(tmp_path, n), xprof_compat=True).steps for n in (5, 6))
    assert few.label == tuple("01234")
    assert many.label == tuple("1234")
    assert not many.time_ps.any()


def test_times_per_gpu_are_means_over_those_that_ran_something(tmp_path: Path) -> None:
    """The table divides by as many GPUs as the budget; XProf by all of the host."""
    path = stepped(tmp_path, 2)
    resting = space_bytes([gpu_plane([[]], number=k) for k in (1, 2)])
    path.write_bytes(path.read_bytes() + resting)
    ours = analysed(path)
    assert ours.device.core_count == ours.profile.hosts[0].core_count == 1
    points = ours.with_infeed.program
    assert points.measures.total_time_per_core_us[0] == choose(ours, "capture").time_us == 110
    assert ours.profile.steps.time_ps.tolist() == [10 * US] * 2
    assert "2 of 3 GPUs ran nothing" in " ".join(one.message for one in ours.diagnostics)
    assert imported(path, xprof_compat=True).device.core_count == 3


def test_a_kernel_without_launch_belongs_to_the_step_before(tmp_path: Path) -> None:
    path = stepped(tmp_path, 2)
    planes = path.read_bytes()
    assert imported(path).steps.label == ("40", "41")
    late = gpu_plane([[kernel("tail", 35)]], number=1)
    path.write_bytes(planes + space_bytes([late]))
    assert imported(path).ops.name.count("tail") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model/dense/MatMul:MatMul", ("model/dense/MatMul", "MatMul")),
        ("jit(f)/dot_general:", ("jit(f)/dot_general", "dot_general")),
        ("jit(f)/t:transpose[permutation=(0, 1)]", ("jit(f)/t", "transpose")),
        ("no type", ("no type", "unknown")),
        ("a b:C D", ("a b:C D", "unknown")),
    ],
)
def test_framework_op_names(text: str, expected: tuple[str, str]) -> None:
    assert framework_op(text) == expected


@pytest.mark.parametrize(
    "name", ["MemcpyD2H", "MEMCPYHtoD", "Memset", "__amd_rocclr_copyBuffer.kd"]
)
def test_memory_copies_are_known_by_name(name: str) -> None:
    assert is_memcpy(name)


def test_damaged_captures_are_read_or_refused(tmp_path: Path) -> None:
    """Flipped bits and cut ends: a profile that can be analysed, or an error for people."""
    whole = bytearray(stepped(tmp_path, 3).read_bytes())
    rng = random.Random(5)
    path = tmp_path / "damaged.xplane.pb"
    for k in range(150):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged[: rng.randrange(len(damaged))] if k % 3 == 0 else damaged)
        for compat in (False, True):
            try:
                profile = imported(path, xprof_compat=compat)
            except RooflineError:
                continue
            with np.errstate(all="ignore"):
                analyse(profile, resolve(profile.device), AnalysisOptions(xprof_compat=compat))
