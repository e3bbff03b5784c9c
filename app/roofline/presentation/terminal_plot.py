"""The roofline of operations in a terminal: the figure for print, as Braille dots and letters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log10
from textwrap import wrap

from roofline.figures.figure import Json, of_width, scale_of
from roofline.figures.ink import each, plain_text
from roofline.figures.scale import Scale
from roofline.presentation.charts.choices import ChartChoice, Paper
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.page_rows import EFFICIENCY, TIME, Page, Rows
from roofline.presentation.quantities import duration, percent
from roofline.presentation.text_table import cut, plain, spaced

LEAST_COLUMNS = 40
_CELL = (7.0, 14.0)  # pixels of a character
_GUTTER = 12  # characters left of the plot, for the ticks
_ROWS_PER_COLUMN = 0.32
_LEAST_ROWS, _MOST_ROWS = 10, 30
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_LARGE = 12.0  # pixels of the diameter of a mark
_MOST_LETTERS = 12
_NAME_LETTERS, _LEAST_LETTERS = 34, 10
# By token of a roof: codes of colours that are legible on dark and on light terminals.
_COLOURS: Mapping[str, str] = {"--roof-compute": "33", "--roof-hbm": "34", "--roof-unknown": "90"}
_OTHER_MEMORY, _LINK = "36", "35"
_LINKS = ("--roof-ici", "--roof-nvlink", "--roof-host", "--roof-dcn")
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#@"
_PLAIN_SIGNS = str.maketrans({"·": "-", "−": "-", "–": "-", "µ": "u", "×": "x", "…": "~", "’": "'"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How it is drawn: in so many columns, in ASCII alone, with escape codes for colours."""

    columns: int
    is_ascii: bool = False
    has_colour: bool = False


@dataclass(slots=True)
class _Canvas:
    """Cells of a plot with dots, and with letters that cover them; each has a token."""

    columns: int
    rows: int
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    letters: dict[tuple[int, int], str] = field(default_factory=dict)
    tokens: dict[tuple[int, int], str] = field(default_factory=dict)

    def has(self, column: int, row: int) -> bool:
        return 0 <= column < self.columns and 0 <= row < self.rows

    def dot(self, x: float, y: float, token: str) -> None:
        """A dot at a place in cells."""
        column, row = int(x), int(y)
        if x >= 0 and y >= 0 and self.has(column, row):
            bit = _DOTS[int((y - row) * 4)][int((x - column) * 2)]
            self.dots[column, row] = self.dots.get((column, row), 0) | bit
            self.tokens.setdefault((column, row), token)

    def put(self, column: int, row: int, text: str, token: str) -> None:
        for at, letter in enumerate(text, column):
            if self.has(at, row):
                self.letters[at, row] = letter
                self.tokens[at, row] = token

    def is_free(self, column: int, row: int, length: int) -> bool:
        cells = ((at, row) for at in range(column, column + length))
        return all(self.has(*cell) and cell not in self.letters for cell in cells)


def plotted(page: Page, look: Look, head: str) -> str:
    """The head, the plot, a line for each letter in it, and the times of the steps."""
    columns = max(LEAST_COLUMNS, look.columns)
    rows = round(min(_MOST_ROWS, max(_LEAST_ROWS, columns * _ROWS_PER_COLUMN)))
    across = columns - _GUTTER - 1
    bare = Paper(width=0, height=0, named=0).margin
    paper = Paper(
        width=across * _CELL[0] + bare.left + bare.right,
        height=rows * _CELL[1] + bare.top + bare.bottom,
        named=0,
    )
    choice = ChartChoice(paper=paper)
    figure = op_figure(page, choice)
    drawn = of_width(figure, "wide")
    xaxis, yaxis = drawn["layout"]["xaxis"], drawn["layout"]["yaxis"]
    scale = scale_of(tuple(xaxis["range"]), tuple(yaxis["range"]), "wide", choice.plots)
    canvas = _Canvas(across, rows)
    roles: dict[str, list[Json]] = {}
    for trace in drawn["data"]:
        roles.setdefault(trace["meta"]["role"], []).append(trace)
    for trace in roles.get("roof", ()):
        _line(canvas, trace, scale)
    marks = [*roles.get("marks", ()), *roles.get("program", ())]
    letters = _marks(canvas, marks, scale, Rows(page), look)
    for trace in roles.get("names", ()):
        _names(canvas, trace, scale)
    lines = [
        *wrap(plain(spaced(head)), columns),
        "",
        *_framed(canvas, yaxis, scale, look),
        *_below(xaxis, scale, across),
        *_key(letters, Rows(page), columns),
        *_steps(Rows(page), columns, look),
    ]
    note = figure.get("note", "").replace(": above only", "")
    text = "\n".join([*lines, *(wrap(f"Not drawn: {note}.", columns) if note else []), ""])
    return text.translate(_PLAIN_SIGNS) if look.is_ascii else text


