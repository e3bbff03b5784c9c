"""Rules of number formats, tiles, attention, batches, sharding and other parts: worked by hand."""

from dataclasses import replace
from typing import Any

import pytest

from roofline.advice.advise import run_of
from roofline.advice.rules import RULES
from roofline.advice.rules.compute import filled
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.serving_records import ServingGroup, ServingRecords
from roofline.analysis.subjects.choose import choose
from roofline.analysis.time_records import TransferRecord, TransferRecords
from roofline.exports.advice import render_record
from roofline.exports.answering import answered
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel
from tests.advice.wording import forms_of
from tests.builders import analysed, analysis_on, profile_from_table

TABLE = "op | category | self_us | flop | bytes | times | operands | path | long_name\n"
H100 = ReportedDevice(
    kind=DeviceKind.GPU,
    name="NVIDIA H100 80GB HBM3",
    core_count=1,
    bandwidth_gbs={},
    traits=DeviceTraits(processor_count=132),
)
# Its peaks: 989.4 TFLOP/s bf16, 494.7 tf32, 67 fp32 on the vector unit, 3.35 TB/s.
GIB100 = 107_374_182


def on_h100(
    rows: str, unit: ComputeUnit = ComputeUnit.MATRIX_BF16, device: ReportedDevice = H100
) -> RooflineAnalysis:
    """A table whose FLOPs all ran on one unit."""
    profile = profile_from_table(TABLE + rows, device=device)
    ops = replace(profile.ops, unit_flop={unit: profile.ops.flop})
    return analysis_on(replace(profile, ops=ops))


def record(analysis: RooflineAnalysis) -> dict[str, Any]:
    """The advice as JSON, whose text can be written in every format."""
    advice = answered(analysis).advice
    for name in ("text", "markdown"):
        assert render_record(advice, name, 50)
    return advice


def by_rule(analysis: RooflineAnalysis) -> dict[str, dict[str, Any]]:
    """The findings by rule: every rule once."""
    found = record(analysis)["findings"]
    assert len({one["rule"] for one in found}) == len(found)
    return {one["rule"]: one for one in found}


def product(
    m: int, k: int, n: int, took_us: float, *, dtype: str = "bf16", kernel: str = "–"
) -> str:
    """A row: one product of m x k by k x n."""
    size = {"bf16": 2, "f32": 4}[dtype]
    moved = size * (m * k + k * n + m * n)
    tensors = f"{dtype}[{m},{k}]{{1,0}}; {dtype}[{k},{n}]{{1,0}}"
    return (
        f"aten::mm | matmul | {took_us} | {2 * m * k * n} | {moved} | 1 | {tensors} | – | {kernel}"
    )


def test_products_of_fp32_belong_on_the_matrix_unit() -> None:
    # 2 x 4096^3 FLOPs take 2051 us at 67 TFLOP/s, 278 us at 494.7; e is 0.9.
    rows = product(4096, 4096, 4096, 2051.33 / 0.9, dtype="f32")
    found = by_rule(on_h100(rows, ComputeUnit.VECTOR_FP32))
    assert found["V5"]["lever"] == {"resource": "peak", "factor": pytest.approx(67 / 494.7)}
    assert found["V5"]["predicted"]["saving_us"] == pytest.approx(
        (2051.33 - 277.82) / 0.9, rel=1e-4
    )
    assert "tf32" in found["V5"]["try"]
    assert "K3" not in found


def test_fp32_tensors_under_the_roof_of_a_shorter_format_are_flagged() -> None:
    rows = product(4096, 4096, 4096, 300.0, dtype="f32")
    flag = by_rule(on_h100(rows))["V5"]
    assert flag["predicted"] is None
    assert "bf16" in flag["why"]


@pytest.mark.parametrize(("rows", "is_offered"), [(255, False), (256, True)])
def test_fp8_is_for_products_of_256_rows(rows: int, is_offered: bool) -> None:
    """On an H20, 148 TFLOP/s and a ridge of 37, products of few rows are bound by compute."""
    device = replace(H100, name="NVIDIA H20", traits=DeviceTraits(processor_count=78))
    took_us = 2 * rows * 8192 * 8192 / 148e6 / 0.8
    found = by_rule(on_h100(product(rows, 8192, 8192, took_us), device=device))
    assert "K2" in found
    assert ("G5" in found) is is_offered


