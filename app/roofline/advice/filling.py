"""K1: how full the tiles and waves of a GPU's matrix products are.

The kernel's name says its tile, the operands the sizes. Which side of the tile lies along the rows,
and how many tiles a processor holds at once, is not in a profile: the fullest case is taken.
"""

import re
from functools import cache
from itertools import product as combinations
from math import ceil

from roofline.advice.formulas import pad_eff, wave_eff
from roofline.advice.tensors import Product, product_of

_TILE = re.compile(
    r"tilesize(\d+)x(\d+)|_MT(\d+)x(\d+)x|nvjet_\w+?_(\d+)x(\d+)_|gemm_\w*?(?<![x\d])(\d+)x(\d+)_"
)
_DIVIDES_K = re.compile(r"split_?k(?!_?1\b)(?!_off)|stream_?k|_SK[1-9]|_GSU[2-9]", re.IGNORECASE)
_HELD_AT_ONCE = (1, 2)


def filled(name: str, operands: str, kernels: str, processors: int | None) -> float | None:
    """Share of the tiles' work that is the op's own: padding of tiles times waves; `None` if the
    profile does not tell."""
    found, tile = product_of(name, operands), _tile(kernels)
    if found is None or tile is None or not processors:
        return None
    return max(
        _filled(found, sides, processors * held)
        for sides, held in combinations((tile, tile[::-1]), _HELD_AT_ONCE)
    )


def _filled(found: Product, tile: tuple[int, ...], slots: int) -> float:
    tiles = found.batch * ceil(found.m / tile[0]) * ceil(found.n / tile[1])
    return pad_eff(dims=(found.m, found.n), units=tile) * wave_eff(tiles=tiles, slots=slots)


@cache
def _tile(kernels: str) -> tuple[int, ...] | None:
    """The tile in the name of a kernel; `None` for several kernels, or one that divides K."""
    if kernels.count("×") > 1 or _DIVIDES_K.search(kernels):
        return None
    sizes = _TILE.search(kernels)
    return tuple(int(size) for size in sizes.groups() if size) if sizes else None
