"""Which unit of a TensorCore does an op's FLOPs, and which roof that work is held against."""

import gzip
from pathlib import Path

import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.causes import Cause
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.importers.shared.hlo_text import parse_instruction
from roofline.importers.xspace.tpu_programs import matrix_unit, unit_by_text
from roofline.model.compute import ComputeUnit
from roofline.pipeline import analyse_files
from tests.profiles import imported
from tests.tools.gpu_captures import metadata_plane
from tests.tools.small_profiles import (
    CAPABILITIES,
    MICROSECOND_PS,
    SmallOp,
    hbm,
    space_bytes,
    tpu_plane,
)

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
GOLDEN = ROOT / "tests" / "golden" / "hlo"
BF16, INT8, VECTOR = ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_INT8, ComputeUnit.VECTOR_FP32
V6E = {**CAPABILITIES, "device_type_string": "TPU v6 lite", "peak_teraflops_per_second": 918.0}
MULTIPLY = "%fusion.1 = f32[8] fusion(f32[8] %p), kind=kLoop, calls=%c"
PRODUCT = "%fusion.2 = bf16[8,8] fusion(bf16[8,8] %p, bf16[8,8] %q), kind=kOutput, calls=%d"


@pytest.mark.covers(110, 204)
@pytest.mark.parametrize(
    ("category", "text", "unit"),
    [
        ("convolution fusion", PRODUCT, BF16),
        ("convolution", "%c = f32[8] convolution(f32[8] %a, f32[8] %b)", BF16),
        ("dot", "%c = s32[8] dot(s8[8,8] %a, s8[8] %b)", INT8),
        ("convolution fusion", "%c = f32[8] fusion(s8[8] %a, bf16[8] %b), kind=kOutput", None),
        ("convolution fusion", "%c = bf16[8] fusion(bf16[8] %a, f32[] %b), kind=kOutput", BF16),
        ("dot", "%c = f32[8] dot(f32[8] %a, f32[8] %b), operand_precision={highest,highest}",
         ComputeUnit.MATRIX_FP32),
        ("dot", "%c = f32[8] dot(f8e4m3fn[8] %a, f8e5m2[8] %b)", ComputeUnit.MATRIX_FP8),
        ("loop fusion", MULTIPLY, VECTOR),
        ("loop fusion", "%c = bf16[8] fusion(s32[8] %a), kind=kInput", VECTOR),
        ("non-fusion elementwise", "%c = f32[8] multiply(f32[8] %a, f32[8] %b)", VECTOR),
        ("reduce", "%c = f32[] reduce(f32[8] %a, f32[] %z), dimensions={0}", VECTOR),
        ("reduce", "%c = f64[] reduce(f64[8] %a, f64[] %z), dimensions={0}", None),
        ("output fusion", "%c = f32[8] fusion(f32[8] %a), kind=kOutput", None),
        ("custom-call", "%c = f32[8] custom-call(f32[8] %a)", None),
        ("all-reduce", "%c = f32[8] all-reduce(f32[8] %a)", None),
    ],
)  # fmt: skip
def test_opcode_and_types_tell_the_unit(category: str, text: str, unit: ComputeUnit | None) -> None:
    found = parse_instruction(text)
    assert found is not None
    assert unit_by_text(category, found) == unit


def test_types_that_are_no_operands_of_a_product_do_not_count() -> None:
    assert matrix_unit(["bf16", "s32", "pred"]) == BF16
    assert matrix_unit(["s32"]) is None
    assert matrix_unit(["bf16", "f32"]) == BF16


def analysed(folder: Path, *ops: SmallOp, program: str = "") -> RooflineAnalysis:
    planes = [tpu_plane(ops, [(0, 100 * MICROSECOND_PS)], capabilities=V6E)]
    if program:
        raw = gzip.decompress((GOLDEN / f"{program}.pb.gz").read_bytes())
        planes.append(metadata_plane({7: raw}))
    path = folder / "host.xplane.pb"
    path.write_bytes(space_bytes(planes))
    return analyse_files([path])


