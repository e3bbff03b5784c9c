"""C2 as an option: another division of the work over chips."""

from collections.abc import Iterator

from roofline.advice.findings import Candidate
from roofline.advice.rows import Rows
from roofline.analysis.records import RooflineAnalysis
from roofline.model.memory import MemoryLevel


def sharding(analysis: RooflineAnalysis, rows: Rows) -> Iterator[Candidate]:
    """C2: links between chips that at their peak take longer than all work at its roof.

    With twice the tokens per chip the work doubles, and the traffic of weights and gradients stays.
    """
    moved = [one for one in analysis.transfers.rows if one.link is not MemoryLevel.HOST]
    work_us = float(rows.state.roof_us().sum())
    link_us = rows.state.least_us
    if not moved or len(moved) < len(analysis.transfers.rows) or not 0 < work_us < link_us:
        return
    yield Candidate(
        rule="C2",
        ops=(),
        what=next((one.link.label for one in moved if one.link is not None), "the links"),
        resource="sharding",
        factor=None,
        lever=None,
        term="",
        confidence="low",
        time_us=link_us,
        changes_results=True,
        gain=2 * link_us / max(2 * work_us, link_us),
        facts={"link_us": link_us, "work_us": work_us, "longer": link_us / work_us},
    )
