"""Ceilings, ridge points and what binds: scalars and columns, without profiles."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from roofline.analysis import roofline
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND, attainable_gflops, classify
from roofline.model.units import GB_PER_GIB, gib_to_gb

NAN = float("nan")
POSITIVE = st.floats(1e-6, 1e12)
USED = st.one_of(st.floats(0, 10), st.just(NAN))


def column(*values: float) -> NDArray[np.float64]:
    return np.array(values, np.float64)


def test_ridge_is_where_both_ceilings_meet() -> None:
    ridge = roofline.ridge_point(1000.0, 100.0)
    assert ridge == 1000.0 / (100.0 * GB_PER_GIB)
    assert attainable_gflops(ridge, peak_gflops=1000.0, peak_gibs=100.0) == pytest.approx(1000.0)


def test_unknown_bandwidth_has_no_ridge() -> None:
    assert roofline.ridge_point(1000.0, 0.0) is None


@pytest.mark.covers(163, 176)
def test_bandwidth_limits_below_the_ridge_and_compute_above() -> None:
    roof = {"peak_gflops": 1000.0, "peak_gibs": 100.0}
    assert attainable_gflops(1.0, **roof) == pytest.approx(100.0 * GB_PER_GIB)
    assert attainable_gflops(1e6, **roof) == 1000.0


@given(intensity=POSITIVE, gflops=POSITIVE, gibs=POSITIVE)
def test_attainable_exceeds_neither_ceiling(intensity: float, gflops: float, gibs: float) -> None:
    best = attainable_gflops(intensity, peak_gflops=gflops, peak_gibs=gibs)
    assert best <= gflops
    assert best <= intensity * gib_to_gb(gibs)
    assert best in (gflops, intensity * gib_to_gb(gibs))


@pytest.mark.parametrize("whole", [0.0, 1e-11, -1e-11])
def test_ratio_to_next_to_nothing_is_missing(whole: float) -> None:
    assert roofline.ratio(column(5.0), whole, missing=-1.0)[0] == -1.0
    assert roofline.ratio(column(5.0), column(whole), missing=-1.0)[0] == -1.0


def test_ratio_keeps_unknown_parts_unknown() -> None:
    assert math.isnan(roofline.ratio(column(NAN), 2.0, missing=0.0)[0])


@pytest.mark.covers(192)
@pytest.mark.parametrize(
    ("compute", "memory", "code"),
    [
        (0.5, (0.4, 0.3), COMPUTE_BOUND),
        (0.3, (0.4, 0.3), 2),
        (0.3, (0.4, 0.5), 3),
        (0.4, (0.4, 0.4), COMPUTE_BOUND),
        (0.1, (0.4, 0.4), 2),
        (NAN, (NAN, 0.1), 3),
        (NAN, (NAN, NAN), UNKNOWN_BOUND),
        (0.0, (0.0, 0.0), UNKNOWN_BOUND),
        (1.5, (1.6, 0.2), 2),
    ],
    ids=str,
)
def test_most_used_ceiling_binds_and_the_first_of_equals(
    compute: float, memory: tuple[float, float], code: int
) -> None:
    levels = [(column(used), column(float(k))) for k, used in enumerate(memory)]
    assert classify(column(compute), column(9.0), levels).code[0] == code


@pytest.mark.covers(232)
def test_intensity_is_that_of_the_ceiling_that_binds() -> None:
    bounds = classify(column(0.1, 0.9, 0.0), column(7.0, 7.0, 7.0), [(column(0.5) * 1, column(3))])
    assert bounds.intensity.tolist() == [3.0, 7.0, 3.0]


def test_nothing_used_has_no_intensity() -> None:
    assert classify(column(0.0), column(7.0), []).intensity.tolist() == [0.0]


@given(compute=USED, memory=st.lists(USED, max_size=5))
def test_bound_is_never_less_used_than_another(compute: float, memory: Sequence[float]) -> None:
    levels = [(column(used), column(1.0)) for used in memory]
    code = int(classify(column(compute), column(1.0), levels).code[0])
    used = [0.0, compute, *memory]
    assert not math.isnan(used[code])
    assert used[code] == max(value for value in used if not math.isnan(value))
    assert all(not value >= used[code] for value in used[:code])


def test_highest_ignores_what_is_unknown() -> None:
    columns = [column(NAN, 0.2, NAN), column(0.1, 0.1, NAN)]
    found = roofline.highest(columns, length=3, missing=-1.0)
    assert found.tolist() == [0.1, 0.2, -1.0]


def test_highest_of_no_columns_is_missing() -> None:
    assert roofline.highest([], length=2, missing=0.0).tolist() == [0.0, 0.0]
