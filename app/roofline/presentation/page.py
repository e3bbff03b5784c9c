"""Everything one page shows, as compact JSON. The contract with the browser: docs/page-data.md.

Columns instead of objects, six significant digits, `null` for what is unknown.

The strip of time below the charts: what the cores did, bin by bin, and the range in view.

A lane has a percentage of each bin per kind of time; the rest of a bin was empty. If the lanes of
all cores take too much of the page data, their mean is the only lane.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64
from roofline.model.time_bins import TimeBins
from roofline.model.units import PS_PER_US
from roofline.presentation import page_frame, page_roofs
from roofline.presentation.charts import drawn_again, figures_of
from roofline.presentation.charts.choices import ChartChoice, Infeed
from roofline.presentation.charts.gain_figure import gain_of
from roofline.presentation.columns import page_menu
from roofline.presentation.facts_and_view import Document, is_in, joined, part_of_page
from roofline.presentation.groups_data import groups_data
from roofline.presentation.json_text import to_json
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import OpRows
from roofline.presentation.page_ops import categories_of, infeed_view, page_ops, transfers
from roofline.presentation.palette import LEVEL_STYLES, category_styles
from roofline.presentation.program_columns import PROGRAM_COLUMNS, point_rows
from roofline.presentation.serving import serving_data
from roofline.presentation.shown import listed_ops, places_of, shown_levels, unit_labels
from roofline.presentation.verdict import Answer, lines_of
from roofline.presentation.verdict_data import budget_data, subject_record, verdict_record
from roofline.presentation.what_if import OwnPeaks, what_if_lines
from roofline.presentation.words import page_words

Json = dict[str, Any]

SCHEMA = 2
BOTH_INFEEDS = ("in", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIdentity:
    """Whose page it is; sizes of the uploaded files by name, where known.

    Not its title: that can be edited, and page data are never made again for it.
    """

    id: str
    created_at: str
    file_sizes: Mapping[str, int] = field(default_factory=dict)


def build_page(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    own: OwnPeaks | None = None,
) -> bytes:
    """The page data as UTF-8 JSON."""
    return to_json(page_data(analysis, answer, identity, own))


def page_data(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    own: OwnPeaks | None = None,
) -> Json:
    """The page data as plain objects; `answer` is what its sentences and its subject are of.

    Under other peaks than its `own` the first lines say what these change.
    """
    page = _document(Document.PAGE, analysis, answer, identity, BOTH_INFEEDS, own)
    return {**page, "figures": _figures(analysis, answer, page)}


def facts_data(analysis: RooflineAnalysis, answer: Answer, identity: PageIdentity) -> Json:
    """The part of the page data that is the same under every device."""
    return _document(Document.FACTS, analysis, answer, identity, BOTH_INFEEDS)


def view_data(
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    infeed: Infeed,
    facts: Json | None = None,
    own: OwnPeaks | None = None,
) -> Json:
    """The part that peaks change, with ("in") or without ("out") infeed and outfeed.

    Its figures are drawn of the `facts` as well.
    """
    facts = facts or facts_data(analysis, answer, identity)
    view = _document(Document.VIEW, analysis, answer, identity, (infeed,), own)
    page = joined(facts, view, infeed)
    return {**view, "figures": _figures(analysis, answer, page, infeed)}


def _figures(analysis: RooflineAnalysis, answer: Answer, page: Json, infeed: Infeed = "in") -> Json:
    gain = gain_of(analysis, answer.subject, page)
    return {**figures_of(page, ChartChoice(infeed=infeed)), "gain": gain}


def view_of_page(page: Json, infeed: Infeed) -> Json:
    """The same of page data that were made before; their figures are those with infeed."""
    view = part_of_page(page, Document.VIEW, (infeed,))
    return (
        view
        if infeed == "in"
        else {**view, "figures": drawn_again(page, ChartChoice(infeed=infeed))}
    )


def _document(
    document: Document,
    analysis: RooflineAnalysis,
    answer: Answer,
    identity: PageIdentity,
    infeeds: Sequence[str],
    own: OwnPeaks | None = None,
) -> Json:
    """The page data, or that part of it which `document` has; only that is computed."""
    listed = listed_ops(analysis)
    levels, units = shown_levels(analysis, listed), unit_labels(analysis)
    categories = categories_of(analysis, listed)
    place = places_of(analysis)
    rows = OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=listed,
        levels=levels,
        subject=answer.subject,
        view=analysis.with_infeed,
        categories={name: k for k, name in enumerate(categories)},
    )
    views = {"in": analysis.with_infeed, "out": analysis.without_infeed}

    def shown_view(infeed: str) -> Json:
        if own is None:
            lines = lines_of(analysis, answer)
        else:
            lines = what_if_lines(analysis, own, infeed=infeed == "in")
        return infeed_view(document, rows, views[infeed], lines)

    makers: dict[str, Callable[[], Any]] = {
        "schema": lambda: SCHEMA,
        "profile": lambda: {
            "id": identity.id,
            "created_at": identity.created_at,
            **page_frame.profile(analysis, identity.file_sizes),
        },
        "subject": lambda: subject_record(answer),
        "verdict": lambda: verdict_record(answer),
        "device": lambda: page_frame.device(analysis),
        "roofs": lambda: page_roofs.roofs(analysis),
        "levels": lambda: page_roofs.levels(analysis, levels),
        "units": lambda: page_roofs.units(analysis, units),
        "clocks": lambda: page_roofs.clocks(analysis, levels),
        "bounds": lambda: page_roofs.bounds(analysis),
        "words": page_words,
        "x_axes": lambda: page_roofs.x_axes(analysis, levels),
        "columns": lambda: page_menu(OP_COLUMNS, rows),
        "program_columns": lambda: page_menu(
            PROGRAM_COLUMNS, point_rows(analysis, analysis.with_infeed.program, levels)
        ),
        "categories": lambda: [
            {"name": name, **asdict(style)}
            for name, style in zip(categories, category_styles(categories), strict=True)
        ],
        "ops": lambda: page_ops(document, rows),
        "views": lambda: {infeed: shown_view(infeed) for infeed in infeeds},
        "hosts": lambda: page_frame.hosts(analysis),
        "dvfs": lambda: page_frame.dvfs(analysis),
        "serving": lambda: serving_data(analysis),
        "budget": lambda: budget_data(analysis, answer.subject),
        "groups": lambda: groups_data(analysis, answer.subject),
        "timeline": lambda: strip_data(analysis),
        "transfers": lambda: transfers(analysis, place),
        "diagnostics": lambda: [page_frame.diagnostic(one) for one in analysis.diagnostics],
    }
    values = {key: make() for key, make in makers.items() if is_in(document, key)}
    return {k: value for k, value in values.items() if value is not None or k not in _CHOICES}


_CHOICES = frozenset({"hosts", "dvfs"})
"""Keys that are there only where there is a choice."""


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
