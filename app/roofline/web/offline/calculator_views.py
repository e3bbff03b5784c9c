"""The input of `calculator.html` and `model.html`.

Texts are written out; places and lengths are in percent.
"""

from dataclasses import dataclass

from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import Look
from roofline.web.offline.views import ErrorBody, Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """A field of a form; with `choices` a list to choose from, value and words of each.

    `is_wrong` marks a value that cannot be read.
    """

    key: str
    label: str
    kind: str
    value: str
    choices: tuple[tuple[str, str], ...] = ()
    is_wrong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkView:
    """A link, and whether it leads to where the reader is."""

    title: str
    url: str
    is_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """Devices of a vendor: id and name of each."""

    title: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxView:
    """A matrix drawn to scale, in the units of a drawing of 100 by 60."""

    x: float
    y: float
    width: float
    height: float
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorView:
    """Bytes of a tensor; `left` and `share` place it in the bar of all bytes."""

    name: str
    moved: str
    share_text: str
    left: float
    share: float
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BarView:
    """A time with its bar; `source` says where the peak behind it is from."""

    title: str
    time: str
    share: float
    css: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactView:
    """A name and a value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherDeviceView:
    """The op on one device; `line` is the look of its line in the plot."""

    name: str
    url: str
    line: Look | None
    ridge: str
    batch: str
    crossing: str
    time: str
    bound: str
    css: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CostView:
    """The answer: sentence, bytes, roofline, clocks, and how the answer changes with size."""

    headline: tuple[Piece, ...]
    lead: tuple[Piece, ...]
    css: str
    boxes: tuple[BoxView, ...]
    tensors: tuple[TensorView, ...]
    all_bytes: str
    bytes_note: str
    roofline: Figure | None
    clocks: tuple[BarView, ...]
    facts_title: str
    facts: tuple[FactView, ...]
    levels: tuple[tuple[str, ...], ...]
    levels_note: str
    sizes: Figure | None
    sizes_title: str
    devices: tuple[OtherDeviceView, ...]
    batch_title: str
    notes: tuple[str, ...]
    is_measured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorView:
    """The page: its form, and the answer, or the `error` of what cannot be read."""

    tabs: tuple[LinkView, ...]
    title: str
    op: str
    ops: tuple[str, ...]
    sizes: tuple[FieldView, ...]
    options: tuple[FieldView, ...]
    network: tuple[FieldView, ...]
    network_words: str
    groups: tuple[GroupView, ...]
    device: str
    kept: tuple[tuple[str, str], ...]
    origin: LinkView | None
    error: ErrorBody | None
    cost: CostView | None
    is_file: bool = False


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
