"""`roofline predict`: what a step of a language model should cost on a part."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli.estimate import add_network
from roofline.cli.output import put_out
from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig, preset, presets
from roofline.estimate.llm.document import generic_document, step_document, step_text
from roofline.estimate.llm.hugging_face import read_config
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, step_of

if TYPE_CHECKING:
    from roofline.exports.model_overlay import Record

_CHOICES: Mapping[str, tuple[type, str]] = {
    "batch": (int, "sequences (1)"),
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
    "microbatches": (int, "parts of the batch in a pipeline (1)"),
    "grad-bytes": (int, "bytes per gradient: 2 or 4 (2)"),
    "acceptance": (float, "share of guessed tokens that are right, with --new-tokens"),
    "dispatch": (str, "element type of tokens on their way to experts (as activations)"),
    "kv-block": (int, "tokens of a block of a paged cache (1)"),
}
_WORDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "pairs": (("full", "causal"), "pairs of attention that count (full; train: causal)"),
    "fusion": (("unfused", "typical", "ideal"), "which ops share their traffic (typical)"),
    "head": (("last", "all"), "tokens that go through the head (last; train: all)"),
    "recompute": (("none", "full"), "whether training runs the forward pass again (none)"),
    "exchange": (("direct", "per-node"), "how tokens reach experts (direct; prefill: per-node)"),
}


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command; docs/predict.md says what they mean."""
    parser.description = (
        f"FLOPs, bytes and time of each op of a language model: {', '.join(presets())}, or the "
        "config.json of a Hugging Face model. docs/predict.md has the formulas."
    )
    parser.add_argument("model", metavar="MODEL", help="a preset, or a file ending in .json")
    parser.add_argument("--phase", choices=("prefill", "decode", "train", "mixed"), required=True)
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
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.add_argument("--no-flash", action="store_true", help="scores go through the memory")
    for name, (kind, help_text) in _CHOICES.items():
        parser.add_argument(f"--{name}", type=kind, help=help_text)
    for name, (words, help_text) in _WORDS.items():
        parser.add_argument(f"--{name}", choices=words, help=help_text)
    add_network(parser)
    parser.set_defaults(run=_predict)


def _predict(given: argparse.Namespace) -> None:
    put_out(run_predict(given), given.output)


def run_predict(given: argparse.Namespace) -> bytes:
    """The answer in the chosen format; `BadViewError` says what is not understood."""
    name, model = _model(given.model)
    step = step_of(model, workload(_options(given)), known_part(given.device))
    over = None if given.over is None else _over(step, given)
    if given.format == "csv":
        return _csv(over)
    return _written(step, name, given.format, over)


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
    with progress_on_terminal(given.over) as progress:
        analysis = analyse_files(given.over, progress=progress)
    return overlay_record(overlay(step, run_of(analysis)))


def _csv(over: "Record | None") -> bytes:
    if over is None:
        raise BadViewError(
            "Only a step over a measured run is written as CSV.",
            remedy="Add --over, or choose another --format.",
        )
    from roofline.exports.model_overlay_csv import overlay_csv

    return overlay_csv(over)


def _model(given: str) -> tuple[str, ModelConfig]:
    path = Path(given)
    if path.suffix.casefold() != ".json":
        return given.casefold(), preset(given)
    return path.stem if path.stem != "config" else path.absolute().parent.name, read_config(path)


def _options(given: argparse.Namespace) -> PredictOptions:
    chosen = {one.name: getattr(given, one.name, None) for one in fields(PredictOptions)}
    chosen["flash"] = not given.no_flash
    return PredictOptions(**{name: value for name, value in chosen.items() if value is not None})


def _written(step: Step, name: str, form: str, over: "Record | None") -> bytes:
    if form == "text":
        return (step_text(step, name) + ("" if over is None else _over_text(over))).encode()
    document = generic_document(step, name) if form == "generic" else step_document(step, name)
    if over is not None:
        document |= {"coverage": over["coverage"], "over": over}
    return (json.dumps(document, indent=2) + "\n").encode()


def _over_text(over: "Record") -> str:
    from roofline.exports.model_overlay_text import overlay_text

    return overlay_text(over)
