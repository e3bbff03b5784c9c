"""Everything of the first view, in one piece: what the page's template writes.

The menu of subjects: what this page could show instead, from the page data.

The clocks of every op, where a program has so few that groups would repeat the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from roofline.figures.figure import Figure
from roofline.presentation.charts.gain_records import Gain
from roofline.presentation.first_view import summary
from roofline.presentation.first_view.table import Table, op_table, token_class
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import column_scale, duration, percent

MOST_BARS = 60
MOST_NAMES = 10
MOST_LETTERS = 34  # of all names below the bars; longer ones lose what is in brackets
FULL = 64  # pixels of the longest bar
TOP = 16  # pixels above it, for its time
_TIME = "total_time_per_core_us"
_DEFINITIONS = {
    "mfu": ("MFU", "model FLOPs ÷ peak"),
    "hfu": ("HFU", "all FLOPs done ÷ peak"),
    "memory_bandwidth_utilisation": ("", "bytes ÷ peak bandwidth"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBar:
    """A bar: `x` and `width` in percent, `y` and `height` in pixels; `time` above unlike steps.

    `at` is the place of its step among the program's points.
    """

    at: int
    x: float
    width: float
    y: float
    height: float
    middle: float
    name: str
    time: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """Bars of all steps in order, and the height of their median."""

    bars: tuple[StepBar, ...]
    median: str
    median_y: float


def step_times(rows: Rows) -> StepTimes | None:
    """Times of the steps; `None` with fewer than two, which are in the list."""
    points = rows.program
    steps = [at for at, point in enumerate(points) if point["scope"] == "step" and point.get(_TIME)]
    if len(steps) < 2:
        return None
    longest = max(points[at][_TIME] for at in steps)
    scale = column_scale("time_us", longest)
    together = -(-len(steps) // MOST_BARS)
    groups = [steps[i : i + together] for i in range(0, len(steps), together)]
    wide = 100 / len(groups)
    is_short = sum(len(points[group[0]]["label"]) for group in groups) > MOST_LETTERS

    def bar(number: int, group: Sequence[int]) -> StepBar:
        at = max(group, key=lambda one: float(points[one][_TIME]))
        step = points[at]
        height = FULL * step[_TIME] / longest
        time = scale.text(step[_TIME])
        first, last = points[group[0]]["label"], points[group[-1]]["label"]
        of = "" if together == 1 else f", the longest of steps {first} to {last}"
        return StepBar(
            at=at,
            x=round(number * wide + wide * 0.06, 3),
            width=round(wide * 0.88, 3),
            y=round(TOP + FULL - height, 2),
            height=round(height, 2),
            middle=round((number + 0.5) * wide, 3),
            name=_name(first.split(" (")[0] if is_short else first, number, len(groups)),
            time=time if step.get("is_outlier") and len(groups) <= MOST_NAMES else "",
            title=f"Step {step['label']}: {time} {scale.unit}{of}",
        )

    middle = median(points[at][_TIME] for at in steps)
    return StepTimes(
        bars=tuple(bar(number, group) for number, group in enumerate(groups)),
        median=f"median {scale.text(middle)} {scale.unit}",
        median_y=round(TOP + FULL - FULL * middle / longest, 2),
    )


def _name(label: str, number: int, all_bars: int) -> str:
    """Below its bar; with many bars only the first and the last have one."""
    return label if all_bars <= MOST_NAMES or number in (0, all_bars - 1) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedShare:
    """A share of a peak that the program used, its definition, and the whole help."""

    name: str
    definition: str
    share: str
    help: str


def used_shares(page: Page) -> list[UsedShare]:
    """MFU, HFU and the share of the main memory's bandwidth, where they are known."""
    main = next((level["label"] for level in page["levels"] if level["is_main"]), "Memory")
    fields = {field["id"]: field for field in page["device"]["fields"]}
    found = [(fields[key], *words) for key, words in _DEFINITIONS.items() if key in fields]
    return [
        UsedShare(
            name=name or main,
            definition=definition,
            share=("≥ " if "at least" in field["label"] else "") + percent(field["value"], 0),
            help=f"{field['label']}. {field['help']}",
        )
        for field, name, definition in found
    ]


MOST_OPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBar:
    """A resource and the time the op's work needs there; `width` in percent of the longest."""

    label: str
    time: str
    width: str
    css: str
    is_longest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpClocks:
    """An op with the time that was measured and its clocks; none where nothing is known."""

    op: int
    name: str
    symbol: str
    token: str
    measured: str
    bars: tuple[ClockBar, ...]


def op_clocks(rows: Rows) -> tuple[OpClocks, ...]:
    """The ops with their clocks, the longest first; empty for a program of more than a few."""
    costs = rows.column("cost")
    ops = [op for op in range(len(rows)) if costs[op] != "idle"]
    if len(ops) > MOST_OPS:
        return ()
    found = tuple(_of(rows, op) for op in ops)
    return found if any(one.bars for one in found) else ()


def _of(rows: Rows, op: int) -> OpClocks:
    measured = rows.column("total_time_per_core_us")[op]
    category = rows.categories[op]
    return OpClocks(
        op=rows.ops[op],
        name=rows.names("short")[op] or rows.column("name")[op],
        symbol=category["symbol"],
        token=category["token"],
        measured=duration(measured),
        bars=tuple(_bars(rows, op, measured)) if measured else (),
    )


