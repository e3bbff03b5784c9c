"""A run of hosts in short: at the size of a stamp for lists, and what is read of it so far.

Shades are those of the map on the run's page: they say nothing where no verdict is possible.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.exports.run_headline import answer_of
from roofline.exports.run_page import Arriving
from roofline.pods.report import NoVerdict, State
from roofline.presentation.charts.host_values import shade
from roofline.presentation.sentences import plain_text

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


Record = dict[str, Any]


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
