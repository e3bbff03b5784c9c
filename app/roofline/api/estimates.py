"""`estimate` and `predict`: what an op, or a step of a language model, should cost on a part."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from roofline.api.results import Cell, Result
from roofline.devices.choice import known_part
from roofline.devices.topology import NetworkChoice, Topology
from roofline.devices.topology import topology as joined
from roofline.errors import BadViewError
from roofline.estimate import on_device
from roofline.estimate.document import bound_sentence, estimate_document, estimate_text
from roofline.estimate.llm.config import ModelConfig, preset, read_config
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.request_document import (
    MeasuredRequest,
    request_document,
    request_sentences,
    request_text,
)
from roofline.estimate.llm.serving import Request, request_of
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.ops import Options
from roofline.figures.figure import Figure as Picture
from roofline.model.units import time_text

T = TypeVar("T", bound=NetworkChoice)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """The cost of an op on a part; docs/estimate.md. `found` is all of it, not a stable surface."""

    found: on_device.Estimate
    _certain = "modelled"

    @property
    def sentence(self) -> str:
        """The op, its least time, and what binds it."""
        head, said = self.to_text().partition("\n")[0], bound_sentence(self.found)
        return f"{head}. {said}".strip()

    @property
    def flop(self) -> float:
        """FLOPs of the op."""
        return self.found.flop

    @property
    def t_min_us(self) -> float | None:
        """The least time, with everything at once, in us; `None` where a peak is not known."""
        return self.found.t_min_us

    @property
    def t_max_us(self) -> float | None:
        """The time with one resource after the other, in us."""
        return self.found.t_max_us

    @property
    def bound(self) -> str | None:
        """The resource of the longest clock."""
        return self.found.bound

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline estimate --format json`."""
        return estimate_document(self.found)

    def to_text(self) -> str:
        """What `roofline estimate` prints."""
        return estimate_text(self.found)

    def picture(self) -> Picture | None:
        """The op on the roofline of its part."""
        from roofline.exports.cost_charts import estimate_figure  # loads slowly

        return estimate_figure(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row per resource: its time in us, and its peak with the source."""
        peaks = self.found.peaks
        return [
            {
                "resource": name,
                "time_us": time,
                "peak_per_s": peaks[name].value if name in peaks else None,
                "source": peaks[name].source if name in peaks else "",
            }
            for name, time in self.found.time_us.items()
        ]


def estimate(op: str, shape: str | Iterable[int], *, device: str, **options: Any) -> Estimate:
    """The cost of the op (`"matmul"`, `"attention"` …) of this shape on a part of the catalogue.

    `shape` is `"8192x4096x4096"` or the numbers. `options` are those of the command, as in
    `dtype="fp8"`. Raises `BadViewError` for what is not understood.
    """
    written = shape if isinstance(shape, str) else "x".join(map(str, shape))
    return Estimate(on_device.estimate(op, written, device, chosen(Options, options)))


def chosen(kind: type[T], given: Mapping[str, Any]) -> T:
    """The options that were given, with the default of each other one."""
    unknown = sorted(given.keys() - {one.name for one in fields(kind)})
    if unknown:
        raise BadViewError(
            f"There is no option {', '.join(unknown)}.", remedy="docs/python.md names the options."
        )
    return kind(**{name: value for name, value in given.items() if value is not None})


def topology(device: str, *, ranks: int | None = None, **options: Any) -> Topology:
    """What joins the chips of a part: its `time(kind, payload_bytes, ranks, stride=1)` is the least
    time of a collective, in all and by level.

    `ranks` are all chips of the program; `options` are those of the network, as in
    `gpus_per_node=72, network="50GB/s"`. Raises `BadViewError` for what cannot be.
    """
    return joined(known_part(device), chosen(NetworkChoice, options), ranks)


_PHASES = ("prefill", "decode")


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Result):
    """A step of a language model, or a request, on a part; docs/predict.md.

    `found` is all of it, and not a stable surface.
    """

    name: str
    found: Step | Request
    measured: MeasuredRequest = field(default_factory=MeasuredRequest)
    _certain = "modelled"

    @property
    def sentence(self) -> str:
        """What binds a request; what a step takes at least."""
        if isinstance(self.found, Request):
            return f"{self._head}. {' '.join(request_sentences(self.found))}"
        time = time_text(self.found.step_us["serial"])
        return f"{self._head}: {time} one op after the other."

    @property
    def _head(self) -> str:
        return self.to_text().partition("\n")[0]

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline predict --format json`."""
        if isinstance(self.found, Request):
            return request_document(self.found, self.name, self.measured)
        return step_document(self.found, self.name)

    def to_text(self) -> str:
        """What `roofline predict` prints."""
        if isinstance(self.found, Request):
            return request_text(self.found, self.name, self.measured)
        return step_text(self.found, self.name)

    def picture(self) -> Picture | None:
        """The ops of a step, or the phases of a request, on the roofline of the part."""
        from roofline.exports.cost_charts import request_figure, step_figure  # loads slowly

        if isinstance(self.found, Request):
            return request_figure(self.found, self.measured)
        return step_figure(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row per op of a step, per phase of a request; keys as in `to_dict()`."""
        document = self.to_dict()
        if isinstance(self.found, Step):
            return _flat(document["ops"])
        phases = [{"phase": name} | document[name] for name in _PHASES if document.get(name)]
        return _flat(phases)

    def cell(self) -> Cell:
        """The sentence, and the ops that take longest."""
        rows = sorted(self.rows(), key=lambda row: -(row.get("time_us") or 0.0))
        return Cell(lines=[self.sentence], rows=rows[:10])


def predict(model: str, *, phase: str, device: str, **options: Any) -> Prediction:
    """A step (`phase` is prefill, decode, mixed or train) or a request of a model on a part.

    `model` is a preset or the path of a `config.json`, `draft` of a request the model that guesses
    tokens; `measured_ttft_ms`, `measured_tpot_ms` and `measured_tokens_per_s` are what a server
    took. Other `options` are those of the command, as in `batch=8, context=4096`. Raises
    `BadViewError` for what is not understood.
    """
    draft = options.pop("draft", None)
    given = {one.name: options.pop(f"measured_{one.name}", None) for one in fields(MeasuredRequest)}
    name, config = read_model(model)
    part, load = known_part(device), chosen(PredictOptions, options | {"phase": phase})
    if phase == "request":
        guesses = None if draft is None else read_model(draft)[1]
        return Prediction(name, request_of(config, load, part, guesses), MeasuredRequest(**given))
    return Prediction(name, step_of(config, workload(load), part))


def read_model(given: str) -> tuple[str, ModelConfig]:
    """The name and the numbers of a preset, or of the model in a file ending in .json."""
    path = Path(given)
    if path.suffix.casefold() != ".json":
        return given.casefold(), preset(given)
    return path.stem if path.stem != "config" else path.absolute().parent.name, read_config(path)


def _flat(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The numbers and texts of each record, without what is nested."""
    return [{k: v for k, v in one.items() if not isinstance(v, dict | list)} for one in records]