def test_a_well_used_matrix_unit_is_faster_in_fp8() -> None:
    rows = product(8192, 8192, 8192, 1111.30 / 0.8)
    found = by_rule(on_h100(rows))
    half = 1.13 * 989.4 / 1978.9  # products reach less of the fp8 peak
    assert found["G5"]["lever"]["factor"] == pytest.approx(half)
    assert found["G5"]["predicted"]["saving_if_alone_us"] == pytest.approx(
        1111.30 * (1 - half) / 0.8, rel=1e-4
    )
    # One time is saved once: first by what keeps the results, and the other is said to be instead.
    assert list(found)[:2] == ["K2", "G5"]
    assert found["K2"]["predicted"]["saving_us"] == pytest.approx(
        1111.30 / 0.8 - 1111.30 / 0.85, rel=1e-3
    )
    assert (found["G5"]["group"], found["G5"]["in_plan"]) == (found["K2"]["group"], False)
    assert found["G5"]["changes_results"] and found["K2"]["in_plan"]
    assert "fp8" in found["G5"]["title"] and "−0.60\u00a0ms" in found["G5"]["saves"]
    assert found["K2"]["saves"] == "−0.08\u00a0ms"


@pytest.mark.parametrize(
    ("m", "n", "kernel", "share"),
    [
        (128 * 133, 128, "gemm_tilesize128x128x64_x ×1", 133 / 264),
        (128 * 132, 128, "gemm_tilesize128x128x64_x ×1", 1.0),
        (192, 128 * 132, "Cijk_BBS_MT128x128x64_SN ×1", 192 / 256),
        # Either side of the tile may lie along the rows: the fuller case counts.
        (128 * 132, 256, "nvjet_hsh_128x256_64x4_x ×1", 1.0),
        (128 * 133, 128, "gemm_tilesize128x128x64_splitK4 ×1", None),
        (128 * 133, 128, "gemm_tilesize128x128x64_x ×1, other ×1", None),
        (128 * 133, 128, "some_kernel ×1", None),
    ],
)
def test_the_filling_of_tiles_and_waves(m: int, n: int, kernel: str, share: float | None) -> None:
    operands = f"bf16[{m},64]{{1,0}}; bf16[64,{n}]{{1,0}}"
    assert filled("aten::mm", operands, kernel, 132) == (share and pytest.approx(share))
    assert filled("aten::mm", operands, kernel, None) is None


def test_waves_that_are_half_empty_are_a_lever() -> None:
    kernel = "gemm_tilesize128x128x64_x ×1"
    rows = product(128 * 133, 4096, 128, 45.0, kernel=kernel)
    found = by_rule(on_h100(rows))
    assert "K1" not in found  # the memory binds: tiles are not what holds it
    rows = product(128 * 19, 4096, 128 * 7, 39.0, kernel=kernel)
    told = record(on_h100(rows))["findings"]
    assert len({one["id"] for one in told}) == len(told)
    filling = next(one for one in told if "filled" in one["observed"])
    assert forms_of(filling) == {"filled"}
    assert filling["observed"]["filled"] == pytest.approx(133 / 264)
    assert filling["predicted"]["saving_us"] == pytest.approx(39.0 * (1 - 133 / 264), rel=1e-3)
    assert filling["confidence"] == "high"


SCORES = 16 * 1024 * 1024  # of 16 heads with 1024 tokens


def attention_rows(softmax_us: float) -> str:
    path = "Model/Attention/aten::{}"
    first = "bf16[16,1024,64]{2,1,0}; bf16[16,64,1024]{2,1,0}"
    second = "bf16[16,1024,1024]{2,1,0}; bf16[16,1024,64]{2,1,0}"
    scores = "bf16[16,1024,1024]{2,1,0}"
    flop, small = 2 * SCORES * 64, 2 * 16 * 1024 * 64
    return "\n".join(
        f"aten::{name} | {category} | {us} | {work} | {moved} | 1 | {tensors} | "
        f"{path.format(name)} | –"
        for name, category, us, work, moved, tensors in [
            ("bmm", "matmul", 20, flop, 2 * small + 2 * SCORES, first),
            ("_softmax", "softmax", softmax_us, 5 * SCORES, 4 * SCORES, scores),
            ("bmm", "matmul", 20, flop, 2 * small + 2 * SCORES, second),
        ]
    )