def _cell(scale: Scale, x: float, y: float) -> tuple[float, float]:
    """The place of a value in cells from the top left corner."""
    return scale.to_x(log10(x)) / _CELL[0], scale.to_y(log10(y)) / _CELL[1]


def _line(canvas: _Canvas, trace: Json, scale: Scale) -> None:
    """Dots along the visible part of a line of two points."""
    places = [_cell(scale, x, y) for x, y in zip(trace["x"], trace["y"], strict=True)]
    token = trace["line"]["color"]
    for (x0, y0), (x1, y1) in pairwise(places):
        # A slanted roof begins far below the plot: only what lies in it is walked along.
        first, last = max(0.0, min(x0, x1)), min(float(canvas.columns), max(x0, x1))
        steps = int((last - first) * 8)
        for step in range(steps + 1):
            x = first + step / 8
            part = (x - x0) / (x1 - x0) if x1 != x0 else 0.0
            canvas.dot(x, y0 + part * (y1 - y0), token)


Letters = dict[str, list[int]]
"""The rows of the operations that a letter stands for."""


def _marks(canvas: _Canvas, data: Sequence[Json], scale: Scale, rows: Rows, look: Look) -> Letters:
    """Discs, the longest on top; the longest of all have letters, which share a cell's."""
    found: list[tuple[float, tuple[int, int], str, str, int]] = []
    places = {op: row for row, op in enumerate(rows.ops)}
    for trace in data:
        marks = each(trace["marker"], len(trace["x"]))
        ops = trace.get("customdata", [-1] * len(marks))
        for x, y, mark, op in zip(trace["x"], trace["y"], marks, ops, strict=True):
            column, line = map(int, _cell(scale, x, y))
            share = rows.shares[places[op]] if op in places else float("inf")
            sign = _sign(mark["size"], op, look)
            found.append((share, (column, line), sign, mark["color"], places.get(op, -1)))
    letters: Letters = {}
    cells: dict[tuple[int, int], str] = {}
    found.sort(key=lambda one: -one[0])
    for _, cell, _, _, row in found:
        if row >= 0 and (cell in cells or len(cells) < _MOST_LETTERS):
            letter = cells.setdefault(cell, chr(ord("a") + len(cells)))
            letters.setdefault(letter, []).append(row)
    for _, cell, sign, token, _ in reversed(found):
        canvas.put(*cell, cells.get(cell, sign), token)
    return letters


def _sign(size: float, op: int, look: Look) -> str:
    if op < 0:
        return "*" if look.is_ascii else "★"
    if look.is_ascii:
        return "O" if size >= _LARGE else "o"
    return "●" if size >= _LARGE else "•"


def _names(canvas: _Canvas, trace: Json, scale: Scale) -> None:
    """Names of roofs where they have room."""
    looks = zip(
        trace["x"], trace["y"], trace["text"], trace["textposition"],
        trace["textfont"]["color"], strict=True,
    )  # fmt: skip
    for x, y, text, position, token in looks:
        down, side = position.split(" ")
        parts = [_said(part) for part in text.split("<br>")]
        column, row = _cell(scale, x, y)
        first = {"top": row - len(parts) + 0.5, "middle": row, "bottom": row + 0.5}[down]
        for number, part in enumerate(parts):
            start = {"right": column + 0.5, "left": column - len(part), "center": column}[side]
            line = int(first) + number
            if canvas.is_free(int(start), line, len(part)):
                canvas.put(int(start), line, part, token)


def _framed(canvas: _Canvas, yaxis: Json, scale: Scale, look: Look) -> Iterator[str]:
    """The lines of the plot with the ticks of its axis."""
    ticks = {
        int(scale.to_y(log10(value)) / _CELL[1]): _said(text)
        for value, text in zip(yaxis["tickvals"], yaxis["ticktext"], strict=True)
    }
    edge = "|" if look.is_ascii else "│"
    for row in range(canvas.rows):
        cells = [_drawn(canvas, (column, row), look) for column in range(canvas.columns)]
        yield f"{ticks.get(row, ''):>{_GUTTER}}{edge}{''.join(cells)}".rstrip()


