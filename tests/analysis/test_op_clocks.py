"""The times that an op's work takes at each resource, and what was measured beside them."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import OpClocks, RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import gib_to_gb
from roofline.pipeline import analyse_files
from tests.builders import ABSENT, analysed, analysis_on, profile_from_table, reported

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
HBM, VMEM_READ = MemoryLevel.HBM, MemoryLevel.VMEM_READ
# 1000 GFLOP/s; 100 and 1000 GB/s.
DEVICE = reported(cores=2, gibs={HBM: 100 / gib_to_gb(1.0), VMEM_READ: 1000 / gib_to_gb(1.0)})


def clocks_of(table: str) -> OpClocks:
    return analysed(table, device=DEVICE).ops.clocks


@pytest.mark.covers(165, 166, 169, 172, 173)
def test_clocks_divide_work_by_peaks_and_sum_up() -> None:
    clocks = clocks_of("op|self_us|time_us|flop|hbm_bytes|vmem_read_bytes\nx|1|900|3e8|1e7|5e7")
    assert clocks.of["compute"][0] == pytest.approx(300)
    assert clocks.of["hbm"][0] == pytest.approx(100)
    assert clocks.of["vmem_read"][0] == pytest.approx(50)
    assert clocks.t_min_us[0] == pytest.approx(300)
    assert clocks.t_max_us[0] == pytest.approx(450)
    assert clocks.above_t_max_us[0] == pytest.approx(450)
    assert not clocks.at_ridge[0]


@pytest.mark.parametrize(
    ("flop", "near"),
    [("7.9e7", False), ("8.1e7", True), ("1e8", True), ("1.24e8", True), ("1.26e8", False)],
)
def test_at_the_ridge_compute_and_memory_take_about_as_long(flop: str, near: bool) -> None:
    assert clocks_of(f"op|self_us|flop|hbm_bytes\nx|900|{flop}|1e7").at_ridge[0] == near


@pytest.mark.covers(193)
def test_measured_time_between_the_two_is_not_above() -> None:
    clocks = clocks_of("op|self_us|flop|hbm_bytes\nx|150|1e8|1e7")
    assert (clocks.t_min_us[0], clocks.t_max_us[0]) == pytest.approx((100, 200))
    assert clocks.above_t_max_us[0] == 0


@pytest.mark.parametrize(("flop", "moved"), [(ABSENT, ABSENT), ("5", ABSENT), ("0", "0")])
def test_work_that_is_not_known_takes_no_known_time(flop: str, moved: str) -> None:
    table = f"op|self_us|flop|bytes\nx|900|{flop}|{moved}\ny|1|1|1"
    profile = profile_from_table(table, device=DEVICE)
    if moved == ABSENT and flop != ABSENT:
        known = np.array([False, True])
        profile = replace(profile, ops=replace(profile.ops, bytes_known=known))
    clocks = analysis_on(profile, resolve(DEVICE)).ops.clocks
    columns = (clocks.t_min_us, clocks.t_max_us, clocks.above_t_max_us, *clocks.of.values())
    assert all(math.isnan(column[0]) for column in columns)


def test_start_of_a_transfer_that_moves_later_has_no_clocks() -> None:
    table = "op|category|self_us|flop|hbm_bytes\na|copy-start|{}|0|1e7"
    assert math.isnan(clocks_of(table.format(5)).t_min_us[0])
    assert clocks_of(table.format(500)).t_min_us[0] == pytest.approx(100)


def test_units_have_clocks_of_their_own() -> None:
    matrix, vector = ComputeUnit.MATRIX_BF16, ComputeUnit.VECTOR_FP32
    device = reported(gflops=None, unit_gflops={matrix: 1000.0, vector: 10.0})
    profile = profile_from_table("op|self_us|flop|hbm_bytes\nx|900|5e8|1", device=device)
    split = {matrix: np.array([498 * 10**6], np.uint64), vector: np.array([2 * 10**6], np.uint64)}
    ops = replace(profile.ops, unit_flop=split)
    clocks = analysis_on(replace(profile, ops=ops), resolve(device)).ops.clocks
    assert clocks.of["matrix_bf16"][0] == pytest.approx(498)
    assert clocks.of["vector_fp32"][0] == pytest.approx(200)
    assert clocks.of["compute"][0] == 0
    assert clocks.t_max_us[0] == pytest.approx(698, rel=1e-6)


WORK = st.tuples(*(st.integers(0, 10**12) for _ in range(4)))


@pytest.mark.covers(170)
@given(st.lists(WORK, min_size=1, max_size=5))
def test_t_min_and_t_max_enclose_each_other(rows: list[tuple[int, ...]]) -> None:
    lines = [f"op{k}|{1 + us / 1e6}|{f}|{h}|{v}" for k, (us, f, h, v) in enumerate(rows)]
    table = "\n".join(["op|self_us|flop|hbm_bytes|vmem_read_bytes", *lines])
    analysis = analysed(table, device=DEVICE)
    clocks, measures = analysis.ops.clocks, analysis.ops.measures
    known = ~np.isnan(clocks.t_min_us)
    t_min, t_max = clocks.t_min_us[known], clocks.t_max_us[known]
    n_clocks = np.sum([~np.isnan(column[known]) for column in clocks.of.values()], axis=0)
    assert (t_min <= t_max * (1 + 1e-12)).all()
    assert (t_max <= n_clocks * t_min * (1 + 1e-12)).all()
    share = measures.roofline_efficiency_ratio[known] * measures.total_time_us[known]
    assert t_min == pytest.approx(share)


def counts(analysis: RooflineAnalysis) -> tuple[int, int, int]:
    """Ops between T_min and T_max, above T_max, below T_min."""
    clocks, measured = analysis.ops.clocks, analysis.ops.measures.total_time_us
    known = ~np.isnan(clocks.t_min_us)
    above = known & (clocks.above_t_max_us > 0)
    below = known & (measured < clocks.t_min_us)
    return int((known & ~above & ~below).sum()), int(above.sum()), int(below.sum())


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_training_on_v5p_is_mostly_above_its_clocks() -> None:
    path = SHARED / "profiles" / "tpu-v5p-training-golden" / "reference.json"
    assert counts(analyse_files([path])) == (9, 228, 14)
