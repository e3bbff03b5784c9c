"""`roofline whatif`: a measured run with other number formats, or fewer bytes over links."""

import argparse
import json
from pathlib import Path

from roofline.cli.options import add_files, add_peaks
from roofline.cli.output import put_out

FORMATS = ("text", "json", "markdown")
_PARTS_OF_OPS = 3
TENSORS = ("auto", "weights", "all")


def add_whatif(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline whatif`."""
    parser.description = (
        "Say what other number formats, or fewer bytes over links, would save of a measured run."
        " The stored format changes bytes, the computed one the roof. Savings end at the next roof."
    )
    add_files(parser)
    parser.add_argument(
        "--storage", metavar="TYPE", help="store tensors so: fp8, int8, int4:g128 (groups of 128)"
    )
    parser.add_argument(
        "--tensors",
        choices=TENSORS,
        default="auto",
        help="which tensors: weights and activations (auto), weights alone, or all",
    )
    parser.add_argument("--compute", metavar="TYPE", help="multiply matrices so: fp8, int8, tf32")
    parser.add_argument(
        "--link-bytes",
        type=share,
        metavar="SHARE",
        help="collectives move this part of their bytes: 0.5 or 50%%, as with compressed gradients",
    )
    parser.add_argument("--category", default="", help="only operations of this category")
    parser.add_argument("--op", default="", metavar="TEXT", help="only operations with this name")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_whatif)


def share(text: str) -> float:
    """0.5 of "0.5" and of "50%"."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def _whatif(given: argparse.Namespace) -> None:
    from roofline.api.exploring import in_formats
    from roofline.cli.progress import opened

    names = ("storage", "compute", "tensors", "category", "op", "link_bytes")
    found = in_formats(
        opened(given.files, device=given.device, peaks=given.peak),
        **{name: getattr(given, name) for name in names},
    )
    if given.format == "json":
        said = json.dumps(found.to_dict(), indent=2) + "\n"
    else:
        said = found.to_markdown() if given.format == "markdown" else found.to_text()
    put_out(said.encode(), given.output)


def parts_over(files: list[Path], prices: list[str], names: list[str], ops: int) -> str:
    """The table of `roofline devices --over`: the subject here, on `names` and the usual parts; and
    the `ops` longest operations on each of `names`, or of the usual parts."""
    from roofline.api.exploring import over_parts
    from roofline.cli.progress import opened
    from roofline.devices.table import read_prices
    from roofline.exports.on_parts import ops_text, parts_text

    found = over_parts(opened(files), names, _PARTS_OF_OPS if ops else 0)
    table = parts_text(found, read_prices(" ".join(prices)))
    return table + (f"\n{ops_text(found, ops)}" if ops else "")
