"""FLOP/s of large matrix products through NumPy's BLAS, on all threads that it uses."""

import numpy as np
from numpy.typing import DTypeLike

from roofline.cli.calibrate.timing import Effort, Rate, fastest, rate_of, seconds_of

_SMALLEST, _LARGEST = 1024, 8192


def measure_matmul(
    dtype: DTypeLike, effort: Effort, *, smallest: int = _SMALLEST, largest: int = _LARGEST
) -> tuple[Rate, int]:
    """FLOP/s of an N × N product (2 N³ FLOP), and N.

    N doubles until one product takes `effort.seconds`; those products warm the processor up.
    """
    size = smallest
    product = _Product(size, dtype)
    while fastest(product.seconds) < effort.seconds and 2 * size <= largest:
        size *= 2
        product = _Product(size, dtype)
    return rate_of(2.0 * size**3, product.seconds, effort), size


class _Product:
    """A product of two square matrices into a third, all of them in place."""

    def __init__(self, size: int, dtype: DTypeLike) -> None:
        source = np.random.default_rng(size)
        self._a = source.random((size, size)).astype(dtype)
        self._b = source.random((size, size)).astype(dtype)
        self._out = np.empty((size, size), dtype)

    def seconds(self) -> float:
        return seconds_of(lambda: np.matmul(self._a, self._b, out=self._out))
