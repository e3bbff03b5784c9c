"""`roofline estimate`: what an op of known shape should cost on a part."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from roofline.api.estimates import estimate
from roofline.cli.output import print_bytes
from roofline.devices.topology import ALGORITHMS, LATENCIES, WRAPS
from roofline.estimate.ops import OPS, Options

_CHOICES: Mapping[str, tuple[type, str]] = {
    "dtype": (str, "element type of every tensor, and of the arithmetic (bf16)"),
    "weights": (str, "element type of the second operand of a matmul, such as int4:g128"),
    "out-dtype": (str, "element type of the output"),
    "kv-dtype": (str, "element type of keys and values"),
    "compute": (str, "precision of the arithmetic, where it is not --dtype"),
    "flops-per-element": (float, "of elementwise ops (1)"),
    "inputs": (int, "tensors that an elementwise op reads (1)"),
    "kind": (str, "of a norm: layer or rms (layer)"),
    "passes": (int, "how often a layer norm reads its input (2)"),
    "kv-heads": (int, "heads of keys and values (as many as query heads)"),
    "context": (int, "keys per sequence, new tokens included"),
    "window": (int, "keys that a token sees at most"),
    "ranks": (int, "devices of a collective (2)"),
    "tile": (str, "block of a matmul's output, such as 128x128 or 128x128x64"),
    "stride": (int, "of a convolution (1)"),
    "groups": (int, "of a convolution's channels (1)"),
    "padding": (str, "of a convolution: same or valid (same)"),
    "ops": (int, "elementwise ops of a chain (2)"),
    "threads": (int, "of the launch that run at once: they limit what the memory gives"),
    "load-bytes": (float, "with --threads: bytes of a load (16)"),
    "loads-in-flight": (int, "with --threads: loads of each under way (1)"),
    "per-node": (int, "ranks of this group that share a node"),
}


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command; docs/estimate.md says what each op takes."""
    parser.description = (
        "FLOPs, bytes, intensity and the time of each resource for one op: "
        f"{', '.join(OPS)}. docs/estimate.md has the formulas."
    )
    parser.add_argument("op", metavar="OP", help="such as matmul")
    parser.add_argument("shape", metavar="SHAPE", help="such as 8192x4096x4096")
    parser.add_argument("--device", required=True, metavar="NAME", help="a part of the catalogue")
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text")
    parser.add_argument("--causal", action="store_true", help="attention skips masked pairs")
    parser.add_argument("--no-flash", action="store_true", help="scores go through the memory")
    parser.add_argument("--sparse", action="store_true", help="weights are pruned to 2 of 4")
    for name, (kind, help_text) in _CHOICES.items():
        parser.add_argument(f"--{name}", type=kind, help=help_text)
    add_network(parser)
    parser.set_defaults(run=_estimate)


NETWORK_CHOICES: Mapping[str, tuple[type, str]] = {
    "nodes": (int, "nodes that the ranks fill"),
    "gpus-per-node": (int, "chips that the links join (the part's own)"),
    "network": (str, "share of one chip, such as 50GB/s or 400Gbit/s"),
    "axes": (str, "sizes of a TPU slice, such as 4x4, or how many axes"),
    "alpha-us": (float, "µs for each step of a ring, in place of --latency"),
}


def add_network(parser: argparse.ArgumentParser) -> None:
    """What joins the devices; docs/estimate.md."""
    for name, (kind, help_text) in NETWORK_CHOICES.items():
        parser.add_argument(f"--{name}", type=kind, help=help_text)
    parser.add_argument("--wrap", choices=WRAPS, help="axes of a slice that are rings (auto)")
    parser.add_argument("--latency", choices=LATENCIES, help="what a collective waits for (hops)")
    parser.add_argument("--algorithm", choices=ALGORITHMS, help="of collectives (two-level)")
    parser.add_argument(
        "--in-switch", action="store_true", help="all-reduces are added in the switch"
    )


def _estimate(given: argparse.Namespace) -> None:
    found = estimate(given.op, given.shape, device=given.device, **options_of(given, Options))
    if given.format == "json":
        print_bytes((json.dumps(found.to_dict(), indent=2) + "\n").encode())
    else:
        print_bytes(found.to_text().encode())


def options_of(given: argparse.Namespace, kind: type[Any]) -> dict[str, Any]:
    """The options among `given` that have the names of fields of the dataclass `kind`."""
    found = {one.name: getattr(given, one.name, None) for one in fields(kind)}
    return found | {"flash": not given.no_flash}
