"""Time to gain as a figure: all of a subject's time, by what it can gain."""

from collections.abc import Callable, Sequence

from roofline.analysis.records import RooflineAnalysis
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
    merged,
    rectangles,
    time_axis,
)
from roofline.figures.gain_pair import picture
from roofline.figures.scale import Margin
from roofline.presentation.charts.gain_blocks import GainBlocks
from roofline.presentation.charts.gain_records import BlockWords, Gain, GainChart
from roofline.presentation.charts.gain_words import (
    alt_of,
    equation_of,
    label_amount,
    lines_of,
    name_of,
    title_of,
)
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.page_rows import Page
from roofline.presentation.quantities import SPACE, duration
from roofline.presentation.shown import places_of
from roofline.presentation.usual_groups import GroupNames, usual_names

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
