"""Everything one page shows, as compact JSON. The contract with the browser: docs/page-data.md.

Columns instead of objects, six significant digits, `null` for what is unknown.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from roofline.analysis.records import RooflineAnalysis
from roofline.presentation import page_frame, page_roofs
from roofline.presentation.budget_bar import budget_data
from roofline.presentation.charts import figures_of
from roofline.presentation.columns import page_menu, page_values
from roofline.presentation.json_text import to_json
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_names import op_names
from roofline.presentation.op_values import OpRows
from roofline.presentation.page_groups import page_groups
from roofline.presentation.page_ops import awaited, categories_of, predictions
from roofline.presentation.page_transfers import transfers
from roofline.presentation.page_views import view_data
from roofline.presentation.palette import category_styles
from roofline.presentation.program_columns import PROGRAM_COLUMNS, point_rows
from roofline.presentation.serving import serving_data
from roofline.presentation.shown import listed_ops, shown_levels, unit_labels
from roofline.presentation.time_strip import strip_data
from roofline.presentation.verdict import Answer, lines_of
from roofline.presentation.verdict_data import subject_record, verdict_record
from roofline.presentation.words import page_words

SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIdentity:
    """Whose page it is; sizes of the uploaded files by name, where known.

    Not its title: that can be edited, and page data are never made again for it.
    """

    id: str
    created_at: str
    file_sizes: Mapping[str, int] = field(default_factory=dict)


def build_page(analysis: RooflineAnalysis, answer: Answer, identity: PageIdentity) -> bytes:
    """The page data as UTF-8 JSON."""
    return to_json(page_data(analysis, answer, identity))


def page_data(analysis: RooflineAnalysis, answer: Answer, identity: PageIdentity) -> dict[str, Any]:
    """The page data as plain objects; `answer` is what its sentences and its subject are of."""
    page = _page_without_figures(analysis, answer, identity)
    return {**page, "figures": figures_of(page)}


def _page_without_figures(
    analysis: RooflineAnalysis, answer: Answer, identity: PageIdentity
) -> dict[str, Any]:
    lines = lines_of(analysis, answer)
    listed = listed_ops(analysis)
    levels, units = shown_levels(analysis, listed), unit_labels(analysis)
    categories = categories_of(analysis, listed)
    place = {op: k for k, op in enumerate(listed.tolist())}
    rows = OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=listed,
        levels=levels,
        subject=answer.subject,
        view=analysis.with_infeed,
        categories={name: k for k, name in enumerate(categories)},
    )
    points = point_rows(analysis, analysis.with_infeed.program, levels)
    return {
        "schema": SCHEMA,
        "profile": {
            "id": identity.id,
            "created_at": identity.created_at,
            **page_frame.profile(analysis, identity.file_sizes),
        },
        "subject": subject_record(answer),
        "verdict": verdict_record(answer),
        "device": page_frame.device(analysis),
        "roofs": page_roofs.roofs(analysis),
        "levels": page_roofs.levels(analysis, levels),
        "units": page_roofs.units(analysis, units),
        "clocks": page_roofs.clocks(analysis, levels),
        "bounds": page_roofs.bounds(analysis),
        "words": page_words(),
        "x_axes": page_roofs.x_axes(levels),
        "columns": page_menu(OP_COLUMNS, rows),
        "program_columns": page_menu(PROGRAM_COLUMNS, points),
        "categories": [
            {"name": name, **asdict(style)}
            for name, style in zip(categories, category_styles(categories), strict=True)
        ],
        "ops": {
            "count": len(listed),
            "columns": page_values([one for one in OP_COLUMNS if not one.of_view], rows),
            **predictions(rows),
            **awaited(analysis, listed),
            "groups": page_groups(analysis, listed),
            "names": op_names(analysis, listed),
        },
        "views": {
            "in": view_data(rows, analysis.with_infeed, lines),
            "out": view_data(rows, analysis.without_infeed, lines),
        },
        **page_frame.views_of_server(analysis),
        "serving": serving_data(analysis),
        "budget": budget_data(analysis, answer.subject),
        "timeline": strip_data(analysis),
        "transfers": transfers(analysis, place),
        "diagnostics": [page_frame.diagnostic(found) for found in analysis.diagnostics],
    }
