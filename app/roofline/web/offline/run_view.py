"""The view of a run's page before its script runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any
from urllib.parse import urlencode

from roofline.exports.run_page import Arriving, answer_of, roofs_of, run_page, short_name
from roofline.pods.report import State
from roofline.presentation.charts.host_values import METRICS, Metric
from roofline.presentation.charts.run_figures import critical_hosts
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import bandwidth, count, duration, flop_rate, percent
from roofline.storage.run_records import READING, Run
from roofline.web.offline.views import Piece, pieces, with_lead

Row = Mapping[str, Any]

_ALL_OTHERS = "all others"
_WHOLE_NODES_FROM, _NODE = 64, 8  # hosts
_SHAPE = 1.05  # width of the map ÷ its height
_CELL, _FEW_CELL, _GAP = 34, 150, 1  # pixels, as in run.css


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One field of the strip; `token` is the colour of a roof's swatch, or empty."""

    term: str
    value: str
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A host that holds the others up.

    `excess` is the work of its slowest chip above that of the median host.
    """

    host: str
    kind: str
    excess: str
    sentence: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """The shape of the map of hosts; `width` and `height` are those of the largest, in pixels."""

    columns: int
    width: int
    height: int
    is_few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Critical:
    """A host that is the slowest of a step, `times` of them."""

    host: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GainBar:
    """The gain of putting one more host right: `left` and `width` in percent of the cost."""

    host: str
    share: str
    left: float
    width: float
    is_rest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOfHostsView:
    """A run of hosts; `data` is the page data as JSON that may stand inside a script element."""

    title: str
    headline: Sequence[Piece]
    lead: Sequence[Piece]
    facts: Sequence[Fact]
    outliers: Sequence[Outlier]
    unreadable: Sequence[Row]
    gains: Sequence[GainBar]
    cost: str
    heat: HeatMap
    metrics: Mapping[str, Metric]
    critical: Sequence[Critical]
    counts: Mapping[str, int]
    data: str
    arriving: Arriving | None = None
    no_verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPageView:
    """A run as stored, and what is said of its hosts; `None` while none of them was read.

    `run` is `None` in a file of the page, where nothing arrives. `trash_days` is how long it can
    be restored once it is deleted; 0: not at all. `is_host_open`: the address names a host, whose
    place at the right is left free from the start.
    """

    title: str
    content: RunOfHostsView | None
    run: Run | None = None
    data_url: str = ""
    unreadable: Sequence[Mapping[str, Any]] = ()
    may_delete: bool = False
    trash_days: float = 0
    is_host_open: bool = False

    @property
    def is_reading(self) -> bool:
        """True while hosts are read, or may still come."""
        return self.run is not None and self.run.state == READING


def run_view(document: Row, title: str, arriving: Arriving | None = None) -> RunOfHostsView:
    """The page of the run of `document`, as `roofline analyze --engine local` writes it."""
    answer = answer_of(document, arriving)
    said = pieces(answer.headline)
    page = run_page(document, arriving=arriving)
    cost = document["stragglers_cost_ratio"]
    return RunOfHostsView(
        title=title,
        headline=with_lead(said) if answer.is_bad else said,
        lead=pieces(answer.lead),
        facts=tuple(_facts(document, arriving)),
        outliers=() if arriving else tuple(_outliers(document)),
        unreadable=unreadable_hosts(document),
        gains=()
        if arriving or not cost or not document["outliers"]
        else tuple(_gains(document["gains"], cost)),
        cost=percent(cost),
        heat=heat_map(len(document["hosts"])),
        metrics=METRICS,
        critical=[
            Critical(host=short_name(host), times=times)
            for host, times in critical_hosts(document["steps"])
        ],
        counts={name: len(document[name]) for name in ("ops", "collectives", "steps", "hosts")},
        data=inside_script(to_json(page).decode()),
        arriving=arriving,
        no_verdict="" if document["outliers"] else document["no_verdict"] or "none stands out",
    )


def heat_map(hosts: int) -> HeatMap:
    """The map of so many hosts: columns come in eights from 64 hosts on, as ranks of a node do."""
    is_few = hosts < _WHOLE_NODES_FROM
    columns = (
        max(1, math.ceil(math.sqrt(hosts * _SHAPE)))
        if is_few
        else round(math.sqrt(hosts) / _NODE) * _NODE
    )
    side = _FEW_CELL if is_few else _CELL
    return HeatMap(
        columns=columns,
        width=columns * (side + _GAP) - _GAP,
        height=math.ceil(hosts / columns) * (side + _GAP) - _GAP,
        is_few=is_few,
    )


def unreadable_hosts(document: Row) -> list[Row]:
    """The hosts of a run that were not read, with their reasons."""
    return [one for one in document["hosts"] if one["state"] == State.UNREADABLE]


def has_hosts(document: Row) -> bool:
    """True if at least one host was read."""
    return any(one["state"] == State.READ for one in document["hosts"])


def inside_script(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _facts(document: Row, arriving: Arriving | None) -> Iterator[Fact]:
    hosts = document["hosts"]
    read = [one for one in hosts if one["state"] == State.READ]
    total = arriving.total if arriving and arriving.total else len(hosts)
    yield Fact(term="Hosts read", value=f"{count(len(read))} of {count(total)}")
    devices = sorted({one["device"] for one in read if one["device"]})
    chips = sorted({len(one["chips"]) for one in read})
    if devices:
        named = devices[0] if len(devices) == 1 else f"{len(devices)} kinds"
        yield Fact(term="Device", value=named)
    if chips:
        each = str(chips[0]) if len(chips) == 1 else f"{chips[0]} to {chips[-1]}"
        yield Fact(term="Chips of a host", value=each)
    steps = len(document["steps"])
    yield Fact(
        term=f"Step, median of {count(steps)}" if steps > 1 else "Step",
        value=duration(document.get("step_us")),
    )
    yield Fact(term="Work, median host", value=duration(_median(read, "work_us")))
    roofs = roofs_of(document)
    if roofs["gflops"]:
        peak = flop_rate(roofs["gflops"])
        yield Fact(term=f"{roofs['unit']} per core", value=peak, token="--roof-compute")
    if roofs["gbs"]:
        peak = bandwidth(roofs["gbs"])
        yield Fact(term=f"{roofs['memory']} per core", value=peak, token="--roof-hbm")
    yield Fact(term="Representative", value=document["representative"] or "–")


def _median(rows: Sequence[Row], name: str) -> float | None:
    """The lower median of what is known."""
    known = [one[name] for one in rows if one[name] is not None]
    return median_low(known) if known else None


def _outliers(document: Row) -> Iterator[Outlier]:
    if not document["outliers"]:  # perhaps no host was read
        return
    hosts = {one["host"]: one for one in document["hosts"]}
    works = {name: _slowest(one) for name, one in hosts.items() if one["chips"]}
    middle = median_low(works.values())
    for one in document["outliers"]:
        yield Outlier(
            host=one["host"],
            kind=one["kind"],
            excess=_signed(works[one["host"]] / middle - 1),
            sentence=one["sentence"],
            url=f"?{urlencode({'host': one['host']})}",
        )


def _slowest(host: Row) -> float:
    work: float = max(chip["work_us"] for chip in host["chips"])
    return work


def _signed(share: float) -> str:
    return f"{'+' if share >= 0 else '−'}{percent(abs(share))}"


def _gains(gains: Sequence[Row], cost: float) -> Iterator[GainBar]:
    """One bar after the other; together they are as long as the cost."""
    left = 0.0
    for one in gains:
        width = 100 * one["share_ratio"] / cost
        yield GainBar(
            host=one["host"] or _ALL_OTHERS,
            share=percent(one["share_ratio"]),
            left=round(left, 2),
            width=round(width, 2),
            is_rest=one["host"] is None,
        )
        left += width
