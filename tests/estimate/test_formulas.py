"""162 worked cases of roofline arithmetic, in the shared folder; those of language models aside."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from roofline.estimate import formulas as by_hand
from roofline.model.units import gib_to_gb

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "model" / "calculators.csv"
needs_shared = pytest.mark.skipif(not CASES.is_file(), reason="needs the shared folder")
Answer = Mapping[str, Any]
PERCENT = 100.0


def _cell(ai: float, peak: float, bw: float) -> Answer:
    rate = by_hand.attainable(ai, peak, bw)
    bound = "MEM" if by_hand.is_memory_bound(ai, peak, bw) else "COMP"
    return {"perf": rate, "pct_of_peak": rate / peak * PERCENT, "bound": bound}


def _counted(work: by_hand.Counted) -> Answer:
    return {"flops": work.flop, "bytes": work.bytes, "ai": work.intensity}


def _views(ai: float, peak: float, bw: float) -> Answer:
    cell = _cell(ai, peak, bw)
    used = cell["perf"] / min(ai * bw, peak)
    return {**cell, "pct_of_peak_flops": cell["pct_of_peak"], "pct_of_peak_bw": used * PERCENT}


def _measured(ai: float, efficiency: float, peak: float, bw: float) -> Answer:
    roof = by_hand.attainable(ai, peak, bw)
    gap = {"roof": roof, "actual": efficiency * roof, "gap_pct": (1 - efficiency) * PERCENT}
    return {**gap, "bound": _cell(ai, peak, bw)["bound"]}


def _gap(efficiency: float) -> Answer:
    gap = (1 - efficiency) * PERCENT
    return {"gap_pct": gap, "speedup": by_hand.speed_up(efficiency), "time_saved_pct": gap}


def _hierarchical(ai: float, peak: float, bw_hbm: float, bw_fast: float) -> Answer:
    return {
        "ridge_hbm": by_hand.ridge(peak, bw_hbm),
        "ridge_fast": by_hand.ridge(peak, bw_fast),
        "perf_hbm": by_hand.attainable(ai, peak, bw_hbm),
        "perf_fast": by_hand.attainable(ai, peak, bw_fast),
    }


def _bounds(flops: float, peak: float, bytes_by_level: Any, bw_by_level: Any) -> Answer:
    found = by_hand.clocks(flops, peak, bytes_by_level, bw_by_level)
    return {
        "T_math": found.seconds[by_hand.MATH],
        "T_min": found.t_min,
        "T_max": found.t_max,
        "ratio": found.t_max / found.t_min,
        "governs": found.governs,
        "perf": flops / found.t_min,
        "ai_hbm": by_hand.intensity_at(flops, bytes_by_level, "hbm"),
    }


def _accept(t: float, flops: float, peak: float, bytes_: float, bw: float) -> Answer:
    found = by_hand.clocks(flops, peak, {"hbm": bytes_}, {"hbm": bw})
    return {"verdict": by_hand.is_time_plausible(t, found)}


def _two_chips(b: int, d: int, f: int, peak: float, link: float) -> Answer:
    found = by_hand.distributed_matmul(b, d, f, peak, link)
    times = {"T_math": found.seconds[by_hand.MATH], "T_comm": found.seconds["link"]}
    return {**times, "bound": "COMP" if found.governs == by_hand.MATH else "COMM"}


def _double(b: int, d: int, f: int, peak: float, bw: float) -> Answer:
    before, after = (by_hand.matmul_time(n * b, d, f, peak, bw) for n in (1, 2))
    return {"time_ratio": after / before, "perf_ratio": 2 * before / after}


def _exact_batch(
    peak: float,
    bw: float,
    d: int,
    f: int,
    x_bytes: float,
    w_bytes: float,
    z_bytes: float,
) -> Answer:
    return {"B": by_hand.exact_batch_threshold(peak, bw, d, f, (x_bytes, w_bytes, z_bytes))}


def _tiled(
    bm: int,
    bn: int,
    bk: int,
    tm: int,
    tn: int,
    tk: int,
    *,
    writes: bool = False,
    dtype_bytes: float = 2.0,
) -> Answer:
    return _counted(by_hand.tiled_matmul((bm, bn, bk), (tm, tn, tk), dtype_bytes, writes=writes))


def _chain(
    n: int, dtype_bytes: float, flops_per_element: float, passes: int, peak: float, bw: float
) -> Answer:
    work = by_hand.elementwise(n, flops_per_element, dtype_bytes, passes)
    return {**_counted(work), "perf": by_hand.attainable(work.intensity, peak, bw)}


def _launch(flops: float, bytes_: float, peak: float, bw: float, measured_s: float) -> Answer:
    roof = by_hand.clocks(flops, peak, {"hbm": bytes_}, {"hbm": bw}).t_min
    return {"roof_s": roof, "times_roof": measured_s / roof}


def _shares(b: int, d: int, f: int) -> Answer:
    x, w, z = by_hand.traffic_shares(b, d, f)
    return {"x_pct": x * PERCENT, "w_pct": w * PERCENT, "z_pct": z * PERCENT}


def _ncu(fadd: int, fmul: int, ffma: int, tensor_inst: int, tensor_factor: int) -> Answer:
    return {"flops": by_hand.instruction_flop(fadd, fmul, ffma, tensor_inst, tensor_factor)}


FUNCTIONS: Mapping[str, Callable[..., Answer]] = {
    "ridge": lambda peak, bw: {"ridge": by_hand.ridge(peak, bw)},
    "roof": lambda ai, peak, bw: {"perf": by_hand.attainable(ai, peak, bw)},
    "cell": _cell,
    "pct_views": _views,
    "measured_point": _measured,
    "gap_views": _gap,
    "hierarchical": _hierarchical,
    "bounds": _bounds,
    "multi_roof": _bounds,
    "acceptance_time": _accept,
    "distributed_2chip": _two_chips,
    "distributed_flip": lambda peak, link: {"D": by_hand.distributed_crossover(peak, link)},
    "double_batch": _double,
    "batch_threshold_exact": _exact_batch,
    "batch_threshold": lambda peak, bw, w_bytes: {
        "ridge": by_hand.ridge(peak, bw),
        "B": by_hand.batch_threshold(peak, bw, w_bytes),
    },
    "tiled": _tiled,
    "fusion_chain": _chain,
    "below_roof_time": _launch,
    "traffic_share": _shares,
    "ncu_flops": _ncu,
    "matmul": lambda m, n, k, dtype_bytes: _counted(by_hand.matmul(m, n, k, dtype_bytes)),
    "batched_matmul": lambda batch, m, n, k, dtype_bytes: _counted(
        by_hand.matmul(m, n, k, dtype_bytes, batch=batch)
    ),
    "square_ai_closed_form": lambda n, dtype_bytes: {
        "ai": by_hand.square_matmul_intensity(n, dtype_bytes)
    },
    "square_crossover": lambda peak, bw, dtype_bytes: {
        "N": by_hand.square_crossover(peak, bw, dtype_bytes)
    },
    "matmul_accumulator": lambda n, a, b, acc, out: _counted(
        by_hand.accumulating_matmul(n, a, b, acc, out)
    ),
    "elementwise": lambda n, flops_per_element, dtype_bytes, tensors: _counted(
        by_hand.elementwise(n, flops_per_element, dtype_bytes, tensors)
    ),
    "layernorm": lambda hidden, rows, dtype_bytes: _counted(
        by_hand.layer_norm(hidden, rows, dtype_bytes)
    ),
    "dot": lambda n: _counted(by_hand.dot(n)),
    "per_example": lambda b, d, f, dtype_bytes: _counted(
        by_hand.per_example_matmul(b, d, f, dtype_bytes)
    ),
    "comm_fraction": lambda peak, fraction: {
        "effective": by_hand.after_communication(peak, fraction)
    },
    "fusion_speedup": lambda passes_before, passes_after: {
        "speedup": by_hand.fusion_speed_up(passes_before, passes_after)
    },
    "lever": lambda ai_before, ai_after, peak, bw: {
        "perf_gain": by_hand.intensity_gain(ai_before, ai_after, peak, bw)
    },
    "amdahl": lambda share, local_speedup: {"speedup": by_hand.amdahl(share, local_speedup)},
    "ratio": lambda a, b: {"ratio": a / b},
    "sustained": lambda peak, lo, hi: dict(
        zip(("lo", "hi"), by_hand.sustained(peak, lo, hi), strict=True)
    ),
    "gib_to_gb": lambda gib: {"gb": gib_to_gb(gib)},
    "xprof_ridge": lambda peak_gflops, gibps: {
        "ridge": by_hand.ridge(peak_gflops, gib_to_gb(gibps))
    },
}
# Of whole language models: formulas of another module.
OF_MODELS = {"llm_intensity", "llm_params", "batch_gain", "kv_cache"}


def _lower(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name.lower(): value for name, value in inputs.items()}


def cases() -> list[dict[str, str]]:
    if not CASES.is_file():
        return []
    with CASES.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["function"] not in OF_MODELS]


@needs_shared
def test_there_are_enough_cases() -> None:
    assert len(cases()) == 141
    assert {case["function"] for case in cases()} == set(FUNCTIONS)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case_id"])
def test_case_has_its_stated_digits(case: dict[str, str]) -> None:
    found = FUNCTIONS[case["function"]](**_lower(json.loads(case["inputs_json"])))
    tolerances = json.loads(case["tolerance_abs_json"])
    for key, expected in json.loads(case["expected_json"]).items():
        if isinstance(expected, str) or expected is None:
            assert found[key] == expected, key
        else:
            assert found[key] == pytest.approx(expected, rel=0, abs=tolerances.get(key, 0.0)), key


def test_no_batch_is_large_enough_where_activations_bind() -> None:
    assert by_hand.exact_batch_threshold(1e15, 1e12, 64, 64, (2, 2, 2)) is None


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16, 64])
def test_two_times_with_k_clocks_are_at_most_k_apart(ranks: int) -> None:
    found = by_hand.clocks(
        1e12, 1e14, {str(k): 1e10 for k in range(ranks)}, {str(k): 1e12 for k in range(ranks)}
    )
    assert found.t_min <= found.t_max <= (ranks + 1) * found.t_min * (1 + 1e-12)
