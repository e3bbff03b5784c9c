"""What calibration runs and times: copy and triad, as in STREAM (McCalpin, 1995), and products.

Bytes are those that the program names: a copy reads one array and writes one, a triad reads two and
writes one. What the processor moves besides (a written line is fetched first on most) is not
counted, neither here nor in a compiler's bytes, so that the two compare.

Linux's description of this machine: processor, threads, caches, memory.

Elsewhere caches stay unknown, and only compute and main memory are measured.
"""

import os
import platform
import re
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from roofline.importers.kernels import kernel
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIB, KIB, MIB

_CPU_INFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LEVELS = {1: MemoryLevel.L1, 2: MemoryLevel.L2, 3: MemoryLevel.LLC}
_VENDORS = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}
_SUFFIXES = {"K": KIB, "M": MIB, "G": GIB}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A data cache: capacity in bytes, and how many logical processors share it."""

    level: MemoryLevel
    size_bytes: int
    shared_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine. `threads` is how many logical processors this process may use."""

    hostname: str
    cpu: str
    vendor: str
    threads: int
    memory_bytes: int
    caches: tuple[Cache, ...]


def this_machine() -> Machine:
    """The operating system's description of this machine."""
    info = _cpu_info()
    vendor = info.get("vendor_id", "")
    return Machine(
        hostname=socket.gethostname(),
        cpu=info.get("model name") or platform.processor() or platform.machine() or "CPU",
        vendor=_VENDORS.get(vendor, vendor),
        threads=_threads(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        caches=tuple(read_caches(_CACHES)),
    )


def read_caches(folder: Path) -> Iterator[Cache]:
    """Data and unified caches listed in a sysfs folder, inner first; none where it is missing."""
    for index in sorted(folder.glob("index*")):
        level = _LEVELS.get(int(_line(index / "level") or 0))
        size = re.fullmatch(r"(\d+)([KMG])", _line(index / "size"))
        if level and size and _line(index / "type") in ("Data", "Unified"):
            yield Cache(
                level=level,
                size_bytes=int(size[1]) * _SUFFIXES[size[2]],
                shared_by=_count(_line(index / "shared_cpu_list")),
            )


def _threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_info() -> dict[str, str]:
    """The first processor's entries."""
    try:
        first = _CPU_INFO.read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _count(ranges: str) -> int:
    """How many processors "0-3,8" lists; 1 where nothing is listed."""
    count = 0
    for one in filter(None, ranges.split(",")):
        low, _, high = one.partition("-")
        count += int(high or low) - int(low) + 1
    return max(1, count)


# So the fastest of them count: their median is the rate, their range the spread.
STEADY = 0.05
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure: one timing takes `seconds` at least; of `timings` the fastest count.

    Where those are not within 5 % of each other there are two more rounds.
    """

    seconds: float
    timings: int
    counted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Work per second: the median of the timings that count, and half their range over it."""

    per_second: float
    spread_ratio: float
    text: str


def seconds_of(run: Callable[[], object]) -> float:
    """How long `run` takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def rate_of(work: float, run: Callable[[], float], effort: Effort) -> Rate:
    """The rate of `work`, which `run` does once and returns its seconds."""
    seconds: list[float] = []
    for _ in range(_ROUNDS):
        seconds += [max(run(), 1e-9) for _ in range(effort.timings)]
        counted = sorted(seconds)[: effort.counted]
        median = statistics.median(counted)
        spread = (counted[-1] - counted[0]) / 2 / median
        if spread <= STEADY:
            break
    text = f"median of the fastest {len(counted)} of {len(seconds)}"
    return Rate(per_second=work / median, spread_ratio=spread, text=text)


def fastest(run: Callable[[], float], tries: int = 3) -> float:
    """The least of some `tries`, in seconds: how long `run` takes undisturbed."""
    return min(run() for _ in range(tries))


F64 = NDArray[np.float64]

_ELEMENT_BYTES = 8
_ARRAYS = 3
_PAST_CACHES = 4  # each array of main memory is this many times the caches
_SMALLEST_MAIN_BYTES = 32 * MIB
_MEMORY_SHARE = 0.25
_compiled = kernel("void(float64[], float64[], float64[], int64)")


@_compiled
def _copy(a, b, c, times):  # type: ignore[no-untyped-def]
    for k in range(times):
        b[0] = k  # a pass that repeats the last one could be left out
        for i in range(a.size):
            a[i] = b[i]


@_compiled
def _triad(a, b, c, times):  # type: ignore[no-untyped-def]
    for k in range(times):
        factor = 1.0 / (k + 2)
        for i in range(a.size):
            a[i] = b[i] + factor * c[i]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where to measure: bytes of one array of one thread."""

    level: MemoryLevel
    array_bytes: int

    @property
    def working_set_bytes(self) -> int:
        """Bytes of all arrays of one thread."""
        return _ARRAYS * self.array_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """Bytes per second of both kernels at one level."""

    plan: Plan
    copy: Rate
    triad: Rate

    @property
    def best(self) -> Rate:
        """The faster of the two: the roof."""
        return max(self.copy, self.triad, key=lambda rate: rate.per_second)


def plans(machine: Machine) -> tuple[Plan, ...]:
    """Array sizes inside each cache and past all of them, main memory first.

    A thread's arrays take half of its share of a cache. A cache whose half fits into the one below
    is left out: it cannot be told apart.
    """
    shares = [(cache.level, cache.size_bytes // cache.shared_by) for cache in machine.caches]
    inside = [
        Plan(level=level, array_bytes=share // 2 // _ARRAYS)
        for k, (level, share) in enumerate(shares)
        if k == 0 or share // 2 > shares[k - 1][1]
    ]
    return (Plan(level=MemoryLevel.DRAM, array_bytes=_main_bytes(machine)), *inside)


def _main_bytes(machine: Machine) -> int:
    share = max((cache.size_bytes // cache.shared_by for cache in machine.caches), default=0)
    wanted = max(_PAST_CACHES * share, _SMALLEST_MAIN_BYTES)
    affordable = int(machine.memory_bytes * _MEMORY_SHARE) // _ARRAYS // machine.threads
    return min(wanted, affordable)


def measure_bandwidth(plan: Plan, threads: int, effort: Effort) -> Bandwidth:
    """Copy and triad on `threads` threads at once, each on arrays of its own."""
    with ThreadPoolExecutor(threads) as pool:
        arrays = list(pool.map(lambda _: _allocate(plan.array_bytes), range(threads)))
        return Bandwidth(
            plan=plan,
            copy=_measure(_copy, 2, arrays, pool, effort),
            triad=_measure(_triad, 3, arrays, pool, effort),
        )


def _allocate(array_bytes: int) -> tuple[F64, F64, F64]:
    """Arrays whose pages the calling thread touches first, and so has near it."""
    size = max(1, array_bytes // _ELEMENT_BYTES)
    return np.zeros(size) + 0.5, np.zeros(size) + 1.5, np.zeros(size) + 2.5


def _measure(
    kernel: Callable[..., None],
    streams: int,
    arrays: Sequence[tuple[F64, F64, F64]],
    pool: ThreadPoolExecutor,
    effort: Effort,
) -> Rate:
    """Bytes per second of all threads; passes are repeated until they take long enough."""
    times = 1
    while fastest(partial(_together, kernel, arrays, times, pool)) < effort.seconds:
        times *= 2
    moved = streams * times * sum(one[0].nbytes for one in arrays)
    return rate_of(float(moved), partial(_together, kernel, arrays, times, pool), effort)


def _together(
    kernel: Callable[..., None],
    arrays: Sequence[tuple[F64, F64, F64]],
    times: int,
    pool: ThreadPoolExecutor,
) -> float:
    """Seconds from when every thread is ready to when the last has ended."""
    ready = threading.Barrier(len(arrays) + 1)

    def run(mine: tuple[F64, F64, F64]) -> None:
        ready.wait()
        kernel(*mine, times)

    jobs = [pool.submit(run, mine) for mine in arrays]

    def all_of_them() -> None:
        ready.wait()
        for job in jobs:
            job.result()

    return seconds_of(all_of_them)


# ---------------------------------------------------------------------------------- matrix products

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
