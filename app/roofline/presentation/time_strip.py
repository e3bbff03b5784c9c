"""The strip of time below the charts: what the cores did, bin by bin, and the range in view.

A lane has a percentage of each bin per kind of time; the rest of a bin was empty. If the lanes of
all cores take too much of the page data, their mean is the only lane.
"""

from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.time_bins import TimeBins
from roofline.model.units import PS_PER_US
from roofline.presentation.palette import LEVEL_STYLES

_MOST_NUMBERS = 12_000
"""Of all lanes: about 36 kB, a few after compression."""

ALL_CORES = "All cores"


def strip_data(analysis: RooflineAnalysis) -> dict[str, Any] | None:
    """The strip of the page data; `None` where the profile has no bins.

    Times are not rounded: they come back as the ends of a range.
    """
    timeline = analysis.profile.timeline
    bins = timeline.bins if timeline else None
    if timeline is None or bins is None:
        return None
    kinds = _kinds(bins)
    shares = {kind["id"]: share for kind, share in kinds}
    names = list(timeline.cores)
    lanes = [_lane(ALL_CORES, {id: share.mean(axis=0) for id, share in shares.items()})]
    if 1 < len(names) <= _MOST_NUMBERS // (len(bins) * max(len(kinds), 1)):
        lanes += [
            _lane(name, {id: share[core] for id, share in shares.items()})
            for core, name in enumerate(names)
        ]
    chosen = analysis.profile.time_range_ps
    return {
        "edges_us": [ps / PS_PER_US for ps in bins.edges_ps.tolist()],
        "steps": _steps(analysis, bins),
        "kinds": [kind for kind, _ in kinds],
        "lanes": lanes,
        "range": None if chosen is None else [ps / PS_PER_US for ps in chosen],
    }


def _kinds(bins: TimeBins) -> list[tuple[dict[str, str], F64]]:
    """Kinds of time that occur: id, label and colour, and the share of each bin per core."""
    times = bins.times
    found = [
        ("work", "work", "--tl-work", times.work_ps),
        *((f"exposed.{_id(k)}", _label(k), _token(k), v) for k, v in times.exposed_ps.items()),
        ("host", "copies to and from the host", "--roof-host", times.host_ps),
        ("infeed_outfeed", "infeed and outfeed", "--wait-infeed", times.infeed_outfeed_ps),
    ]
    width = np.maximum(np.diff(bins.edges_ps), 1)
    return [
        ({"id": id, "label": label, "token": token}, time / width)
        for id, label, token, time in found
        if time.any()
    ]


def _id(link: MemoryLevel | None) -> str:
    return "unknown" if link is None else link.value


def _label(link: MemoryLevel | None) -> str:
    return f"exposed {'communication' if link is None else link.label}"


def _token(link: MemoryLevel | None) -> str:
    return "--warn" if link is None else LEVEL_STYLES[link].token


def _lane(name: str, shares: dict[str, F64]) -> dict[str, Any]:
    """Percentages; a kind that is there is one at least, so that no wait is lost."""
    parts = {}
    for kind, share in shares.items():
        percent = np.rint(np.clip(share, 0, 1) * 100).astype(np.int64)
        parts[kind] = np.where(share > 0, np.maximum(percent, 1), 0).tolist()
    return {"name": name, "parts": parts}


def _steps(analysis: RooflineAnalysis, bins: TimeBins) -> list[dict[str, Any]]:
    """Begin and end of each step. Their labels are those of the profile where it has as many."""
    labels = analysis.profile.step_labels
    edges = zip(bins.step_begin_ps.tolist(), bins.step_end_ps.tolist(), strict=True)
    return [
        {
            "label": labels[place] if len(labels) == len(bins.step_begin_ps) else str(place),
            "begin_us": begin / PS_PER_US,
            "end_us": end / PS_PER_US,
        }
        for place, (begin, end) in enumerate(edges)
    ]
