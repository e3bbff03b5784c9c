"""Is a change of time noise? The replicate is the capture, not the step.

Steps of one capture share its machine, its clocks and its neighbours: tests over steps called 37 of
45 pairs of captures of one program different. So captures are compared, by the exact Mann-Whitney
test of their medians, and there is no verdict from one capture a side.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.analysis.roofline import Floats

FEWEST_CAPTURES = 3
"""A verdict on time needs this many captures on each side."""

LEVEL = 0.05
"""Chance at which a one-sided test says that a side is slower, though it is not."""

_FIRST_STEP_OFF = 0.30


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """Captures of two sides against each other.

    `ratio` is the median of the new ones over that of the old ones. `low` and `high` are the ends
    of its exact interval, each wrong with a chance of at most 5 %; `None` with too few captures for
    one. `p` is the chance of an order at least as clear in the observed direction if nothing had
    changed.
    """

    ratio: float
    p: float
    low: float | None
    high: float | None


def capture_median(samples_us: Sequence[float], total_us: float) -> float:
    """A capture's time per unit: the median of its steps, without a first one off by 30 %.

    `total_us` is the mean time, which counts where there are no single steps.
    """
    if not samples_us:
        return total_us
    rest = samples_us[1:]
    if rest:
        middle = float(np.median(rest))
        if abs(samples_us[0] - middle) > _FIRST_STEP_OFF * middle:
            return middle
    return float(np.median(samples_us))


def noise_us(a: Sequence[float], b: Sequence[float]) -> float | None:
    """How far captures of a side are apart, of both sides added up, in us; `None` with too few."""
    if min(len(a), len(b)) < FEWEST_CAPTURES:
        return None
    return max(a) - min(a) + max(b) - min(b)


def mann_whitney(old: Sequence[float], new: Sequence[float]) -> Tested:
    """The exact Mann-Whitney test of `new` against `old` times; every one above 0."""
    ratio = float(np.median(new) / np.median(old))
    logs = np.sort(np.log(np.array(new)[:, None] / np.array(old)[None, :]).ravel())
    beyond = _distribution(list(old), list(new))
    depth = _depth(beyond)
    return Tested(
        ratio=ratio,
        p=_chance(beyond, logs),
        low=math.exp(logs[depth - 1]) if depth else None,
        high=math.exp(logs[len(logs) - depth]) if depth else None,
    )


def _distribution(old: Sequence[float], new: Sequence[float]) -> list[float]:
    """Chance of each U from 0 to m n if all orders are alike, in the classic case without ties."""
    m, n = len(new), len(old)
    # counts[k][u]: ways to choose k of the first ranks as new ones with u pairs in order.
    counts: list[dict[int, int]] = [defaultdict(int) for _ in range(m + 1)]
    counts[0][0] = 1
    for rank in range(m + n):
        for k in range(min(m, rank + 1), 0, -1):
            below = rank - (k - 1)  # old ones among the ranks before this one
            if below > n:
                continue
            for u, ways in counts[k - 1].items():
                counts[k][u + below] += ways
    total = math.comb(m + n, m)
    return [counts[m][u] / total for u in range(m * n + 1)]


def _depth(chances: Sequence[float]) -> int:
    """How many of the sorted differences may be left out at each end; 0 for no interval."""
    cumulated = np.cumsum(chances)
    return int(np.searchsorted(cumulated, LEVEL * (1 + 1e-12), side="right"))


def _chance(chances: Sequence[float], logs: Floats) -> float:
    """P(U at least as far) in the observed direction; a tie counts half, rounded against us."""
    above = float((logs > 0).sum() + (logs == 0).sum() / 2)
    least = math.ceil(min(above, len(logs) - above))
    return min(1.0, float(sum(chances[: least + 1])))
