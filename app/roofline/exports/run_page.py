"""A run of hosts as its page draws it: packed columns of the run's document, with words and roofs.

A page of 4,096 hosts and 1,000 operations stays below 1 MB: numbers of hosts and operations are
columns of 32-bit floats, whose seven digits are more than the page shows, as base64; NaN is
unknown. Long names are cut in the middle.

A run of hosts in short: at the size of a stamp for lists, and what is read of it so far.

Shades are those of the map on the run's page: they say nothing where no verdict is possible.
"""

import base64
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.devices.catalogue import find
from roofline.figures.figure import six_digits
from roofline.model.units import GIGA, US_PER_S, gib_to_gb
from roofline.pods.folders import some_of
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    NoVerdict,
    State,
    Verdict,
)
from roofline.presentation.charts.host_values import HostValues, shade
from roofline.presentation.charts.run_figures import run_roofline_figure, steps_figure
from roofline.presentation.palette import category_styles
from roofline.presentation.sentences import Number, Sentence, plain_text, say

Record = dict[str, Any]
Row = Mapping[str, Any]

MOST_OPS = 1_000
"""Operations of the page: those that lose the most time. The document has all."""
_LONGEST_NAME = 160
_STATES = {State.READ: 0, State.NO_ACCELERATOR: 1, State.UNREADABLE: 2, State.OTHER_PROGRAM: 3}
_NEVER = -1
_HOST_COLUMNS = {
    "step_us": "step_us",
    "work_us": "work_us",
    "wait_us": "wait_us",
    "ratio": "same_work_ratio",
    "score": "score",
    "slow_steps": "slow_steps",
}
_OP_COLUMNS = ("min_us", "median_us", "p95_us", "max_us", "imbalance_ratio")
_STEP_COLUMNS = ("min_work_us", "median_work_us", "p95_work_us", "max_work_us", "max_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """How much of a run has been read: `read` of `total` hosts (0: not known yet)."""

    read: int
    total: int


def run_page(document: Row, *, arriving: Arriving | None = None) -> Record:
    """The data for the page of the run of `document`; `arriving` while hosts are being read."""
    places = {one["host"]: k for k, one in enumerate(document["hosts"])}
    ops = document["ops"][:MOST_OPS]
    outliers = [] if arriving else document["outliers"]
    styles = _styles(list(dict.fromkeys(one["category"] for one in ops)))
    return {
        "hosts": _hosts(document["hosts"]),
        **_metrics(document, [places[one["host"]] for one in outliers]),
        "outliers": [
            {"at": places[one["host"]], "kind": one["kind"], "sentence": one["sentence"]}
            for one in outliers
        ],
        "deviations": {
            str(k): [_deviation(each) for each in one["deviations"]]
            for k, one in enumerate(document["hosts"])
            if one["deviations"]
        },
        "step_us": document.get("step_us"),  # earlier releases stored none
        "representative": places.get(document["representative"], _NEVER),
        "ops": {
            "names": [short_name(one["name"]) for one in ops],
            "categories": [one["category"] for one in ops],
            "lost_us": _packed([one["time_lost_us"] for one in ops]),
            "max_host": [places.get(one["max_host"], _NEVER) for one in ops],
            "total": len(document["ops"]),
            "gflops": _packed([_gflops(one) for one in ops]),
            "intensity": _packed([_intensity(one) for one in ops]),
            **{name: _packed([one[name] for one in ops]) for name in _OP_COLUMNS},
        },
        "steps": {
            "labels": [short_name(one["step"]) for one in document["steps"]],
            "critical": [places.get(one["critical_host"], _NEVER) for one in document["steps"]],
            **{name: _packed([one[name] for one in document["steps"]]) for name in _STEP_COLUMNS},
        },
        "collectives": [
            {**one, "name": short_name(one["name"]), "group": short_name(one["group"] or "")}
            for one in document["collectives"][:MOST_OPS]
        ],
        "styles": styles,
        "figures": {
            "steps": six_digits(steps_figure(document["steps"], [*places])),
            "roofline": six_digits(run_roofline_figure(ops, roofs_of(document), styles)),
        },
        "arriving": None if arriving is None else {"read": arriving.read, "total": arriving.total},
    }


def _metrics(document: Row, outliers: Sequence[int]) -> Record:
    """For each metric the shade of every host, a digit, or a sign where none is; its histogram."""
    hosts = document["hosts"]
    found = {
        name: HostValues(
            metric=name,
            values=[read(one) for one in hosts],
            names=[short_name(one["host"]) for one in hosts],
            outliers=outliers,
            is_judged=document["no_verdict"] is None,
        )
        for name, read in _METRICS.items()
    }
    unread = [one["state"] != State.READ for one in hosts]
    return {
        "shades": {
            name: "".join(
                "x" if is_unread else "-" if shade is None else str(shade)
                for shade, is_unread in zip(values.shades, unread, strict=True)
            )
            for name, values in found.items()
        },
        "histograms": {name: values.figure() for name, values in found.items()},
    }


def _bandwidth_gbs(host: Row) -> float | None:
    gibs = host["memory_bandwidth_gibs"]
    return None if gibs is None else gib_to_gb(gibs)


_METRICS: Mapping[str, Callable[[Row], float | None]] = {
    "ratio": lambda host: host["same_work_ratio"],
    "work": lambda host: host["work_us"],
    "wait": lambda host: host["wait_us"],
    "bandwidth": _bandwidth_gbs,
}


def roofs_of(document: Row) -> Record:
    """The main compute peak in GFLOP/s and that of the main memory in GB/s per core; null: unknown.

    They are those of the catalogue, and only where all hosts have one device that it knows.
    """
    devices = {one["device"] for one in document["hosts"] if one["state"] == State.READ}
    part = find(devices.pop()) if len(devices) == 1 else None
    compute = next(iter(part.compute()), None) if part else None
    main = next((one for one in part.memory() if one.level.is_main), None) if part else None
    return {
        "gflops": compute.gflops if compute else None,
        "unit": compute.label if compute else None,
        "gbs": main.gbs if main else None,
        "memory": main.level.label if main else None,
    }


def _hosts(hosts: Sequence[Row]) -> Record:
    chips = [chip for one in hosts for chip in one["chips"]]
    return {
        "names": [short_name(one["host"]) for one in hosts],
        "states": [_STATES[one["state"]] for one in hosts],
        "reasons": {str(k): one["reason"] for k, one in enumerate(hosts) if one["reason"]},
        "wait_is": next((one["wait_is"] for one in hosts if one["wait_is"]), None),
        "bandwidth_gbs": _packed([_bandwidth_gbs(one) for one in hosts]),
        **{name: _packed([one.get(of) for one in hosts]) for name, of in _HOST_COLUMNS.items()},
        "chips": {
            "counts": [len(one["chips"]) for one in hosts],
            "ratio": _packed([one["same_work_ratio"] for one in chips]),
            "slow": [k for k, one in enumerate(chips) if one["is_slow"]],
            "names": _chip_names(hosts),
        },
    }


def _gflops(op: Row) -> float | None:
    """The rate on the median host, GFLOP/s."""
    return (
        op["flop"] / op["median_us"] * US_PER_S / GIGA if op["flop"] and op["median_us"] else None
    )


def _intensity(op: Row) -> float | None:
    """FLOP per byte of all memories."""
    return op["flop"] / op["bytes"] if op["flop"] and op["bytes"] else None


def _chip_names(hosts: Sequence[Row]) -> list[str]:
    """The names of the chips of the host that has the most: hosts name theirs alike."""
    longest: Sequence[Row] = max((one["chips"] for one in hosts), key=len, default=[])
    return [short_name(chip["chip"]) for chip in longest]


def _deviation(one: Row) -> Record:
    return {
        "name": short_name(one["name"]),
        "category": one["category"],
        "time_us": one["time_us"],
        "representative_us": one["representative_us"],
    }


def _styles(categories: Sequence[str]) -> dict[str, Record]:
    styles = zip(categories, category_styles(categories), strict=True)
    return {name: {"token": style.token, "symbol": style.symbol} for name, style in styles}


def _packed(values: Sequence[float | None]) -> str:
    """Little-endian 32-bit floats as base64; NaN is unknown."""
    known = (math.nan if one is None else one for one in values)
    return base64.b64encode(struct.pack(f"<{len(values)}f", *known)).decode()


def host_called(document: Row, name: str) -> Row | None:
    """The host of that name, also as the page shortens it; `None` where there is none."""
    hosts = document["hosts"]
    return next((one for one in hosts if name in (one["host"], short_name(one["host"]))), None)


def short_name(name: str) -> str:
    """The name as the page shows it: without its middle where it is long."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = _LONGEST_NAME // 2
    return f"{name[:half]}…{name[-half + 1 :]}"


WIDTH, HEIGHT = 132, 36  # pixels
MOST_CELLS = 480
"""Of a run with more hosts each cell stands for neighbours, by the one that is farthest out."""
_LARGEST_CELL = 11.0  # pixels
_MARGIN = 3.0  # pixels
# A token and its opacity for each of the nine classes; 3 is that of the median host.
_LOOKS = (
    ("--roof-hbm", 0.62),
    ("--roof-hbm", 0.34),
    ("--roof-hbm", 0.2),
    ("--line-2", 0.6),
    ("--roof-compute", 0.2),
    ("--roof-compute", 0.36),
    ("--roof-compute", 0.66),
    ("--roof-compute", 1.0),
    ("--bad", 1.0),
)
_UNREAD = ("--line", 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The first sentence of a run, and its hosts as an `svg` element.

    Its colours are custom properties of the page that it is put into.
    """

    headline: str
    svg: str


def run_preview(document: Mapping[str, Any], arriving: Arriving | None = None) -> Preview:
    """The preview of the run of `document`, as `roofline analyze --engine …` writes it."""
    headline = plain_text(answer_of(document, arriving).headline)
    return Preview(headline=headline, svg=_drawing(document))


def _drawing(document: Mapping[str, Any]) -> str:
    is_judged = document["no_verdict"] is None
    working = (one for one in document["hosts"] if one["state"] != State.NO_ACCELERATOR)
    found = [_away(one, is_judged=is_judged) for one in working]
    size = math.ceil(len(found) / MOST_CELLS) or 1
    cells = [_farthest(found[k : k + size]) for k in range(0, len(found), size)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>Hosts</title>'
        f"{''.join(_paths(cells))}</svg>"
    )


def _away(host: Mapping[str, Any], *, is_judged: bool) -> float | None:
    """How much slower than the median a host is at the same work; `None` for one not read."""
    if host["state"] != State.READ:
        return None
    ratio = host["same_work_ratio"]
    return 0.0 if ratio is None or not is_judged else ratio - 1


def _farthest(some: Sequence[float | None]) -> float | None:
    known = [one for one in some if one is not None]
    return max(known, key=abs) if known else None


def _paths(cells: Sequence[float | None]) -> Iterator[str]:
    """One path for all cells of a look."""
    width, height = WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN
    side = _side(len(cells), width, height)
    columns = int(width // side)
    gap = 1.0 if side > 5 else 0.4
    left = (WIDTH - min(columns, len(cells)) * side) / 2
    top = (HEIGHT - math.ceil(len(cells) / columns) * side) / 2
    edge = f"{side - gap:g}"
    found: dict[tuple[str, float], str] = {}
    for k, away in enumerate(cells):
        look = _UNREAD if away is None else _LOOKS[shade(away)]
        x, y = left + k % columns * side, top + k // columns * side
        square = f"M{x:g} {y:g}h{edge}v{edge}h-{edge}z"
        found[look] = found.get(look, "") + square
    for (token, opacity), drawn in found.items():
        yield f'<path d="{drawn}" fill="var({token})" fill-opacity="{opacity}"/>'


def _side(count: int, width: float, height: float) -> float:
    """The largest cell with which so many fit."""
    side = _LARGEST_CELL
    while side > 1 and (width // side) * (height // side) < count:
        side -= 0.25
    return side


def so_far(document: Mapping[str, Any], arriving: Arriving) -> Record:
    """`document` without what later hosts may change: verdicts, and what they cost.

    Its `verdict` says how many hosts have been read.
    """
    answer = answer_of(document, arriving)
    return {
        **document,
        "verdict": f"{plain_text(answer.headline)}. {plain_text(answer.lead)}",
        "no_verdict": NoVerdict.ARRIVING.value,
        "outliers": [],
        "gains": [],
        "stragglers_cost_ratio": None,
        "late_host": None,
        "hosts": [_unjudged(one) for one in document["hosts"]],
    }


def _unjudged(host: Mapping[str, Any]) -> Record:
    chips = [{**chip, "is_slow": False} for chip in host["chips"]]
    known: Record = {"verdict": None, "score": None, "slow_steps": 0, "deviations": []}
    return {**host, **known, "chips": chips}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Sentences of the headline and of the lines below it; `is_bad`: a host is slow."""

    headline: Sentence
    lead: Sentence
    is_bad: bool


def answer_of(document: Row, arriving: Arriving | None = None) -> Answer:
    """The first sentence on the page of the run of `document`."""
    if arriving is not None:
        count = {"read": _count(arriving.read), "hosts": _count(arriving.total)}
        known = say("run_arriving_of", **count) if arriving.total else say("run_arriving", **count)
        return Answer(headline=known, lead=say("run_arriving_lead"), is_bad=False)
    unread = _unread(document)
    worst = next(iter(document["outliers"]), None)
    if worst is None:
        lead = _spread(document) + unread
        return Answer(headline=_without_verdict(document), lead=lead, is_bad=False)
    found = {one["host"]: one for one in document["hosts"]}
    return Answer(
        headline=_headline(found[worst["host"]], max(len(document["steps"]), 1)),
        lead=_lead(document) + unread,
        is_bad=worst["kind"] in (Verdict.SLOW_CHIP, Verdict.SLOW_HOST),
    )


def _count(value: int) -> Number:
    return Number(value, "count")


def _without_verdict(document: Row) -> Sentence:
    match document["no_verdict"]:
        case NoVerdict.FEW_HOSTS:
            return say("run_few", fewest=_count(FEWEST_HOSTS))
        case NoVerdict.UNREADABLE:
            return say("run_unreadable", share=Number(LEAST_READABLE, "ratio"))
        case NoVerdict.SEVERAL_CAPTURES:
            return say("run_several_captures")
        case NoVerdict.SEVERAL_PROGRAMS:
            return say("run_several_programs")
    if (late := document["late_host"]) is not None:
        return say("run_late", host=late["host"], share=Number(late["share_ratio"], "ratio"))
    return say("run_even")


def _spread(document: Row) -> Sentence:
    cost = document["stragglers_cost_ratio"]
    return [] if cost is None else say("run_spread", share=Number(cost, "ratio"))


def _headline(host: Row, steps: int) -> Sentence:
    share = (host["same_work_ratio"] or 1.0) - 1
    return say(
        f"run_{Verdict(host['verdict']).name.lower()}",
        host=host["host"],
        share=Number(share, "ratio"),
        slow=_count(host["slow_steps"]),
        steps=_count(steps),
    )


def _lead(document: Row) -> Sentence:
    """The cost of all, and what the first ones bring."""
    said = say("run_cost", share=Number(document["stragglers_cost_ratio"] or 0.0, "ratio"))
    first = document["gains"][0]
    said += say("run_gain", host=first["host"], share=Number(first["share_ratio"], "ratio"))
    more = len(document["outliers"]) - 1
    if more:
        said += say("run_more", count=_count(more))
    return said + say("run_end")


def _unread(document: Row) -> Sentence:
    """What takes no part, though it might have."""
    unread = sum(one["state"] == State.UNREADABLE for one in document["hosts"])
    apart = [one["host"] for one in document["hosts"] if one["state"] == State.OTHER_PROGRAM]
    said = say("run_elsewhere", names=some_of(apart), count=_count(len(apart))) if apart else []
    return said + (say("run_unread", count=_count(unread)) if unread else [])
