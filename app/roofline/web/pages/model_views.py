"""The input of `model.html`. Texts are written out; places and lengths are in percent."""

from dataclasses import dataclass

from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import Look
from roofline.web.http.errors import ErrorBody
from roofline.web.pages.calculator_views import (
    BarView,
    FactView,
    FieldView,
    GroupView,
    LinkView,
    TensorView,
)
from roofline.web.pages.views import Piece


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
    """An op of the step; `share` is the length of its bar."""

    name: str
    calls: str
    flops: str
    moved: str
    each: str
    time: str
    of_step: str
    share: float
    bound: str
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDeviceView:
    """The step on one part."""

    name: str
    line: Look | None
    time: str
    rate: str
    each: str
    per_dollar: str
    memory: str
    batch: str
    experts_batch: str
    context: str
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
    """The answer for a step: sentence, times, memory, roofline, ops and curves."""

    headline: tuple[Piece, ...]
    lead: tuple[Piece, ...]
    css: str
    times: tuple[BarView, ...]
    expected: str
    memory: tuple[MemoryView, ...]
    roofline: Figure | None
    ops: tuple[ModelOpView, ...]
    curves: tuple[tuple[str, Figure], ...]
    devices: tuple[ModelDeviceView, ...]
    has_price: bool
    has_limits: bool
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
    config: str
    price: str
    groups: tuple[GroupView, ...]
    device: str
    others: tuple[ChoiceView, ...]
    over: str
    error: ErrorBody | None
    step: StepView | None
    csv_url: str = ""
