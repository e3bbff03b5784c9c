"""Headline, device strip, notes, chips and lists of the page as it opens, in words."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.presentation.charts.program_figure import SYMBOLS, program_note, step_token
from roofline.presentation.first_view.numbers import column_scale
from roofline.presentation.first_view.table import bar_class, shown_category, token_class
from roofline.presentation.page_rows import EFFICIENCY, RATE, Page, Rows
from roofline.presentation.quantities import (
    DASH,
    count,
    counted,
    duration,
    peak_bandwidth,
    peak_rate,
    percent,
    quantity,
    significant,
    size,
)

STEP_ROWS = 40
_HOST = "host"
_SEVERITIES = {"error": "error", "warning": "warning", "info": "note"}
_ORIGINS = {"user": "set by you"}
_MEANINGS = {
    "measured": "counted by the hardware while the program ran",
    "modelled": "computed by the compiler’s cost model, not counted by the hardware",
    "estimated": (
        "estimated from the shapes of operators, so rates and intensities are estimates too"
    ),
    "stated": "as the file states them; it does not say how they were obtained",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a sentence; `kind` is that of a segment, `css` the colour of a bound.

    `quantity` says which number of the subject it is, and `raw` its value in us or as a ratio, for
    those who read the page by machine.
    """

    kind: str
    text: str
    css: str = ""
    quantity: str = ""
    raw: str = ""


def pieces(segments: Sequence[Mapping[str, Any]]) -> tuple[Piece, ...]:
    """Segments as text, neighbouring links as one."""
    found: list[Piece] = []
    for segment in segments:
        text = segment.get("text", "")
        if "value" in segment:
            text = quantity(segment["value"], segment["unit"])
        if found and found[-1].kind == segment["kind"] == "link":
            text = found.pop().text + text
        css = token_class(segment["token"]) if segment.get("token") else ""
        found.append(
            Piece(
                kind=segment["kind"],
                text=text,
                css=css,
                quantity=segment.get("quantity", ""),
                raw=raw_text(segment["raw"]) if "raw" in segment else "",
            )
        )
    return tuple(found)