def op(name: str, text: str, category: str, gflop: float = 0.001, begin: int = 0) -> SmallOp:
    return SmallOp(
        name=name,
        spans=[(begin * MICROSECOND_PS, 10 * MICROSECOND_PS)],
        category=category,
        long_name=text,
        flops=int(gflop * 1e9),
        bytes_accessed=1000,
        memory=hbm(1000),
    )


def test_each_op_is_held_against_the_roof_of_its_own_unit(tmp_path: Path) -> None:
    # 35.84 MFLOP in 10 us are 3.584 TFLOP/s: half of the vector unit's 7.168, 0.4 % of the MXU's
    analysis = analysed(
        tmp_path,
        op("fusion.1", MULTIPLY, "loop fusion", 0.03584),
        op("fusion.2", PRODUCT, "convolution fusion", 4.59, begin=20),
        op("call", "%call = f32[8] custom-call(f32[8] %a)", "custom-call", 4.59, begin=40),
    )
    assert analysis.units == (VECTOR, BF16)
    share = dict(
        zip(analysis.ops.name, analysis.ops.measures.compute_efficiency_ratio, strict=False)
    )
    assert share["fusion.1"] == pytest.approx(0.5)
    assert share["fusion.2"] == share["call"] == pytest.approx(0.5)
    table = analysis.profile.ops
    for unit, name in ((VECTOR, "fusion.1"), (BF16, "fusion.2")):
        used = [int(flop) > 0 for flop in table.unit_flop[unit]]
        assert [n for n, u in zip(table.name, used, strict=True) if u] == [name]


def test_steps_split_their_work_by_unit_as_the_ops_do(tmp_path: Path) -> None:
    analysis = analysed(
        tmp_path,
        op("fusion.1", MULTIPLY, "loop fusion"),
        op("fusion.2", PRODUCT, "convolution fusion", begin=20),
    )
    steps, table = analysis.profile.steps.sums, analysis.profile.ops
    for unit in (VECTOR, BF16):
        assert steps.unit_flop[unit].sum() == table.unit_flop[unit].sum() > 0


def test_an_op_above_the_estimated_vector_roof_says_why(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, op("fusion.1", MULTIPLY, "loop fusion", 0.1))
    assert analysis.ops.above_roof[0] is Cause.COMPILER_COUNT, "a precision cannot explain it"


@pytest.mark.parametrize(
    ("program", "name", "unit"),
    [("dot_compiled", "ynn_fusion", BF16), ("train_compiled", "multiply_add_fusion", VECTOR)],
)
def test_the_program_tells_what_is_inside_a_fusion(
    program: str, name: str, unit: ComputeUnit, tmp_path: Path
) -> None:
    analysis = analysed(tmp_path, op(name, "", "custom fusion"), program=program)
    assert analysis.units == (unit,)


def test_without_text_and_program_the_unit_is_unknown(tmp_path: Path) -> None:
    assert analysed(tmp_path, op("fusion.1", "", "loop fusion")).units == ()


def test_comparison_mode_knows_one_unit(tmp_path: Path) -> None:
    path = ROOT / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"
    profile = imported(path, xprof_compat=True)
    assert profile.ops.unit_flop == {}
    options = AnalysisOptions(xprof_compat=True)
    assert analyse(profile, resolve(profile.device), options).units == ()


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_no_op_of_the_real_capture_is_above_its_compute_roof() -> None:
    path = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"
    analysis = analyse_files([path])
    assert analysis.units == (VECTOR,)
    share = analysis.ops.measures.compute_efficiency_ratio
    add = analysis.ops.name.index("broadcast_add_fusion.1")
    assert share[add] == pytest.approx(164.578 / 7168, rel=1e-5)
    assert max(value for value in share if value == value) < 0.03
