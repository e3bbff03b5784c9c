"""Headline, device strip, notes, chips and lists of the page as it opens, in words."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.model.units import gib_to_gb
from roofline.presentation.charts.program_figure import SYMBOLS, program_note, step_token
from roofline.presentation.first_view.table import bar_class, shown_category, token_class
from roofline.presentation.page_rows import EFFICIENCY, RATE, Page, Rows
from roofline.presentation.quantities import (
    DASH,
    cell,
    column_scale,
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

STEP_ROWS = 100
"""Of the list beside the program's chart, which draws up to 300 marks; the table has all."""

_HOST = "host"
_NO_DATE = "date not in the file"
_SEVERITIES = ("error", "warning", "info")
_ORIGINS = {
    "profile": ("profile", "The profile states it."),
    "measured": ("measured", "The profiler measured it."),
    "catalogue": ("catalogue", "Published for this part."),
    "calibrated": ("calibrated", "Measured by roofline calibrate, not a data-sheet value."),
    "user": ("set by you", "Set by you, in this page’s address."),
}
"""Of a peak: the word beside it, and what it means. As `static/js/page/peak-field.js`."""
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
    those who read the page by machine. `filter` is the view state that a link sets.
    """

    kind: str
    text: str
    css: str = ""
    quantity: str = ""
    raw: str = ""
    filter: Mapping[str, Any] | None = None


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
                filter=segment.get("filter"),
            )
        )
    return tuple(found)


def raw_text(value: float) -> str:
    """A number with all of its digits, as a script writes it, too: "34892.4", "0", "0.5581"."""
    return repr(float(value)).removesuffix(".0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A quiet word beside a number, and what it means; `is_own` where the viewer set the number."""

    text: str
    title: str
    is_own: bool = False


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
    """One term of the device strip, or one of its fields, which have a `help`.

    A peak has a `key`, under which it is set by hand, what it is `of`, and the line of its roof
    (`css`, `is_broken`); `differs` says what else the catalogue has.
    """

    term: str
    value: str = ""
    small: str = ""
    help: str = ""
    origin: Origin | None = None
    key: str = ""
    of: str = ""
    css: str = ""
    is_broken: bool = False
    differs: Origin | None = None


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
        DeviceItem(
            term="Captured",
            value=moment_text(profile["captured_at"]) if profile["captured_at"] else _NO_DATE,
        ),
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
    device, rates = page["device"], page["roofs"]["compute"]
    is_rate, per = "gflops" in roof, f"er {device['core_word']}"
    is_main = is_rate and (roof is rates[0] or not roof["unit"])
    return DeviceItem(
        term=roof["label"],
        value=_peak_text("gflops" if is_rate else "gbs", roof["gflops" if is_rate else "gbs"]),
        origin=_origin(roof["origin"], f"P{per}. {roof['source']}"),
        key="compute" if is_main else roof["unit" if is_rate else "id"],
        of=f"{roof['label']}{' peak' if is_rate else ''} p{per}",
        css=token_class(roof["token"]),
        is_broken=roof["dash"] != "solid",
        differs=_differs(device, roof),
    )


def _peak_text(unit: str, value: float) -> str:
    return peak_rate(value) if unit == "gflops" else peak_bandwidth(value)


def _origin(name: str, source: str = "") -> Origin:
    text, meaning = _ORIGINS[name]
    return Origin(text=text, title=f"{meaning} {source}".rstrip(), is_own=name == "user")


def _differs(device: Mapping[str, Any], roof: Mapping[str, Any]) -> Origin | None:
    """The catalogue's other value of a peak of the profile, with the reason."""
    if roof["origin"] not in ("profile", "measured"):
        return None
    known = (one for one in device["comparisons"] if one["profile"] is not None)
    found = next((one for one in known if one["id"] == roof["id"]), None)
    if found is None:
        return None
    text = f"catalogue {_peak_text(found['unit'], found['catalogue'])}"
    return Origin(text=text, title=found["explanation"])


def device_fields(page: Page) -> list[DeviceItem]:
    """Every field of the device's panel, with its origin and what it means."""
    return [
        DeviceItem(
            term=field["label"],
            value=_field_text(field["value"], field["unit"]),
            help=field["help"],
            origin=_origin(field["origin"]) if field["origin"] else None,
        )
        for field in page["device"]["fields"]
    ]


def _field_text(value: str | float | None, unit: str) -> str:
    """Peaks with all their digits, times with four, the rest as everywhere."""
    if isinstance(value, str) or value is None:
        return value or DASH
    if unit in ("gflops", "gibs"):
        return _peak_text(unit, value if unit == "gflops" else gib_to_gb(value))
    return duration(value, 4) if unit == "time_us" else cell(value, unit)


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


def moment_text(moment: str | None) -> str:
    """ "1 Jan 2026, 00:00 UTC" of an ISO time."""
    if not moment:
        return DASH
    when = dt.datetime.fromisoformat(moment)
    return f"{when.day} {when:%b %Y, %H:%M} UTC"


def _files(files: Sequence[Mapping[str, Any]]) -> str:
    if not files:
        return DASH
    total = size(sum(file["size_bytes"] or 0 for file in files))
    first = files[0]["name"] if len(files) == 1 else f"{len(files)} files"
    return f"{first} · {total}"


def findings(page: Page) -> list[Mapping[str, Any]]:
    """The notes on the profile, the gravest first."""
    return sorted(page["diagnostics"], key=lambda one: _SEVERITIES.index(one["severity"]))


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
