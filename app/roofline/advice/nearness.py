"""How near each op is to a ceiling by counters, and what of its nearest unit is of use.

`docs/verdict.md` has the nearest ceiling. A share of use is known as a factor: lanes in use,
sectors that were wanted, and so on; the smallest one says where most is lost.
"""

from dataclasses import dataclass

import numpy as np

from roofline.advice.formula import OF_USE
from roofline.analysis.nearest_records import NearestOps
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.op_columns import Bools

_PIPES = frozenset(
    {
        Ceiling.ISSUE,
        Ceiling.ALU,
        Ceiling.SALU,
        Ceiling.XU,
        Ceiling.LSU,
        Ceiling.ADU,
        Ceiling.CBU,
        Ceiling.BRANCH,
        Ceiling.MIO,
    }
)
"""Ceilings of instructions that do no arithmetic of the program."""

_ARITHMETIC = (UseFactor.LANES, UseFactor.MULTIPLY_ADDS)
_FACTORS = {
    Ceiling.L1: (UseFactor.SECTORS, UseFactor.BANK_CONFLICTS),
    Ceiling.LDS: (UseFactor.BANK_CONFLICTS,),
    Ceiling.FMA: _ARITHMETIC,
    Ceiling.FP64: _ARITHMETIC,
    Ceiling.FP16: _ARITHMETIC,
    Ceiling.VALU: (UseFactor.LANES,),
    Ceiling.ALU: (UseFactor.LANES,),
    Ceiling.ISSUE: (UseFactor.REPLAYS, UseFactor.LANES),
}
_OF_ANY = (UseFactor.FEW_BLOCKS, UseFactor.LAST_WAVE, UseFactor.EQUAL_SMS)
"""Processors without work: filling them ends where the nearest unit is always busy."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nearness:
    """Per op: the share of its nearest ceiling, that of the next one, and what of it is of use.

    `use` is the factor that is known of the ceiling and leaves least of the time, named `factor`;
    `left` is that share of the time. Where none is known, or none explains the waste, both are
    useful ÷ busy, and the name is "". All are 0 to 1, NaN where unknown.
    """

    share: Floats
    following: Floats
    useful: Floats
    use: Floats
    left: Floats
    factor: tuple[str, ...]

    @property
    def fullest(self) -> Floats:
        """Per op: the share of its busiest unit, which stands little above one that has a name."""
        return np.fmax(self.share, self.following)


def nearness_of(analysis: RooflineAnalysis) -> Nearness:
    """How near the ops of the profile are, by the counters of their units."""
    near, count = analysis.nearest, len(analysis.profile.ops)
    named = near.named[:count]
    shares = near.shares()[:, :count]
    share, useful = near.largest[:count], np.full(count, np.nan)
    following = np.full(count, np.nan)
    if len(shares):
        chosen = np.maximum(named, 0), np.arange(count)
        share = np.where(named >= 0, shares[chosen], share)
        useful = np.where(named >= 0, near.useful[:, :count][chosen], np.nan)
        others = np.nan_to_num(shares)
        others[chosen] = 0.0
        following = others.max(axis=0)
    factor, least, left = _least_factors(analysis, share)
    remainder = useful / np.where(share > 0, share, np.nan)
    is_other = np.isnan(least) | ((left >= OF_USE.value) & (remainder < OF_USE.value))
    return Nearness(
        share=share,
        following=following,
        useful=useful,
        use=np.where(is_other, remainder, least),
        left=np.where(is_other, remainder, left),
        factor=tuple(
            "" if other else name for name, other in zip(factor, is_other.tolist(), strict=True)
        ),
    )


def _least_factors(
    analysis: RooflineAnalysis, share: Floats
) -> tuple[tuple[str, ...], Floats, Floats]:
    """The factor of each op's nearest ceiling that leaves least of its time: name, value, left."""
    table, count = analysis.profile.ops, len(share)
    time_ps = np.where(table.time_ps > 0, table.time_ps.astype(np.float64), np.nan)
    columns = {name: column / time_ps for name, column in table.use_ps.items()}
    names, values, left = [""] * count, np.full(count, np.nan), np.full(count, np.nan)
    for op in np.flatnonzero(analysis.nearest.is_busy_known[:count]).tolist():
        ceiling = analysis.nearest.ceiling_of(op)
        of_it = _FACTORS.get(Ceiling(ceiling), ()) if ceiling in set(Ceiling) else ()
        known = {name: float(columns[name][op]) for name in (*of_it, *_OF_ANY) if name in columns}
        leaves = {
            name: max(value, share[op]) if name in _OF_ANY else value
            for name, value in known.items()
            if value == value
        }
        if leaves:
            least = min(leaves, key=leaves.__getitem__)
            names[op], values[op], left[op] = least.value, known[least], leaves[least]
    return tuple(names), values, left


def is_busy_with_a_pipe(near: NearestOps) -> Bools:
    """The ops whose nearest ceiling is a pipe or the issue slots."""
    pipes = [place for place, name in enumerate(near.ceilings) if name in _PIPES]
    return np.isin(near.named, pipes)
