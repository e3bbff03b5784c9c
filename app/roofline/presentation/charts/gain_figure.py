"""Time to gain as a figure: all of a subject's time, by what it can gain.

The time of a subject as blocks: of its operations, or of their groups, and of its waits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Subject
from roofline.figures.figure import TICK_SIZE, Json, Width, inert, numbered, six_digits
from roofline.figures.gain import (
    LEAST_SHARE,
    Block,
    Part,
    Rectangle,
    Texture,
    bar_trace,
    bars,
    bars_layout,
    height_axis,
    in_order,
    merged,
    rectangles,
    time_axis,
)
from roofline.figures.gain_pair import picture
from roofline.figures.scale import Margin
from roofline.model.memory import MemoryLevel
from roofline.presentation.charts.gain_records import BlockWords, Gain, GainChart
from roofline.presentation.gain_words import (
    alt_of,
    can_judge,
    equation_of,
    label_amount,
    lines_of,
    name_of,
    title_of,
)
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.groups import GroupNames, usual_names
from roofline.presentation.page_rows import Page
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE
from roofline.presentation.quantities import SPACE, duration
from roofline.presentation.shown import places_of

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


_LENGTHS: dict[Width, float] = {"wide": 1320.0, "narrow": 480.0}  # nominal pixels of the time
_LABEL_SIZE = 11
_LETTER = 0.64  # of its size, the width of a letter: wide ones fit, too
_MOST_LABELS = 8
_LEAST_UPRIGHT = 22  # pixels of a block
_UPRIGHT_LETTERS = 26
_FEWEST_LETTERS = 10  # of a longer name that lies
_COMMON = "aten::"  # of nearly all names of PyTorch
_UNKNOWN_COUNTS = 0.4  # of its time, beside the gains of others, in the choice of labels
_SMALL_WORK = 120 / 1392  # of the time: work of no more gets a strip of its own
_MARGINS: dict[Width, Margin] = {
    "wide": Margin(left=46, right=14, top=6, bottom=24),
    "narrow": Margin(left=46, right=14, top=22, bottom=8),
}
_CLEAR = "rgba(0,0,0,0)"


Name = Callable[[int], str]
"""The name of an op by its row in the analysis."""


def gain_of(analysis: RooflineAnalysis, subject: Subject, page: Page) -> Gain | None:
    """The chart "Time to gain" of the subject, with the names of the ops of `page`."""
    names, places = page["ops"]["names"]["short"], places_of(analysis)

    def short(op: int) -> str:
        place = places.get(op)
        found: str | None = None if place is None else names[place]
        return analysis.ops.name[op] if found is None else found

    found: Gain | None = six_digits(gain_figure(analysis, subject, places, short))
    return found


def gain_figure(
    analysis: RooflineAnalysis, subject: Subject, places: dict[int, int], short: Name
) -> Gain | None:
    """The chart of a subject; `None` without times. `places` are rows of the page by op."""
    if not subject.time_us > 0:
        return None
    found, grouping = GainBlocks(analysis, subject), usual_names(analysis, subject)
    judged = found.is_judged
    chart = _Chart(found, places, short, grouping)
    gain: Gain = {
        "title": title_of(subject, is_judged=judged),
        "by": "group" if grouping is not None and found.is_better_by_group else "op",
        "op": chart.of(found.of_ops),
        "total": Scale.of(subject.time_us).length(subject.time_us),
        "equation": equation_of(subject),
        "has_work": chart.has_work,
        "picture": "",
        "group": None,
        "group_label": "",
    }
    groups: list[Block] = []
    if grouping is not None:
        groups = found.of_groups(grouping.names)
        gain["group"] = chart.of(groups)
        gain["group_label"] = grouping.label
    gain["picture"] = picture(groups if groups and gain["by"] == "group" else found.of_ops)
    return gain


class _Chart:
    def __init__(
        self, found: GainBlocks, places: dict[int, int], short: Name, grouping: GroupNames | None
    ) -> None:
        has_modules = grouping is not None and grouping.is_place
        self._modules = grouping.names if grouping is not None and has_modules else {}
        self._found, self._places, self._short = found, places, short
        self._subject = found.subject
        self._scale = Scale.of(self._subject.time_us)
        work = self._subject.parts.work / self._subject.time_us
        self.has_work = 0 < work < _SMALL_WORK

    def of(self, every: Sequence[Block]) -> GainChart:
        """The figure of blocks that are in order."""
        subject = self._subject
        blocks = merged(every, LEAST_SHARE * subject.time_us)
        work = [one for one in every if one.part is not Part.WAIT] if self.has_work else []
        work = merged(work, LEAST_SHARE * subject.parts.work)
        names = [self._name(one) for one in [*blocks, *work]]
        data = [
            trace
            for width in _LENGTHS
            for trace in [
                *self._strip(blocks, names, width),
                *self._strip(work, names[len(blocks) :], width, first=len(blocks)),
            ]
        ]
        title = title_of(subject, is_judged=self._found.is_judged)
        return {
            "figure": {
                "id": "gain",
                "data": numbered(data),
                "layouts": {width: self._layout(width) for width in _LENGTHS},
                "marks": "block",
                "beyond": {},
                "legend": [],
                "alt": alt_of(subject, blocks, names, title),
            },
            "blocks": [
                self._words(block, name)
                for block, name in zip([*blocks, *work], names, strict=True)
            ],
        }

    def _name(self, block: Block) -> str:
        is_op = len(block.ops) == 1 and block.name == self._found.analysis.ops.name[block.ops[0]]
        return name_of(block, self._subject, self._short(block.ops[0]) if is_op else block.name)

    def _module(self, block: Block) -> str:
        """The module of a block's only operation."""
        return self._modules.get(block.ops[0], "") if len(block.ops) == 1 else ""

    def _words(self, block: Block, name: str) -> BlockWords:
        return {
            "name": " · ".join(filter(None, (name, self._module(block)))),
            "lines": lines_of(block, self._found.analysis, self._subject),
            "ops": [self._places[op] for op in block.ops if op in self._places],
            "count": len(block.ops),
            "key": block.key,
            "gain_us": block.gain_us,
        }

    def _strip(
        self, blocks: Sequence[Block], names: Sequence[str], width: Width, first: int = 0
    ) -> list[Json]:
        """The traces of one row of blocks, of which `first` have been drawn before."""
        if not blocks:
            return []
        strip, unit_us = 2 if first else 1, self._scale.us
        outer = _outlines(blocks)
        marks = bar_trace(outer, unit_us, width, strip, "marks") | {
            "customdata": [first + one.block for one in outer],
            "hoverinfo": "none",
            "marker": {"color": _CLEAR},
        }
        return [
            *bars(list(rectangles(blocks)), unit_us, width, strip=strip),
            *self._labels(blocks, outer, names, width, strip),
            marks,
        ]

    def _labels(
        self,
        blocks: Sequence[Block],
        outer: Sequence[Rectangle],
        names: Sequence[str],
        width: Width,
        strip: int,
    ) -> list[Json]:
        """Names of the blocks with the largest gains: lying where they fit, else upright."""
        length_us = sum(one.time_us for one in blocks)
        room = _LENGTHS[width] / length_us
        lying: list[tuple[Rectangle, str]] = []
        upright: list[tuple[Rectangle, str]] = []
        for number in sorted(range(len(blocks)), key=lambda k: -_weight(blocks[k]))[:_MOST_LABELS]:
            block, pixels = blocks[number], outer[number].width_us * room
            name, amount = names[number].removeprefix(_COMMON), label_amount(block)
            letters = int((pixels - 10) / (_LABEL_SIZE * _LETTER))
            if width == "wide" and letters >= max(min(len(name), _FEWEST_LETTERS), len(amount)):
                module = self._module(block)
                shown = [cut(name, letters), *([module] if 0 < len(module) <= letters else [])]
                text = "<br>".join([*map(_isolated, shown), amount])
                lying.append((outer[number], text))
            elif pixels >= _LEAST_UPRIGHT:
                text = f"{amount} {_isolated(cut(name, _UPRIGHT_LETTERS))}"
                upright.append((outer[number], text))
        if width == "narrow":
            return [self._label_trace(upright, width, strip, 0)] if upright else []
        return [
            self._label_trace(texts, width, strip, angle)
            for texts, angle in ((lying, 0), (upright, -90))
            if texts
        ]

    def _label_trace(
        self, texts: Sequence[tuple[Rectangle, str]], width: Width, strip: int, angle: int
    ) -> Json:
        places = [one for one, _ in texts]
        return bar_trace(places, self._scale.us, width, strip, "labels") | {
            "hoverinfo": "skip",
            "marker": {"color": _CLEAR},
            "text": [text for _, text in texts],
            "textposition": "inside",
            "insidetextanchor": "end" if width == "wide" else "start",
            "textangle": angle,
            "textfont": {"size": _LABEL_SIZE, "color": "--ink"},
            "constraintext": "inside",
            "cliponaxis": True,
        }

    def _layout(self, width: Width) -> Json:
        subject, scale = self._subject, self._scale
        judged = self._found.is_judged
        lengths = [subject.time_us, subject.parts.work] if self.has_work else [subject.time_us]
        wide = width == "wide"
        axes: list[tuple[Json, Json]] = []
        for length_us in lengths:
            time = time_axis(length_us / scale.us, f"{SPACE}{scale.unit}", width)
            heights = height_axis([0, 50] if wide else [0, 50, 100], width)
            axes.append((time, heights | {"visible": judged, "gridcolor": "--grid"}))
        found = bars_layout(*axes[0], _MARGINS[width], width, "gain")
        found["uniformtext"] = {"mode": "hide", "minsize": _LABEL_SIZE}
        along, up = ("xaxis", "yaxis") if wide else ("yaxis", "xaxis")
        for number, (time, heights) in enumerate(axes):
            suffix = "" if number == 0 else "2"
            found[f"{along}{suffix}"] = time | {"anchor": f"{up[0]}{suffix}"}
            found[f"{up}{suffix}"] = heights | {"anchor": f"{along[0]}{suffix}", "ticksuffix": ""}
        if self.has_work:
            bottom, top = (0.42, 0.66) if wide else (0.3, 0.4)
            vertical = up if wide else along
            found[vertical]["domain"] = [top, 1]
            found[f"{vertical}2"]["domain"] = [0, bottom]
            found["annotations"] = [self._work_title(bottom)]
        return found

    def _work_title(self, bottom: float) -> Json:
        return {
            "text": f"The {duration(self._subject.parts.work)} of work",
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "y": bottom,
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"size": TICK_SIZE, "weight": 600, "color": "--ink-2"},
        }


def _outlines(blocks: Sequence[Block]) -> list[Rectangle]:
    """One rectangle of full height for each block."""
    found, left_us = [], 0.0
    for number, one in enumerate(blocks):
        found.append(Rectangle(number, Texture.PLAIN, one.token, left_us, one.time_us, 0.0, 1.0))
        left_us += one.time_us
    return found


def _weight(block: Block) -> float:
    counts = block.part in (Part.UNKNOWN, Part.IMPOSSIBLE, Part.PLAIN)
    return _UNKNOWN_COUNTS * block.time_us if counts else block.gain_us


def cut(name: str, letters: int) -> str:
    """A name of no more than so many letters: its begin says most."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _isolated(name: str) -> str:
    """A name whose letters may run from right to left, as `bdi` does in HTML."""
    return f"\u2068{inert(name)}\u2069"
