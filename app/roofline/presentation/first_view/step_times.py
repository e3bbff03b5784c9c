"""Bars of the times of steps, and the program's shares of the peaks, in the program's card."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import column_scale, percent

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
