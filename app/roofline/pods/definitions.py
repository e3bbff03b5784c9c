"""The formulas of a run, on whole numbers, equal on every machine: `docs/runs-definitions.md`.

The same-work ratio: a chip's time for operations whose work equals that of the median host.

Only operations of known FLOPs or bytes count. A host that was given more of everything has no
operation of the same work: then its times are divided by its work, relative to the median.

The gain of putting right the hosts that hold the others up, one after the other.

Each step lasts as long as its slowest host works: with the worst one put right, the next one sets
the pace. So a gain depends on the order, and all gains add up to the cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.model.op_columns import F64, I64, Bools, Values
from roofline.pods.blocks import Block
from roofline.pods.partial import BYTES, FLOP, KNOWN, OCCURRENCES, SELF, Partial
from roofline.pods.report import FEWEST_HOSTS, Deviation, Gain, HostReport, OpKey

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


LEAST_COMPARED = 0.5
"""Where less of a chip's work can be compared, its ratio is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """One row per chip: the ratio (NaN: unknown), the share compared, and if it was divided."""

    ratio: F64
    compared_share: F64
    divided: Bools


class SameWork:
    """Takes blocks of operations; `host_of` is the place of each chip's host."""

    def __init__(self, host_of: I64, cores: I64) -> None:
        self._host_of, self._cores = host_of, cores
        # Rows: time compared, its reference, and how much of the chip's time that was.
        self._same = np.zeros((3, len(host_of)), np.int64)
        self._divided = np.zeros((3, len(host_of)), np.int64)

    def take(self, block: Block) -> None:
        """Add the operations of one block."""
        ran = block.quantities[OCCURRENCES] > 0
        per_core = block.quantities[[OCCURRENCES, FLOP, BYTES]] / self._cores[:, None]
        middle = np.stack([_median_of(one, ran) for one in per_core])
        known = ran & (block.quantities[KNOWN] > 0)
        same_hosts = known & (per_core == middle[:, None]).all(axis=0)
        reference, same = self._reference(block, same_hosts)
        _add(self._same, block.work_ps, block.work_ps, reference, same)
        factor = _factor(per_core, middle)[self._host_of]
        comparable = known[self._host_of] & (factor > 0) & (reference > 0) & (block.work_ps > 0)
        scaled = np.rint(block.work_ps / np.where(factor > 0, factor, 1)).astype(np.int64)
        _add(self._divided, block.work_ps, scaled, reference, comparable)

    def _reference(self, block: Block, same_hosts: Bools) -> tuple[I64, Bools]:
        """The median chip's time of each op (0: too few hosts), and the chips it holds for."""
        same = same_hosts[self._host_of] & (block.work_ps > 0)
        calls = _median_of(block.calls, same)
        same &= block.calls == calls
        enough = same_hosts.sum(axis=0) >= min(FEWEST_HOSTS, len(same_hosts))
        reference = np.where(enough, _median_of(block.work_ps, same), 0).astype(np.int64)
        return reference, same & (reference > 0)

    def ratios(self, chip_ps: I64) -> Ratios:
        """The ratios of all chips, whose work is `chip_ps`."""
        total = np.maximum(chip_ps, 1)
        enough = self._same[2] >= LEAST_COMPARED * total
        chosen = np.where(enough, self._same, self._divided)
        share = np.minimum(chosen[2] / total, 1.0)
        ratio = np.full(len(chip_ps), np.nan)
        known = (chosen[1] > 0) & (share >= LEAST_COMPARED)
        np.divide(chosen[0], chosen[1], out=ratio, where=known)
        return Ratios(ratio=ratio, compared_share=share, divided=~enough & known)


def _add(sums: I64, own: I64, compared: I64, reference: I64, chosen: Bools) -> None:
    sums[0] += np.where(chosen, compared, 0).sum(axis=1)
    sums[1] += np.where(chosen, reference, 0).sum(axis=1)
    sums[2] += np.where(chosen, own, 0).sum(axis=1)


def _factor(per_core: F64, middle: F64) -> F64:
    """How much more work than the median host's: the larger of FLOPs and bytes; 0 if unknown.

    The larger one, because an accusation needs more than an assumption about what bounds the op.
    """
    work, of_median = per_core[1:], middle[1:, None]
    ratios: F64 = np.divide(work, of_median, out=np.zeros(work.shape), where=of_median > 0)
    return np.asarray(ratios.max(axis=0))


def _median_of(values: Values, chosen: Bools) -> F64:
    """The lower median of each column over its chosen rows; 0 without any."""
    largest = np.inf if values.dtype.kind == "f" else np.iinfo(np.int64).max
    in_order = np.sort(np.where(chosen, values, largest), axis=0)
    count = chosen.sum(axis=0)
    found = np.take_along_axis(in_order, np.maximum(count - 1, 0)[None] // 2, axis=0)[0]
    return np.asarray(np.where(count > 0, found, 0))


MOST_GAINS = 16
"""Hosts whose gains are told apart; the others are in the rest."""
MOST_DEVIATING = 32
"""Hosts whose deviations are told."""
DEVIATIONS = 10


def outliers(hosts: Sequence[HostReport]) -> list[HostReport]:
    """The hosts that hold the others up, the worst ratio first."""
    found = [one for one in hosts if one.verdict is not None]
    return sorted(found, key=lambda one: (-(one.same_work_ratio or 0.0), one.host))


def gains(hosts: Sequence[HostReport], work_ps: I64) -> tuple[Gain, ...]:
    """The share of the time that each outlier brings when its work is that of the median host.

    `work_ps` has a row for each of `hosts`, and a column for each step. The last gain, of no host,
    is what is left of the cost: the spread of all others. Empty where nothing ran.
    """
    rows = {one.host: k for k, one in enumerate(hosts)}
    median, rest = lower_median(work_ps), work_ps.copy()
    whole = pace = int(rest.max(axis=0).sum())
    if whole == 0:
        return ()
    found = []
    for one in outliers(hosts)[:MOST_GAINS]:
        row = rows[one.host]
        rest[row] = np.minimum(rest[row], median)
        left = int(rest.max(axis=0).sum())
        found.append(Gain(host=one.host, share=(pace - left) / whole))
        pace = left
    return (*found, Gain(host=None, share=(pace - int(median.sum())) / whole))


def with_deviations(
    hosts: Sequence[HostReport], workers: Sequence[Partial], representative: Partial
) -> list[HostReport]:
    """The hosts; outliers with the operations in which they differ most from `representative`."""
    named = {one.host for one in outliers(hosts)[:MOST_DEVIATING]}
    if not named:
        return list(hosts)
    wanted = _times(representative)
    return [
        replace(one, deviations=_deviations(partial, wanted)) if one.host in named else one
        for one, partial in zip(hosts, workers, strict=True)
    ]


def _times(one: Partial) -> dict[OpKey, int]:
    """The self time of each operation per core."""
    times = one.ops[SELF] // one.header.cores
    return dict(zip(one.names.keys, times.tolist(), strict=True))


def _deviations(one: Partial, wanted: Mapping[OpKey, int]) -> tuple[Deviation, ...]:
    mine = _times(one)
    found = [
        Deviation(key=key, time_ps=mine.get(key, 0), representative_ps=wanted.get(key, 0))
        for key in mine.keys() | wanted.keys()
    ]
    found.sort(key=lambda each: (-abs(each.time_ps - each.representative_ps), each.key))
    return tuple(one for one in found[:DEVIATIONS] if one.time_ps != one.representative_ps)
