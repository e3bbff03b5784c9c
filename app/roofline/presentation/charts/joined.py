"""Every memory level of an op as one mark, joined by a line: its FLOP rate at each intensity."""

from collections.abc import Sequence
from dataclasses import dataclass

from roofline.figures.figure import Json, LegendEntry, line
from roofline.figures.scale import Place
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.marks import Mark, mark_size, marks_trace
from roofline.presentation.charts.shown_roofs import log_places
from roofline.presentation.page_rows import RATE, Rows

MOST_JOINED = 50
"""More lines than this hide each other."""
_LARGEST = 20.0
_EQUAL = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMark:
    """An op's place at one memory level, log10."""

    row: int
    at: Place
    token: str
    is_bound: bool


def level_marks(rows: Rows, placed: Sequence[Place | None]) -> list[LevelMark]:
    """The places of all levels of the ops that have a place at their bound."""
    rates = rows.column(RATE)
    return [
        LevelMark(
            row=row,
            at=at,
            token=level["token"],
            is_bound=rows.bounds[row].get("level") == level["id"],
        )
        for level in rows.page["levels"]
        if level["is_shown"] and not level["is_link"]
        for row, at in enumerate(log_places(rows.column(level["columns"]["intensity"]), rates))
        if at is not None and placed[row] is not None
    ]


def joined_traces(rows: Rows, found: Sequence[LevelMark], choice: ChartChoice) -> list[Json]:
    """The longest of the ops that were asked for, and the selected one, with their lines."""
    kept = _kept(rows, found, choice)
    marks = sorted(
        (mark for mark in found if mark.row in kept), key=lambda mark: -rows.shares[mark.row]
    )
    spans: dict[int, list[Place]] = {}
    for mark in marks:
        spans.setdefault(mark.row, []).append(mark.at)
    ends = [[min(span), max(span)] for span in spans.values() if len(span) > 1]
    lines = line("joined levels", [], role="joined", token="--ink-3", width=1, dash="2px,2px")
    # A null breaks the line: each op has its own.
    lines["x"] = [x for low, high in ends for x in (10.0 ** low[0], 10.0 ** high[0], None)]
    lines["y"] = [y for low, high in ends for y in (10.0 ** low[1], 10.0 ** high[1], None)]
    return [
        lines,
        {
            **marks_trace("memory levels", [rows.ops[mark.row] for mark in marks], "marks-levels"),
            "x": [10.0 ** mark.at[0] for mark in marks],
            "y": [10.0 ** mark.at[1] for mark in marks],
            "marker": {
                "symbol": "circle",
                "size": [round(_size(rows, mark.row, choice), 1) for mark in marks],
                "color": [mark.token for mark in marks],
                "opacity": 0.85,
                "line": {"color": "--halo", "width": 1},
            },
        },
    ]


def joined_legend(rows: Rows, found: Sequence[LevelMark], choice: ChartChoice) -> list[LegendEntry]:
    """The colours of the levels, and how many ops are joined where not all of them are."""
    tokens = {mark.token for mark in found}
    levels: list[LegendEntry] = [
        {"text": level["label"], "token": level["token"], "dash": "dot"}
        for level in rows.page["levels"]
        if level["is_shown"] and level["token"] in tokens
    ]
    known = {mark.row for mark in found}
    is_cut = len(choice.ops or known) > MOST_JOINED
    remark = f"the {MOST_JOINED} longest operations are joined"
    return [*levels, *([LegendEntry(text=remark, token="", dash="")] if is_cut else ())]


def joined_marks(rows: Rows, found: Sequence[LevelMark], choice: ChartChoice) -> list[Mark]:
    """The drawn marks as those of ops, longest first; of an op the one at its bound comes first."""
    kept = _kept(rows, found, choice)
    drawn = [mark for mark in found if mark.row in kept]
    return [
        Mark(row=one.row, at=one.at, size=_size(rows, one.row, choice), edge=None, is_pinned=False)
        for one in sorted(drawn, key=lambda one: (-rows.shares[one.row], not one.is_bound))
    ]


def _size(rows: Rows, row: int, choice: ChartChoice) -> float:
    return _EQUAL if choice.size == "equal" else mark_size(rows.shares[row], largest=_LARGEST)


def _kept(rows: Rows, found: Sequence[LevelMark], choice: ChartChoice) -> set[int]:
    """Rows of the longest ops, of `choice.ops` where it has any, and of the selected op."""
    wanted = set(choice.ops)
    known = {mark.row for mark in found}
    asked = [row for row in known if not wanted or rows.ops[row] in wanted]
    longest = sorted(asked, key=lambda row: -rows.shares[row])[:MOST_JOINED]
    return {*longest, *(row for row in known if rows.ops[row] == choice.op)}
