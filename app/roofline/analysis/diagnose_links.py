"""Questions of the analysis to its reader about links: their peaks, and which of them was used."""

from collections.abc import Sequence

from roofline.analysis.context import Context
from roofline.analysis.records import OpRecords
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity


def ask_for_links(context: Context, ops: OpRecords) -> list[Diagnostic]:
    """Notes where transfers have no roof, because their link or its peak is not known."""
    unheld = ops.measures.bound == context.unknown_link_bound
    links = [ops.moved.link[op] for op in unheld.nonzero()[0].tolist()]
    known = [level for level in MemoryLevel if level in links]
    found = [_without_peak(known, sum(link is not None for link in links))] if known else []
    unknown = links.count(None)
    return [*found, *([_unknown(unknown)] if unknown else [])]


def _without_peak(levels: Sequence[MemoryLevel], count: int) -> Diagnostic:
    names = ["the host link" if level is MemoryLevel.HOST else level.label for level in levels]
    those = " and ".join(sorted(names, key=lambda name: name[0].islower()))
    peak, is_ = ("peaks", "are") if len(names) > 1 else ("peak", "is")
    asked = " ".join(f"--peak {level.value}=45GB/s" for level in levels)
    return Diagnostic(
        severity=Severity.WARNING,
        code="links-without-peak",
        message=f"The {peak} of {those} {is_} not known, so {_transfers(count)} no roof.",
        remedy=f"Enter the {peak} in the list of peaks, or with {asked}.",
        count=count,
    )


def _unknown(count: int) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING,
        code="unknown-link",
        message=f"The capture does not tell which link joins the devices, so {_transfers(count)} "
        "no roof.",
        remedy="Give the peak of the link that they use, for example with --peak nvlink=450GB/s, "
        "xgmi or dcn: communication without a known link is then over that one.",
        count=count,
    )


def _transfers(count: int) -> str:
    return f"{count:,} transfer has" if count == 1 else f"{count:,} transfers have"
