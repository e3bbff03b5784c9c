"""The sentence at the top: what bounds the program, how far it is from its roof, what to fix.

Segments are cut where the style changes; `filter` holds view-state keys. Every number is computed
here from the same records as the tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from roofline.analysis.diagnose import why_bytes_exceed_peak
from roofline.analysis.records import Cost, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND, Floats
from roofline.model.categories import IDLE_CATEGORY, is_container, is_infeed_outfeed
from roofline.model.profile import Severity
from roofline.model.units import NS_PER_US
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES
from roofline.presentation.untimed_words import UntimedWords, untimed_words
from roofline.presentation.words import COMPUTE_BOUND_WORDS, bound_words, spoken

THIN_SPACE = "\u202f"  # narrow no-break, before units
_MOSTLY_IDLE = 0.5
_OFTEN = 0.2  # from this share of the time on, idling or moving data belongs in the headline
_LEAST_SAVING = 0.001
_LEAST_CORRECTION = 0.005
_ROUNDS_UP = 0.9995  # 999.6 µs are shown as 1.00 ms
_NAME_LENGTH = 40
_PROGRAM = 0  # row of the program's total
# Warnings that do not explain why there is no op.
_BESIDE_THE_POINT = {"no-steps", "steps-do-not-intersect", "hosts-differ", "no-peaks"}

Segment = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryShare:
    """One category of a view: ops, self time over all cores, share, time-weighted efficiency.

    `share_ratio` is of the program's time, `None` where that is zero.
    """

    name: str
    ops: int
    self_time_us: float
    share_ratio: float | None
    efficiency_ratio: float | None
    saving_per_core_us: float
    is_op: bool = False


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
    shares = [_category_share(analysis, name, at, view.total_time_us) for name, at in rows.items()]
    return tuple(sorted(shares, key=lambda share: (-share.self_time_us, share.name)))


def _category_share(
    analysis: RooflineAnalysis, name: str, rows: list[int], total_us: float
) -> CategoryShare:
    time = np.nan_to_num(analysis.ops.measures.self_time_us[rows])
    efficiency = np.minimum(analysis.ops.measures.roofline_efficiency_ratio[rows], 1.0)
    known = ~np.isnan(efficiency)
    weighed = float((time[known] * efficiency[known]).sum())
    known_time = float(time[known].sum())
    saving = analysis.ops.saving_per_core_us[rows]
    return CategoryShare(
        name=name,
        ops=len(rows),
        self_time_us=float(time.sum()),
        share_ratio=float(time.sum()) / total_us if total_us else None,
        efficiency_ratio=weighed / known_time if known_time else None,
        saving_per_core_us=float(np.nansum(saving)),
    )


def build_verdict(
    analysis: RooflineAnalysis, view: View, shares: tuple[CategoryShare, ...]
) -> Verdict:
    """What a reader should know first. Reads well for every kind of profile, empty ones too."""
    work = [share for share in shares if share.name != IDLE_CATEGORY]
    if not work:
        return _without_ops(analysis)
    untimed = untimed_words(analysis)
    if untimed is not None:
        return _without_times(analysis, untimed)
    idle = next((share.share_ratio or 0.0 for share in shares if share not in work), 0.0)
    lead = [
        *_next_step(analysis),
        *_rate(analysis, view),
        *_caution(analysis, view),
        *_largest_saving(analysis, view, work),
    ]
    return Verdict(headline=_headline(analysis, view, idle), lead=_without_last_space(lead))


def _without_times(analysis: RooflineAnalysis, words: UntimedWords) -> Verdict:
    lead = [_plain(f"{words.lead} "), *_next_step(analysis)]
    return Verdict(headline=[_plain(words.headline)], lead=_without_last_space(lead))


def _without_ops(analysis: RooflineAnalysis) -> Verdict:
    headline = [_plain("Nothing to place on a roofline")]
    if len(analysis.profile.ops):
        reason = "All ops are infeed or outfeed; without them nothing is left."
        return Verdict(headline=headline, lead=[_plain(reason)])
    reasons = [
        f"{found.message} {found.remedy}".strip()
        for found in analysis.diagnostics
        if found.severity is not Severity.INFO and found.code not in _BESIDE_THE_POINT
    ]
    return Verdict(
        headline=headline, lead=[_plain((reasons or ["The capture holds no ops of a device."])[0])]
    )


def _headline(analysis: RooflineAnalysis, view: View, idle: float) -> list[Segment]:
    bound, share = _placed(view)
    placed = bound != UNKNOWN_BOUND
    if idle >= _MOSTLY_IDLE:
        opening = [_strong_word("Idle"), _plain(f" {_percent(idle)} of the time")]
        if not placed:
            return opening
        tail = _plain(f" over the whole capture, at {_percent(share)} of the roof")
        return [*opening, _plain("; "), _bound(analysis, bound, opens=False), tail]
    if not placed:
        return [_plain(_unbound(analysis, view))]
    found = _plain(f" at {_percent(share)} of the roof{_finding(analysis, view, idle)}")
    return [_bound(analysis, bound, opens=True), found]


def _next_step(analysis: RooflineAnalysis) -> list[Segment]:
    """How a profile without any peak gets roofs."""
    if _has_peaks(analysis):
        return []
    return [_plain("Choose the device or enter its peaks under Peaks: roofs and bounds follow. ")]


def _has_peaks(analysis: RooflineAnalysis) -> bool:
    return bool(analysis.peaks.gflops or analysis.peaks.binding_gibs)


def _placed(view: View) -> tuple[int, float]:
    """What binds the program, and its share of that roof (NaN where nothing binds)."""
    measures = view.program.measures
    return int(measures.bound[_PROGRAM]), float(measures.roofline_efficiency_ratio[_PROGRAM])


def _unbound(analysis: RooflineAnalysis, view: View) -> str:
    """Why the program has no place on the roof."""
    if not _has_peaks(analysis):
        return "No peak is known for this device, so there is no roof to compare with"
    if not view.total_time_us:
        return "No time is left without infeed and outfeed, so there is no rate to compare"
    if not analysis.profile.ops.cost_known.any():
        return "Nobody counted this program's work, so its bound is unknown"
    rates = view.program.measures
    if rates.flop_rate_gflops[_PROGRAM] > 0 or rates.memory_bandwidth_gibs[_PROGRAM] > 0:
        return "No peak is known for the work of this program, so its bound is unknown"
    return "This program does no arithmetic and moves no bytes, so nothing binds it"


def _finding(analysis: RooflineAnalysis, view: View, idle: float) -> str:
    without = float(np.nan_to_num(view.self_share_ratio[_no_flops(analysis, view)]).sum())
    if idle >= _OFTEN and idle >= without:
        return f", and idle {_percent(idle)} of the time"
    if without >= _OFTEN:
        return f", but {_percent(without)} of the time does no arithmetic"
    return ""


def _no_flops(analysis: RooflineAnalysis, view: View) -> list[int]:
    costs = analysis.ops.cost
    return [k for k, op in enumerate(view.op.tolist()) if costs[op] is Cost.NO_FLOPS]


def _rate(analysis: RooflineAnalysis, view: View) -> list[Segment]:
    """What the program achieves of the ceiling that binds it, else of the compute peak."""
    bound, _ = _placed(view)
    measures = view.program.measures
    if bound > COMPUTE_BOUND:
        level = analysis.levels[bound - 2]
        achieved = float(measures.bandwidth_gibs[level][_PROGRAM])
        peak = achieved / float(measures.utilisation_ratio[level][_PROGRAM])
        return _against(analysis, achieved, peak, "GiB/s", f"{spoken(level)} bandwidth")
    achieved_gflops, peak_gflops, what = _compute_rate(analysis, view)
    if np.isnan(achieved_gflops) or not peak_gflops:
        return []
    scale, unit = _flop_unit(peak_gflops)
    return _against(analysis, achieved_gflops / scale, peak_gflops / scale, unit, what)


def _compute_rate(analysis: RooflineAnalysis, view: View) -> tuple[float, float, str]:
    """Rate and peak in GFLOP/s of the unit the program uses most, and its name if it has one."""
    measures = view.program.measures
    number = int(measures.unit[_PROGRAM])
    if number < 0:
        return float(measures.flop_rate_gflops[_PROGRAM]), analysis.peaks.gflops, ""
    unit = analysis.units[number]
    rate = float(measures.unit_rate_gflops[unit][_PROGRAM])
    used = float(measures.unit_utilisation_ratio[unit][_PROGRAM])
    roof = analysis.roof_of_unit(number)
    label = unit.label if roof is None else analysis.device.compute[roof].label
    return rate, rate / used if used > 0 else 0.0, f"on {label}"


def _against(
    analysis: RooflineAnalysis, achieved: float, peak: float, unit: str, what: str
) -> list[Segment]:
    per = f" per {analysis.device.core_word}. "
    if achieved <= peak:
        rate = _strong(f"{_digits(achieved)} of {_digits(peak)}{THIN_SPACE}{unit}")
        return [rate, _plain(f" {what}{per}" if what else per)]
    counted = f" counted for {what.removesuffix(' bandwidth')}" if what else " counted"
    return [
        _strong(f"{_digits(achieved)}{THIN_SPACE}{unit}"),
        _plain(f"{counted}, more than the peak of "),
        _strong(f"{_digits(peak)}{THIN_SPACE}{unit}"),
        _plain(per),
    ]


def _largest_saving(
    analysis: RooflineAnalysis, view: View, work: list[CategoryShare]
) -> list[Segment]:
    if len(work) == 1 and work[0].ops > 1:  # one category for all says nothing; the op does
        work = [_op_share(analysis, view, name=work[0].name)]
    best = max(work, key=lambda share: share.saving_per_core_us)
    total_per_core_us = view.total_time_us / max(analysis.device.core_count, 1)
    least_us = _LEAST_SAVING * total_per_core_us
    if best.efficiency_ratio is None or not best.share_ratio or best.saving_per_core_us < least_us:
        return []
    saving, total = _time(best.saving_per_core_us), _time(total_per_core_us)
    return [
        _plain("Largest saving: "),
        _link(_shortened(best.name), {"q": best.name} if best.is_op else {"cat": [best.name]}),
        _plain(
            f", {_percent(best.share_ratio)} of the time at {_percent(best.efficiency_ratio)} "
            "of its roof; at the roof it would save "
        ),
        _strong(f"{saving} of {total}"),
        _plain(f" per {analysis.device.core_word}. "),
    ]


def _op_share(analysis: RooflineAnalysis, view: View, *, name: str) -> CategoryShare:
    """The op of a category that would save most at its roof, as a share of its own."""
    ops = analysis.ops
    rows = [op for op in view.op.tolist() if ops.category[op] == name]
    best = max(rows, key=lambda op: np.nan_to_num(ops.saving_per_core_us[op]))
    share = _category_share(analysis, ops.name[best], [best], view.total_time_us)
    return replace(share, is_op=True)


def _shortened(name: str) -> str:
    """A name that fits into a sentence; kernels have names of several lines."""
    return name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1].rstrip()}…"


def _caution(analysis: RooflineAnalysis, view: View) -> list[Segment]:
    """What makes the program look better than it can be."""
    bound, share = _placed(view)
    if bound == COMPUTE_BOUND:
        return _above_compute_peak(analysis, view)
    if bound == UNKNOWN_BOUND or share <= 1:
        return []
    why = why_bytes_exceed_peak(analysis.profile)
    return [_caution_word(), _plain(f"this share of the roof is too high. {why} ")]


def _above_compute_peak(analysis: RooflineAnalysis, view: View) -> list[Segment]:
    """Ops above the compute peak, and where the program is without what they have too much."""
    used = np.nan_to_num(analysis.ops.measures.compute_efficiency_ratio[view.op])
    above = np.flatnonzero(used > 1.0)
    share = float(view.program.measures.compute_efficiency_ratio[_PROGRAM])
    lost = float(((1 - 1 / used[above]) * _flop_share(analysis, view, above)).sum())
    if lost * share < _LEAST_CORRECTION:
        return []
    count = f"{len(above):,} {'op runs' if len(above) == 1 else 'ops run'}"
    return [
        _caution_word(),
        _link(count, {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"}),
        _plain(f" above the compute peak (up to {_percent(float(used.max()))}); "),
        _plain("capped at it, the program is at "),
        _strong(_percent(share * (1 - lost))),
        _plain(". "),
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


def _bound(analysis: RooflineAnalysis, code: int, *, opens: bool) -> Segment:
    """ "Compute-bound", "HBM-bound", "Bound by VMEM write"; `opens`: at the start of a sentence."""
    if code == COMPUTE_BOUND:
        text, token = COMPUTE_BOUND_WORDS, COMPUTE_STYLE.token
    else:
        level = analysis.levels[code - 2]
        text, token = bound_words(level), LEVEL_STYLES[level].token
    shown = text[0].upper() + text[1:] if opens else text
    return {"text": shown, "style": "bound", "token": token}


def _without_last_space(segments: Sequence[Segment]) -> list[Segment]:
    *others, last = segments or [_plain("")]
    return [*others, {**last, "text": str(last["text"]).rstrip(" ")}] if segments else []


def _caution_word() -> Segment:
    return {"text": "Caution: ", "style": "caution"}


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
    """Three significant digits; integer digits are never dropped, nor is anything shown as 0."""
    if 0 < value < 0.001:
        return "<0.001"
    exponent = int(f"{value:.2e}".partition("e")[2])  # after rounding: 9.996 has that of 10
    return f"{value:,.{max(0, 2 - exponent)}f}" if value else "0"


def _flop_unit(peak_gflops: float) -> tuple[float, str]:
    for scale, unit in ((1e6, "PFLOP/s"), (1e3, "TFLOP/s")):
        if peak_gflops >= scale:
            return scale, unit
    return 1.0, "GFLOP/s"


def _time(value_us: float) -> str:
    for scale, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs")):
        if value_us >= scale * _ROUNDS_UP:
            return f"{_digits(value_us / scale)}{THIN_SPACE}{unit}"
    return f"{_digits(value_us * NS_PER_US)}{THIN_SPACE}ns"
