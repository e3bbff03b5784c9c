"""A capture and a report of its kernels make one profile; other mixtures ask which one to open."""

from dataclasses import replace
from pathlib import Path

import pytest

from roofline.errors import UploadRejectedError
from roofline.importers.shared.join_kernels import kernel_key
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Provenance
from tests.profiles import imported
from tests.tools import make_ncu_samples as ncu
from tests.tools.gpu_captures import Event, gpu_plane
from tests.tools.make_ncu_samples import Kernel
from tests.tools.small_profiles import space_bytes

US = 1_000_000

FUSION = Kernel(
    name="loop_add_fusion_3(float *, const float *)",
    time_ns=2_000,
    instructions={"ffma": 500, "fadd": 24, "fmul": 0},
    dram_bytes=4_096,
    l2_bytes=8_192,
)
ELSEWHERE = Kernel(name="warm_up(int)", time_ns=9_000, dram_bytes=64)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Three runs of a fusion and one of a kernel without counters."""
    kernels: list[Event] = [("loop_add_fusion.3", k * 5 * US, 2 * US, []) for k in range(3)]
    kernels.append(("input_reduce_fusion.9", 20 * US, 4 * US, []))
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space_bytes([gpu_plane([kernels])]))
    return path


def report(tmp_path: Path, *kernels: Kernel, name: str = "kernels.ncu-rep") -> Path:
    path = tmp_path / name
    path.write_bytes(ncu.report(kernels))
    return path


@pytest.mark.parametrize("report_first", [False, True])
def test_counters_of_matching_kernels_join_the_capture(
    capture: Path, tmp_path: Path, report_first: bool
) -> None:
    counted = report(tmp_path, FUSION, FUSION, ELSEWHERE)
    paths = (counted, capture) if report_first else (capture, counted)
    profile, alone = imported(*paths), imported(capture)
    assert profile.format_id == "xspace"
    assert profile.ops.name == alone.ops.name
    assert profile.time_ps == alone.time_ps
    assert profile.flop_provenance is Provenance.MODELLED
    measured = profile.device.counters.measured
    assert measured is not None
    # The mean of two counted launches, three times: as often as the program ran it.
    assert measured.flop == 3 * (2 * 500 + 24)
    assert measured.unit_flop == {ComputeUnit.VECTOR_FP32: measured.flop}
    assert measured.traffic_bytes[MemoryLevel.HBM] == 3 * 4_096
    assert measured.traffic_bytes[MemoryLevel.L2] == 3 * 8_192
    assert measured.op_bytes == {profile.ops.name.index("loop_add_fusion.3"): 3 * 4_096}
    assert measured.time_ps == 6 * US
    assert (measured.matched_kernels, measured.total_kernels) == (1, 2)
    assert measured.source == "Nsight Compute 2024.1.1.0: kernels.ncu-rep"
    joined = next(d for d in profile.diagnostics if d.code == "counters-joined")
    assert "Of its 2 kernels, 1 run" in joined.message
    assert "60 %" in joined.message


@pytest.mark.parametrize(
    ("time_ns", "said"), [(2_000, ""), (4_600, "0.43 times"), (1_000, "2 times")]
)
def test_another_build_is_told_by_its_times(
    capture: Path, tmp_path: Path, time_ns: int, said: str
) -> None:
    """Three runs of 2 µs, of which two were counted."""
    counted = report(tmp_path, *[replace(FUSION, time_ns=time_ns)] * 2)
    notes = [one.message for one in imported(capture, counted).diagnostics if "speed" in one.code]
    assert len(notes) == bool(said)
    assert all(said in one and "took 6 µs in the timeline" in one for one in notes)


def test_a_report_of_another_program_asks_which_one_to_open(capture: Path, tmp_path: Path) -> None:
    with pytest.raises(UploadRejectedError) as raised:
        imported(capture, report(tmp_path, ELSEWHERE))
    assert "host.xplane.pb" in raised.value.message
    assert "kernels.ncu-rep" in raised.value.message
    assert "Which one" in raised.value.remedy


def test_instances_of_one_template_are_told_apart(tmp_path: Path) -> None:
    names = ("void gemm<(int)64>(float *)", "void gemm<(int)128>(float *)")
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space_bytes([gpu_plane([[(names[1], 0, US, []), ("gemm", 2 * US, US, [])]])]))
    kernels = [
        Kernel(name=n, time_ns=9, dram_bytes=64 * k, instructions={"ffma": 1})
        for k, n in enumerate(names, 1)
    ]
    measured = imported(path, report(tmp_path, *kernels)).device.counters.measured
    assert measured is not None
    assert measured.traffic_bytes[MemoryLevel.HBM] == 128  # "gemm" alone could be either


def test_kernels_with_times_only_have_no_counters(capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "basic.csv"
    text = '"ID","Kernel Name","gpu__time_duration.sum"\n"","","nsecond"\n'
    path.write_text(text + '"0","loop_add_fusion_3","2000"\n', "utf-8")
    with pytest.raises(UploadRejectedError):
        imported(capture, path)


def test_other_mixtures_name_every_file(capture: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("name,time_us,flops,bytes\nk,5,100,10\n", "utf-8")
    with pytest.raises(UploadRejectedError) as raised:
        imported(capture, table)
    assert "host.xplane.pb" in raised.value.message
    assert "mine.csv" in raised.value.message


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("loop_add_fusion.3", "loop_add_fusion_3"),
        ("loop_add_fusion_3(float *, long)", "loop_add_fusion_3"),
        ("void cutlass::Kernel2<cutlass_80_gemm>(Params)", "cutlass_kernel2"),
        ("%Fusion", "fusion"),
        ("(anonymous)", ""),
    ],
)
def test_names_that_mean_the_same_kernel(name: str, key: str) -> None:
    assert kernel_key(name) == key
