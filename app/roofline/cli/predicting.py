"""`roofline predict` and `estimate`: what a language model, or one op, should cost on a part."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.api.estimates import Prediction, predict
from roofline.cli.output import put_out
from roofline.errors import BadViewError
from roofline.estimate.llm.config import presets
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.request import PredictOptions
from roofline.estimate.llm.request_document import (
    MeasuredRequest,
    measured_in,
    request_document,
    request_text,
)
from roofline.estimate.llm.serving import Request
from roofline.estimate.llm.step import Step

if TYPE_CHECKING:
    from roofline.exports.model_overlay import Record
from typing import Any

from roofline.api.estimates import estimate
from roofline.cli.output import print_bytes
from roofline.devices.topology import ALGORITHMS, LATENCIES, WRAPS
from roofline.estimate.ops import OPS, Options

_CHOICES: Mapping[str, tuple[type, str]] = {
    "batch": (int, "sequences (1)"),
    "prompt": (int, "of a request: tokens of its prompt"),
    "output": (int, "of a request: tokens that it is answered with"),
    "seq": (int, "new tokens of a sequence, of prefill and train"),
    "context": (int, "keys of a sequence, the new ones included, of decode"),
    "cached": (int, "tokens of a sequence that are in the cache before prefill (0)"),
    "prompts": (int, "sequences that a mixed step reads beside those that decode (1)"),
    "new-tokens": (int, "tokens that decode checks at once: guessed ones and one more (1)"),
    "weights": (str, "element type of weights, such as int4:g128 (bf16)"),
    "expert-weights": (str, "element type of routed experts (as weights)"),
    "activations": (str, "element type of activations (bf16)"),
    "kv": (str, "element type of keys and values (bf16)"),
    "logits": (str, "element type of logits (bf16)"),
    "compute": (str, "precision of products in the layers (as activations)"),
    "tp": (int, "devices that share each layer (1)"),
    "ep": (int, "devices that share the experts; --batch is that of each (1)"),
    "pp": (int, "stages of a pipeline (1)"),
    "dp": (int, "copies of the model that train together (1)"),
    "zero": (int, "what these share: 1 the optimizer's state, 2 gradients, 3 weights (0)"),
    "cp": (int, "devices that share the tokens of each sequence (1)"),
    "virtual": (int, "chunks of layers per stage of a pipeline (1)"),
    "microbatches": (int, "parts of the batch in a pipeline (1)"),
    "grad-bytes": (int, "bytes per gradient: 2 or 4 (2)"),
    "acceptance": (float, "share of guessed tokens that are right, with --new-tokens"),
    "dispatch": (str, "element type of tokens on their way to experts (as activations)"),
    "kv-block": (int, "tokens of a block of a paged cache (1)"),
}
_MEASURED: Mapping[str, str] = {
    "ttft-ms": "of a request: measured time to the first token",
    "tpot-ms": "of a request: measured time per further token",
    "tokens-per-s": "of a server: measured output tokens per second",
}
_WORDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "pairs": (("full", "causal"), "pairs of attention that count (full; train: causal)"),
    "fusion": (("unfused", "typical", "ideal"), "which ops share their traffic (typical)"),
    "head": (("last", "all"), "tokens that go through the head (last; train: all)"),
    "recompute": (
        ("none", "selective", "full"),
        "what of the forward pass training runs again (none)",
    ),
    "exchange": (("direct", "per-node"), "how tokens reach experts (direct; prefill: per-node)"),
}


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command; docs/predict.md says what they mean."""
    parser.description = (
        f"FLOPs, bytes and time of each op of a language model: {', '.join(presets())}, or the "
        "config.json of a Hugging Face model. docs/predict.md has the formulas."
    )
    parser.add_argument("model", metavar="MODEL", help="a preset, or a file ending in .json")
    parser.add_argument(
        "--phase", choices=("request", "prefill", "decode", "train", "mixed"), required=True
    )
    parser.add_argument("--device", required=True, metavar="NAME", help="a part of the catalogue")
    parser.add_argument(
        "-f", "--format", choices=("text", "json", "csv", "generic"), default="text"
    )
    parser.add_argument(
        "--over",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a profile of this step: which ops are which, and measured over predicted",
    )
    parser.add_argument("-o", "--out", type=Path, help="write to this file")
    parser.add_argument(
        "--draft", metavar="MODEL", help="of a request: the model that guesses tokens"
    )
    parser.add_argument(
        "--measured", type=Path, metavar="FILE", help="of a request: results of a load test"
    )
    for name, said in _MEASURED.items():
        parser.add_argument(f"--measured-{name}", type=float, help=said)
    parser.add_argument("--no-flash", action="store_true", help="scores go through the memory")
    parser.add_argument(
        "--sparse", action="store_true", help="weights of the layers are pruned to 2 of 4"
    )
    for name, (kind, help_text) in _CHOICES.items():
        parser.add_argument(f"--{name}", type=kind, help=help_text)
    for name, (words, help_text) in _WORDS.items():
        parser.add_argument(f"--{name}", choices=words, help=help_text)
    parser.add_argument("--fsdp", dest="zero", action="store_const", const=3, help="as --zero 3")
    parser.add_argument(
        "--sequence-parallel", action="store_true", help="the tp devices share norms and residuals"
    )
    add_network(parser)
    parser.set_defaults(run=_predict)


