"""Everything of the first view, in one piece: what the page's template writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.figures.figure import Figure
from roofline.presentation.charts.gain_records import Gain
from roofline.presentation.first_view import summary
from roofline.presentation.first_view.clocks import OpClocks, op_clocks
from roofline.presentation.first_view.step_times import (
    StepTimes,
    UsedShare,
    step_times,
    used_shares,
)
from roofline.presentation.first_view.subject_menu import SubjectMenu, subject_menu
from roofline.presentation.first_view.table import Table, op_table
from roofline.presentation.page_rows import Page, Rows
from roofline.presentation.quantities import percent


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstView:
    """The page before its script, all of it text. Charts follow: here are their words."""

    headline: tuple[summary.Piece, ...]
    do_first: tuple[summary.Piece, ...]
    lead: tuple[summary.Piece, ...]
    subject: SubjectMenu
    counts: summary.Origin | None
    device: str
    peaks: str
    items: Sequence[summary.DeviceItem]
    findings: Sequence[summary.Finding]
    finding_counts: Sequence[tuple[str, str]]
    limits: Sequence[str]
    format: str
    chips: Sequence[summary.BoundChip]
    categories: Sequence[summary.CategoryEntry]
    groups: Mapping[str, Any]
    op_clocks: Sequence[OpClocks]
    steps: summary.StepList
    step_times: StepTimes | None
    used_shares: Sequence[UsedShare]
    core: str
    has_peaks: bool
    ops_alt: str
    chart_note: str
    axis: str
    program_alt: str
    links: Figure
    table: Table
    has_more: bool
    share: str
    serving: summary.Serving | None
    has_timeline: bool
    gain: Gain | None


def first_view(page: Page) -> FirstView:
    """The first view of `page`, the page data as plain objects."""
    rows = Rows(page)
    figures = page["figures"]
    do_first = rows.verdict["do_first"]
    device = page["device"]
    return FirstView(
        headline=summary.pieces(rows.verdict["headline"]),
        do_first=summary.pieces(do_first),
        lead=summary.pieces(rows.verdict["lead"][len(do_first) :]),
        subject=subject_menu(page),
        counts=summary.counts_origin(rows),
        device=device["name"],
        peaks=summary.main_peaks(page),
        items=summary.device_items(page),
        findings=summary.findings(page),
        finding_counts=summary.finding_counts(page),
        limits=page["profile"]["limits"],
        format=page["profile"]["format"],
        chips=summary.bound_chips(rows),
        categories=summary.categories(rows),
        groups=page["groups"],
        op_clocks=op_clocks(rows),
        steps=summary.step_list(rows),
        step_times=step_times(rows),
        used_shares=used_shares(page),
        core=summary.core_word(page),
        has_peaks=bool(page["roofs"]["compute"] or page["roofs"]["memory"]),
        ops_alt=figures["op"]["alt"],
        chart_note=figures["op"]["note"],
        axis=page["x_axes"][0]["label"],
        program_alt=figures["program"]["alt"],
        links=figures["links"],
        table=op_table(rows),
        has_more=bool(rows.beyond and rows.beyond["ops"]),
        share=_share(sum(rows.shares)),
        serving=summary.serving(page),
        has_timeline=bool(page.get("timeline")),
        gain=figures["gain"],
    )


def _share(shares: float) -> str:
    """Ops of several streams overlap, and add up to more than the time. Of no time: nothing."""
    return percent(shares / max(1.0, shares)) if shares > 0 else ""