def test_scores_in_the_main_memory_belong_into_one_kernel() -> None:
    finding = by_rule(on_h100(attention_rows(30)))["G4"]
    assert sorted(finding["ops"]) == [0, 1, 2]
    moved = 2 * (2 * 2 * 16 * 1024 * 64) + 2 * 2 * SCORES + 4 * SCORES
    left = 2 * (2 * 2 * 16 * 1024 * 64)
    assert finding["lever"]["factor"] == pytest.approx(left / moved)
    assert "Attention" in finding["title"]


def test_a_softmax_without_products_is_not_attention() -> None:
    rows = attention_rows(30).split("\n")[1]
    assert "G4" not in by_rule(on_h100(rows))


def test_keys_and_values_that_are_most_of_the_bytes_fit_in_8_bits() -> None:
    # One new token, 4096 keys: 2 x 64 MiB of keys and values.
    cache = 2 * 16 * 4096 * 8 * 64
    tensors = "bf16[16,1,8,64]{3,2,1,0}; bf16[16,4096,8,64]{3,2,1,0}; bf16[16,4096,8,64]{3,2,1,0}"
    moved = 2 * cache + 2 * 2 * 16 * 8 * 64
    took = moved / 3.35e6 / 0.8
    rows = (
        f"aten::_flash_attention_forward | attention | {took} | 1000 | {moved} | 1 | {tensors} "
        "| – | –"
    )
    found = by_rule(on_h100(rows))
    finding = found["G4"]
    assert finding["lever"]["factor"] == pytest.approx(1 - cache / moved)
    assert finding["predicted"]["saving_us"] == pytest.approx(took * cache / moved, rel=1e-3)
    assert "M2" not in found  # what to halve is known


def test_few_rows_per_read_of_the_weights_are_an_option_outside_the_plan() -> None:
    weights = 2 * 8192 * 8192
    took = weights / 3.35e6 / 0.8
    analysis = on_h100(product(16, 8192, 8192, took))
    found = by_rule(analysis)
    option = found["G3"]
    assert option["predicted"] is None
    assert option["gain_ratio"] == pytest.approx(2 / (1 + 2 * 2 * 16 * 8192 / weights), rel=2e-2)
    assert option["observed"]["small"] == 16
    # B* is about the ridge for two-byte weights: 989.4e12 / 3.35e12.
    assert option["observed"]["large"] == pytest.approx(295.3, rel=0.01)
    assert "G2" in found
    assert [one["rule"] for one in record(analysis)["findings"]][-2:] != ["G2"]


def group(sequences: float, time_us: float, **shares: float | None) -> ServingGroup:
    """Ten decode steps of a batch."""
    nothing = dict.fromkeys(ServingGroup.__dataclass_fields__)
    known: dict[str, Any] = {
        **nothing,
        "phase": "decode",
        "sequences": sequences,
        "steps": 10,
        "time_us": time_us,
        **shares,
    }
    return ServingGroup(**known)


def served(*groups: ServingGroup) -> dict[str, dict[str, Any]]:
    """The options of a server's steps, beside an op of unknown cost."""
    analysis = on_h100("x | other | 100 | – | – | 1 | – | – | –")
    nothing: Any = None
    serving = ServingRecords(steps=nothing, columns=nothing, groups=groups)
    found = by_rule(replace(analysis, serving=serving))
    return {rule: one for rule, one in found.items() if one["gain_ratio"]}


def test_decode_steps_that_read_weights_take_more_sequences_and_drafts() -> None:
    found = served(
        group(8, 900, bandwidth_ratio=0.8, weight_ratio=0.7, cache_ratio=0.05, flop_ratio=0.05)
    )
    assert found["G3"]["gain_ratio"] == pytest.approx(1.6 / 0.9)
    assert found["G6"]["gain_ratio"] == pytest.approx(2.40114, rel=1e-4)
    assert set(found) == {"G3", "G6"}


