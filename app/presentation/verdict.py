"""The sentence at the top: what bounds the program, how far it is from its roof, what to fix.

Segments are cut where the style changes; `filter` holds view-state keys. Every number is computed
here from the same records as the tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.analysis.records import Cost, RooflineAnalysis, View
from app.analysis.roofline import Floats
from app.model.categories import is_container, is_infeed_outfeed
from app.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES

THIN_SPACE = "\u202f"  # narrow no-break, before units
_WORTH_SAYING = 0.05
_MOSTLY_IDLE = 0.5

Segment = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryShare:
    """One category of a view: ops, self time over all cores, share, time-weighted efficiency."""

    name: str
    ops: int
    self_time_us: float
    share_ratio: float
    efficiency_ratio: float | None
    saving_per_core_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Headline and lead as segments."""

    headline: list[Segment] = field(default_factory=list)
    lead: list[Segment] = field(default_factory=list)


def category_shares(analysis: RooflineAnalysis, view: View) -> tuple[CategoryShare, ...]:
    """Categories of the listed ops by self time; IDLE is one of them."""
    ops = analysis.ops
    rows: dict[str, list[int]] = {}
    for op in view.op.tolist():
        rows.setdefault(ops.category[op], []).append(op)
    total_us = view.total_time_us or 1.0
    shares = [_category_share(analysis, name, at, total_us) for name, at in rows.items()]
    return tuple(sorted(shares, key=lambda share: (-share.self_time_us, share.name)))


def _category_share(
    analysis: RooflineAnalysis, name: str, rows: list[int], total_us: float
) -> CategoryShare:
    time = analysis.ops.measures.self_time_us[rows]
    efficiency = np.minimum(analysis.ops.measures.roofline_efficiency_ratio[rows], 1.0)
    known = ~np.isnan(efficiency)
    weighed = float((time[known] * efficiency[known]).sum())
    known_time = float(time[known].sum())
    saving = analysis.ops.saving_per_core_us[rows]
    return CategoryShare(
        name=name,
        ops=len(rows),
        self_time_us=float(time.sum()),
        share_ratio=float(time.sum()) / total_us,
        efficiency_ratio=weighed / known_time if known_time else None,
        saving_per_core_us=float(np.nansum(saving)),
    )


def build_verdict(
    analysis: RooflineAnalysis, view: View, shares: tuple[CategoryShare, ...]
) -> Verdict:
    """What a reader should know first. Reads well for every kind of profile, empty ones too."""
    work = [share for share in shares if share.name != "IDLE"]
    if not work:
        return _without_ops(analysis)
    idle = next((share.share_ratio for share in shares if share.name == "IDLE"), 0.0)
    bound = int(view.program.measures.bound[0])
    efficiency = float(view.program.measures.roofline_efficiency_ratio[0])
    headline = _headline(analysis, view, bound, efficiency, idle)
    lead = [
        *_rate(analysis, view, bound),
        *_largest_saving(analysis, view, work),
        *_caution(analysis, view),
    ]
    return Verdict(headline=headline, lead=lead)


def _without_ops(analysis: RooflineAnalysis) -> Verdict:
    reasons = [d for d in analysis.diagnostics if d.severity != "info"]
    lead: list[Segment] = [_plain("The capture holds no ops of a device.")]
    if reasons:
        lead = [_plain(f"{reasons[0].message} {reasons[0].remedy}".strip())]
    return Verdict(headline=[_plain("Nothing to place on a roofline")], lead=lead)


def _headline(
    analysis: RooflineAnalysis, view: View, bound: int, efficiency: float, idle: float
) -> list[Segment]:
    if idle >= _MOSTLY_IDLE:
        opening = [_strong_word("Idle"), _plain(f" {_percent(idle)} of the time")]
        if bound == 0 or np.isnan(efficiency):
            return opening
        tail = _plain(f" over the whole capture, at {_percent(efficiency)} of the roof")
        return [*opening, _plain("; "), _bound(analysis, bound, lower=True), tail]
    if bound == 0 or np.isnan(efficiency):
        return [_plain(_unbound(analysis))]
    found = [_bound(analysis, bound), _plain(f" at {_percent(efficiency)} of the roof")]
    finding = _finding(analysis, view, idle)
    return [*found, _plain(finding)] if finding else found


def _unbound(analysis: RooflineAnalysis) -> str:
    if not analysis.peaks.gflops and not analysis.peaks.binding_gibs:
        return "No peak is known for this device, so there is no roof to compare with"
    return "Nobody counted this program's work, so its bound is unknown"


def _finding(analysis: RooflineAnalysis, view: View, idle: float) -> str:
    without = _share(view, _no_flops(analysis, view))
    if idle >= 0.2 and idle >= without:
        return f", and idle {_percent(idle)} of the time"
    if without >= 0.2:
        return f", but {_percent(without)} of the time does no arithmetic"
    return ""


def _no_flops(analysis: RooflineAnalysis, view: View) -> list[int]:
    costs = analysis.ops.cost
    return [k for k, op in enumerate(view.op.tolist()) if costs[op] is Cost.NO_FLOPS]


def _share(view: View, rows: list[int]) -> float:
    return float(np.nan_to_num(view.self_share_ratio[rows]).sum())


