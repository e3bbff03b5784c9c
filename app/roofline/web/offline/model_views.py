"""The input of `model.html`. Texts are written out; places and lengths are in percent."""

from dataclasses import dataclass

from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import Look
from roofline.web.offline.calculator_views import (
    BarView,
    FactView,
    FieldView,
    GroupView,
    LinkView,
    TensorView,
)
from roofline.web.offline.views import ErrorBody, Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceView:
    """A part to lay beside the first one."""

    id: str
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """The memory of a device of this part: shares of the bar, and words."""

    name: str
    words: str
    weights: float
    cache: float
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOpView:
    """An op of a step."""

    name: str
    calls: str
    flops: str
    moved: str
    each: str
    time: str
    of_step: str
    bound: str
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpBarView:
    """The time of an op, or of a class of ops; `share` is the length of its bar."""

    name: str
    title: str
    time: str
    of_all: str
    share: float
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDeviceView:
    """The answer on one part: a text for each head, its line in the curves, and its bound."""

    name: str
    line: Look | None
    cells: tuple[str, ...]
    bound: str
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRowView:
    """An op of the model over those of a run: measured over predicted, and its factors."""

    model: str
    measured: str
    measured_title: str
    calls: str
    predicted: str
    taken: str
    ratio: str
    factors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """Two lengths of a bar: what an op took, and what it should take."""

    name: str
    taken: float
    least: float
    time: str
    ratio: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverView:
    """A step over a run: what of its time is explained, and the error of each op."""

    run: LinkView
    parts: tuple[TensorView, ...]
    facts: tuple[FactView, ...]
    factors: tuple[str, ...]
    pairs: tuple[PairView, ...]
    rows: tuple[ErrorRowView, ...]
    not_measured: str
    not_modelled: tuple[FactView, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """The answer for a step or a request: sentences, times, memory, roofline, ops and curves.

    `words` are further sentences, `steps` the ops of each step with its title. `heads` are those of
    the table of devices, each with a second line.
    """

    headline: tuple[Piece, ...]
    lead: tuple[Piece, ...]
    words: tuple[str, ...]
    css: str
    times: tuple[BarView, ...]
    times_note: str
    memory: tuple[MemoryView, ...]
    roofline: Figure | None
    bars: tuple[OpBarView, ...]
    steps: tuple[tuple[str, tuple[ModelOpView, ...]], ...]
    curves: tuple[tuple[str, Figure], ...]
    curves_note: str
    heads: tuple[tuple[str, str], ...]
    devices: tuple[ModelDeviceView, ...]
    sources: tuple[FactView, ...]
    notes: tuple[str, ...]
    over: OverView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """The page: its form, and the answer, or the `error` of what cannot be read."""

    models: tuple[str, ...]
    model: str
    phases: tuple[str, ...]
    phase: str
    main: tuple[FieldView, ...]
    more: tuple[FieldView, ...]
    network: tuple[FieldView, ...]
    network_words: str
    config: str
    price: str
    groups: tuple[GroupView, ...]
    device: str
    others: tuple[ChoiceView, ...]
    over: str
    error: ErrorBody | None
    step: StepView | None
    csv_url: str = ""
    is_file: bool = False
