"""The documents that a page reads, declared once, as typed dictionaries.

Builders return them, so mypy holds each to its declaration. `python -m tests.tools.contract` writes
the types of the browser (`static/js/types/contract.d.ts`) and the key table of docs/page-data.md
from them, and /openapi.json has their schemas. The end of a name is its unit, `None` is unknown.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from roofline.figures.figure import Figure
from roofline.presentation.charts.gain_records import Gain
from roofline.presentation.sentences import Segment, Styled

Measure = float | None
Value = str | float | None
Origin = Literal["profile", "measured", "catalogue", "calibrated", "user"]
Obtained = Literal["measured", "modelled", "estimated", "stated"]
Filter = Mapping[str, object]


# ------------------------------------------------------------------------- the limits of operations


class Named(TypedDict):
    """Whatever has an id and a name for people."""

    id: str
    label: str


class Drawn(Named):
    """What has a colour token and a dash, too."""

    token: str
    dash: str


class Sustained(TypedDict):
    """The shares of a roof that programs reach; `ratio` is the upper end."""

    low_ratio: float
    ratio: float
    source: str


class ComputeRoof(Drawn):
    """A flat roof; without a `unit` all work counts against it."""

    unit: str | None
    covers: list[str]
    gflops: float
    origin: Origin
    source: str
    sustained: Sustained | None


class MemoryRoof(Drawn):
    """A slanted roof: GFLOP/s = FLOP/byte × `gbs`."""

    gibs: float
    gbs: float
    ridge_flop_per_byte: Measure
    origin: Origin
    source: str
    sustained: Sustained | None


class Roofs(TypedDict):
    """Known peaks; the main compute roof is the first, memories are outermost first."""

    compute: list[ComputeRoof]
    memory: list[MemoryRoof]


class Level(Drawn):
    """A memory level, or a link; `spoken` within a sentence."""

    spoken: str
    is_main: bool
    is_link: bool
    is_shown: bool
    peak_gibs: Measure
    columns: dict[Literal["bandwidth", "intensity", "utilisation"], str]


class WorkUnit(Named):
    """A compute unit that work is split by."""

    peak_gflops: Measure
    columns: dict[Literal["rate", "utilisation"], str]


class Clock(Drawn):
    """A resource that work takes time at; `column` of the ops is that time."""

    kind: Literal["compute", "memory", "link"]
    column: str


class Bound(Drawn):
    """A possible bound of a row: `spoken` of a program that it binds, `level` of a memory.

    The kind "link" is of a link, where it or its peak is not known.
    """

    spoken: str
    kind: Literal["none", "flat", "slanted", "link"]
    level: NotRequired[str]


class Axis(Named):
    """A choice of the chart's x axis: the column it reads."""

    column: str


# -------------------------------------------------------------------------------------- the capture


class ProfileFile(TypedDict):
    """A file of the capture."""

    name: str
    size_bytes: int | None
    host: str
    cores: int | None


class Profile(TypedDict):
    """The capture: its program, time and files."""

    id: str
    created_at: str
    captured_at: str | None
    format: str
    environment: dict[str, str]
    limits: list[str]
    provenance: dict[Literal["flop", "bytes"], Obtained]
    files: list[ProfileFile]


class Comparison(Named):
    """A peak on which profile and catalogue differ."""

    unit: Literal["gflops", "gbs"]
    profile: Measure
    catalogue: float
    ratio: Measure
    explanation: str


class DeviceField(Named):
    """A field of the device's panel."""

    value: Value
    unit: str
    origin: Origin | None
    help: str


class Device(TypedDict):
    """The device and every field of its panel."""

    name: str
    kind: Literal["tpu", "gpu", "cpu", "unknown"]
    core_word: str
    cores: int
    hosts: int
    wall_time_us: Measure
    steps: int
    part: dict[Literal["id", "name"], str] | None
    comparisons: list[Comparison]
    fields: list[DeviceField]