def test_drafts_need_room_for_compute() -> None:
    found = served(
        group(100, 900, bandwidth_ratio=0.8, weight_ratio=0.7, cache_ratio=0.05, flop_ratio=0.3)
    )
    assert set(found) == {"G3"}


def test_decode_steps_that_read_the_cache_want_it_smaller() -> None:
    found = served(
        group(64, 900, bandwidth_ratio=0.8, weight_ratio=0.2, cache_ratio=0.6, flop_ratio=0.1)
    )
    assert {rule: one["gain_ratio"] for rule, one in found.items()} == {
        "G4": pytest.approx(0.8 / 0.5)
    }


@pytest.mark.parametrize(
    ("time_us", "share", "rules"),
    [(1090, None, {"L3"}), (1110, None, set()), (1090, 0.5, set())],
)
def test_steps_that_take_no_longer_for_twice_the_batch_are_bound_by_overhead(
    time_us: float, share: float | None, rules: set[str]
) -> None:
    found = served(group(8, 1000), group(16, time_us, bandwidth_ratio=share))
    assert set(found) == rules
    for one in found.values():
        assert one["gain_ratio"] == pytest.approx(2 / 1.09)


def test_links_that_take_longer_than_all_work_want_another_division() -> None:
    analysis = on_h100(product(4096, 4096, 4096, 200.0))
    work_us = 2 * 4096**3 / 989.4e6
    moved = TransferRecord(
        op=0,
        done=-1,
        kind="all-gather",
        link=MemoryLevel.NVLINK,
        group_size=8,
        occurrences=1,
        unpaired=False,
        bytes=450e3 * 180,
        payload_bytes=None,
        time_us=180.0,
        exposed_us=0.0,
        achieved_gbs=None,
        is_lower_bound=False,
        peak_gbs=450.0,
        saving_us=None,
    )
    assert "C2" not in by_rule(analysis)
    busy = replace(analysis, transfers=TransferRecords((moved,)))
    run = run_of(busy, choose(busy), RULES)

    def options(least_us: float) -> list[float | None]:
        needs = replace(run, state=replace(run.state, least_us=least_us), _found={})
        return [option.gain for option in needs.found_by("C2")]

    assert options(180.0) == [pytest.approx(2 * 180 / max(2 * work_us, 180))]
    assert options(100.0) == []


def test_vector_work_is_held_against_the_vector_unit() -> None:
    device = ReportedDevice(
        kind=DeviceKind.TPU,
        name="TPU v5p",
        core_count=1,
        peak_gflops=459_000.0,
        bandwidth_gbs={MemoryLevel.HBM: 2765.0},
    )
    # 4e9 FLOPs: 8.7 us at 459 TFLOP/s, but the vector unit needs longer than the bytes do.
    table = "op | category | self_us | flop | bytes | times\n"
    found = by_rule(
        analysed(table + "gelu | loop fusion | 400 | 4000000000 | 300000000 | 1", device=device)
    )
    assert found["V4"]["observed"]["ratio"] > 0.3
    assert found["V4"]["predicted"] is None
    same = "gelu | convolution fusion | 400 | 4000000000 | 300000000 | 1"
    assert "V4" not in by_rule(analysed(table + same, device=device))


def test_findings_about_impossible_operations_wait_and_all_others_are_said() -> None:
    table = "op | category | self_us | flop | bytes | times\n"
    rows = f"fast | loop | 500 | 1 | {GIB100} | 10\nslow | copy | 2000 | 1 | {GIB100} | 10"
    found = record(analysed(table + rows))
    assert [one["rule"] for one in found["findings"]] == ["M1", "V1"]
    assert found["first"]["finding"] == "M1:slow"
    assert forms_of(found["findings"][0]) == {"copy"}
    assert found["findings"][1]["id"] == "V1:fast"
    assert (found["waiting"], found["waiting_summary"]) == (0, "")
    again = f"fast | loop | 500 | 1000 | {GIB100} | 10 | rematted_computation/x"
    doubtful = record(analysed(table.replace("\n", " | path\n") + again))
    assert [one["rule"] for one in doubtful["findings"]] == ["V1"]
    assert (doubtful["waiting"], doubtful["first"]["saving_us"]) == (1, None)
    assert doubtful["waiting_summary"].startswith("1 ")
