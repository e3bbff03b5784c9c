"""XProf's page of a profile, made of XProf's own table: its fields, filters, charts and columns.

Names, order and digits are those of XProf 2.24.2 (`exports/xprof.py` writes the table). Only the
share of time by category is a list in place of a pie, and hover shows what XProf shows on a click.

XProf's two scatter charts as figures: its window, its roofs, its points and their texts.

Nothing is corrected here: a roof begins with GiB/s and bends at GB/s, and a row without a known
bound has no point, as in XProf 2.24.2.
"""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from roofline.figures.figure import (
    Figure,
    Json,
    LegendEntry,
    inert,
    layout,
    line,
    log_axis,
    numbered,
    six_digits,
)
from roofline.figures.scale import Margin
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, TERA
from roofline.presentation.palette import LEVEL_STYLES
from roofline.presentation.quantities import duration, fixed

Row = Mapping[str, Any]
"""A row of XProf's table by the ids of its columns."""

PROGRAM = "Program"
_X, _Y = (-5.0, 5.0), (-5.0, 7.0)  # log10 of XProf's window, whatever the points
_MARGIN = Margin(left=84, right=34, top=10, bottom=44)
# Levels in the order of XProf's legend: flag of the device that shows the line, level, name.
_GPU_LINES = (("", "vmem_write", "Shared Mem / L1"), ("", "hbm", "HBM"))
_TPU_LINES = (
    ("has_merged_vmem", "vmem_read", "VMEM Read"),
    ("has_merged_vmem", "vmem_write", "VMEM Write"),
    ("has_cmem", "cmem_read", "CMEM Read"),
    ("has_cmem", "cmem_write", "CMEM Write"),
    ("", "hbm", "HBM"),
)
_COLOURS = 12  # categories, before colours repeat
_STEPS = {"Total": "--star", "Average": "--c2"}
Series = tuple[str, str, str, int, Sequence[Row]]
"""Name, token, symbol, size in pixels, rows."""


def program_chart(device: Mapping[str, str], rows: Sequence[Row], texts: Sequence[str]) -> Figure:
    """Total, average and steps of the program; `texts` are what is said of each row."""
    names = [row["step"] if row["step"] in _STEPS else "Step" for row in rows]
    series: list[Series] = [
        (
            name,
            token,
            "circle",
            8,
            [row for row, own in zip(rows, names, strict=True) if own == name],
        )
        for name, token in (*_STEPS.items(), ("Step", "--c3"))
    ]
    return _figure("xprof-program", device, series, rows, texts)


def op_chart(device: Mapping[str, str], rows: Sequence[Row], texts: Sequence[str]) -> Figure:
    """Operations by category, those with the most self time first, and the program as a star."""
    series: list[Series] = [
        (name, f"--c{number % _COLOURS + 1}", "circle", 6, _of(rows, name))
        for number, (name, _) in enumerate(self_times(rows))
    ]
    series.append((PROGRAM, "--star", "star", 17, _of(rows, PROGRAM)))
    return _figure("xprof-op", device, series, rows, texts)


def self_times(rows: Iterable[Row]) -> list[tuple[str, float]]:
    """Self time in us of each category of operations, the largest first."""
    found: dict[str, float] = {}
    for row in rows:
        if row["category"] != PROGRAM:
            found[row["category"]] = found.get(row["category"], 0.0) + row["total_self_time"]
    return sorted(found.items(), key=lambda one: -one[1])


def _of(rows: Sequence[Row], category: str) -> list[Row]:
    return [row for row in rows if row["category"] == category]