def _bars(rows: Rows, op: int, measured: float) -> Iterator[ClockBar]:
    """The clocks per core, on one scale with the time that was measured."""
    per_core = measured / rows.column("total_time_us")[op]
    known = [
        (clock, us * per_core)
        for clock in rows.page.get("clocks", [])
        if (us := rows.column(clock["column"])[op])
    ]
    longest = max((us for _, us in known), default=0.0)
    for clock, us in known:
        yield ClockBar(
            label=clock["label"],
            time=duration(us),
            width=f"{100 * us / max(measured, longest):.1f}",
            css=token_class(clock["token"]),
            is_longest=us == longest,
        )


MOST_STEPS = 60  # bars of a menu that is still read


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectChoice:
    """One subject: `of` is its value in the address, empty for the one that the page opens with.

    `share` is its length as percent of the longest step; 0 for a kind, which has no bar.
    """

    of: str
    label: str
    time: str = ""
    share: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectMenu:
    """What all numbers of the page are of, and what else they could be of."""

    label: str
    kinds: Sequence[SubjectChoice]
    steps: Sequence[SubjectChoice]


def subject_menu(page: Page) -> SubjectMenu:
    """The phases of a server and the kinds that the profile has, and its first steps."""
    strip, serving = page["timeline"], page["serving"]
    steps = strip["steps"] if strip else []
    kinds = [
        SubjectChoice(of=one["id"], label=one["label"])
        for one in (serving["phases"] if serving else ())
    ]
    if steps:
        kinds.append(SubjectChoice(of="step", label="Step, mean of the complete ones"))
    if strip:
        kinds.append(SubjectChoice(of="capture", label="Capture, from the first operation"))
    if not serving and kinds:
        kinds[0] = replace(kinds[0], of="")
    times = [one["end_us"] - one["begin_us"] for one in steps]
    longest = max(times, default=1.0)
    bars = [
        SubjectChoice(
            of=f"step:{one['label']}",
            label=one["label"],
            time=duration(time),
            share=round(100 * time / longest),
        )
        for one, time in zip(steps[:MOST_STEPS], times, strict=False)
    ]
    return SubjectMenu(label=page["subject"]["label"], kinds=kinds, steps=bars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """What of the page each view writes anew, all of it text; `templates/_pieces.html`."""

    headline: tuple[summary.Piece, ...]
    do_first: tuple[summary.Piece, ...]
    lead: tuple[summary.Piece, ...]
    device: str
    peaks: str
    core: str
    strip: Sequence[summary.DeviceItem]
    fields: Sequence[summary.DeviceItem]
    op_clocks: Sequence[OpClocks]
    steps: summary.StepList
    step_times: StepTimes | None
    used_shares: Sequence[UsedShare]
    serving: Mapping[str, Any] | None
    profile: Mapping[str, Any]
    counts: summary.Origin | None
    findings: Sequence[Mapping[str, Any]]


def pieces_of(rows: Rows) -> Pieces:
    """The pieces of a view."""
    page, lines = rows.page, rows.verdict
    return Pieces(
        headline=summary.pieces(lines["headline"]),
        do_first=summary.pieces(lines["do_first"]),
        lead=summary.pieces(lines["lead"][len(lines["do_first"]) :]),
        device=page["device"]["name"],
        peaks=summary.main_peaks(page),
        core=summary.core_word(page),
        strip=summary.device_items(page),
        fields=summary.device_fields(page),
        op_clocks=op_clocks(rows),
        steps=summary.step_list(rows),
        step_times=step_times(rows),
        used_shares=used_shares(page),
        serving=page["serving"],
        profile=page["profile"],
        counts=summary.counts_origin(rows),
        findings=summary.findings(page),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstView:
    """The page before its script, all of it text. Charts follow: here are their words."""

    pieces: Pieces
    subject: SubjectMenu
    chips: Sequence[summary.BoundChip]
    categories: Sequence[summary.CategoryEntry]
    groups: Mapping[str, Any]
    has_peaks: bool
    ops_alt: str
    chart_note: str
    axis: str
    program_alt: str
    links: Figure
    table: Table
    has_more: bool
    share: str
    has_timeline: bool
    gain: Gain | None


def first_view(page: Page) -> FirstView:
    """The first view of `page`, the page data as plain objects."""
    rows = Rows(page)
    figures = page["figures"]
    return FirstView(
        pieces=pieces_of(rows),
        subject=subject_menu(page),
        chips=summary.bound_chips(rows),
        categories=summary.categories(rows),
        groups=page["groups"],
        has_peaks=bool(page["roofs"]["compute"] or page["roofs"]["memory"]),
        ops_alt=figures["op"]["alt"],
        chart_note=figures["op"]["note"],
        axis=page["x_axes"][0]["label"],
        program_alt=figures["program"]["alt"],
        links=figures["links"],
        table=op_table(rows),
        has_more=bool(rows.beyond and rows.beyond["ops"]),
        share=_share(sum(rows.shares)),
        has_timeline=bool(page.get("timeline")),
        gain=figures["gain"],
    )


def _share(shares: float) -> str:
    """Ops of several streams overlap, and add up to more than the time. Of no time: nothing."""
    return percent(shares / max(1.0, shares)) if shares > 0 else ""