class Diagnostic(TypedDict):
    """A note on the capture; `filter` is the view state that lists the ops it is about."""

    severity: Literal["error", "warning", "info"]
    code: str
    message: str
    remedy: str
    count: int
    filter: Filter | None


class Hosts(TypedDict):
    """Hosts that can be shown alone, and the one that is; "" for all."""

    names: list[str]
    shown: str


class Dvfs(TypedDict):
    """The clock that ran ÷ the default one, and whether peaks follow it."""

    scale: float
    is_applied: bool


# -------------------------------------------------------------------------------- the words on top

Place = TypedDict(
    "Place",
    {
        "class": str,
        "ceiling": str | None,
        "ratio": Measure,
        "useful_ratio": Measure,
        "also": list[str],
        "why": str | None,
    },
)


class First(TypedDict):
    """What to do first."""

    finding: str
    title: str
    saving_us: Measure


Subject = TypedDict(
    "Subject",
    {
        "of": str,
        "kind": Literal["host", "serving", "range", "step", "capture", "kernels"],
        "label": str,
        "unit_word": str,
        "count": int,
        "cores": int,
        "host": str | None,
        "time_us": float,
        "floor_us": Measure,
        "gain_us": Measure,
        "roof_ratio": Measure,
        "known_ratio": Measure,
        "idle_ratio": Measure,
        "outside_us": Measure,
        "class": str,
        "ceiling": str | None,
        "first": First | None,
        "parts": dict[str, Measure | dict[str, float]],
        "outside": dict[Literal["before_us", "after_us"], Measure],
        "not_found": str | None,
    },
)


class Verdict(Place):
    """What binds the subject."""

    idle_ratio: Measure
    waits: dict[str, float]
    then: Place | None
    known: dict[str, Measure]
    is_least: bool
    largest_saving: First | None
    coverage: Measure


class Lines(TypedDict):
    """The first lines: `do_first` is the beginning of `lead`."""

    headline: list[Segment]
    do_first: list[Segment]
    lead: list[Segment]


class Words(TypedDict):
    """Templates of sentences, cut into parts, and labels by id."""

    sentences: dict[str, tuple[str | Styled, ...]]
    costs: dict[str, str]
    causes: dict[str, str]


# ----------------------------------------------------------------------------------- the operations


class Column(Named):
    """A column of a table's menu; `default` is shown at first."""

    unit: str
    sub: str
    default: bool
    help: str


class Category(TypedDict):
    """A kind of op and its mark."""

    name: str
    token: str
    symbol: str


class Predictions(TypedDict):
    """Ops without a time, by index, and their rates if each took one second."""

    op: list[int]
    columns: dict[str, list[Measure]]


class Awaited(TypedDict):
    """Ops that wait for asynchronous transfers: how long these took, from a peak of their link on.

    Below all of `least_gbs` they took `interval_us`.
    """

    op: list[int]
    interval_us: list[float]
    least_gbs: list[list[float]]
    took_us: list[list[float]]


class OpNames(TypedDict):
    """The shown parts of names, aligned with ops: a `short` name of `None` is the name itself.

    All short names begin with `prefix`, which is left out of each; `source_prefix` is the folder of
    all source files.
    """

    short: list[str | None]
    chips: list[list[str]]
    prefix: str
    source_prefix: str


class OpGroups(TypedDict):
    """For each op the names of its groups, outermost first, as places in `names`.

    The work of `containers` is that of others in the list.
    """

    names: list[str]
    containers: list[int]
    module: list[list[int]]
    layer: list[list[int]]
    source: list[list[int]]
    kernel: list[list[int]]
    dtype: list[list[int]]
    phase: list[list[int]]


class Ops(TypedDict):
    """One array per column, an entry per op."""

    count: int
    columns: dict[str, list[Any]]
    predictions: NotRequired[Predictions]
    awaited: NotRequired[Awaited]
    groups: OpGroups
    names: OpNames


