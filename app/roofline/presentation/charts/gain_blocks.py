"""The time of a subject as blocks: of its operations, or of their groups, and of its waits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Subject
from roofline.figures.gain import LEAST_SHARE, Block, Part, in_order
from roofline.model.memory import MemoryLevel
from roofline.presentation.charts.gain_words import can_judge
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE

_WAIT_TOKENS = {
    "transfers": LEVEL_STYLES[MemoryLevel.HOST].token,
    "input": "--wait-infeed",
    "host_wait": "--ink-3",
    "unknown_wait": "--ink-3",
}
_PART_TOKENS = {
    Part.UNKNOWN: "--ink-3",
    Part.IMPOSSIBLE: "--bad",
    Part.PLAIN: UNKNOWN_STYLE.token,
}
_PARTS = (Part.WORK, Part.UNKNOWN, Part.IMPOSSIBLE, Part.PLAIN)
MANY_OPS = 60
_MANY = 2_000  # operations
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
        """A block for each operation and for each kind of wait; of thousands the thinnest share."""
        groups = self._thin_together() if len(self._rows) > _MANY else np.arange(len(self._rows))
        names = [""] * int(groups.max(initial=-1) + 1)
        counts = np.bincount(groups)
        for group, row in zip(groups.tolist(), self._rows.tolist(), strict=True):
            names[group] = self.analysis.ops.name[row] if counts[group] == 1 else ""
        return self._ordered(self._summed(groups, names))

    def of_groups(self, names: Mapping[int, str]) -> list[Block]:
        """A block for each part of each group of operations; `names` are those of their groups."""
        places: dict[tuple[str, int], int] = {}
        pairs = zip(self._rows.tolist(), self._parts.tolist(), strict=True)
        keys = [(names.get(row, ""), part) for row, part in pairs]
        groups = np.array([places.setdefault(key, len(places)) for key in keys], np.int64)
        return self._ordered(self._summed(groups, [name for name, _ in places]))

    def _ordered(self, blocks: Iterable[Block]) -> list[Block]:
        every = [*blocks, *self._rest(), *self._waits()]
        return in_order(every, by_time=not self.is_judged)

    @property
    def is_better_by_group(self) -> bool:
        """True where many operations are so short that their blocks would not be seen."""
        times_us = self._values[0]
        if len(times_us) <= MANY_OPS:
            return False
        large_us = times_us[times_us >= _LARGE * self.subject.time_us].sum()
        return bool(large_us < _LARGE_HOLD * times_us.sum())

    @cached_property
    def _rows(self) -> I64:
        """The operations that take time."""
        return np.flatnonzero(self.subject.ops.work_us > 0)

    @cached_property
    def _parts(self) -> I64:
        """Of each operation the place of its part in `_PARTS`."""
        if not self.is_judged:
            return np.full(len(self._rows), _PARTS.index(Part.PLAIN))
        ops, rows = self.subject.ops, self._rows
        cases = [ops.impossible_us[rows] > 0, ops.unknown_us[rows] > 0]
        places = [_PARTS.index(one) for one in (Part.IMPOSSIBLE, Part.UNKNOWN)]
        return np.select(cases, places, _PARTS.index(Part.WORK))

    @cached_property
    def _values(self) -> Floats:
        """Time, needed, wasted and gain of each operation; of work that is not judged the time."""
        ops = self.subject.ops
        columns = (ops.work_us, ops.needed_us, np.nan_to_num(ops.wasted_us), ops.work_gain_us)
        values = np.array([column[self._rows] for column in columns])
        values[1:, self._parts != _PARTS.index(Part.WORK)] = 0.0
        return values

    def _thin_together(self) -> I64:
        """A number for each operation; thin neighbours of one part have the same.

        A sum of them is a quarter as wide as what is drawn at least, so that the chart stays as it
        is, and the time to make it does not grow with the number of operations.
        """
        (times_us, _, _, gains_us), parts = self._values, self._parts
        least_us = LEAST_SHARE / 4 * times_us.sum()
        by = gains_us if self.is_judged else times_us
        order = np.lexsort((-times_us, -by, parts))
        is_thin = times_us[order] < least_us
        steps = (np.cumsum(np.where(is_thin, times_us[order], 0.0)) / least_us).astype(np.int64)
        thin, thick = order[is_thin], order[~is_thin]
        _, together = np.unique(
            parts[thin] * (steps.max() + 1) + steps[is_thin], return_inverse=True
        )
        groups = np.empty(len(order), np.int64)
        groups[thick] = np.arange(len(thick))
        groups[thin] = len(thick) + together
        return groups

    def _summed(self, groups: I64, names: Sequence[str]) -> list[Block]:
        """A block for each name; `groups` has the place of its name for each operation."""
        n, tokens = len(names), self._tokens
        if not n:
            return []
        times_us = self._values[0]
        order = np.lexsort((-times_us, groups))
        starts = np.searchsorted(groups[order], np.arange(n))
        parts = [_PARTS[code] for code in self._parts[order][starts].tolist()]
        codes = groups * len(tokens) + self.analysis.ops.measures.bound[self._rows] % len(tokens)
        most = np.bincount(codes, times_us, n * len(tokens)).reshape(n, -1).argmax(axis=1).tolist()
        times, needed, wasted, gains = (np.bincount(groups, of, n).tolist() for of in self._values)
        return [
            Block(
                part=parts[k],
                key=parts[k],
                token=_PART_TOKENS.get(parts[k]) or tokens[most[k]],
                time_us=times[k],
                needed_us=needed[k],
                wasted_us=wasted[k],
                gain_us=gains[k],
                ops=tuple(own.tolist()),
                name=names[k],
            )
            for k, own in enumerate(np.split(self._rows[order], starts[1:]))
        ]

    @property
    def _tokens(self) -> list[str]:
        levels = [LEVEL_STYLES[level].token for level in self.analysis.levels]
        return [UNKNOWN_STYLE.token, COMPUTE_STYLE.token, *levels, UNKNOWN_STYLE.token]

    def _rest(self) -> Iterator[Block]:
        """The work of no operation."""
        time_us = self.subject.parts.work - float(self._values[0].sum())
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
