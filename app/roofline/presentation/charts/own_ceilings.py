"""The selected op alone: its own ceilings, and a mark per clock at its own intensity."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from roofline.figures.figure import Json, inert, line
from roofline.figures.roofs import Roof, Roofs, attainable
from roofline.figures.scale import Place, Range
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.shown_roofs import all_roofs
from roofline.presentation.page_rows import JOINED, RATE, Rows
from roofline.presentation.quantities import share

CLOCK_SIZE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A memory or a link that the op needs time at: its intensity there, clock ÷ time."""

    roof: Roof
    intensity: float
    used: float

    @property
    def text(self) -> str:
        """How much of the op's time it takes."""
        return f"{share(self.used)} of {inert(self.roof.label)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCeilings:
    """The ceilings of one op of the view, and its clocks; `rate` is log10 of its GFLOP/s."""

    row: int
    shown: Roofs
    clocks: tuple[Clock, ...]
    rate: float

    def place(self, clock: Clock) -> Place:
        """The op at the intensity of this clock, log10."""
        return log10(clock.intensity), self.rate

    @property
    def compute(self) -> Roof | None:
        """The flat one, where its peak is known."""
        return self.shown.compute[0] if self.shown.compute else None


def own_ceilings(rows: Rows, choice: ChartChoice) -> OwnCeilings | None:
    """`None` without a selected op, and where its ceilings are not known or not drawn."""
    if choice.op is None or choice.x == JOINED or choice.is_share or choice.op not in rows.ops:
        return None
    row = list(rows.ops).index(choice.op)
    rate = rows.column(RATE)[row]
    every = all_roofs(rows.page)
    clocks = _clocks(rows, row, choice.x, every.memory)
    unit = rows.column("compute_unit")[row] or 0
    compute = () if rows.is_unheld[row] else every.compute[unit : unit + 1]
    if not rate or rate <= 0 or not (clocks or compute):
        return None
    shown = Roofs(memory=tuple(one.roof for one in clocks), compute=compute)
    return OwnCeilings(row=row, shown=shown, clocks=clocks, rate=log10(rate))


def _clocks(rows: Rows, row: int, axis: str, memory: Sequence[Roof]) -> tuple[Clock, ...]:
    """On the axis of one level that level alone."""
    levels = {level["id"]: level for level in rows.page["levels"] if level["is_shown"]}
    total = rows.column("total_time_us")[row]
    found = []
    for roof in memory:
        if roof.id not in levels or (axis in levels and roof.id != axis):
            continue
        intensity = rows.column(levels[roof.id]["columns"]["intensity"])[row]
        clock = rows.column(f"{roof.id}_clock_us")[row]
        if intensity and clock and total and intensity > 0:
            found.append(Clock(roof=roof, intensity=intensity, used=clock / total))
    return tuple(found)


def own_traces(own: OwnCeilings, x: Range) -> list[Json]:
    """A mark per clock with a line to its roof."""
    clocks = [one for one in own.clocks if x[0] <= log10(one.intensity) <= x[1]]
    places = [own.place(one) for one in clocks]
    drops = [
        line(
            f"{inert(one.roof.label)} clock",
            [at, (at[0], attainable(at[0], one.roof, own.compute))],
            role="own",
            token=one.roof.token,
            width=1.2,
            dash="2px,3px",
        )
        for one, at in zip(clocks, places, strict=True)
    ]
    marks = {
        **line("clocks", places, role="own", token="--ink"),
        "mode": "markers",
        "marker": {
            "symbol": "circle",
            "size": CLOCK_SIZE,
            "color": [one.roof.token for one in clocks],
            "line": {"color": "--halo", "width": 1},
        },
    }
    return [*drops, marks] if clocks else []