def _rate(analysis: RooflineAnalysis, view: View, bound: int) -> list[Segment]:
    """What the program achieves of the ceiling that binds it."""
    measures, per = view.program.measures, f" per {analysis.device.core_word}. "
    if bound >= 2:
        level = analysis.levels[bound - 2]
        achieved = float(measures.bandwidth_gibs[level][0])
        peak = analysis.peaks.binding_gibs[level]
        return [
            _strong(f"{_digits(achieved)} of {_digits(peak)}{THIN_SPACE}GiB/s"),
            _plain(f" of {level.label} bandwidth{per}"),
        ]
    achieved = float(measures.flop_rate_gflops[0])
    if np.isnan(achieved) or not analysis.peaks.gflops:
        return []
    scale, unit = _flop_unit(analysis.peaks.gflops)
    text = f"{_digits(achieved / scale)} of {_digits(analysis.peaks.gflops / scale)}"
    return [_strong(f"{text}{THIN_SPACE}{unit}"), _plain(per)]


def _largest_saving(
    analysis: RooflineAnalysis, view: View, work: list[CategoryShare]
) -> list[Segment]:
    best = max(work, key=lambda share: share.saving_per_core_us)
    total_per_core_us = view.total_time_us / max(analysis.device.core_count, 1)
    if best.efficiency_ratio is None or best.saving_per_core_us < 0.001 * total_per_core_us:
        return []
    saving, total = _time(best.saving_per_core_us), _time(total_per_core_us)
    return [
        _plain("Largest saving: "),
        _link(best.name, {"cat": [best.name]}),
        _plain(
            f", {_percent(best.share_ratio)} of the time at {_percent(best.efficiency_ratio)} "
            "of its roof; at the roof it would save "
        ),
        _strong(f"{saving} of {total}"),
        _plain(f" per {analysis.device.core_word}. "),
    ]


def _caution(analysis: RooflineAnalysis, view: View) -> list[Segment]:
    """Ops above the compute peak make the program look better than it can be."""
    measures = analysis.ops.measures
    used = np.nan_to_num(measures.compute_efficiency_ratio[view.op])
    above = np.flatnonzero(used > 1.0)
    program = view.program.measures
    if not len(above) or int(program.bound[0]) != 1:
        return []
    lost = float(((1 - 1 / used[above]) * _flop_share(analysis, view, above)).sum())
    if lost * float(program.compute_efficiency_ratio[0]) < 0.005:
        return []
    capped = float(program.compute_efficiency_ratio[0]) * (1 - lost)
    count = f"{len(above)} {'op runs' if len(above) == 1 else 'ops run'}"
    return [
        {"text": "Caution: ", "style": "caution"},
        _link(count, {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"}),
        _plain(f" above the peak (up to {_percent(float(used.max()))}); "),
        _plain("capped at it, the program is at "),
        _strong(_percent(capped)),
        _plain("."),
    ]


def _flop_share(analysis: RooflineAnalysis, view: View, rows: NDArray[np.int64]) -> Floats:
    """Share of the view's FLOPs per op; containers repeat their children's and do not count."""
    table = analysis.profile.ops
    dropped = [
        is_container(category) or (not view.include_infeed_outfeed and is_infeed_outfeed(category))
        for category in table.category
    ]
    flop = np.where(dropped, 0.0, table.flop.astype(np.float64))
    total = flop.sum() or 1.0
    shares: Floats = flop[view.op[rows]] / total
    return shares


# ------------------------------------------------------------------------------------------ words


def _bound(analysis: RooflineAnalysis, code: int, *, lower: bool = False) -> Segment:
    label = analysis.bound_label(code)
    if code == 1:
        return {
            "text": "compute-bound" if lower else "Compute-bound",
            "style": "bound",
            "token": COMPUTE_STYLE.token,
        }
    token = LEVEL_STYLES[analysis.levels[code - 2]].token
    return {"text": f"{label}-bound", "style": "bound", "token": token}


def _plain(text: str) -> Segment:
    return {"text": text, "style": "plain"}


def _strong(text: str) -> Segment:
    return {"text": text, "style": "strong"}


def _strong_word(text: str) -> Segment:
    return {"text": text, "style": "bound", "token": "--warn"}


def _link(text: str, target: Mapping[str, object]) -> Segment:
    return {"text": text, "style": "link", "filter": dict(target)}


def _percent(value: float) -> str:
    """Whole percent; small ones keep a digit, none is shown as 0 that is not."""
    if 0 < value < 0.001:
        return f"<0.1{THIN_SPACE}%"
    digits = 1 if 0 < value < 0.0995 else 0
    return f"{100 * value:,.{digits}f}{THIN_SPACE}%"


def _digits(value: float) -> str:
    """Three significant digits; integer digits are never dropped."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}"


def _flop_unit(peak_gflops: float) -> tuple[float, str]:
    for scale, unit in ((1e6, "PFLOP/s"), (1e3, "TFLOP/s")):
        if peak_gflops >= scale:
            return scale, unit
    return 1.0, "GFLOP/s"


def _time(value_us: float) -> str:
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if value_us >= scale:
            return f"{_digits(value_us / scale)}{THIN_SPACE}{unit}"
    return f"{_digits(value_us)}{THIN_SPACE}µs"
