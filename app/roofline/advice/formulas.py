"""Gains of single levers as ratios time before / time after: arithmetic without a profile.

Sources: docs/advice.md. Times of one formula share a unit.
"""

from collections.abc import Sequence
from math import ceil, prod

from roofline.advice.thresholds import TARGET


def g_roof(e: float) -> float:
    """At the roof with the same work; `e` is the share of the roof reached now."""
    return 1 / e


def g_close(e: float, target: float = TARGET) -> float:
    """At `target` of the roof; 1 where the op is beyond it."""
    return max(1.0, target / e)


def g_work(
    *, time: float, peak: float, bw: float, f0: float, b0: float, f1: float, b1: float
) -> float:
    """Work changed from f0 FLOPs, b0 bytes to f1, b1 at the same share of the roof.

    `time` is that before, on which the ratio does not depend.
    """
    del time
    return max(f0 / peak, b0 / bw) / max(f1 / peak, b1 / bw)


def g_fusion(
    *, bytes_list: Sequence[float], fused_bytes: float, bw: float, f_vec: float, vec_peak: float
) -> float:
    """Memory-bound ops as one: bytes at bandwidth `bw`, until `f_vec` vector FLOPs take longer."""
    return (sum(bytes_list) / bw) / max(fused_bytes / bw, f_vec / vec_peak)


def g_launch(*, n: int, t_work: float, t0: float, t1: float) -> float:
    """`n` launches of `t_work` each, whose overhead falls from t0 to t1."""
    return n * (t0 + t_work) / (n * (t1 + t_work))


def g_merge(*, n: int, t_work_total: float, t0: float) -> float:
    """`n` launches of overhead t0 as one, with the same work."""
    return (n * t0 + t_work_total) / (t0 + t_work_total)


def g_overlap(*, t_list: Sequence[float], time: float) -> float:
    """Serial clocks at once: the longest of them is left."""
    return time / max(t_list)


def g_comm_hidden(*, time: float, exposed: float, hidden_fraction: float) -> float:
    """A part of the exposed communication behind other work."""
    return time / (time - hidden_fraction * exposed)


def g_comm_compress(*, time: float, exposed: float, ratio: float) -> float:
    """Exposed communication of `ratio` times fewer bytes."""
    return time / (time - exposed * (1 - 1 / ratio))


def g_amdahl(*, share: float, s: float) -> float:
    """The step, where a part `share` of it becomes `s` times as fast."""
    return 1 / (1 - share + share / s)


def g_idle(*, idle: float) -> float:
    """Without the idle share of the time."""
    return 1 / (1 - idle)


def precision_flops(*, peak_new: float, peak_old: float, t_c: float, t_m: float) -> float:
    """Compute at another precision's peak, until the memory takes longer."""
    return max(t_c, t_m) / max(t_c * peak_old / peak_new, t_m)


def wave_eff(*, tiles: int, slots: int) -> float:
    """Share of the slots (SMs) that work, over all waves of `tiles`."""
    return tiles / (ceil(tiles / slots) * slots)


def pad_eff(*, dims: Sequence[int], units: Sequence[int]) -> float:
    """Share of a padded tile that is data."""
    padded = prod(ceil(dim / unit) * unit for dim, unit in zip(dims, units, strict=True))
    return prod(dims) / padded


def spec_decode(*, alpha: float, k: int, draft_ratio: float) -> float:
    """Speculative decoding: `k` drafts, accepted with chance `alpha`, of relative cost each."""
    return (1 - alpha ** (k + 1)) / (1 - alpha) / (1 + k * draft_ratio)


def pipeline_bubble(*, p: int, m: int) -> float:
    """Idle share of a pipeline of `p` stages and `m` microbatches."""
    return (p - 1) / (m + p - 1)


def rematerialisation(*, r: float) -> float:
    """G7: a training step of 3 forward passes' FLOPs that does `r` of them again."""
    return (3 + r) / 3


def tokens_per_chip_min(*, peak: float, link_bidi: float, axes: int) -> float:
    """Tokens per chip from which data parallelism hides its traffic."""
    return peak / (link_bidi * axes)


def tp_max(*, width: int, peak: float, link_bidi: float, axes: int) -> float:
    """Ways of tensor parallelism up to which compute hides the traffic."""
    return axes * width * link_bidi / peak


def modified_z(*, x: float, med: float, mad: float) -> float:
    """How far `x` is off the median, in units of the median absolute deviation."""
    return 0.6745 * (x - med) / mad