def _figure(
    name: str,
    device: Mapping[str, str],
    series: Sequence[Series],
    rows: Sequence[Row],
    texts: Sequence[str],
) -> Figure:
    said = {id(row): text for row, text in zip(rows, texts, strict=True)}
    roofs = _roofs(device)
    points = [_points(one, said) for one in series]
    axis = {"fixedrange": True}
    ticks = [[10.0**k for k in range(low, high)] for low, high in ((-5, 6), (-3, 7))]
    drawn = layout(
        _MARGIN,
        log_axis(_X, ticks[0], _tick, "FLOP/Byte (log scale)") | axis,
        log_axis(_Y, ticks[1], _tick, "GFLOP/s (log scale)") | axis,
        [],
        name,
    ) | {"dragmode": False}
    placed = sum(len(one["x"]) for one in points)
    return {
        "id": name,
        "data": numbered([*roofs, *points]),
        "layouts": {"wide": drawn, "narrow": drawn},
        "marks": None,
        "beyond": {},
        "legend": _legend(roofs, series),
        "alt": f"XProf's roofline: {placed} of {len(rows)} rows have a place.",
    }


def _legend(roofs: Sequence[Json], series: Sequence[Series]) -> list[LegendEntry]:
    """Roofs, and series that have rows."""
    lines = [(roof["name"], roof["line"]["color"], roof["line"]["dash"]) for roof in roofs]
    marks = [(name, token, "") for name, token, _, _, rows in series if rows]
    return [{"text": text, "token": token, "dash": dash} for text, token, dash in lines + marks]


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.0e}" if value < 1e-3 else f"{value:g}"


def _roofs(device: Mapping[str, str]) -> list[Json]:
    """Each level's line of three points, where the device has its flag and its peaks."""
    lines = _GPU_LINES if "GPU" in device["device_type"] else _TPU_LINES
    flops = float(device["peak_flop_rate"])
    return [
        line(
            f"{name} Roofline",
            _bent(device, level, flops),
            role="roof",
            token=LEVEL_STYLES[MemoryLevel(level)].token,
            dash=LEVEL_STYLES[MemoryLevel(level)].dash,
        )
        for flag, level, name in lines
        if (not flag or device[flag] == "1") and float(device[f"{level}_ridge_point"]) > 0 < flops
    ]


def _bent(device: Mapping[str, str], level: str, flops: float) -> list[tuple[float, float]]:
    gibs, corner = float(device[f"peak_{level}_bw"]), float(device[f"{level}_ridge_point"])
    return [(_X[0], _X[0] + log10(gibs)), (log10(corner), log10(flops)), (_X[1], log10(flops))]


def _points(series: Series, said: Mapping[int, str]) -> Json:
    name, token, symbol, size, rows = series
    known = [row for row in rows if row["bound_by"] != "Unknown" and _place(row) is not None]
    places = [at for row in known if (at := _place(row)) is not None]
    return {
        **line(inert(name), places, role="marks", token=token),
        "mode": "markers",
        "hoverinfo": "text",
        "text": [said[id(row)] for row in known],
        "marker": {"symbol": symbol, "size": size, "color": token, "opacity": 1},
    }


def _place(row: Row) -> tuple[float, float] | None:
    """log10 of the intensity at the bottleneck and of the FLOP rate; a log axis has no zero."""
    x, y = row["bottleneck_operational_intensity"], row["measured_flop_rate"]
    return (log10(x), log10(y)) if x > 0 < y else None


