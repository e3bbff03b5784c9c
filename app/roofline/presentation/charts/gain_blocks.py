"""The time of a subject as blocks: of its operations, or of their groups, and of its waits."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.figures.gain import Block, Part, by_group, in_order
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE

_PARTS = {
    OpPart.WORK: Part.WORK,
    OpPart.UNKNOWN: Part.UNKNOWN,
    OpPart.IMPOSSIBLE: Part.IMPOSSIBLE,
}
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
        return self.subject.has_ceilings and self.subject.kind is not Kind.HOST

    @cached_property
    def of_ops(self) -> list[Block]:
        """A block for each operation and for each kind of wait."""
        return self._ordered(self._ops)

    def of_groups(self, name_of: Callable[[int], str]) -> list[Block]:
        """A block for each part of each group of operations; `name_of` a row of the analysis."""
        names = [name_of(one.ops[0]) for one in self._ops]
        return self._ordered(by_group(self._ops, names))

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
        ops, tokens = self.subject.ops, self._tokens
        gains_us = (ops.work_us - ops.needed_us) * self._gain_ratio
        columns: tuple[Floats, ...] = (ops.work_us, ops.needed_us, np.nan_to_num(ops.wasted_us))
        rows = np.flatnonzero(ops.work_us > 0).tolist()
        values = zip(*(column[rows].tolist() for column in (*columns, gains_us)), strict=True)
        names, found = self.analysis.ops.name, []
        for row, (time_us, needed_us, wasted_us, gain_us) in zip(rows, values, strict=True):
            part = self._part(ops.part[row])
            if part is Part.WORK:
                token = tokens[row]
                block = Block(
                    part, "work", token, time_us, needed_us, wasted_us, gain_us, (row,), names[row]
                )
            elif part is None:
                continue
            else:
                block = Block(part, part, _PART_TOKENS[part], time_us, ops=(row,), name=names[row])
            found.append(block)
        return found

    def _part(self, part: OpPart) -> Part | None:
        """What a block of such an op is; `None` for waits, whose blocks have no op."""
        return _PARTS.get(part) if self.is_judged else Part.PLAIN

    @property
    def _gain_ratio(self) -> float:
        """The share of the time above their ceilings that operations can gain."""
        parts, subject = self.subject.parts, self.subject
        if subject.gain_us is None or parts.to_gain <= 0:
            return 0.0
        return (subject.gain_us - sum(subject.wait_gains_us.values())) / parts.to_gain

    @property
    def _tokens(self) -> list[str]:
        levels = [LEVEL_STYLES[level].token for level in self.analysis.levels]
        by_code = [UNKNOWN_STYLE.token, COMPUTE_STYLE.token, *levels, UNKNOWN_STYLE.token]
        return [by_code[code] for code in self.analysis.ops.measures.bound.tolist()]

    def _rest(self) -> Iterator[Block]:
        """The work of no operation, and that of operations which mostly wait."""
        parts, drawn = self.subject.parts, self._drawn
        if not self.is_judged:
            rest_us = parts.work - drawn.get(Part.PLAIN, (0.0, 0.0))[0]
            yield from _left(Part.PLAIN, rest_us, self.subject)
            return
        for part, time_us in ((Part.UNKNOWN, parts.unknown), (Part.IMPOSSIBLE, parts.impossible)):
            yield from _left(part, time_us - drawn.get(part, (0.0, 0.0))[0], self.subject)
        known_us, needed_us = drawn.get(Part.WORK, (0.0, 0.0))
        for one in _left(Part.WORK, parts.known - known_us, self.subject):
            needs_us = min(max(parts.needed - needed_us, 0.0), one.time_us)
            gain_us = (one.time_us - needs_us) * self._gain_ratio
            yield one._replace(needed_us=needs_us, gain_us=gain_us)

    @property
    def _drawn(self) -> Mapping[Part, tuple[float, float]]:
        """Times and needs of the operations' blocks, by part."""
        found: dict[Part, tuple[float, float]] = {}
        for one in self._ops:
            time_us, needed_us = found.get(one.part, (0.0, 0.0))
            found[one.part] = time_us + one.time_us, needed_us + one.needed_us
        return found

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


_ROUNDING = 1e-12  # of the time


def _left(part: Part, time_us: float, subject: Subject) -> Iterator[Block]:
    if time_us > _ROUNDING * subject.time_us:
        key = "work" if part is Part.WORK else part.value
        token = _PART_TOKENS.get(part, UNKNOWN_STYLE.token)
        yield Block(part, key, token, time_us)
