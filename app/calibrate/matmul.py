"""FLOP/s of large matrix products through NumPy's BLAS, on all threads that it uses."""

import numpy as np
from numpy.typing import DTypeLike

from app.calibrate.timing import Effort, Rate, rate_of, seconds_of

_SMALLEST, _LARGEST = 512, 8192


def measure_matmul(
    dtype: DTypeLike, effort: Effort, *, smallest: int = _SMALLEST, largest: int = _LARGEST
) -> tuple[Rate, int]:
    """FLOP/s of an N × N product (2 N³ FLOP), and N.

    N doubles until one product takes `effort.seconds`; those products warm the processor up.
    """
    size = smallest
    while True:
        a, b = _operand(size, dtype), _operand(size, dtype)
        out = np.empty((size, size), dtype)
        np.matmul(a, b, out=out)
        taken = seconds_of(lambda a=a, b=b, out=out: np.matmul(a, b, out=out))  # type: ignore[misc]
        if taken >= effort.seconds or 2 * size > largest:
            break
        size *= 2
    seconds = [seconds_of(lambda: np.matmul(a, b, out=out)) for _ in range(effort.repeats)]
    return rate_of(2.0 * size**3, seconds), size


def _operand(size: int, dtype: DTypeLike) -> np.ndarray[tuple[int, int], np.dtype[np.floating]]:
    return np.random.default_rng(size).random((size, size)).astype(dtype)