ALL = "All"
_PROGRAM_COLUMNS = ("step", "total_time_per_core", "measured_flop_rate", "bound_by", "hbm_bw")
_OP_COLUMNS = (
    *("step", "rank", "hlo_module_id", "category", "operation", "occurrences", "total_time"),
    *("measured_flop_rate", "model_flop_rate", "bound_by", "hbm_bw", "source_info"),
)
_CMEM_COLUMNS = ("measured_memory_bw", "cmem_read_bw", "cmem_write_bw")
_SHARES = ("roofline_efficiency", "compute_efficiency", "max_mem_bw_utilization")
_PERCENT = frozenset({*_SHARES, "total_time_in_percentage"})
_TEXTS = frozenset({"step", "category", "operation", "bound_by", "hlo_module_id", "source_info"})
_THREE_DECIMALS = frozenset({"rank", "occurrences", "model_flop_rate"})
_IN_TOOLTIP = (
    *("step", "rank", "hlo_module_id", "category", "operation", "occurrences"),
    *("total_time_per_core", "total_time_in_percentage", "measured_flop_rate", "model_flop_rate"),
    *("hbm_bw", "cmem_read_bw", "cmem_write_bw", "vmem_read_bw", "vmem_write_bw"),
    *("operational_intensity", "hbm_operational_intensity", "bottleneck_operational_intensity"),
    "bound_by",
)
_LEAST_SLICE = 0.01  # of the self time that is listed; smaller categories are "Other"
_NAME_LETTERS = 30  # of an operation in a text at a point
_SOURCE = re.compile(r"<div class='source-info-cell' title='(.*?)'>(.*)</div>", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class XprofChoice:
    """The chosen filters: an empty text leaves all rows in; `sort` with "-" descends."""

    program_infeed: str = "in"
    infeed: str = "in"
    category: str = ""
    bound: str = ""
    name: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell: its text, what stands behind it, and its alignment."""

    text: str
    title: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A column: its order, if it has one (ascending or descending), and that of the next click."""

    id: str
    label: str
    order: str
    next_sort: str
    is_text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A chart with the table of its rows."""

    figure: Figure
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class XprofView:
    """XProf's page: `time` is that of the whole capture per core, empty where there are no rows."""

    time: str
    fields: tuple[tuple[str, str], ...]
    program: Section
    ops: Section
    shares: tuple[tuple[str, str, float], ...]
    categories: tuple[str, ...]
    bounds: tuple[str, ...]
    warnings: tuple[str, ...]
    choice: XprofChoice


def xprof_view(tables: Sequence[Mapping[str, Any]], choice: XprofChoice) -> XprofView:
    """The page of XProf's two tables, which are its rooflines and its diagnostics."""
    table, diagnostics = tables
    ids = [column["id"] for column in table["cols"]]
    rows: list[Row] = [
        dict(zip(ids, (cell["v"] for cell in row["c"]), strict=True)) for row in table["rows"]
    ]
    program = [
        row for row in rows if row["category"] == PROGRAM and _is_of(row, choice.program_infeed)
    ]
    ops = _sorted([row for row in rows if row["step"] == "Total" and _fits(row, choice)], choice)
    device = table["p"]
    labels = {column["id"]: column["label"] for column in table["cols"]}
    cmem = _CMEM_COLUMNS if device.get("has_cmem") == "1" else ()
    return XprofView(
        time=duration(rows[0]["total_time_per_core"]) if rows else "",
        fields=tuple(_fields(device)),
        program=_section(
            program_chart(device, program, [_said(row, labels) for row in program]),
            (*_PROGRAM_COLUMNS, *cmem, *_SHARES),
            labels,
            program,
        ),
        ops=_section(
            op_chart(device, ops, [_said(row, labels) for row in ops]),
            (*_OP_COLUMNS, *cmem, *_SHARES),
            labels,
            ops,
            choice.sort,
        ),
        shares=tuple(_shares(ops)),
        categories=tuple(sorted({row["category"] for row in rows})),
        bounds=tuple(sorted({row["bound_by"] for row in rows})),
        warnings=tuple(row["c"][1]["v"] for row in diagnostics["rows"]),
        choice=choice,
    )


def _is_of(row: Row, infeed: str) -> bool:
    return bool(row["include_infeed_outfeed"]) == (infeed != "out")


def _fits(row: Row, choice: XprofChoice) -> bool:
    return (
        _is_of(row, choice.infeed)
        and choice.category in ("", ALL, row["category"])
        and choice.bound in ("", ALL, row["bound_by"])
        and choice.name.lower() in row["operation"].lower()
    )


def _sorted(rows: list[Row], choice: XprofChoice) -> list[Row]:
    column = choice.sort.removeprefix("-")
    if not rows or column not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: row[column], reverse=choice.sort.startswith("-"))


def _section(
    figure: Figure,
    columns: Sequence[str],
    labels: Mapping[str, str],
    rows: Sequence[Row],
    sort: str = "",
) -> Section:
    shown = [one for one in columns if one in labels]
    return Section(
        figure=six_digits(figure),
        heads=tuple(_head(one, labels[one], sort) for one in shown),
        rows=tuple(tuple(_cell(one, row[one]) for one in shown) for row in rows),
    )