def _drawn(canvas: _Canvas, cell: tuple[int, int], look: Look) -> str:
    sign = canvas.letters.get(cell)
    if sign is None:
        bits = canvas.dots.get(cell, 0)
        if not bits:
            return " "
        sign = _ascii_of(bits) if look.is_ascii else chr(_BRAILLE + bits)
    if not look.has_colour or sign == " ":
        return sign
    code = _code(canvas.tokens.get(cell, ""))
    return f"\x1b[{code}m{sign}\x1b[39m" if code else sign


def _ascii_of(bits: int) -> str:
    """A sign of the shape of some dots: the right ones higher than the left ones, or not."""
    left = [row for row in range(4) if bits & _DOTS[row][0]]
    right = [row for row in range(4) if bits & _DOTS[row][1]]
    if left and right and left != right:
        return "/" if sum(left) / len(left) > sum(right) / len(right) else "\\"
    return "-" if left and right else "."


def _code(token: str) -> str:
    """The code of a token's colour; none for texts, which keep the terminal's own."""
    if token in _COLOURS or not token.startswith("--roof-"):
        return _COLOURS.get(token, "")
    return _LINK if token in _LINKS else _OTHER_MEMORY


def _below(xaxis: Json, scale: Scale, across: int) -> Iterator[str]:
    """The ticks of the lower axis, and its title."""
    line = [" "] * (across + 8)
    for value, text in zip(xaxis["tickvals"], xaxis["ticktext"], strict=True):
        start = max(0, int(scale.to_x(log10(value)) / _CELL[0] - len(text) / 2))
        if all(one == " " for one in line[max(0, start - 1) : start + len(text) + 1]):
            line[start : start + len(text)] = text
    left = " " * (_GUTTER + 1)
    yield f"{left}{''.join(line)[: across + 1]}".rstrip()
    title = _said(xaxis["title"]["text"])
    yield f"{left}{title:^{across}}".rstrip()


def _key(letters: Letters, rows: Rows, columns: int) -> Iterator[str]:
    """What each letter stands for: name, time, share, share of the roof, and what binds."""
    times, roofs, short = rows.column(TIME), rows.column(EFFICIENCY), rows.names("short")
    names = [one or name or "" for one, name in zip(short, rows.column("name"), strict=True)]
    for letter, found in letters.items():
        row = found[0]
        more = f" +{len(found) - 1}" if len(found) > 1 else ""
        roof = roofs[row]
        said = [
            duration(times[row]) if times[row] else "",
            f"{percent(roof, 0)} of {rows.bounds[row]['label']}" if roof is not None else "",
            percent(rows.shares[row]),
        ]
        # A narrow terminal has room for the time, then for the roof, then for the share of time.
        rests = [spaced(" · ".join([more, *filter(None, said[:count])])) for count in (3, 2, 1)]
        rooms = [columns - len(rest) - len(f"{letter} ") for rest in rests]
        room, rest = next(
            (pair for pair in zip(rooms, rests, strict=True) if pair[0] >= _LEAST_LETTERS),
            (_LEAST_LETTERS, rests[-1]),
        )
        yield f"{letter} {cut(names[row], min(_NAME_LETTERS, room))}{rest}"


def _said(text: str) -> str:
    """A text of the figure for a terminal, where nothing in it is a command."""
    return spaced(plain_text(text))


def _steps(rows: Rows, columns: int, look: Look) -> Iterator[str]:
    """The times of the steps as bars from nothing to the longest."""
    times = [
        point["total_time_per_core_us"] or 0.0 for point in rows.program if point["scope"] == "step"
    ]
    if len(times) < 2 or not max(times) > 0:
        return
    ends = dict.fromkeys(map(duration, (min(times), max(times))))
    said = f" {spaced(' to '.join(ends))}"
    room = columns - len(said) - len("steps ")
    width = max(1, -(-len(times) // room))
    longest = [max(times[at : at + width]) for at in range(0, len(times), width)]
    bars = _ASCII_BARS if look.is_ascii else _BARS
    most = max(times)
    shown = "".join(bars[round(one / most * (len(bars) - 1))] for one in longest)
    yield f"steps {shown}{said}"
