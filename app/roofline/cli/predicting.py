"""`roofline predict` and `estimate`: what a language model, or one op, should cost on a part."""

import argparse
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.api.estimates import Prediction, estimate, predict
from roofline.cli.options import file_argument
from roofline.cli.output import print_bytes, put_out
from roofline.devices.topology import ALGORITHMS, LATENCIES, WRAPS
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
from roofline.estimate.ops import OPS, Options
from roofline.model.plain_data import read_beside

if TYPE_CHECKING:
    from roofline.exports.model_overlay import Record

_OPTIONS = read_beside(__file__, "predicting.json")
_KINDS = {"int": int, "float": float, "str": str}


def _add(parser: argparse.ArgumentParser, part: str, prefix: str = "") -> None:
    """The options of a part of `predicting.json`: by name, the kind of value, and the help."""
    for name, (kind, help_text) in _OPTIONS[part].items():
        parser.add_argument(f"--{prefix}{name}", type=_KINDS[kind], help=help_text)


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
        "-f", "--format", choices=("text", "json", "csv", "generic", "markdown"), default="text"
    )
    parser.add_argument(
        "--over",
        nargs="+",
        type=file_argument,
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
    _add(parser, "measured", "measured-")
    parser.add_argument("--no-flash", action="store_true", help="scores go through the memory")
    parser.add_argument(
        "--sparse", action="store_true", help="weights of the layers are pruned to 2 of 4"
    )
    _add(parser, "predict")
    for name, (words, help_text) in _OPTIONS["words"].items():
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
    if given.format == "markdown" and not given.over:
        return Prediction(name, found, measured).to_markdown().encode()
    if given.format != "text" or given.over:
        raise BadViewError(
            "A request is written as text, Markdown or JSON, and is laid over no profile.",
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
    from roofline.cli.progress import opened
    from roofline.compare.from_analysis import run_of
    from roofline.exports.model_overlay import overlay, overlay_record

    if given.format in ("generic", "markdown"):
        raise BadViewError(
            f"The format {given.format} has no place for a measured run.",
            remedy="Leave out --over, or choose another --format.",
        )
    return overlay_record(overlay(step, run_of(opened(given.over).analysis)))


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
    if form == "markdown":
        return found.to_markdown().encode()
    document = generic_document(step, found.name) if form == "generic" else found.to_dict()
    if over is not None:
        document |= {"coverage": over["coverage"], "over": over}
    return (json.dumps(document, indent=2) + "\n").encode()


def _over_text(over: "Record") -> str:
    from roofline.exports.model_overlay_text import overlay_text

    return overlay_text(over)


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command; docs/estimate.md says what each op takes."""
    parser.description = (
        "FLOPs, bytes, intensity and the time of each resource for one op: "
        f"{', '.join(OPS)}. docs/estimate.md has the formulas."
    )
    parser.add_argument("op", metavar="OP", help="such as matmul")
    parser.add_argument("shape", metavar="SHAPE", help="such as 8192x4096x4096")
    parser.add_argument("--device", required=True, metavar="NAME", help="a part of the catalogue")
    parser.add_argument("-f", "--format", choices=("text", "json", "markdown"), default="text")
    parser.add_argument("--causal", action="store_true", help="attention skips masked pairs")
    parser.add_argument("--no-flash", action="store_true", help="scores go through the memory")
    parser.add_argument("--sparse", action="store_true", help="weights are pruned to 2 of 4")
    _add(parser, "estimate")
    add_network(parser)
    parser.set_defaults(run=_estimate)


def add_network(parser: argparse.ArgumentParser) -> None:
    """What joins the devices; docs/estimate.md."""
    _add(parser, "network")
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
        said = found.to_markdown() if given.format == "markdown" else found.to_text()
        print_bytes(said.encode())


def options_of(given: argparse.Namespace, kind: type[Any]) -> dict[str, Any]:
    """The options among `given` that have the names of fields of the dataclass `kind`."""
    found = {one.name: getattr(given, one.name, None) for one in fields(kind)}
    return found | {"flash": not given.no_flash}