def _predict(given: argparse.Namespace) -> None:
    put_out(run_predict(given), given.out)


def run_predict(given: argparse.Namespace) -> bytes:
    """The answer in the chosen format; `BadViewError` says what is not understood."""
    options = options_of(given, PredictOptions) | {"draft": given.draft}
    found = predict(given.model, device=given.device, **options)
    if isinstance(found.found, Request):
        return _request(given, found.found, found.name)
    over = None if given.over is None else _over(found.found, given)
    if given.format == "csv":
        return _csv(over)
    return _written(found, found.found, given.format, over)


def _request(given: argparse.Namespace, found: Request, name: str) -> bytes:
    measured = _measured(given)
    if given.format == "json":
        document = request_document(found, name, measured)
        return (json.dumps(document, indent=2) + "\n").encode()
    if given.format != "text" or given.over:
        raise BadViewError(
            "A request is written as text or JSON, and is laid over no profile.",
            remedy="Predict its steps with --phase prefill and --phase decode.",
        )
    return request_text(found, name, measured).encode()


def _measured(given: argparse.Namespace) -> MeasuredRequest:
    """The measured values: those of the options, else those of the file."""
    values = {
        one.name: getattr(given, f"measured_{one.name}", None) for one in fields(MeasuredRequest)
    }
    told = {name: value for name, value in values.items() if value is not None}
    if given.measured is None:
        return MeasuredRequest(**told)
    return replace(measured_in(given.measured), **told)


def _over(step: Step, given: argparse.Namespace) -> "Record":
    """The step over the profile in the files, of one host each."""
    from roofline.cli.progress import progress_on_terminal
    from roofline.compare.from_analysis import run_of
    from roofline.exports.model_overlay import overlay, overlay_record
    from roofline.pipeline import analyse_files

    if given.format == "generic":
        raise BadViewError(
            "A file of kernels has no place for a measured run.",
            remedy="Leave out --over, or choose another --format.",
        )
    with progress_on_terminal() as progress:
        analysis = analyse_files(given.over, progress=progress)
    return overlay_record(overlay(step, run_of(analysis)))


def _csv(over: "Record | None") -> bytes:
    if over is None:
        raise BadViewError(
            "Only a step over a measured run is written as CSV.",
            remedy="Add --over, or choose another --format.",
        )
    from roofline.exports.model_overlay_text import overlay_csv

    return overlay_csv(over)


def _written(found: Prediction, step: Step, form: str, over: "Record | None") -> bytes:
    if form == "text":
        return (found.to_text() + ("" if over is None else _over_text(over))).encode()
    document = generic_document(step, found.name) if form == "generic" else found.to_dict()
    if over is not None:
        document |= {"coverage": over["coverage"], "over": over}
    return (json.dumps(document, indent=2) + "\n").encode()


def _over_text(over: "Record") -> str:
    from roofline.exports.model_overlay_text import overlay_text

    return overlay_text(over)


_ESTIMATE_CHOICES: Mapping[str, tuple[type, str]] = {
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
    for name, (kind, help_text) in _ESTIMATE_CHOICES.items():
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
