"""Records of the nearest ceiling of each op."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.model.op_columns import F64, I64, Bools

TIE = 0.02
"""Ceilings within this of the largest share are equally near."""

SLACK = 0.05
"""Where the largest share is below, no unit is named."""


class OpClass(StrEnum):
    """What can be said of an op's bound."""

    BOUND = "bound"
    LATENCY = "latency"
    UNKNOWN = "unknown"
    TRANSFER = "transfer"


OP_CLASSES = tuple(OpClass)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearestOps:
    """The nearest ceiling of each op; rows are those of `OpRecords`, IDLE last.

    `ceilings` are ids: of `Ceiling` where the profiler counted busy shares, else of a compute unit
    ("matrix_bf16", "compute" for a peak of no unit) or a level. `useful` and `busy` have a column
    for each, shares of the op's time (0 to 1), NaN where unknown. `named` is the place of the
    ceiling that is named (-1: none), `largest` the largest share, `kind` a place in `OpClass`.
    `is_busy_known` says that a counter of the op was read.
    """

    ceilings: tuple[str, ...]
    useful: F64
    busy: F64
    named: I64
    largest: Floats
    kind: I64
    is_busy_known: Bools
    why: tuple[str, ...]
    why_words: tuple[str, ...]

    def shares(self) -> F64:
        """The larger of both shares of each ceiling, of shape (ceilings, ops)."""
        return np.fmax(self.useful, self.busy)

    def is_kind(self, kind: OpClass) -> Bools:
        """The ops of one class."""
        found: Bools = self.kind == OP_CLASSES.index(kind)
        return found

    def kind_of(self, op: int) -> OpClass:
        """The class of one op."""
        return OP_CLASSES[int(self.kind[op])]

    def ceiling_of(self, op: int) -> str:
        """The id of the ceiling that is named for an op; "" for none."""
        place = int(self.named[op])
        return self.ceilings[place] if place >= 0 else ""

    def ratios(self) -> Floats:
        """The share of each op's named ceiling, else its largest one; NaN where unknown."""
        return np.where(self.named >= 0, self._at_named(self.shares()), self.largest)

    def useful_ratios(self) -> Floats:
        """The useful share of each op's named ceiling; NaN where unknown."""
        return np.where(self.named >= 0, self._at_named(self.useful), np.nan)

    def _at_named(self, columns: F64) -> Floats:
        if not len(columns):
            return np.full(len(self.named), np.nan)
        found: Floats = columns[self.named, np.arange(len(self.named))]
        return found

    def also_of(self, op: int) -> tuple[str, ...]:
        """The ceilings that are about as near as the named one."""
        place = int(self.named[op])
        if place < 0:
            return ()
        shares = np.fmax(self.useful[:, op], self.busy[:, op])
        near = np.flatnonzero(shares >= self.largest[op] - TIE).tolist()
        return tuple(self.ceilings[one] for one in near if one != place)

    def busy_of(self, op: int) -> dict[str, float]:
        """The measured busy shares of an op by ceiling, the largest first."""
        column = self.busy[:, op]
        known = [place for place in np.argsort(-column).tolist() if np.isfinite(column[place])]
        return {self.ceilings[place]: float(column[place]) for place in known}
