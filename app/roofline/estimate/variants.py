"""What stands beside an estimate: tiles of a product, the unfused form of a chain, and the sizes
from which a product is bound by compute. Sources are in docs/estimate.md.
"""

from dataclasses import dataclass
from math import ceil, prod

from roofline.devices.parts import PROCESSORS
from roofline.errors import BadViewError
from roofline.estimate.on_device import MEMORY, VECTOR, Estimate
from roofline.estimate.ops import is_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """A product cut into blocks of its output, each computed by one processor.

    `block` are rows, columns and depth of a block, `grid` the blocks of rows and of columns.
    `bytes` are those that all blocks load from the next memory, each input block again; padding
    included. `processors` and what follows from them are `None` where their number is not known.
    """

    block: tuple[int, int, int]
    grid: tuple[int, int]
    count: int
    padded_flop: int
    padding_ratio: float
    bytes: float
    processors: int | None

    @property
    def waves(self) -> float | None:
        """Blocks per processor."""
        return self.count / self.processors if self.processors else None

    @property
    def tail_ratio(self) -> float | None:
        """The share of the time that is lost because the last wave is not full."""
        return 1 - self.waves / ceil(self.waves) if self.waves else None

    @property
    def last_wave_ratio(self) -> float | None:
        """The share of the processors that the last wave uses."""
        return (self.waves % 1 or 1.0) if self.waves else None


def tiling_of(found: Estimate) -> Tiling | None:
    """The tiles of a product; `None` without `tile`. `BadViewError` for a tile of another op."""
    if found.options.tile is None:
        return None
    if found.op != "matmul":
        raise BadViewError("Only a matmul has tiles.", remedy="Leave --tile out.")
    batch, m, k, n = found.shape if len(found.shape) == 4 else (1, *found.shape)
    rows, columns, depth = _block(found.options.tile, k)
    across, down, deep = ceil(m / rows), ceil(n / columns), ceil(k / depth)
    count, padded_k = batch * across * down, deep * depth
    padded = 2 * count * rows * columns * padded_k
    processors = found.part.value(PROCESSORS)
    return Tiling(
        block=(rows, columns, depth),
        grid=(across, down),
        count=count,
        padded_flop=padded,
        padding_ratio=1 - found.flop / padded,
        bytes=count * padded_k * (rows * found.element_bytes[0] + columns * found.element_bytes[1]),
        processors=int(processors) if processors else None,
    )


def _block(text: str, k: int) -> tuple[int, int, int]:
    """Rows, columns and depth; without a depth a block has all of it."""
    pieces = text.strip().casefold().split("x")
    if len(pieces) not in (2, 3) or not all(map(is_size, pieces)):
        raise BadViewError(
            f'The tile "{text[:60]}" cannot be read.',
            remedy="Write ROWSxCOLUMNS or ROWSxCOLUMNSxDEPTH, such as 128x128x64.",
        )
    rows, columns, *depth = map(int, pieces)
    return rows, columns, depth[0] if depth else k


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfused:
    """The chain as one kernel per op: each reads what the op before wrote.

    `time_us` is the sum of each kernel's longest clock; it and `speed_up` are `None` where a peak
    is not known.
    """

    bytes: float
    time_us: float | None
    speed_up: float | None


def unfused(found: Estimate) -> Unfused | None:
    """The same work as separate ops, to compare a fused chain with; `None` for other ops."""
    if found.op != "chain":
        return None
    options, n = found.options, prod(found.shape)
    kept = max(options.ops - 1, 0)
    moved = found.work.memory_bytes + 2 * kept * n * options.size()
    time = _time(found, moved)
    return Unfused(
        bytes=moved,
        time_us=time,
        speed_up=time / found.t_min_us if time and found.t_min_us else None,
    )


def _time(found: Estimate, moved: float) -> float | None:
    """Each op takes the longer of its arithmetic and its bytes.

    Bytes are spread evenly over the ops: only the first reads the further inputs, which makes a
    difference where arithmetic binds some of them.
    """
    memory, vector = found.time_us.get(MEMORY), found.time_us.get(VECTOR)
    if memory is None or vector is None:
        return None
    return max(vector, memory * moved / found.work.memory_bytes)


def batch_threshold(peak: float, bandwidth: float, weight_size: float) -> float:
    """The batch from which a product with large weights is compute-bound: ridge × w / 2.

    Here and below `peak` is FLOP/s, `bandwidth` and `link` are B/s.
    """
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
