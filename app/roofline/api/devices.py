"""`devices` and `device`: parts with their published peaks, and where each number is from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.api.results import Record, Result
from roofline.devices.choice import known_part
from roofline.devices.in_flight import HEADS, cells_of, in_flight
from roofline.devices.listing import device_list, ridges_of
from roofline.devices.parts import Figure, FigureStatus, Part
from roofline.devices.table import (
    DEFAULT_COLUMNS,
    Query,
    columns_of,
    records_of,
    rows_of,
)
from roofline.figures.figure import Figure as Picture
from roofline.model.units import GIGA, KILO, TERA
from roofline.presentation.text_table import table


@dataclass(frozen=True, eq=False, repr=False)
class Devices(Result):
    """A table of parts, per chip. `query` is not a stable surface."""

    query: Query

    @property
    def sentence(self) -> str:
        """How many parts are in it."""
        return f"{len(self.rows())} devices."

    def to_dict(self) -> dict[str, Any]:
        """What `roofline devices --format json` prints, as `devices`."""
        return {"devices": list(self.rows())}

    def to_text(self) -> str:
        """What `roofline devices` prints."""
        query = self.query
        columns = columns_of(query)
        head = ("id", "name", *(f"{one.head}, {one.unit}" for one in columns))
        lines = [
            (row.part.id, row.part.name, *(cell.text for cell in row.cells))
            for row in rows_of(query)
        ]
        kind = "of pruned weights" if query.is_sparse else "dense"
        note = (
            f"Per chip, {kind}. Ridge: {query.dtype} FLOP per byte of the main memory. ? has no "
            "public figure, – no such unit.\n`roofline devices ID` shows one with its sources, "
            "`roofline devices --over FILE` a profile on each."
        )
        return f"{table(head, lines, left={0, 1})}\n\n{note}\n"

    def picture(self) -> Picture | None:
        """The roofs of the first eight, for products of the number format that ridges are of."""
        from roofline.exports.cost_charts import parts_figure  # loads slowly

        return parts_figure([row.part for row in rows_of(self.query)], self.query.dtype)

    def rows(self) -> Sequence[Record]:
        """One row per part; the names of columns have their units."""
        return records_of(self.query)


@dataclass(frozen=True, eq=False, repr=False)
class Device(Result):
    """A part: every number with its source, chosen and not."""

    part: Part

    @property
    def id(self) -> str:
        """As `open_profile(device=…)` takes it."""
        return self.part.id

    @property
    def name(self) -> str:
        """Its full name."""
        return self.part.name

    @property
    def sentence(self) -> str:
        """Name, id and vendor."""
        return next(iter(_head(self.part)))

    def to_dict(self) -> dict[str, Any]:
        """The part as the API of a server lists it, with its sources; docs/devices-data.md."""
        listed = device_list(self.part)
        (mine, *_) = listed["devices"]
        used = {one["source"] for key in ("compute", "memory", "links") for one in mine[key]}
        sources = {key: one for key, one in listed["sources"].items() if key in used}
        return {"schema": listed["schema"], "sources": sources, "devices": [mine]}

    def to_text(self) -> str:
        """What `roofline devices ID` prints."""
        part = self.part
        lines = [*_head(part), "", *_roofs(part), "", *_in_flight(part), *_figures(part)]
        return "\n".join(lines) + "\n"

    def picture(self) -> Picture | None:
        """Its roofs for products of bf16, or of fp16 where it has no unit for bf16."""
        from roofline.exports.cost_charts import parts_figure  # loads slowly

        return parts_figure([self.part], Query().dtype)

    def rows(self) -> Sequence[Record]:
        """One row per number, with where it was read, and whether it is the one that is used."""
        return [
            {
                "of": one.of,
                "value": one.value,
                "unit": one.unit,
                "source": one.source.title,
                "address": one.source.address,
                "status": one.status.value,
            }
            for one in self.part.figures
        ]


def devices(
    kind: str = "",
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    dtype: str = "bf16",
    sort: str = "",
    sparse: bool = False,
    prices: Mapping[str, float] | None = None,
) -> Devices:
    """The parts whose peaks are known, of this kind or vendor ("tpu", "nvidia").

    The rest is as the options of `roofline devices`; `prices` are dollars per device hour by id.
    Raises `BadViewError` for a column or a kind that is not known.
    """
    found = Devices(
        Query(
            columns=tuple(columns),
            dtype=dtype,
            sort=sort,
            kind=kind,
            is_all=True,
            is_sparse=sparse,
            prices=prices or {},
        )
    )
    found.rows()
    return found


def device(name: str) -> Device:
    """The part of this id, name or device name; `BadViewError` names those near it."""
    return Device(known_part(name))


def _head(part: Part) -> Iterable[str]:
    yield f"{part.name} ({part.id}), {part.vendor}"
    yield f"  one device is: {part.scope}"
    if part.aliases:
        yield f"  known as: {', '.join(part.aliases)}"
    if part.shared_aliases:
        yield f"  shares a name with other parts: {', '.join(part.shared_aliases)}"
    if part.family:
        yield f"  XProf's family: {part.family}"
    if part.notes:
        yield f"  {part.notes}"


def _roofs(part: Part) -> Iterable[str]:
    yield "Roofs per device"
    for peak in part.compute():
        yield f"  {peak.label:<20}{_flops(peak.gflops):>16}"
    for unit in part.absent_units:
        yield f"  {unit.label:<20}{'none':>16}"
    for one in (*part.memory(), *part.links()):
        yield f"  {one.level.label:<20}{one.gbs:>11,.0f} GB/s"
    for ridge in ridges_of(part):
        rows = "" if ridge.rows is None else f"   B* {ridge.rows:,.4g} rows"
        yield f"  ridge of {ridge.label:<11}{ridge.flop_per_byte:>11,.4g} FLOP/B{rows}"


def _in_flight(part: Part) -> Iterable[str]:
    lines = [cells_of(one) for one in in_flight(part)]
    if not lines:
        return
    yield "Bytes in flight for the whole bandwidth, per chip, at least (a thread: 512 per SM)"
    yield from (f"  {line}" for line in table(HEADS, lines, left={0, 1}).splitlines())
    yield ""


def _figures(part: Part) -> Iterable[str]:
    yield f"Numbers and sources, per {'chip' if part.devices_per_chip > 1 else 'device'}"
    for figure in part.figures:
        status = "" if figure.status is FigureStatus.CHOSEN else f"  [{figure.status}]"
        yield f"  {figure.of:<20}{_amount(figure):>16}  {figure.text}{status}"


def _amount(figure: Figure) -> str:
    if figure.unit == "s":
        return f"{figure.value * GIGA:,.4g} ns"
    if figure.unit in ("count", "ratio"):
        return f"{figure.value:g}"
    if figure.value >= TERA:
        return f"{figure.value / TERA:,.6g} T{figure.unit}"
    return f"{figure.value / GIGA:,.6g} G{figure.unit}"


def _flops(gflops: float) -> str:
    return f"{gflops / KILO:,.4g} TFLOP/s" if gflops >= KILO else f"{gflops:,.4g} GFLOP/s"
