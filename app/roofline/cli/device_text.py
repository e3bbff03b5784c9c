"""`roofline devices`, the catalogue as plain text, and `roofline calibrate` of this machine."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from roofline.api.calibration import calibrate
from roofline.cli.output import print_bytes
from roofline.cli.output import write as write_file
from roofline.devices.choice import part_id_of
from roofline.devices.identification import chosen_part
from roofline.devices.in_flight import HEADS, cells_of, in_flight
from roofline.devices.listing import ridges_of
from roofline.devices.parts import Figure, FigureStatus, Part
from roofline.devices.table import (
    COLUMNS,
    DEFAULT_COLUMNS,
    DTYPES,
    Query,
    columns_of,
    csv_of,
    read_prices,
    records_of,
    rows_of,
)
from roofline.devices.this_machine import read_machine
from roofline.model.plain_data import alike
from roofline.model.units import GIGA, KILO, TERA
from roofline.presentation.text_table import table


def describe_parts(query: Query) -> str:
    """The table of parts, per chip."""
    columns = columns_of(query)
    head = ("id", "name", *(f"{one.head}, {one.unit}" for one in columns))
    lines = [
        (row.part.id, row.part.name, *(cell.text for cell in row.cells)) for row in rows_of(query)
    ]
    kind = "of pruned weights" if query.is_sparse else "dense"
    note = (
        f"Per chip, {kind}. Ridge: {query.dtype} FLOP per byte of the main memory. ? has no public "
        "figure, – no such unit.\n`roofline devices ID` shows one with its sources, `roofline "
        "devices --over FILE` a profile on each."
    )
    return f"{table(head, lines, left={0, 1})}\n\n{note}\n"


def describe_part(name: str) -> str:
    """One part: every number with its source, chosen and not; `BadViewError` if there is none."""
    part = chosen_part(part_id_of(name), read_machine())
    return (
        "\n".join([*_head(part), "", *_roofs(part), "", *_in_flight(part), *_figures(part)]) + "\n"
    )


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
        help="dollars per device hour; repeatable",
    )
    parser.add_argument("--kind", default="", help="a kind or a vendor, such as tpu or nvidia")
    parser.add_argument(
        "--sort", default="", help="a column; with - the largest first: --sort=-bf16"
    )
    parser.add_argument(
        "--columns", default=",".join(DEFAULT_COLUMNS), help=f"of {', '.join(COLUMNS)}"
    )
    parser.add_argument("--dtype", choices=DTYPES, default="bf16", help="of ridge and B*")
    parser.add_argument("--sparse", action="store_true", help="rates of weights pruned to 2 of 4")
    parser.add_argument("-f", "--format", choices=("text", "json", "csv"), default="text")
    parser.add_argument(
        "--kernels", action="store_true", help="a transformer's kernels on each --part"
    )
    parser.add_argument(
        "--part", action="append", default=[], help="with --kernels or --over; repeatable"
    )
    parser.add_argument("--model", default="", help="with --kernels: those of this model")
    parser.add_argument("--batch", type=int, default=1, help="with --model: sequences (1)")
    parser.add_argument("--seq", type=int, default=2048, help="with --model: tokens of each (2048)")
    parser.add_argument(
        "--ops", type=int, default=0, metavar="N", help="with --over: the N longest operations, too"
    )
    parser.set_defaults(run=_devices)


def _devices(given: argparse.Namespace) -> None:
    if given.over:
        from roofline.cli import exploring  # loads slowly

        names = [*([given.name] if given.name else []), *given.part]
        text = exploring.parts_over(given.over, given.price, names, given.ops)
        print_bytes(text.encode())
        return
    if given.kernels:
        from roofline.estimate.kernels import KernelQuery, kernels_text  # loads slowly

        kernels = alike(KernelQuery, given, part_ids=tuple(given.part or PARTS_AT_FIRST))
        print_bytes(kernels_text(kernels).encode())
        return
    if given.name:
        print_bytes(describe_part(given.name).encode())
        return
    query = Query(
        columns=tuple(given.columns.split(",")),
        dtype=given.dtype,
        sort=given.sort,
        kind=given.kind,
        is_all=True,
        is_sparse=given.sparse,
        prices=read_prices(" ".join(given.price)),
    )
    print_bytes(_written(query, given.format))


PARTS_AT_FIRST = ("tpu-v7x", "tpu-v6e", "tpu-v5p", "h100-sxm")


def _written(query: Query, form: str) -> bytes:
    if form == "text":
        return describe_parts(query).encode()
    if form == "json":
        return (json.dumps(records_of(query), indent=2) + "\n").encode()
    return csv_of(query)


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline calibrate`."""
    parser.description = (
        "Measure what this machine's processor and memory can do, and keep it as the device"
        " `this-machine`: the roofs of programs that ran on this CPU. Then each accelerator that"
        " PyTorch or JAX finds, kept as `measured:HOST/DEVICE`, for --device. Leave the machine"
        " idle meanwhile."
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds, less exact")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print, do not keep the measurements"
    )
    parser.add_argument("--device", metavar="NAME", help="this alone: cpu, cuda:0, gpu:0, tpu:0")
    parser.add_argument(
        "--only", metavar="KEYS", help="of an accelerator: hbm,matrix_bf16,l2,link,pcie …"
    )
    parser.add_argument(
        "--python", metavar="PATH", help="an interpreter with PyTorch or JAX, not this one"
    )
    parser.add_argument(
        "--export", type=Path, metavar="FILE", help="write an accelerator's measurement there, too"
    )
    parser.add_argument(
        "--import",
        type=Path,
        dest="imported",
        metavar="FILE",
        help="keep a measurement that another machine exported",
    )
    parser.set_defaults(run=_calibrate)


def _calibrate(given: argparse.Namespace) -> None:
    from roofline.api.calibration import accelerators as on

    def write(text: str) -> None:
        print_bytes(text.encode())

    if given.imported is not None:
        entry = on.read_entry(given.imported)
        on.entry_text(entry, write)
        write(f"\nKept: `--device {on.keep_entry(entry)}`.\n")
        return
    if given.device in (None, "cpu"):
        calibrate(quick=given.quick, keep=not given.dry_run, write=write)
    named = [] if given.device == "cpu" else [given.device]
    for name in named if given.device else on.accelerators(given.python):
        entry = on.measure_accelerator(
            name, only=given.only, quick=given.quick, python=given.python
        )
        on.entry_text(entry, write)
        if given.export is not None:
            write_file(given.export, json.dumps(entry, ensure_ascii=False, indent=1).encode())
        if not given.dry_run:
            write(f"\nKept: `--device {on.keep_entry(entry)}`.\n")
