"""XProf's two scatter charts as figures: its window, its roofs, its points and their texts.

Nothing is corrected here: a roof begins with GiB/s and bends at GB/s, and a row without a known
bound has no point, as in XProf 2.24.2.
"""

from collections.abc import Iterable, Mapping, Sequence
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
)
from roofline.figures.scale import Margin
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import LEVEL_STYLES

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
