"""Arithmetic of single rules. Sources: docs/advice.md."""

from collections.abc import Sequence
from math import ceil, prod


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


def modified_z(*, x: float, med: float, mad: float) -> float:
    """How far `x` is off the median, in units of the median absolute deviation."""
    return 0.6745 * (x - med) / mad