def _head(column: str, label: str, sort: str) -> Head:
    order = {column: "ascending", f"-{column}": "descending"}.get(sort, "")
    next_sort = f"-{column}" if order == "ascending" else column
    return Head(id=column, label=label, order=order, next_sort=next_sort, is_text=column in _TEXTS)


def _cell(column: str, value: Any) -> Cell:
    if column == "source_info":
        found = _SOURCE.fullmatch(value)
        title, text = map(html.unescape, found.groups()) if found else ("", "")
        return Cell(text=text, title=title, is_text=True)
    if column in _TEXTS:
        return Cell(text=value, is_text=True)
    return Cell(text=number(column, value))


def number(column: str, value: float) -> str:
    """A number as XProf writes it in its tables."""
    if column in _PERCENT:
        return f"{_trimmed(1, 100 * value)}%".replace(",", "")
    if column in _THREE_DECIMALS or column.startswith("vmem_"):
        return _trimmed(3, value)
    return fixed(0 if column == "total_time_per_core" else 2, value)


def _trimmed(most: int, value: float) -> str:
    """At most so many decimals, and none that is a zero at the end."""
    text = fixed(most, value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _said(row: Row, labels: Mapping[str, str]) -> str:
    """The lines of the card of a point: those of XProf, and "Bound by"."""
    lines = []
    for column in _IN_TOOLTIP:
        if column not in labels:
            continue
        value = row[column]
        if column == "operation" and len(value) > _NAME_LETTERS:
            value = f"{value[:_NAME_LETTERS]}..."
        if column == "total_time_in_percentage":
            value = f"{_trimmed(2, 100 * value)}%"
        elif not isinstance(value, str):
            value = _trimmed(2 if column == "total_time_per_core" else 4, value)
        lines.append(f"<b>{inert(labels[column])}:</b> {inert(value)}")
    return "<br>".join(lines)


def _shares(ops: Iterable[Row]) -> Iterable[tuple[str, str, float]]:
    """Each category with its share of the listed self time, in percent; small ones together."""
    times = self_times(ops)
    total = sum(time for _, time in times)
    if total <= 0:
        return
    large = [(name, time / total) for name, time in times if time >= _LEAST_SLICE * total]
    rest = 1 - sum(share for _, share in large)
    for name, share in [*large, *([("Other", rest)] if len(large) < len(times) else [])]:
        yield name, f"{fixed(0, 100 * share)}%", 100 * share


def _fields(device: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """The device panel: label and text of each field, in XProf's order."""
    on_gpu = "GPU" in device["device_type"]
    per = "GPU" if on_gpu else "TensorCore"
    yield "Device Type", device["device_type"]
    if not on_gpu:
        yield "Megacore", "Yes" if device["megacore"] == "1" else "No"
    yield f"Peak FLOP Rate per {per}", _flops(device["peak_flop_rate"])
    for shown, level, name in (
        (True, "hbm", "HBM Bandwidth"),
        (device.get("has_merged_vmem") == "1", "vmem_read", "VMEM Read Bandwidth"),
        (device.get("has_merged_vmem") == "1", "vmem_write", "VMEM Write Bandwidth"),
        (on_gpu, "vmem_write", "Shared Memory / L1 Cache Bandwidth"),
        (device.get("has_cmem") == "1", "cmem_read", "CMEM Read Bandwidth"),
        (device.get("has_cmem") == "1", "cmem_write", "CMEM Write Bandwidth"),
    ):
        if shown:
            yield f"Peak {name} per {per}", f"{device[f'peak_{level}_bw']} GiB/s"
    scale = device.get("time_scale_multiplier", "0")
    if on_gpu or float(scale) not in (0.0, 1.0):
        yield "Time Scale Multiplier", scale


def _flops(text: str) -> str:
    rate = float(text)
    tera = rate * GIGA / TERA
    return f"{round(tera, 2):g} TFLOP/s" if tera >= 1 else f"{text} GFLOP/s"
