"""The time of a subject as blocks: of its operations, or of their groups, and of its waits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject
from roofline.figures.gain import Block, Part, by_group, in_order
from roofline.model.memory import MemoryLevel
from roofline.presentation.charts.gain_words import can_judge
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE

_WAIT_TOKENS = {
    "transfers": LEVEL_STYLES[MemoryLevel.HOST].token,
    "input": "--wait-infeed",
    "host_wait": "--ink-3",
}
_PART_TOKENS = {
    Part.UNKNOWN: "--ink-3",
    Part.IMPOSSIBLE: "--bad",
    Part.PLAIN: UNKNOWN_STYLE.token,
}
MANY_OPS = 60
_ROUNDING = 1e-12  # of the time
_LARGE = 0.004  # of the time
_LARGE_HOLD = 0.7  # of the work


@dataclass(frozen=True, eq=False)
class GainBlocks:
    """The blocks of a subject, in order of the axis; their times add up to its length."""

    analysis: RooflineAnalysis
    subject: Subject

    @cached_property
    def is_judged(self) -> bool:
        """False where no operation can be judged: blocks are then times alone."""
        return can_judge(self.subject)

    @cached_property
    def of_ops(self) -> list[Block]:
        """A block for each operation and for each kind of wait."""
        return self._ordered(self._ops)

    def of_groups(self, names: Mapping[int, str]) -> list[Block]:
        """A block for each part of each group of operations; `names` are those of their groups."""
        return self._ordered(by_group(self._ops, [names.get(one.ops[0], "") for one in self._ops]))

    def _ordered(self, blocks: Iterable[Block]) -> list[Block]:
        every = [*blocks, *self._rest(), *self._waits()]
        return in_order(every, by_time=not self.is_judged)

    @property
    def is_better_by_group(self) -> bool:
        """True where many operations are so short that their blocks would not be seen."""
        if len(self._ops) <= MANY_OPS:
            return False
        times_us = np.array([one.time_us for one in self._ops])
        large_us = times_us[times_us >= _LARGE * self.subject.time_us].sum()
        return bool(large_us < _LARGE_HOLD * times_us.sum())

    @cached_property
    def _ops(self) -> list[Block]:
        ops, tokens, names = self.subject.ops, self._tokens, self.analysis.ops.name
        rows = np.flatnonzero(ops.work_us > 0)
        columns = (
            ops.work_us,
            ops.needed_us,
            np.nan_to_num(ops.wasted_us),
            ops.work_gain_us,
            ops.unknown_us,
            ops.impossible_us,
        )
        values = zip(*(column[rows].tolist() for column in columns), strict=True)
        return [
            self._block(row, names[row], tokens[row], *one)
            for row, one in zip(rows.tolist(), values, strict=True)
        ]

    def _block(
        self,
        row: int,
        name: str,
        token: str,
        time_us: float,
        needed_us: float,
        wasted_us: float,
        gain_us: float,
        unknown_us: float,
        impossible_us: float,
    ) -> Block:
        """The block of one operation."""
        if not self.is_judged:
            part = Part.PLAIN
        elif impossible_us > 0:
            part = Part.IMPOSSIBLE
        elif unknown_us > 0:
            part = Part.UNKNOWN
        else:
            part = Part.WORK
            return Block(part, part, token, time_us, needed_us, wasted_us, gain_us, (row,), name)
        return Block(part, part, _PART_TOKENS[part], time_us, ops=(row,), name=name)

    @property
    def _tokens(self) -> list[str]:
        levels = [LEVEL_STYLES[level].token for level in self.analysis.levels]
        by_code = [UNKNOWN_STYLE.token, COMPUTE_STYLE.token, *levels, UNKNOWN_STYLE.token]
        return [by_code[code] for code in self.analysis.ops.measures.bound.tolist()]

    def _rest(self) -> Iterator[Block]:
        """The work of no operation."""
        time_us = self.subject.parts.work - sum(one.time_us for one in self._ops)
        if time_us > _ROUNDING * self.subject.time_us:
            part = Part.UNKNOWN if self.is_judged else Part.PLAIN
            yield Block(part, part, _PART_TOKENS[part], time_us)

    def _waits(self) -> Iterator[Block]:
        subject = self.subject
        links = [level for level in MemoryLevel if level.value in subject.parts.links]
        tokens = {**_WAIT_TOKENS, "links": "--roof-ici"}
        if len(links) == 1:
            tokens["links"] = LEVEL_STYLES[links[0]].token
        for key, time_us in subject.parts.waits.items():
            if time_us > 0:
                gain_us = subject.wait_gains_us.get(key, 0.0) if subject.gain_us else 0.0
                stays_us = time_us - gain_us if self.is_judged else 0.0
                yield Block(Part.WAIT, key, tokens[key], time_us, stays_us, gain_us=gain_us)