class CategoryShare(TypedDict):
    """One category of a view: its place in `categories`, ops and time."""

    category: int
    ops: int
    self_time_us: Measure
    share_ratio: Measure
    efficiency_ratio: Measure


class Beyond(TypedDict):
    """Ops that are not listed."""

    ops: int
    share_ratio: Measure


class SentProgram(TypedDict):
    """Program points as columns."""

    count: int
    columns: dict[str, list[Any]]


class SentView(TypedDict):
    """One state of the infeed switch: `op` has indices into `ops`, by self time."""

    op: list[int]
    columns: dict[str, list[Any]]
    total_time_per_core_us: Measure
    known_time_ratio: dict[Literal["flop", "bytes", "both"], Measure]
    share_is_least: bool
    beyond: Beyond
    program: SentProgram
    verdict: Lines
    categories: list[CategoryShare]


Views = TypedDict("Views", {"in": SentView, "out": SentView})


# ---------------------------------------------------------------------------------------- the time


class ServingFigure(Named):
    """A row of the card of a server: its value in each phase, and what it means."""

    unit: str
    help: str
    values: list[float | None]


class Serving(TypedDict):
    """Steps of a language-model server: a column per phase and batch, a row per figure.

    The id of a phase is its address as a subject, such as "serving:decode.32".
    """

    phases: list[Named]
    figures: list[ServingFigure]
    note: str


class BudgetPart(Named):
    """One part of the time: "below_roof.hbm", "exposed.ici", "idle" …"""

    time_us: float


class Budget(TypedDict):
    """The time of the subject by resource; the parts add up to the total."""

    total_us: float
    floor_us: float
    parts: list[BudgetPart]


class GroupRow(TypedDict):
    """The work of a group of ops in the subject, in us: four parts that add up to `time_us`.

    `wasted_us` is a part of `to_gain_us`; `gain_us` is what of it may go. `bound` is a place in
    `bounds`. A `path` that ends with "" has the ops of no deeper group; that of several groups in
    one row is empty. `cells` are its time, share of the roof and gain as texts, `title` all of it.
    """

    name: str
    title: str
    cells: list[str]
    path: list[str]
    op_count: int
    time_us: float
    needed_us: float
    to_gain_us: float
    wasted_us: Measure
    unknown_us: float
    impossible_us: float
    gain_us: float
    roof_ratio: Measure
    known_ratio: Measure
    bound: int
    groups: list["GroupRow"]


class GroupList(Named):
    """One grouping: its rows, those that take longest first; the last one may be all others.

    `shown` rows stand for all at first, and `more` for the rest; `None`: there is none. `waiting`
    is the time of all waits as a text.
    """

    rows: list[GroupRow]
    waiting: str
    shown: int
    more: GroupRow | None


class LayerInstance(TypedDict):
    """One instance of a module; `median_ratio`: its time by that of those of equal work.

    `group` is the group of ops that it is in the grouping by layer, empty where ops are of all.
    """

    name: str
    text: str
    group: list[str]
    time_us: float
    median_ratio: Measure


class LayerInstances(TypedDict):
    """All instances of a module in their order; `line` is what there is to say.

    `rest` is the time of all other work.
    """

    name: str
    direction: str
    line: str
    stands_out: bool
    instances: list[LayerInstance]
    rest: str
    rest_us: float


class Groups(TypedDict):
    """The time of the subject by groups; rows of a list, `waits` and `unnamed_us` add up to it.

    `by` is the grouping that a page opens with, `None`: the ops themselves. Texts of times are in
    `unit`. `note` says how to record what tells layers apart.
    """

    by: str | None
    unit: str
    lists: list[GroupList]
    waits: dict[str, float]
    waiting_title: str
    unnamed_us: float
    layers: list[LayerInstances]
    note: str