def raw_text(value: float) -> str:
    """A number with all of its digits, as a script writes it, too: "34892.4", "0", "0.5581"."""
    return repr(float(value)).removesuffix(".0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A quiet word beside a number, and what it means."""

    text: str
    title: str


def counts_origin(rows: Rows) -> Origin | None:
    """How FLOPs and bytes were obtained; `None` where none are known."""
    provenance = rows.page["profile"]["provenance"]
    flop, moved = provenance["flop"], provenance["bytes"]
    if not flop or all(cost in ("unknown", "idle") for cost in rows.column("cost")):
        return None
    if flop == moved:
        title = f"FLOPs and bytes are {_MEANINGS.get(flop, flop)}."
        return Origin(text=f"FLOPs and bytes {flop}", title=title)
    title = f"FLOPs are {_MEANINGS.get(flop, flop)}. Bytes are {_MEANINGS.get(moved, moved)}."
    return Origin(text=f"FLOPs {flop}, bytes {moved}", title=title)


def main_peaks(page: Page) -> str:
    """The peaks that bind most programs, for the chip: "989 TFLOP/s · 3,350 GB/s"."""
    rates = [peak_rate(one["gflops"]) for one in page["roofs"]["compute"][:1]]
    moved = [peak_bandwidth(one["gbs"]) for one in page["roofs"]["memory"][:1]]
    return " · ".join([*rates, *moved])


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceItem:
    """One term of the device strip. `css` and `is_broken` are the line of its roof."""

    term: str
    value: str = ""
    small: str = ""
    origin: Origin | None = None
    css: str = ""
    is_broken: bool = False
    is_peak: bool = False


def device_items(page: Page) -> list[DeviceItem]:
    """The strip, the peaks that bind most first: what does not fit is cut from the end."""
    device, roofs, profile = page["device"], page["roofs"], page["profile"]
    main, inner = roofs["memory"][:1], roofs["memory"][1:]
    known = {level["id"] for level in page["levels"] if level["is_link"]}
    # Chips wait for each other more than for the host.
    links = sorted((one for one in inner if one["id"] in known), key=lambda one: one["id"] == _HOST)
    ridge = next((r for r in roofs["memory"] if r["ridge_flop_per_byte"] is not None), None)
    steps = "no steps" if device["steps"] == 0 else counted(device["steps"], "step")
    files = profile["files"]
    return [
        DeviceItem(term="Device", value=device["name"], small=shape_text(page)),
        *(_peak(page, roof) for roof in [*roofs["compute"][:1], *main, *links]),
        *(_ridge(ridge) if ridge else ()),
        DeviceItem(term="Measured", value=duration(device["wall_time_us"]), small=steps),
        *(_peak(page, roof) for roof in inner if roof not in links),
        *_missing_peaks(page),
        DeviceItem(term="Captured", value=_captured(profile["captured_at"])),
        DeviceItem(term="File" if len(files) == 1 else "Files", value=_files(files)),
    ]


def core_word(page: Page) -> str:
    """ "core", or what the device calls it."""
    word: str = page["device"]["core_word"]
    return "core" if word == "TensorCore" else word


def shape_text(page: Page) -> str:
    """ "4 cores · 1 host"."""
    device = page["device"]
    cores = [counted(device["cores"], core_word(page))] if device["cores"] > 0 else []
    return " · ".join([*cores, counted(device["hosts"], "host")])


def _peak(page: Page, roof: Mapping[str, Any]) -> DeviceItem:
    is_rate = "gflops" in roof
    origin = roof["origin"]
    return DeviceItem(
        term=roof["label"],
        value=peak_rate(roof["gflops"]) if is_rate else peak_bandwidth(roof["gbs"]),
        origin=Origin(
            text=_ORIGINS.get(origin, origin),
            title=f"Per {page['device']['core_word']}. {roof['source']}",
        ),
        css=token_class(roof["token"]),
        is_broken=roof["dash"] != "solid",
        is_peak=True,
    )


def _ridge(roof: Mapping[str, Any]) -> Iterator[DeviceItem]:
    yield DeviceItem(term="Ridge", value=f"{significant(roof['ridge_flop_per_byte'])} FLOP/B")


def _missing_peaks(page: Page) -> Iterator[DeviceItem]:
    roofs = page["roofs"]
    if not roofs["compute"] and not roofs["memory"]:
        yield DeviceItem(term="Peaks", value="none known: no roofs can be drawn")
        return
    known = {roof["id"] for roof in roofs["memory"]}
    shown = [level for level in page["levels"] if level["is_shown"]]
    without = [level["label"] for level in shown if level["id"] not in known]
    if not roofs["compute"]:
        without.insert(0, "Compute")
    if without:
        yield DeviceItem(term=", ".join(without), value="no peak known")


def _captured(moment: str | None) -> str:
    if moment is None:
        return "date not in the file"
    when = dt.datetime.fromisoformat(moment)
    return f"{when.day} {when:%b %Y, %H:%M} UTC"


def _files(files: Sequence[Mapping[str, Any]]) -> str:
    if not files:
        return DASH
    total = size(sum(file["size_bytes"] or 0 for file in files))
    first = files[0]["name"] if len(files) == 1 else f"{len(files)} files"
    return f"{first} · {total}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnostic: its `severity` is that of the data."""

    severity: str
    word: str
    message: str
    remedy: str
    times: str


def findings(page: Page) -> list[Finding]:
    """The notes on the profile, the gravest first."""
    found = [
        Finding(
            severity=one["severity"],
            word=_SEVERITIES[one["severity"]],
            message=one["message"],
            remedy=one["remedy"] or "",
            times=f"{count(one['count'])}×" if one["count"] > 1 else "",
        )
        for one in page["diagnostics"]
    ]
    order = list(_SEVERITIES)
    return sorted(found, key=lambda one: order.index(one.severity))


def finding_counts(page: Page) -> list[tuple[str, str]]:
    """Severity and count in words, for the button that opens the list."""
    severities = [one["severity"] for one in page["diagnostics"]]
    counts = {name: severities.count(name) for name in _SEVERITIES}
    found = [(name, counted(n, _SEVERITIES[name])) for name, n in counts.items() if n]
    limits = len(page["profile"]["limits"])
    return [*found, ("info", counted(limits, "limit"))] if limits else found


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundChip:
    """A bound of ops, and their number; `kind` and `dash` choose its glyph."""

    id: str
    label: str
    kind: str
    look: str
    token: str
    count: str


def bound_chips(rows: Rows) -> list[BoundChip]:
    """The bounds that ops have; "no cost" is not a resource, and last."""
    numbers = list(rows.column("bound_by"))
    found = [
        BoundChip(
            id=bound["id"],
            label=bound["label"],
            kind=bound["kind"],
            look=_glyph(bound),
            token=bound["token"],
            count=count(numbers.count(index)),
        )
        for index, bound in enumerate(rows.page["bounds"])
        if index in numbers
    ]
    return sorted(found, key=lambda chip: chip.kind == "none")


def _glyph(bound: Mapping[str, Any]) -> str:
    if bound["kind"] in ("none", "link") or bound["dash"] == "dot":
        return "dotted"
    return "" if bound["dash"] == "solid" else "dashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryEntry:
    """A category of the chart's legend."""

    name: str
    symbol: str
    token: str


def categories(rows: Rows) -> list[CategoryEntry]:
    """The categories that ops have, the longest first."""
    totals: dict[int, float] = {}
    for category, share in zip(rows.column("category"), rows.shares, strict=True):
        totals[category] = totals.get(category, 0.0) + share
    ordered = sorted(totals, key=lambda index: -totals[index])
    known = [rows.page["categories"][index] for index in ordered]
    return [
        CategoryEntry(name=shown_category(one["name"]), symbol=one["symbol"], token=one["token"])
        for one in known
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A point of the program in the list beside its chart."""

    name: str
    symbol: str
    token: str
    time: str
    rate: str
    share: str
    css: str
    is_step: bool
    is_outlier: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepList:
    """The first points of the program, the units of its columns, and what to know of them."""

    rows: tuple[StepRow, ...]
    time_unit: str
    rate_unit: str
    note: str
    all: int


def step_list(rows: Rows) -> StepList:
    """Totals, the average and the first steps."""
    points = rows.program
    time = column_scale("time_us", _largest(points, "total_time_per_core_us"))
    rate = column_scale("gflops", _largest(points, RATE))
    bounds = rows.page["bounds"]

    def row(point: Mapping[str, Any]) -> StepRow:
        is_step = point["scope"] == "step"
        share = point.get(EFFICIENCY)
        token = bounds[point["bound_by"]]["token"]
        least = "≥\u00a0" if point.get("flop_is_least") else ""
        return StepRow(
            name=_point_name(point),
            symbol=SYMBOLS[point["scope"]],
            token=step_token(point.get("order")) if is_step else "--star",
            time=time.text(point.get("total_time_per_core_us")),
            rate=least + rate.text(point.get(RATE)),
            share=percent(share, 0),
            css="" if share is None else bar_class(share, token),
            is_step=is_step,
            is_outlier=bool(point.get("is_outlier")),
        )

    return StepList(
        rows=tuple(map(row, points[:STEP_ROWS])),
        time_unit=f"{time.unit}/{core_word(rows.page)}",
        rate_unit=rate.unit,
        note=program_note(points, rows.page["device"]["fields"]),
        all=len(points),
    )


def _point_name(point: Mapping[str, Any]) -> str:
    if point["scope"] == "total_hw":
        return "Total (HW)"  # the note below the list says what was counted
    return f"Step {point['label']}" if point["scope"] == "step" else str(point["label"])


def _largest(points: Sequence[Mapping[str, Any]], name: str) -> float:
    return max((point.get(name) or 0.0 for point in points), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row of the card of a server: its values in each phase, as text."""

    label: str
    help: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Steps of a language-model server, by phase and batch."""

    note: str
    phases: tuple[str, ...]
    figures: tuple[Figure, ...]


def serving(page: Page) -> Serving | None:
    """The card of a server; `None` for other programs."""
    sent = page["serving"]
    if not sent:
        return None
    return Serving(
        note=sent["note"],
        phases=tuple(one["label"] for one in sent["phases"]),
        figures=tuple(
            Figure(
                label=one["label"],
                help=one["help"],
                cells=tuple(_cell(value, one["unit"]) for value in one["values"]),
            )
            for one in sent["figures"]
        ),
    )


def _cell(value: Any, unit: str) -> str:
    if value is None or value == "":
        return DASH
    if not isinstance(value, int | float):
        return str(value)
    return percent(value) if unit == "ratio" else quantity(value, unit)
