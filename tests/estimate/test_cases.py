"""Worked cases of roofline arithmetic in the shared folder, through `estimate` on parts of their
peaks.

Of the 162 cases those of language models are in `llm`. Those that need more than one op on one part
are elsewhere: accumulators and on-chip levels, counted instructions, shares of the time.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from roofline.devices.parts import Figure, FigureStatus, Part, Source
from roofline.estimate import on_device
from roofline.estimate.document import estimate_document
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options
from roofline.estimate.variants import exact_batch_threshold
from roofline.model.device import DeviceKind
from roofline.model.units import GIGA, gib_to_gb

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "model" / "calculators.csv"
needs_shared = pytest.mark.skipif(not CASES.is_file(), reason="needs the shared folder")
Answer = Mapping[str, Any]
PERCENT = 100.0
PEAK, WIDTH, LINK = 1e15, 1e12, 1e11
ELEMENTS = 10**6
TYPES = {1: "fp8", 2: "bf16", 4: "fp32"}
BOUNDS = {"compute": "COMP", "vector": "COMP", "memory": "MEM", "link": "COMM"}


def part(**rates: float) -> Part:
    """A part with these peaks, FLOP/s and B/s."""
    source = Source(key="case", title="a case", address="", revision="", kind="measured")
    return Part(
        id="case",
        vendor="Google",
        name="case",
        kind=DeviceKind.TPU,
        aliases=(),
        family="",
        scope="",
        devices_per_chip=1,
        notes="",
        figures=tuple(
            Figure(of=of, value=rate, unit="", status=FigureStatus.CHOSEN, source=source)
            for of, rate in rates.items()
        ),
    )


def found(
    op: str,
    shape: str,
    *,
    peak: float = PEAK,
    bw: float = WIDTH,
    link: float = LINK,
    **options: Any,
) -> dict[str, Any]:
    """The estimate of an op on a part of these peaks, as JSON."""
    units = dict.fromkeys(("matrix_bf16", "matrix_fp8", "matrix_fp32", "vector_fp32"), peak)
    with pytest.MonkeyPatch.context() as patched:
        made = part(**units, hbm=bw, link_oneway=link, links_oneway=link)
        patched.setattr(on_device, "known_part", lambda _: made)
        return estimate_document(estimate(op, shape, "case", Options(**options)))


def at(ai: float, peak: float, bw: float) -> dict[str, Any]:
    """An op of this intensity: two tensors of two-byte elements."""
    return found("elementwise", str(ELEMENTS), peak=peak, bw=bw, flops_per_element=4 * ai)


def _rate(document: Mapping[str, Any]) -> float:
    return float(document["attainable_gflops"]) * GIGA


def _cell(ai: float, peak: float, bw: float) -> Answer:
    one = at(ai, peak, bw)
    share = _rate(one) / peak * PERCENT
    return {"perf": _rate(one), "pct_of_peak": share, "bound": BOUNDS[one["bound"]]}


def _views(ai: float, peak: float, bw: float) -> Answer:
    one, cell = at(ai, peak, bw), _cell(ai, peak, bw)
    used = one["time_us"]["memory"] / one["t_min_us"]
    return {**cell, "pct_of_peak_flops": cell["pct_of_peak"], "pct_of_peak_bw": used * PERCENT}


def _measured(ai: float, efficiency: float, peak: float, bw: float) -> Answer:
    cell = _cell(ai, peak, bw)
    gap = {"actual": efficiency * cell["perf"], "gap_pct": (1 - efficiency) * PERCENT}
    return {**gap, "roof": cell["perf"], "bound": cell["bound"]}


def _work(document: Mapping[str, Any]) -> Answer:
    moved = document["bytes"]["hbm"]
    return {"flops": document["flops"], "bytes": moved, "ai": document["intensity"]["hbm"]}


def _ridge(peak: float, bw: float) -> float:
    return float(found("matmul", "8x8x8", peak=peak, bw=bw)["ridge_flop_per_byte"])


def _hierarchical(ai: float, peak: float, bw_hbm: float, bw_fast: float) -> Answer:
    return {
        "ridge_hbm": _ridge(peak, bw_hbm),
        "ridge_fast": _ridge(peak, bw_fast),
        "perf_hbm": _cell(ai, peak, bw_hbm)["perf"],
        "perf_fast": _cell(ai, peak, bw_fast)["perf"],
    }


def _times(flops: float, peak: float, bytes_: float, bw: float) -> dict[str, Any]:
    each = flops / (bytes_ / 4)
    return found("elementwise", str(round(bytes_ / 4)), peak=peak, bw=bw, flops_per_element=each)


def _bounds(flops: float, peak: float, bytes_by_level: Any, bw_by_level: Any) -> Answer:
    one = _times(flops, peak, bytes_by_level["hbm"], bw_by_level["hbm"])
    return {
        "T_math": one["time_us"]["vector"] / 1e6,
        "T_min": one["t_min_us"] / 1e6,
        "T_max": one["t_max_us"] / 1e6,
        "governs": {"vector": "math", "memory": "hbm"}[one["bound"]],
    }


def _accept(t: float, flops: float, peak: float, bytes_: float, bw: float) -> Answer:
    one = _times(flops, peak, bytes_, bw)
    if t < one["t_min_us"] / 1e6:
        return {"verdict": "too_fast"}
    return {"verdict": "too_slow" if t > one["t_max_us"] / 1e6 else "ok"}


def _launch(flops: float, bytes_: float, peak: float, bw: float, measured_s: float) -> Answer:
    roof = _times(flops, peak, bytes_, bw)["t_min_us"] / 1e6
    return {"roof_s": roof, "times_roof": measured_s / roof}


def _two_chips(b: int, d: int, f: int, peak: float, link: float) -> Answer:
    one = found("distributed-matmul", f"{b}x{d}x{f}", peak=peak, bw=1e18, link=link)
    return {"bound": BOUNDS[one["bound"]]}


def _flip(peak: float, link: float) -> Answer:
    one = found("distributed-matmul", "64x64x64", peak=peak, link=link)
    return {"D": one["thresholds"]["contracted"]}


def _double(b: int, d: int, f: int, peak: float, bw: float) -> Answer:
    before, after = (
        found("matmul", f"{n * b}x{d}x{f}", peak=peak, bw=bw)["t_min_us"] for n in (1, 2)
    )
    return {"time_ratio": after / before, "perf_ratio": 2 * before / after}


def _threshold(peak: float, bw: float, w_bytes: int) -> Answer:
    one = found("matmul", "8x64x64", peak=peak, bw=bw, weights=TYPES[w_bytes])
    return {"ridge": one["ridge_flop_per_byte"], "B": one["thresholds"]["batch"]}


def _exact_batch(
    peak: float, bw: float, d: int, f: int, x_bytes: int, w_bytes: int, z_bytes: int
) -> Answer:
    types: dict[str, Any] = {
        "dtype": TYPES[x_bytes],
        "weights": TYPES[w_bytes],
        "out_dtype": TYPES[z_bytes],
    }
    one = found("matmul", f"8x{d}x{f}", peak=peak, bw=bw, **types)
    return {"B": one["thresholds"]["batch_exact"]}


def _tiled(
    bm: int,
    bn: int,
    bk: int,
    tm: int,
    tn: int,
    tk: int,
    *,
    writes: bool = False,
    dtype_bytes: int = 2,
) -> Answer:
    shape, tile = f"{bm * tm}x{bk * tk}x{bn * tn}", f"{bm}x{bn}x{bk}"
    one = found("matmul", shape, tile=tile, dtype=TYPES[dtype_bytes])
    moved = one["tiles"]["bytes"] + (one["tensors"]["out"] if writes else 0)
    return {"ai": one["flops"] / moved}


def _elementwise(n: int, flops_per_element: float, dtype_bytes: int, tensors: int) -> Answer:
    return _work(
        found(
            "elementwise",
            str(n),
            flops_per_element=flops_per_element,
            inputs=tensors - 1,
            dtype=TYPES[dtype_bytes],
        )
    )


def _chain(
    n: int, dtype_bytes: int, flops_per_element: float, passes: int, peak: float, bw: float
) -> Answer:
    one = found(
        "elementwise",
        str(n),
        peak=peak,
        bw=bw,
        flops_per_element=flops_per_element,
        inputs=passes - 1,
        dtype=TYPES[dtype_bytes],
    )
    return {**_work(one), "perf": _rate(one)}


def _fused(passes_before: int, passes_after: int) -> Answer:
    ops = (passes_before - passes_after) // 2 + 1
    inputs = passes_after - 1
    one = found("chain", str(ELEMENTS), ops=ops, inputs=inputs, flops_per_element=0.01)
    return {"speedup": one["unfused"]["speed_up"]}


def _shares(b: int, d: int, f: int) -> Answer:
    tensors = found("matmul", f"{b}x{d}x{f}")["tensors"]
    parts = {"x_pct": tensors["a"], "w_pct": tensors["b"], "z_pct": tensors["out"]}
    return {name: one / sum(tensors.values()) * PERCENT for name, one in parts.items()}


def _square_crossover(peak: float, bw: float, dtype_bytes: int) -> Answer:
    """Where the two clocks of a square product cross, which grow as n³ and n²."""
    one = found("matmul", "512x512x512", peak=peak, bw=bw, dtype=TYPES[dtype_bytes])
    return {"N": 512 * one["time_us"]["memory"] / one["time_us"]["compute"]}


def _lever(ai_before: float, ai_after: float, peak: float, bw: float) -> Answer:
    before, after = (_rate(at(ai, peak, bw)) for ai in (ai_before, ai_after))
    return {"perf_gain": after / before}


def _matmul(shape: str, dtype_bytes: int) -> Answer:
    return _work(found("matmul", shape, dtype=TYPES[dtype_bytes]))


FUNCTIONS: Mapping[str, Callable[..., Answer]] = {
    "ridge": lambda peak, bw: {"ridge": _ridge(peak, bw)},
    "roof": lambda ai, peak, bw: {"perf": _cell(ai, peak, bw)["perf"]},
    "cell": _cell,
    "pct_views": _views,
    "measured_point": _measured,
    "hierarchical": _hierarchical,
    "bounds": _bounds,
    "acceptance_time": _accept,
    "distributed_2chip": _two_chips,
    "distributed_flip": _flip,
    "double_batch": _double,
    "batch_threshold_exact": _exact_batch,
    "batch_threshold": _threshold,
    "tiled": _tiled,
    "fusion_chain": _chain,
    "below_roof_time": _launch,
    "traffic_share": _shares,
    "matmul": lambda m, n, k, dtype_bytes: _matmul(f"{m}x{k}x{n}", dtype_bytes),
    "batched_matmul": lambda batch, m, n, k, dtype_bytes: _matmul(
        f"{batch}x{m}x{k}x{n}", dtype_bytes
    ),
    "square_ai_closed_form": lambda n, dtype_bytes: _matmul(f"{n}x{n}x{n}", dtype_bytes),
    "square_crossover": _square_crossover,
    "elementwise": _elementwise,
    "layernorm": lambda hidden, rows, dtype_bytes: _work(
        found("norm", f"{rows}x{hidden}", dtype=TYPES[dtype_bytes])
    ),
    "dot": lambda n: _work(found("dot", str(n))),
    "per_example": lambda b, d, f, dtype_bytes: _matmul(f"{b}x1x{d}x{f}", dtype_bytes),
    "fusion_speedup": _fused,
    "lever": _lever,
    "gib_to_gb": lambda gib: {"gb": gib_to_gb(gib)},
    "xprof_ridge": lambda peak_gflops, gibps: {"ridge": _ridge(peak_gflops, gib_to_gb(gibps))},
}
# Of language models: tests of `llm`. Of accumulators, on-chip levels, instructions and shares of a
# time: the product has them in clocks, counters and the plan of advice, whose tests have them.
ELSEWHERE = frozenset(
    {"llm_intensity", "llm_params", "batch_gain", "kv_cache"}
    | {"matmul_accumulator", "multi_roof", "ncu_flops"}
    | {"comm_fraction", "sustained", "ratio", "gap_views", "amdahl"}
)


def _lower(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name.lower(): value for name, value in inputs.items()}


def _cases() -> Iterator[dict[str, str]]:
    if CASES.is_file():
        with CASES.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                levels = json.loads(row["inputs_json"]).get("bytes_by_level", {"hbm": 0})
                if row["function"] not in ELSEWHERE and set(levels) == {"hbm"}:
                    yield row


def cases() -> list[dict[str, str]]:
    """The cases of one op on one part; none where the folder is missing."""
    return [*_cases()]


@needs_shared
def test_there_are_enough_cases() -> None:
    assert len(cases()) == 119
    assert {case["function"] for case in cases()} == set(FUNCTIONS)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case_id"])
def test_case_has_its_stated_digits(case: dict[str, str]) -> None:
    answer = FUNCTIONS[case["function"]](**_lower(json.loads(case["inputs_json"])))
    tolerances = json.loads(case["tolerance_abs_json"])
    for key, expected in json.loads(case["expected_json"]).items():
        if isinstance(expected, str):
            assert answer[key] == expected, key
        else:
            assert answer[key] == pytest.approx(expected, rel=0, abs=tolerances.get(key, 0.0)), key


def test_no_batch_is_large_enough_where_activations_bind() -> None:
    assert exact_batch_threshold(1e15, 1e12, 64, 64, (2, 2, 2)) is None
