"""A change of time as terms that add up to it: calls, work, traffic, peaks, closeness.

For calls n, FLOPs f and bytes b per call, peaks P and time T, let rho(f, b, P) be the longest of
work ÷ peak over all roofs, and e = n rho ÷ T the closeness to the roof. With the logarithmic mean
L(x, y) = (x - y) / ln(x / y), L(x, x) = x:

    T1 - T0 = L(T1, T0) (ln(n1 / n0) + phi_f + phi_b + phi_P - ln(e1 / e0))

where the phi are the Shapley values of ln rho: the mean over the orders of replacing f, b and P.
An equal count of FLOPs by other units (TF32 on one side, fp32 on the other) is a change of peaks:
the split by unit then goes with P, not with f. Logarithmic mean divisia index (Ang and Liu 2007);
at zero time its analytic limit, never a small number instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.model.op_columns import Bools

OF_PAIRS = ("calls", "work", "traffic", "peaks", "closeness", "unknown")
TERMS = (
    *OF_PAIRS[:5],
    "regrouped",
    "new",
    "gone",
    "unknown",
    "idle",
    "communication",
    "transfers",
)
"""Every term, in the order in which they are listed."""


_SAME_FLOP = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Costs:
    """One side of pairs, a row each: calls, time, and work per call by resource.

    `flop` and `bytes` have the shape (pairs, resources); `peaks` too, 0 where there is no peak.
    `is_known` marks rows whose bound is known.
    """

    calls: Floats
    time_us: Floats
    flop: Floats
    bytes: Floats
    flop_peaks: Floats
    bytes_peaks: Floats
    is_known: Bools


def log_mean(x: Floats, y: Floats) -> Floats:
    """The logarithmic mean; 0 where one of the two is."""
    both = (x > 0) & (y > 0)
    ratio = np.log(np.where(both, x, 1.0) / np.where(both, y, 1.0))
    is_close = np.abs(ratio) < 1e-4
    # x = m e^(r/2), y = m e^(-r/2): L = m sinh(r/2) / (r/2), by its series where r is small.
    middle = np.sqrt(np.where(both, x, 0.0)) * np.sqrt(np.where(both, y, 0.0))
    series = middle * (1 + ratio * ratio / 24)
    exact = (x - y) / np.where(is_close, 1.0, ratio)
    return np.where(both, np.where(is_close, series, exact), 0.0)


def attribute(a: Costs, b: Costs) -> dict[str, Floats]:
    """The terms of each pair, in us; they add up to its change."""
    change = b.time_us - a.time_us
    weight = log_mean(b.time_us, a.time_us)
    before, after = _with_peaks_of(a, b), _with_peaks_of(b, a)
    rho_a, rho_b = _roof_us(before, before, before), _roof_us(after, after, after)
    timed = (a.time_us > 0) & (b.time_us > 0)
    known = a.is_known & b.is_known & (rho_a > 0) & (rho_b > 0)
    called = (a.calls > 0) & (b.calls > 0)
    phi_f, phi_b, phi_p = _shapley(before, after, known)
    calls = np.where(called & timed, weight * _log_ratio(b.calls, a.calls, called), 0.0)
    terms = {
        "calls": calls,
        "work": np.where(known & timed, weight * phi_f, 0.0),
        "traffic": np.where(known & timed, weight * phi_b, 0.0),
        "peaks": np.where(known & timed, weight * phi_p, 0.0),
    }
    # The closeness term is all that is left: -L ln(e1 / e0), without the rounding of its logarithm.
    rest = change - sum(terms.values())
    return {
        **terms,
        "closeness": np.where(known, rest, 0.0),
        "unknown": np.where(known, 0.0, rest),
    }


def regrouped(time_us: tuple[float, float], roof_us: tuple[float, float]) -> dict[str, float]:
    """The terms of a group of operations that became another group, in us.

    `roof_us` are the sums of n rho of both sides, NaN where a part is unknown.
    """
    change = time_us[1] - time_us[0]
    if not all(value > 0 for value in (*roof_us, *time_us)):
        return {"unknown": change}
    weight = float(log_mean(np.array([time_us[1]]), np.array([time_us[0]]))[0])
    moved = weight * float(np.log(roof_us[1] / roof_us[0]))
    return {"regrouped": moved, "closeness": change - moved}


def roof_us(costs: Costs) -> Floats:
    """The time that one call of each row needs at its roof, in us; 0 where no roof is known."""
    return _roof_us(costs, costs, costs)


def add_up(parts: Mapping[str, float]) -> dict[str, float]:
    """`parts` with every term, 0 where it has none."""
    return {name: float(parts.get(name, 0.0)) for name in TERMS}


def _with_peaks_of(costs: Costs, other: Costs) -> Costs:
    """`costs` with the other side's peak where its own is not known: no change of that peak."""
    return replace(
        costs,
        flop_peaks=np.where(costs.flop_peaks > 0, costs.flop_peaks, other.flop_peaks),
        bytes_peaks=np.where(costs.bytes_peaks > 0, costs.bytes_peaks, other.bytes_peaks),
    )


