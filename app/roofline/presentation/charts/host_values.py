"""How the hosts of a run differ: the shade of each in the map, and the histogram as its key."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import NamedTuple

from roofline.figures.figure import PLOTS, Figure, Json, inert, layout, linear_axis, numbered, trace
from roofline.figures.scale import Margin
from roofline.presentation.quantities import bandwidth, duration, significant

EVEN = 3
"""The shade of the median host, and of every host where no verdict is possible."""
_EDGES = (-0.006, -0.004, -0.002, 0.002, 0.004, 0.006, 0.02, 0.04)
_WAIT_EDGES = (-0.9, -0.6, -0.35, -0.12, 0.12, 0.35, 0.6, 0.9)
_BINS = 26
_MARGIN = Margin(left=24, right=24, top=8, bottom=22)
_CUT = (0.72, 0.84)  # of the width: the end of the axis of most hosts, the start of that of others


class Metric(NamedTuple):
    """What hosts are compared by: its name, the word on its button, and how a value is written."""

    label: str
    short: str
    write: Callable[[float], str]


METRICS: Mapping[str, Metric] = {
    "ratio": Metric("Same-work ratio", "Ratio", lambda value: significant(value, 4)),
    "work": Metric("Work", "Work", lambda value: duration(value, 4)),
    "wait": Metric("Wait in collectives", "Wait", duration),
    "bandwidth": Metric("Bandwidth", "Bandwidth", bandwidth),
}


def shade(away: float, edges: Sequence[float] = _EDGES) -> int:
    """From 0, the fastest, to 8, the slowest; `away` from the median is a share of it."""
    return bisect_right(edges, away)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostValues:
    """A metric of all hosts; `outliers` are indices of those that stand out.

    Times are in us, bandwidths in GB/s; `None` is not known.
    """

    metric: str
    values: Sequence[float | None]
    names: Sequence[str]
    outliers: Sequence[int]
    is_judged: bool

    @property
    def shades(self) -> list[int | None]:
        """Of each host. Least waiting and low bandwidth are suspect, as is much work."""
        middle = self._median()
        return [None if value is None else self._shade(value, middle) for value in self.values]

    def _median(self) -> float:
        known = [value for value in self.values if value is not None]
        if not known or not self.is_judged:
            return 0.0
        return 1.0 if self.metric == "ratio" else median_low(known)

    def _shade(self, value: float, middle: float) -> int:
        if not middle or value == middle:
            return EVEN
        away = value / middle - 1
        if self.metric == "wait":
            return shade(-away, _WAIT_EDGES)
        return shade(-away if self.metric == "bandwidth" else away)

    def figure(self) -> Figure:
        """How many hosts have which value; outliers beyond the others lie right of a cut."""
        metric = METRICS[self.metric]
        known = {at: value for at, value in enumerate(self.values) if value is not None}
        bulk = [value for at, value in known.items() if at not in self.outliers]
        far: list[int] = []
        if bulk:
            low, high = min(bulk), max(bulk)
            far = [at for at in self.outliers if at in known and not low <= known[at] <= high]
            data, axis = self._bars(bulk)
        else:
            data, axis = [], linear_axis((0, 1), (0.5,), lambda _: f"{metric.label}: not known")
        beyond = self._beyond([known[at] for at in far])
        near = [at for at in self.outliers if at in known and at not in far]
        data += [self._dots(known, near, "x"), self._dots(known, far, "x2")]
        whole = layout(_MARGIN, axis, {"visible": False, "fixedrange": True}, [], self.metric)
        whole |= {"dragmode": False, "bargap": 0, "xaxis2": beyond}
        if far:
            whole["xaxis"] = {**axis, "domain": [0, _CUT[0]]}
        return {
            "id": self.metric,
            "data": numbered(data),
            "layouts": dict.fromkeys(PLOTS, whole),
            "marks": None,
            "beyond": {},
            "legend": [],
            "alt": self._alt(bulk),
        }

    def _bars(self, bulk: Sequence[float]) -> tuple[list[Json], Json]:
        write = METRICS[self.metric].write
        low, high = min(bulk), max(bulk)
        count = _BINS if high > low else 1
        width = (high - low) / count or abs(low) / _BINS or 1.0
        counts = [0] * count
        for value in bulk:
            counts[min(count - 1, int((value - low) / width))] += 1
        filled = [at for at in range(count) if counts[at]]
        middles = [low + (at + 0.5) * width for at in filled]
        colours = [f"--heat-{self._shade(middle, self._median())}" for middle in middles]
        if count == 1:  # as wide as one of many, with its value below
            middles, width = [low], width / _BINS
        bars = {
            **trace("hosts", middles, [counts[at] for at in filled], role="bars"),
            "type": "bar",
            "width": width,
            "marker": {"color": colours, "line": {"color": "--line-2", "width": 0.5}},
        }
        room = 0.0 if high > low else abs(low) / _BINS or 1.0
        axis = linear_axis((low - room, high + room), sorted({low, high}), write)
        return [bars], {**axis, "showgrid": False, "showline": True, "linecolor": "--line-2"}

    def _beyond(self, far: Sequence[float]) -> Json:
        """The axis of outliers that lie beyond the others."""
        low, high = min(far, default=0.0), max(far, default=1.0)
        room = (high - low) / 4 or abs(low) / _BINS or 1.0
        axis = linear_axis(
            (low - room, high + room),
            [high] if far else [],
            METRICS[self.metric].write,
        )
        return {**axis, "domain": [_CUT[1], 1], "anchor": "y", "showgrid": False}

    def _dots(self, known: Mapping[int, float], places: Sequence[int], axis: str) -> Json:
        write, middle = METRICS[self.metric].write, self._median()
        return {
            **trace(
                "outliers",
                [known[at] for at in places],
                [0.0] * len(places),
                role="outliers",
                mode="markers",
                hovertext=[f"{inert(self.names[at])} {write(known[at])}" for at in places],
                hoverinfo="text",
            ),
            "xaxis": axis,
            "cliponaxis": False,
            "marker": {
                "size": 8.4,
                "color": [f"--heat-{self._shade(known[at], middle)}" for at in places],
                "line": {"color": "--ink", "width": 1.2},
            },
        }

    def _alt(self, bulk: Sequence[float]) -> str:
        label, _, write = METRICS[self.metric]
        if not bulk:
            return f"{label} of the hosts is not known"
        others = f"; {len(self.outliers)} stand out" if self.outliers else ""
        return (
            f"{label} over hosts, from {write(min(bulk))} to {write(max(bulk))}{others}. "
            "Also the key of the colours."
        )
