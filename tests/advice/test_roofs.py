"""No finding of a whole analysis ends above a roof, whatever the program."""

from dataclasses import replace

import numpy as np
import pytest

from roofline.advice.advise import run_of
from roofline.advice.rules import RULES
from roofline.analysis.subjects.choose import choose
from roofline.exports.answering import answered
from roofline.model.compute import ComputeUnit
from tests.advice.test_rules import H100, TABLE
from tests.builders import analysis_on, profile_from_table

KINDS = ("matmul", "elementwise", "copy", "reduction", "attention", "convolution")
UNITS = (ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_TF32, ComputeUnit.VECTOR_FP32)
PEAKS = {ComputeUnit.MATRIX_BF16: 989.4e6, ComputeUnit.MATRIX_TF32: 494.7e6}


def random_row(rnd: np.random.Generator, number: int, unit: ComputeUnit) -> str:
    """An op at a random share of its roof, with sizes of a product."""
    m, k, n = (int(2 ** rnd.integers(4, 13)) for _ in range(3))
    dtype, size = ("bf16", 2) if unit is ComputeUnit.MATRIX_BF16 else ("f32", 4)
    flop, moved = 2 * m * k * n, size * (m * k + k * n + m * n)
    roof_us = max(flop / PEAKS.get(unit, 67e6), moved / 3.35e6)
    calls, kind = int(rnd.integers(1, 50)), KINDS[rnd.integers(len(KINDS))]
    took = max(calls * roof_us / rnd.uniform(0.05, 1.0), 1e-3)
    name = f"aten::mm [{number}]" if kind == "matmul" else f"{kind}{number}"
    tensors = f"{dtype}[{m},{k}]{{1,0}}; {dtype}[{k},{n}]{{1,0}}"
    work = f"{took:.6f} | {calls * flop} | {calls * moved} | {calls} | {tensors}"
    path, kernel = f"M/Layer{number % 3}/aten::{kind}", "gemm_tilesize128x128x64_x ×1"
    return f"{name} | {kind} | {work} | {path} | {kernel}"


@pytest.mark.parametrize("seed", range(12))
def test_no_finding_ends_above_a_roof(seed: int) -> None:
    rnd = np.random.default_rng(seed)
    unit = UNITS[seed % len(UNITS)]
    rows = "\n".join(random_row(rnd, number, unit) for number in range(30))
    profile = profile_from_table(TABLE + rows, device=H100, idle_us=float(rnd.integers(0, 5000)))
    ops = replace(profile.ops, unit_flop={unit: profile.ops.flop})
    analysis = analysis_on(replace(profile, ops=ops))
    record = answered(analysis).advice
    assert len(record["findings"]) > 2
    state = run_of(analysis, choose(analysis), RULES).state
    place = {name: row for row, name in enumerate(analysis.profile.ops.name)}
    saved = 0.0
    for one in record["findings"]:
        predicted = one["predicted"]
        if predicted is None:
            continue
        saved += predicted["saving_us"] if one["in_plan"] else 0.0
        assert predicted["saving_us"] <= one["observed"]["time_us"] * (1 + 1e-9)
        faster = one["lever"]["factor"] if one["lever"]["resource"] == "peak" else 1.0
        for landing in one["landing"]:
            assert 0 < landing["time_ratio"] <= 1 + 1e-9
            row = place[landing["name"]]
            after_us = landing["time_ratio"] * state.busy_us[row]
            for name, clock in state.clocks.items():
                left = landing["bytes_ratio" if name == "hbm" else "flop_ratio"]
                least_us = np.nan_to_num(clock[row]) * left * (1.0 if name == "hbm" else faster)
                assert after_us >= least_us * (1 - 1e-6)
    assert saved == pytest.approx(record["now_us"] - record["after_us"], rel=1e-9, abs=1e-6)