class StripStep(TypedDict):
    """A step of the capture's time."""

    label: str
    begin_us: float
    end_us: float


class Lane(TypedDict):
    """Percent of each bin, by kind; the first lane is the mean of all cores."""

    name: str
    parts: dict[str, list[int]]


class TimeStrip(TypedDict):
    """The use of the cores in slices of time; `edges_us` has one more than bins.

    `range` is the part of the capture that all numbers are of; `None`: the whole.
    """

    edges_us: list[float]
    steps: list[StripStep]
    kinds: list[dict[Literal["id", "label", "token"], str]]
    lanes: list[Lane]
    range: list[float] | None


class Transfers(TypedDict):
    """One entry per kind of transfer, by the op that waits for it."""

    op: list[int]
    start: list[int | None]
    kind: list[str]
    link: list[str | None]
    group_size: list[int | None]
    bytes: list[Measure]
    time_us: list[Measure]
    exposed_us: list[Measure]
    achieved_gbs: list[Measure]
    is_least: list[bool]


class Figures(TypedDict):
    """The charts of the page, as `GET /api/v1/profiles/{id}/figures` draws them anew, too."""

    op: Figure
    program: Figure
    links: Figure
    gain: Gain | None


class SentPage(TypedDict):
    """Everything that one page shows: `GET /api/v1/profiles/{id}/page`."""

    schema: int
    profile: Profile
    subject: Subject
    verdict: Verdict
    device: Device
    roofs: Roofs
    levels: list[Level]
    units: list[WorkUnit]
    clocks: list[Clock]
    bounds: list[Bound]
    words: Words
    x_axes: list[Axis]
    columns: list[Column]
    program_columns: list[Column]
    categories: list[Category]
    ops: Ops
    views: Views
    hosts: NotRequired[Hosts]
    dvfs: NotRequired[Dvfs]
    serving: Serving | None
    budget: Budget | None
    groups: Groups
    timeline: TimeStrip | None
    transfers: Transfers
    diagnostics: list[Diagnostic]
    figures: Figures


# -------------------------------------------------------------------------------- details of one op


class CeilingShare(TypedDict):
    """How much of an op's time one unit was busy, and useful."""

    label: str
    token: str
    busy_ratio: float
    useful_ratio: Measure


class Launch(TypedDict):
    """One launch of an op, where the profiler measured them one by one."""

    detail: str
    time_us: Measure
    flop: Measure
    bytes: dict[str, Measure]


class LaunchTimes(TypedDict):
    """Percentiles of an op's launches: of their times, and of the bandwidth that they reach."""

    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    p95_gibs: NotRequired[float]


class OpDetails(TypedDict):
    """The details of one op, which are read when it is opened; IDLE has names alone.

    `compute_range` is the share of the compute roof with its two ends, where the op's unit is not
    known; `why` says why no unit is busier. `counted` says how another file of the program counted
    the op. `roofline replay LINK` and the words of `replay` run it alone.
    """

    name: str
    long_name: str
    source_file: NotRequired[str]
    source_line: NotRequired[int | None]
    source_stack: list[str]
    program_id: NotRequired[str | None]
    program: NotRequired[str]
    path: NotRequired[str]
    shapes: NotRequired[dict[Literal["operands", "results"], list[str]] | None]
    dtypes: NotRequired[list[str]]
    producers: NotRequired[list[str]]
    replica_groups: NotRequired[str]
    group_size: NotRequired[int | None]
    ceilings: NotRequired[list[CeilingShare]]
    why: NotRequired[str]
    compute_range: NotRequired[str]
    counted: NotRequired[str]
    replay: NotRequired[str]
    launch_count: NotRequired[int]
    launches: NotRequired[list[Launch]]
    launch_times: NotRequired[LaunchTimes]


DOCUMENTS = {"SentPage": SentPage, "OpDetails": OpDetails}
"""What is sent; all else is a part of these."""