def _roof_us(flop: Costs, moved: Costs, peaks: Costs) -> Floats:
    """The longest of work ÷ peak: FLOPs of one side, bytes and peaks of the same or the other."""
    columns = [
        _over(flop.flop, peaks.flop_peaks),
        _over(moved.bytes, peaks.bytes_peaks),
    ]
    return np.asarray(np.concatenate(columns, axis=1).max(axis=1, initial=0.0))


def _over(work: Floats, peak: Floats) -> Floats:
    has_peak = peak > 0
    return np.where(has_peak, np.nan_to_num(work) / np.where(has_peak, peak, 1.0), 0.0)


def _shapley(a: Costs, b: Costs, known: Bools) -> tuple[Floats, Floats, Floats]:
    """The Shapley values of ln rho for FLOPs, bytes and peaks: all eight mixtures, weighted.

    Where one side has FLOPs alone and the other bytes alone, a mixture without any work has no
    logarithm, and no limit: FLOPs and bytes then share their joint value equally.
    """
    sides = (a, b)
    of_peaks = _equal_flop(a, b)[:, None]
    rho = {
        (f, m, p): _roof_us(
            replace(sides[f], flop=np.where(of_peaks, sides[p].flop, sides[f].flop)),
            sides[m],
            sides[p],
        )
        for f in (0, 1)
        for m in (0, 1)
        for p in (0, 1)
    }
    has_all = known & np.logical_and.reduce([value > 0 for value in rho.values()])
    log = {key: np.log(np.where(value > 0, value, 1.0)) for key, value in rho.items()}
    phi_f, phi_b = _three_way(log, 0), _three_way(log, 1)
    phi_p = _three_way(log, 2)
    joint_p = (log[0, 0, 1] - log[0, 0, 0] + log[1, 1, 1] - log[1, 1, 0]) / 2
    half = (log[1, 1, 1] - log[0, 0, 0] - joint_p) / 2
    return (
        np.where(has_all, phi_f, half),
        np.where(has_all, phi_b, half),
        np.where(has_all, phi_p, joint_p),
    )


def _equal_flop(a: Costs, b: Costs) -> Bools:
    """Pairs that do as many FLOPs per call on both sides, by whatever units."""
    before, after = (np.nan_to_num(side.flop).sum(axis=1) for side in (a, b))
    equal: Bools = np.abs(after - before) <= _SAME_FLOP * before
    return equal


def _three_way(log: Mapping[tuple[int, int, int], Floats], player: int) -> Floats:
    """One player's mean gain over the six orders, in which three players can be replaced."""

    def gain(first: int, second: int) -> Floats:
        others = [first, second]
        before = (*others[:player], 0, *others[player:])
        after = (*others[:player], 1, *others[player:])
        return log[after[0], after[1], after[2]] - log[before[0], before[1], before[2]]

    return gain(0, 0) / 3 + (gain(1, 0) + gain(0, 1)) / 6 + gain(1, 1) / 3


def _log_ratio(x: Floats, y: Floats, both: Bools) -> Floats:
    return np.log(np.where(both, x, 1.0) / np.where(both, y, 1.0))
