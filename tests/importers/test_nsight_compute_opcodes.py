"""Work by the opcode histogram: real reports, moves of constants, predication, integer work."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from roofline.errors import CorruptProfileError
from roofline.importers.nsight_compute.launches import Launch, ResultKind
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.work import LaunchWork, launch_work
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.profile import Profile
from roofline.pipeline import analyse_files
from tests.profiles import imported
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import KERNELS, Kernel, Strings

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "samples" / "nsight_compute"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real reports is not there")
FP64, FP32 = ComputeUnit.VECTOR_FP64, ComputeUnit.VECTOR_FP32
FP16, BF16 = ComputeUnit.VECTOR_FP16, ComputeUnit.VECTOR_BF16
THREADS = "sass__thread_inst_executed_true_per_opcode"
CAPABILITY = "device__attribute_compute_capability_major"
PIPE = "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active"


def real(name: str) -> Profile:
    return imported(REAL / name)


def codes(profile: Profile) -> set[str]:
    return {found.code for found in profile.diagnostics}


def by_opcode(
    counts: Mapping[str, int],
    name: str = f"{THREADS}_with_modifier_all",
    numbers: Mapping[str, float] | None = None,
) -> LaunchWork:
    known, opcodes = numbers or {}, {name: counts}
    return launch_work(
        Launch(kind=ResultKind.KERNEL, name="k", number=0, numbers=known, opcodes=opcodes)
    )


# ------------------------------------------------------------------------------------- real reports


@needs_real
def test_moves_of_constants_are_not_flops() -> None:
    path = REAL / "a100_2021.2_fp64_constant_moves.ncu-rep"
    profile = real(path.name)
    # 3,087,127,633,827 of DADD, and as many of DFMA; 1.1e12 HFMA2.MMA load constants.
    assert int(profile.ops.flop[0]) == pytest.approx(3 * 3_087_127_633_827, rel=1e-9)
    assert list(profile.ops.unit_flop) == [FP64]
    assert "constant-moves" in codes(profile)
    total = analyse_files([path]).with_infeed.program.measures
    assert total.flop_rate_gflops[0] == pytest.approx(178.27, rel=1e-4)


@needs_real
def test_flops_that_have_no_counters_come_from_the_histogram() -> None:
    profile = real("2021_daxpy_no_flop_counters.ncu-rep")
    flop = dict(zip(profile.ops.name, profile.ops.flop.tolist(), strict=True))
    assert flop == {
        "daxpy_kernel(int, double, double *, double *)": 2 * 4_194_304,
        "init_data_kernel(int, double *)": 0,
        "check_results_kernel(int, double, double *)": 0,
    }
    assert profile.ops.flop_known.all()
    assert list(profile.ops.unit_flop) == [FP64]
    # Of its IMADs three quarters copy: two per multiply-add, one per IADD3.
    assert profile.ops.integer_ops[-1] == 2 * (2 * 4_194_304) + 8_388_608
    assert "flops-by-opcode" in codes(profile)


@needs_real
def test_names_may_be_strings_of_a_later_block() -> None:
    profile = real("2023.3_forward_strings.ncu-rep")
    assert profile.ops.occurrences.tolist() == [1]
    assert profile.time_ps == pytest.approx(6.134e9, rel=1e-3)


@needs_real
def test_counters_and_histogram_agree() -> None:
    """Where a report has both, they are the same work."""
    seen = 0
    for path in REAL.glob("*.ncu-rep"):
        for launch in read_report(SourceFile(path)).launches:
            work = launch_work(launch)
            for unit, flop in work.opcodes.flop.items():
                if unit in work.flop and unit not in work.by_opcode:
                    assert work.flop[unit] == pytest.approx(flop, rel=1e-9)
                    seen += flop > 0
    assert seen


# ------------------------------------------------------------------------------- floating point


@pytest.mark.parametrize(
    ("opcode", "unit", "flop"),
    [
        ("DADD", FP64, 1),
        ("DMUL", FP64, 1),
        ("DFMA.RM", FP64, 2),
        ("FADD.FTZ", FP32, 1),
        ("FMUL.FTZ.RZ", FP32, 1),
        ("FFMA", FP32, 2),
        ("FFMA2", FP32, 4),
        ("FADD32I", FP32, 1),
        ("HADD2", FP16, 2),
        ("HMUL2_32I", FP16, 2),
        ("HFMA2", FP16, 4),
        ("HFMA2.RELU", FP16, 4),
        ("HFMA2.MMA.RELU", FP16, 4),
        ("HFMA2.BF16_V2", BF16, 4),
        ("HFMA2.MMA.BF16_V2", BF16, 4),
    ],
)
def test_operations_of_a_thread(opcode: str, unit: ComputeUnit, flop: int) -> None:
    work = by_opcode({opcode: 10, "LDG.E": 3})
    assert {u: f for u, f in work.flop.items() if f} == {unit: 10 * flop}
    assert work.flop_known


@pytest.mark.parametrize(
    "opcode",
    ["DSETP.GT.AND", "FSETP", "FMNMX", "FSEL", "MUFU.RCP", "HADD2.F32", "F2I.FTZ", "HMMA.16816.F32",
     "FSWZADD", "IMAD", "DMMA.884"],
)  # fmt: skip
def test_what_is_not_a_flop(opcode: str) -> None:
    assert by_opcode({opcode: 10}).flop == {FP64: 0, FP32: 0, FP16: 0}


@pytest.mark.parametrize(
    ("beside", "capability", "flop"),
    [
        ({}, 8, 0),
        ({"HADD2.F32": 7}, 8, 0),  # a conversion
        ({"HMUL2": 1}, 8, 42),
        ({"HFMA2": 1}, 8, 44),
        ({"HFMA2.BF16_V2": 1}, 8, 40),
    ],
)
def test_a_multiply_add_alone_moves_constants(
    beside: Mapping[str, int], capability: int, flop: int
) -> None:
    work = by_opcode({"HFMA2.MMA": 10, "FFMA": 5, **beside}, numbers={CAPABILITY: capability})
    assert work.flop[FP16] == flop
    assert work.flop[FP32] == 10
    assert work.opcodes.moves_constants is (flop == 0)


SELECTIVE = f"{THREADS}_with_modifier_selective"


@pytest.mark.parametrize(
    ("name", "opcode", "numbers", "flop"),
    [
        (SELECTIVE, "HFMA2", {PIPE: 0.0}, 0.0),
        (SELECTIVE, "HFMA2", {PIPE: 3.0}, 40.0),
        (SELECTIVE, "HFMA2", {}, None),
        (THREADS, "HFMA2", {}, None),
        # Something of half precision ran beside the moves: they may not be moves.
        (f"{THREADS}_with_modifier_all", "HFMA2.MMA", {PIPE: 3.0}, None),
        (f"{THREADS}_with_modifier_all", "HFMA2", {CAPABILITY: 9.0}, 40.0),
        (f"{THREADS}_with_modifier_all", "HFMA2", {CAPABILITY: 10.0}, None),
    ],
)
def test_a_multiply_add_that_may_be_either_is_not_counted(
    name: str, opcode: str, numbers: Mapping[str, float], flop: float | None
) -> None:
    work = by_opcode({opcode: 10, "FFMA": 5}, name, numbers)
    assert work.flop.get(FP16) == flop
    assert work.opcodes.is_half_doubtful is (flop is None)
    assert work.flop_known  # of the rest
    assert not by_opcode({opcode: 10}, name, numbers).flop_known or flop is not None


def test_the_complete_histogram_comes_first() -> None:
    launch = Launch(
        kind=ResultKind.KERNEL,
        name="k",
        number=0,
        numbers={},
        opcodes={
            THREADS: {"HFMA2": 10},
            SELECTIVE: {"HFMA2": 10},
            f"{THREADS}_with_modifier_all": {"HFMA2.MMA": 10},
        },
    )
    assert launch_work(launch).flop[FP16] == 0


def test_warps_are_not_threads() -> None:
    """The count of warps says nothing of threads whose predicate was false."""
    assert by_opcode({"DFMA": 10}, "sass__inst_executed_per_opcode_with_modifier_all").flop == {}


# --------------------------------------------------------------------------------------- integers


@pytest.mark.parametrize(
    ("opcode", "operations"),
    [
        ("IMAD", 2),
        ("IMAD.WIDE.U32", 2),
        ("IMAD.HI.U32", 2),
        ("IMAD.IADD", 1),
        ("IMAD.SHL.U32", 1),
        ("IMAD.X", 1),
        ("IMAD.MOV.U32", 0),
        ("IMAD.MOV", 0),
        ("IMAD.U32", 0),
        ("IADD3.X", 1),
        ("LOP3.LUT", 1),
        ("SHF.R.U32.HI", 1),
        ("LEA.HI.X", 1),
        ("ISETP.GE.AND", 0),
        ("MOV", 0),
        ("UIADD3", 0),
        ("IMMA.8816.S8.S8", 0),
    ],
)
def test_integer_operations_are_counted_on_their_own(opcode: str, operations: int) -> None:
    work = by_opcode({opcode: 10})
    assert work.opcodes.integer_ops == 10 * operations
    assert not any(work.flop.values())


def test_integer_operations_are_unknown_where_copies_look_alike() -> None:
    assert by_opcode({"IMAD": 10}, SELECTIVE).opcodes.integer_ops is None


# ---------------------------------------------------------------------------------- known or not


def profile_of(tmp_path: Path, *kernels: Kernel) -> Profile:
    path = tmp_path / "report.ncu-rep"
    path.write_bytes(ncu.report(kernels))
    return imported(path)


def test_zero_by_some_counters_is_not_zero(tmp_path: Path) -> None:
    """Counters of fp32 and fp64 are 0, and half precision was not counted."""
    profile = profile_of(tmp_path, Kernel(name="copy", time_ns=9, dram_bytes=64))
    assert not profile.ops.flop_known[0]
    assert profile.ops.bytes_known[0]
    assert "no-flop-counters" in codes(profile)


def test_work_that_one_launch_does_not_know_is_unknown_of_the_kernel(tmp_path: Path) -> None:
    known = Kernel(name="gemm", time_ns=1000, dram_bytes=64, instructions={"ffma": 500})
    unknown = Kernel(name="gemm", time_ns=9000, dram_bytes=64, opcodes={"HGMMA.64x128x16.F32": 5})
    ops = profile_of(tmp_path, known, unknown).ops
    assert ops.time_ps.tolist() == [10_000_000]
    assert (ops.flop_known.tolist(), ops.flop.tolist()) == ([False], [0])
    assert (ops.bytes_known.tolist(), ops.bytes_accessed.tolist()) == ([True], [128])


def test_histograms_count_where_counters_are_partial() -> None:
    numbers = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 3.0}
    work = by_opcode({"FFMA": 3, "FADD": 4}, numbers=numbers)
    assert work.flop[FP32] == 10
    assert not work.partial


# --------------------------------------------------------------------------------------- strings


def forward(tmp_path: Path, *, cut: int = 0) -> Path:
    """A report whose first kernel is named by strings that only the last block holds."""
    strings = Strings()
    entries = [ncu.result(kernel, strings) for kernel in KERNELS[3:5]]
    header = ncu.whole(1, 0) + ncu.whole(2, 1)
    blocks = [ncu.block(header, entries[0]), ncu.block(header, entries[1], strings=strings)]
    path = tmp_path / "forward.ncu-rep"
    path.write_bytes(ncu.report((), others=blocks[: 2 - cut]))
    return path


def test_strings_of_a_later_block_name_metrics_of_an_earlier_one(tmp_path: Path) -> None:
    ops = imported(forward(tmp_path)).ops
    assert ops.name == (ncu.HGEMM, ncu.STENCIL)
    assert ops.time_ps.tolist() == [812_544_000, 2_214_880_000]
    assert ops.unit_flop[ComputeUnit.MATRIX_FP16][0] == 2 * 4096**3
    assert np.isfinite(ops.integer_ops[0])


def test_a_string_that_no_block_holds_is_damage(tmp_path: Path) -> None:
    with pytest.raises(CorruptProfileError, match=r"breaks at byte [\d,]+"):
        imported(forward(tmp_path, cut=1))
