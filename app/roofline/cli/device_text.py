"""`roofline devices`, the catalogue as plain text, and `roofline calibrate` of this machine."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from roofline.api.calibration import (
    accelerators,
    calibrate,
    entry_text,
    keep_entry,
    measure_accelerator,
    read_entry,
)
from roofline.api.devices import Devices, device, devices
from roofline.cli.options import file_argument
from roofline.cli.output import print_bytes
from roofline.cli.output import write as write_file
from roofline.cli.sharing import add_server, linked
from roofline.devices.table import COLUMNS, DEFAULT_COLUMNS, DTYPES, csv_of, read_prices
from roofline.model.plain_data import alike, taken


def add_devices(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline devices`."""
    parser.description = "List the parts whose peaks are known, or one of them with every source."
    parser.add_argument("name", nargs="?", help="a part's id, name or device name")
    parser.add_argument(
        "--over",
        nargs="+",
        type=file_argument,
        metavar="FILE",
        help="hold this profile against the parts",
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
    parser.add_argument(
        "-f", "--format", choices=("text", "json", "csv", "markdown"), default="text"
    )
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
        from roofline.cli import advising  # loads slowly

        names = [*([given.name] if given.name else []), *given.part]
        text = advising.parts_over(given.over, given.price, names, given.ops)
        print_bytes(text.encode())
        return
    if given.kernels:
        from roofline.estimate.kernels import KernelQuery, kernels_text  # loads slowly

        kernels = alike(KernelQuery, given, part_ids=tuple(given.part or PARTS_AT_FIRST))
        print_bytes(kernels_text(kernels).encode())
        return
    if given.name:
        part = device(given.name)
        forms = {"text": part.to_text, "markdown": part.to_markdown}
        write = forms.get(given.format, lambda: json.dumps(part.to_dict(), indent=2) + "\n")
        said = write()
        print_bytes(said.encode())
        return
    found = devices(
        given.kind,
        columns=given.columns.split(","),
        dtype=given.dtype,
        sort=given.sort,
        sparse=given.sparse,
        prices=read_prices(" ".join(given.price)),
    )
    print_bytes(_written(found, given.format))


PARTS_AT_FIRST = ("tpu-v7x", "tpu-v6e", "tpu-v5p", "h100-sxm")


def _written(found: Devices, form: str) -> bytes:
    if form == "text":
        return found.to_text().encode()
    if form == "json":
        return (json.dumps(found.rows(), indent=2) + "\n").encode()
    if form == "markdown":
        return found.to_markdown().encode()
    return csv_of(found.query)


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
        "--export", type=Path, metavar="FILE", help="write the measurement there, too"
    )
    parser.add_argument(
        "--import",
        type=Path,
        dest="imported",
        metavar="FILE",
        help="keep a measurement that another machine exported",
    )
    parser.add_argument(
        "--send",
        action="store_true",
        help="send what was measured to a server, whose page /devices lists it; needs the right to"
        " upload",
    )
    add_server(parser)
    parser.set_defaults(run=_calibrate)


def _calibrate(given: argparse.Namespace) -> None:
    server = linked(given)
    for entry, is_kept in _measured(given):
        if not is_kept:
            entry_text(entry, _write)
        if not (is_kept or given.dry_run):
            _write(f"\nKept: `--device {keep_entry(entry)}`.\n")
        if given.export is not None:
            write_file(given.export, json.dumps(entry, ensure_ascii=False, indent=1).encode())
        if given.send:
            sent = server.send("POST", "/api/v1/machines", entry)
            _write(f"Sent: choose `{sent['device']}` on {given.server}.\n")


def _measured(given: argparse.Namespace) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Each measurement as soon as it is there, and whether it was printed and kept before."""
    if given.imported is not None:
        yield read_entry(given.imported), False
        return
    if given.device in (None, "cpu"):
        yield calibrate(quick=given.quick, keep=not given.dry_run, write=_write).to_dict(), True
    named = () if given.device == "cpu" else (given.device,)
    for name in named if given.device else accelerators(given.python):
        yield measure_accelerator(name, **taken(given, "only", "quick", "python")), False


def _write(text: str) -> None:
    print_bytes(text.encode())
