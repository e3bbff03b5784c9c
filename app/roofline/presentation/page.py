"""Everything one page shows, as compact JSON. The contract with the browser: docs/page-data.md.

Columns instead of objects, six significant digits, `null` for what is unknown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from roofline.analysis.records import RooflineAnalysis
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
from roofline.presentation.page_ops import categories_of, page_ops, transfers
from roofline.presentation.page_views import infeed_view
from roofline.presentation.palette import category_styles
from roofline.presentation.program_columns import PROGRAM_COLUMNS, point_rows
from roofline.presentation.serving import serving_data
from roofline.presentation.shown import listed_ops, places_of, shown_levels, unit_labels
from roofline.presentation.time_strip import strip_data
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
