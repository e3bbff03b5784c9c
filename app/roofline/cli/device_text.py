"""The hardware catalogue as plain text: every part in a line, or one part with its sources."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from roofline.cli.output import print_bytes
from roofline.devices.catalogue import parts
from roofline.devices.choice import part_id_of
from roofline.devices.identification import chosen_part
from roofline.devices.listing import ridges_of
from roofline.devices.parts import Figure, FigureStatus, Part
from roofline.devices.this_machine import read_machine
from roofline.model.units import GIGA, KILO, TERA

MISSING = "–"
_WIDTHS = (18, 30, 20, 10, 10, 8, 8)


def describe_parts() -> str:
    """Every part in one line: main compute peak, main memory, per profiler device."""
    machine = read_machine()
    known = (*([machine] if machine else []), *parts())
    head = _columns("id", "name", "compute", "GB/s", "memory", "ridge", "B*")
    note = (
        "Per device as a profiler shows it. Ridge: FLOP per byte of the main memory. B*: rows from "
        "which\narithmetic binds a matrix product, ridge x bytes of a weight / 2. `roofline devices"
        " ID` shows one with\nits sources, `roofline devices --over FILE` a profile on each."
    )
    return "\n".join([head, *map(_line, known), "", note]) + "\n"


def describe_part(name: str) -> str:
    """One part: every number with its source, chosen and not; `BadViewError` if there is none."""
    part = chosen_part(part_id_of(name), read_machine())
    return "\n".join([*_head(part), "", *_roofs(part), "", *_figures(part)]) + "\n"


def _line(part: Part) -> str:
    compute, memory = part.compute(), part.memory()
    peak = f"{_flops(compute[0].gflops)} {compute[0].unit.precision}" if compute else MISSING
    main = next((one for one in memory if one.level.is_main), None)
    gbs = f"{main.gbs:,.0f}" if main else MISSING
    size = f"{part.memory_bytes / GIGA:,.0f} GB" if part.memory_bytes else MISSING
    ridge = next(iter(ridges_of(part)), None)
    corner = f"{ridge.flop_per_byte:,.4g}" if ridge else MISSING
    rows = f"{ridge.rows:,.4g}" if ridge and ridge.rows is not None else MISSING
    return _columns(part.id, part.name, peak, gbs, size, corner, rows)


def _columns(*cells: str) -> str:
    sizes = zip(cells, _WIDTHS, strict=True)
    return "".join(
        f"{cell:<{width}}" if at < 2 else f"{cell:>{width}}"
        for at, (cell, width) in enumerate(sizes)
    ).rstrip()


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


def _figures(part: Part) -> Iterable[str]:
    yield f"Numbers and sources, per {'chip' if part.devices_per_chip > 1 else 'device'}"
    for figure in part.figures:
        status = "" if figure.status is FigureStatus.CHOSEN else f"  [{figure.status}]"
        yield f"  {figure.of:<20}{_amount(figure):>16}  {figure.text}{status}"


def _amount(figure: Figure) -> str:
    if figure.unit == "count":
        return f"{figure.value:g}"
    if figure.value >= TERA:
        return f"{figure.value / TERA:,.6g} T{figure.unit}"
    return f"{figure.value / GIGA:,.6g} G{figure.unit}"


def _flops(gflops: float) -> str:
    return f"{gflops / KILO:,.4g} TFLOP/s" if gflops >= KILO else f"{gflops:,.4g} GFLOP/s"


def add_devices(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline devices`."""
    parser.description = "List the parts whose peaks are known, or one of them with every source."
    parser.add_argument("name", nargs="?", help="a part's id, name or device name")
    parser.add_argument(
        "--over", nargs="+", type=Path, metavar="FILE", help="hold this profile against the parts"
    )
    parser.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="PART=DOLLARS",
        help="with --over: dollars per device hour; repeatable",
    )
    parser.set_defaults(run=_devices)


def _devices(given: argparse.Namespace) -> None:
    if given.over:
        from roofline.cli import exploring  # loads slowly

        names = [given.name] if given.name else []
        print_bytes(exploring.parts_over(given.over, given.price, names).encode())
        return
    print_bytes((describe_part(given.name) if given.name else describe_parts()).encode())
