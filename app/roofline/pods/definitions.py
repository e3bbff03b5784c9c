"""The formulas of a run, on whole numbers, equal on every machine: `docs/runs-definitions.md`."""

from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import F64, I64, Bools, Values

SLOWER = 1.02
FAR_OUT = 3.5
_MAD_TO_SIGMA = 1.4826
_LEAST_SPREAD = 0.005


def lower_median(values: Values, axis: int = 0) -> Values:
    """The value in the middle, the lower one of two: always a value that was measured."""
    in_order = np.sort(values, axis=axis)
    return np.asarray(np.take(in_order, (values.shape[axis] - 1) // 2, axis=axis))


def rank_of_p95(count: int) -> int:
    """The place, from 0, of the 95th percentile of `count` values in order: nearest rank."""
    return -(-95 * count // 100) - 1


def scores(values: Values, axis: int = 0) -> F64:
    """How far each value is above the median, in robust standard deviations.

    (x - med) / max(1.4826 MAD, 0.005 med), the modified z-score of Iglewicz and Hoaglin (1993).
    """
    middle = np.expand_dims(lower_median(values, axis), axis)
    away = values - middle
    mad = np.expand_dims(lower_median(np.abs(away), axis), axis)
    spread = np.maximum(_MAD_TO_SIGMA * mad, _LEAST_SPREAD * middle)
    found: F64 = np.divide(away, spread, out=np.zeros(values.shape), where=spread > 0)
    return found


def robust_deviation(values: Values) -> float:
    """The standard deviation of `values` as their median deviation tells it: 1.4826 MAD."""
    return _MAD_TO_SIGMA * float(lower_median(np.abs(values - lower_median(values))))


def scores_of_all(values: I64) -> F64:
    """Scores of values, of shape (hosts, rows), by the spread of all rows together.

    Each value counts relative to the median of its row. A spread of many rows is not small by
    chance, as that of a few hosts may be.
    """
    middle = lower_median(values)
    away = np.divide(values - middle, middle, out=np.zeros(values.shape), where=middle > 0)
    spread = max(_MAD_TO_SIGMA * float(lower_median(np.abs(away).ravel())), _LEAST_SPREAD)
    return np.asarray(away / spread)


def stands_out(values: Values, axis: int = 0) -> Bools:
    """True where a value is 2 % and 3.5 scores above the median."""
    middle = np.expand_dims(lower_median(values, axis), axis)
    found: Bools = (scores(values, axis) >= FAR_OUT) & (values >= SLOWER * middle) & (middle > 0)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Values over hosts, one per row (an op, a step): `worst` is the place of the first largest."""

    least: I64
    median: I64
    p95: I64
    largest: I64
    worst: I64
    total: I64
    hosts: int

    @property
    def lost(self) -> I64:
        """Sum over hosts of what each is below the largest."""
        return self.hosts * self.largest - self.total


def spread(values: I64) -> Spread:
    """The spread of `values`, of shape (hosts, rows), over hosts."""
    in_order, hosts = np.sort(values, axis=0), len(values)
    return Spread(
        least=in_order[0],
        median=in_order[(hosts - 1) // 2],
        p95=in_order[rank_of_p95(hosts)],
        largest=in_order[-1],
        worst=values.argmax(axis=0),
        total=values.sum(axis=0),
        hosts=hosts,
    )


def share(part: int, whole: int) -> float | None:
    """`part` divided by `whole`; `None` where there is nothing to divide by."""
    return part / whole if whole > 0 else None
