"""The same-work ratio: a chip's time for operations whose work equals that of the median host.

Only operations of known FLOPs or bytes count. A host that was given more of everything has no
operation of the same work: then its times are divided by its work, relative to the median.
"""

from dataclasses import dataclass

import numpy as np

from roofline.model.op_columns import F64, I64, Bools, Values
from roofline.pods.blocks import Block
from roofline.pods.partial import BYTES, FLOP, KNOWN, OCCURRENCES
from roofline.pods.report import FEWEST_HOSTS

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
