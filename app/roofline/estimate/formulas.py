"""Roofline arithmetic by hand: numbers in, numbers out, in FLOP, bytes, seconds and their ratios.

`peak` is FLOP/s, `bandwidth` B/s, `intensity` FLOP/byte. Sources of the formulas are in
docs/estimate.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MATH = "math"


def ridge(peak: float, bandwidth: float) -> float:
    """Intensity at which memory and compute take the same time."""
    return peak / bandwidth


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """FLOP/s that the roof allows."""
    return min(intensity * bandwidth, peak)


def is_memory_bound(intensity: float, peak: float, bandwidth: float) -> bool:
    """True left of the ridge."""
    return intensity < ridge(peak, bandwidth)


@dataclass(frozen=True, slots=True)
class Counted:
    """FLOPs and bytes of an op."""

    flop: float
    bytes: float

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flop / self.bytes


def matmul(m: int, n: int, k: int, size: float, *, batch: int = 1) -> Counted:
    """(m×k) times (k×n), each matrix moved once; `size` is bytes per element."""
    return Counted(2.0 * batch * m * n * k, batch * (m * k + k * n + m * n) * size)


def square_matmul_intensity(n: int, size: float) -> float:
    """Of three n×n matrices moved once: 2n / 3 elements."""
    return 2 * n / (3 * size)


def square_crossover(peak: float, bandwidth: float, size: float) -> float:
    """The n from which an n×n×n product is compute-bound."""
    return 1.5 * size * ridge(peak, bandwidth)


def accumulating_matmul(n: int, a: float, b: float, accumulator: float, out: float) -> Counted:
    """A square product whose accumulator crosses the level, too; the others are bytes per element.

    For the main memory `accumulator` is 0: it stays in the unit.
    """
    return Counted(2.0 * n**3, n * n * (a + b + accumulator + out))


def elementwise(n: int, flop_each: float, size: float, tensors: int) -> Counted:
    """`tensors` counts the reads and the writes."""
    return Counted(n * flop_each, tensors * n * size)


def layer_norm(hidden: int, rows: int, size: float) -> Counted:
    """10 FLOP per element; reads the input twice, scale and bias; writes the output once."""
    return Counted(10.0 * hidden * rows, (3 * hidden * rows + 2 * hidden) * size)


def dot(n: int, size: float = 2.0) -> Counted:
    """Two vectors of n elements to one number."""
    return Counted(2.0 * n - 1, (2 * n + 1) * size)


def per_example_matmul(batch: int, d: int, f: int, size: float) -> Counted:
    """Each row has weights of its own: nothing is reused."""
    return Counted(2.0 * batch * d * f, batch * (d + d * f + f) * size)


def tiled_matmul(
    block: tuple[int, int, int],
    tiles: tuple[int, int, int],
    size: float = 2.0,
    *,
    writes: bool = False,
) -> Counted:
    """Blocks (m, n, k) on a grid of `tiles`: each step loads its two input blocks again."""
    (bm, bn, bk), (tm, tn, tk) = block, tiles
    steps, outputs = tm * tn * tk, tm * tn
    moved = steps * (bm * bk + bk * bn) * size
    if writes:
        moved += outputs * bm * bn * size
    return Counted(2.0 * bm * bn * bk * steps, moved)


def traffic_shares(batch: int, d: int, f: int) -> tuple[float, float, float]:
    """Shares of a product's bytes in its input, its weights and its output."""
    parts = batch * d, d * f, batch * f
    total = sum(parts)
    return parts[0] / total, parts[1] / total, parts[2] / total


def batch_threshold(peak: float, bandwidth: float, weight_size: float) -> float:
    """The batch from which a product with large weights is compute-bound: ridge × w / 2."""
    return ridge(peak, bandwidth) * weight_size / 2


def exact_batch_threshold(
    peak: float, bandwidth: float, d: int, f: int, sizes: tuple[float, float, float]
) -> float | None:
    """The same with inputs and outputs counted; `sizes` are bytes per element of x, w and z.

    `None` where no batch is large enough.
    """
    x, w, z = sizes
    rest = 2 * d * f * bandwidth / peak - (x * d + z * f)
    return w * d * f / rest if rest > 0 else None


@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds by resource; `MATH` is compute. A level without a bandwidth has no clock."""

    seconds: Mapping[str, float]

    @property
    def t_min(self) -> float:
        """All at once."""
        return max(self.seconds.values())

    @property
    def t_max(self) -> float:
        """One after the other: at most k times as long for k resources."""
        return sum(self.seconds.values())

    @property
    def governs(self) -> str:
        """The resource that takes longest."""
        return max(self.seconds, key=self.seconds.__getitem__)


def clocks(
    flop: float,
    peak: float,
    bytes_by_level: Mapping[str, float],
    bandwidth_by_level: Mapping[str, float],
) -> Clocks:
    """The time of each resource. Levels whose bytes or bandwidth are not given are left out."""
    known = [level for level in bytes_by_level if level in bandwidth_by_level]
    moved = {level: bytes_by_level[level] / bandwidth_by_level[level] for level in known}
    return Clocks({MATH: flop / peak, **moved})


def intensity_at(flop: float, bytes_by_level: Mapping[str, float], level: str) -> float | None:
    """FLOP per byte of one level; `None` where its bytes are not known."""
    return flop / bytes_by_level[level] if bytes_by_level.get(level) else None


def is_time_plausible(seconds: float, found: Clocks) -> str:
    """`too_fast` below T_min, `too_slow` above T_max, else `ok`."""
    if seconds < found.t_min:
        return "too_fast"
    return "too_slow" if seconds > found.t_max else "ok"


def distributed_matmul(
    batch: int, d: int, f: int, peak: float, link: float, out_size: float = 2.0
) -> Clocks:
    """Two chips contract half of d each and exchange their partial sums over a link, one way."""
    return Clocks({"link": out_size * batch * f / link, MATH: batch * d * f / peak})


def distributed_crossover(peak: float, link: float, out_size: float = 2.0) -> float:
    """The d from which such a product is bound by compute."""
    return out_size * peak / link


def after_communication(peak: float, share: float) -> float:
    """FLOP/s of a step that communicates for `share` of its time, as its mean over the step."""
    return peak * (1 - share)


def sustained(peak: float, low: float, high: float) -> tuple[float, float]:
    """The range of FLOP/s that large products reach of a peak."""
    return peak * low, peak * high


def speed_up(efficiency: float) -> float:
    """How much faster an op at this share of its roof can get."""
    return 1 / efficiency


def intensity_gain(before: float, after: float, peak: float, bandwidth: float) -> float:
    """Speed-up by a change of intensity, clipped by the compute roof."""
    return attainable(after, peak, bandwidth) / attainable(before, peak, bandwidth)


def fusion_speed_up(passes_before: int, passes_after: int) -> float:
    """Of a chain of elementwise ops while memory binds it."""
    return passes_before / passes_after


def amdahl(share: float, local: float) -> float:
    """Speed-up of the whole where `share` of its time gets `local` times as fast."""
    return 1 / (1 - share + share / local)


def matmul_time(batch: int, d: int, f: int, peak: float, bandwidth: float) -> float:
    """Seconds at the roof of a bf16 product."""
    work = matmul(batch, f, d, 2.0)
    return max(work.flop / peak, work.bytes / bandwidth)


def instruction_flop(
    add: float, multiply: float, fused: float, matrix: float, per_matrix: float
) -> float:
    """FLOPs by executed instructions; what one matrix instruction does depends on the part."""
    return add + multiply + 2 * fused + matrix * per_matrix
