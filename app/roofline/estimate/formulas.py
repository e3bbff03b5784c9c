"""Sizes from which a product is bound by compute; sources are in docs/estimate.md.

`peak` is FLOP/s, `bandwidth` and `link` are B/s.
"""


def batch_threshold(peak: float, bandwidth: float, weight_size: float) -> float:
    """The batch from which a product with large weights is compute-bound: ridge × w / 2."""
    return peak / bandwidth * weight_size / 2


def exact_batch_threshold(
    peak: float, bandwidth: float, d: int, f: int, sizes: tuple[float, float, float]
) -> float | None:
    """The same with inputs and outputs counted; `sizes` are bytes per element of x, w and z.

    `None` where no batch is large enough.
    """
    x, w, z = sizes
    rest = 2 * d * f * bandwidth / peak - (x * d + z * f)
    return w * d * f / rest if rest > 0 else None


def distributed_crossover(peak: float, link: float, out_size: float = 2.0) -> float:
    """The contracted size from which a product over two chips takes longer than its exchange.

    Each contracts half of it; their partial sums cross a link, one way.
    """
    return out_size * peak / link
