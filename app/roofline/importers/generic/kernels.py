"""A kernel as a person states it, completed: what two of work, rate and time say about the third.

Rows that say a thing twice are checked: what they say must agree within 1 %, and usual slips are
called by their name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from roofline.importers.shared.launches import MAX_COUNT
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MAIN_LEVELS, MemoryLevel
from roofline.model.units import GB_PER_GIB, GIGA, KILO, MEGA, MIB, TERA, TIB

TOLERANCE = 0.01
_LONGEST_S = 1e7
_MOST_CALLS = 10**12
_MOST_BUSY = 100.05  # per cent: what rounding to a tenth can make of all of the time


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A row of kernels in base units; `None` is unknown. `where` says where it stands in the file.

    `precision_flop` splits `flop` by precision as the file spells it, where it does. `is_rate` is
    true where the row states rates only: `flop` and `moved` are then those of one second.
    `unknown_levels` are memories with bytes in the file that have no level here. `operands` and
    `results` are shapes as the labels of an op table have them. `busy` is in per cent of the time.
    """

    name: str
    where: str
    category: str = ""
    detail: str = ""
    framework_path: str = ""
    operands: str = ""
    results: str = ""
    calls: int = 1
    time_s: float | None = None
    flop: float | None = None
    precision_flop: Mapping[str, float] = field(default_factory=dict)
    precision: str = ""
    flop_rate: float | None = None
    moved: Mapping[MemoryLevel, float] = field(default_factory=dict)
    bandwidth: Mapping[MemoryLevel, float] = field(default_factory=dict)
    intensity: Mapping[MemoryLevel, float] = field(default_factory=dict)
    is_rate: bool = False
    unknown_levels: tuple[str, ...] = ()
    busy: Mapping[Ceiling, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A row says one thing twice, and differently: `stated` is `ratio` times what follows."""

    what: str
    ratio: float
    where: str

    @property
    def cause(self) -> str:
        """The likely slip behind the ratio, in a few words."""
        size = max(self.ratio, 1 / self.ratio)
        for factor, words in _CAUSES:
            if abs(size / factor - 1) < TOLERANCE:
                return words
        return "the columns do not describe the same run"


_CAUSES = (
    (GB_PER_GIB, "7.4 %: GiB (2^30 bytes) and GB (10^9) are mixed up"),
    (MIB / MEGA, "4.9 %: MiB (2^20 bytes) and MB (10^6) are mixed up"),
    (TIB / TERA, "10 %: TiB (2^40 bytes) and TB (10^12) are mixed up"),
    (2.0, "factor 2: one side counts a multiply-add as one operation, the other as two"),
    (KILO, "factor 1,000: a unit is one prefix off"),
    (MEGA, "factor 1,000,000: a unit is two prefixes off"),
    (GIGA, "factor 1,000,000,000: a unit is three prefixes off"),
    (TERA, "factor 10^12: a unit is missing"),
)


def says_no_rates(kernel: Kernel) -> bool:
    """True where nothing follows from rates, and nothing can contradict them: most rows."""
    return not (
        kernel.flop_rate is not None
        or kernel.bandwidth
        or kernel.intensity
        or kernel.precision_flop
    )


def checked(kernel: Kernel) -> str:
    """The first impossible number of a row in words, negative or beyond any machine; "" if none."""
    numbers = (kernel.time_s, kernel.flop, kernel.flop_rate, *kernel.moved.values(),
               *kernel.bandwidth.values(), *kernel.intensity.values(),
               *kernel.precision_flop.values(), kernel.calls)  # fmt: skip
    known = [value for value in numbers if value is not None]
    if not all(0.0 <= share <= _MOST_BUSY for share in kernel.busy.values()):
        return "a busy share is not between 0 and 100 %"
    if any(value < 0 for value in known):
        return "a number is negative"
    if kernel.calls > _MOST_CALLS:
        return "a number of calls is above 10^12"
    counts = (kernel.flop or 0.0, sum(kernel.precision_flop.values()), *kernel.moved.values())
    if any(value > MAX_COUNT for value in counts):
        return "a count is above 4.6e18"
    return "a time is above 115 days" if (kernel.time_s or 0.0) > _LONGEST_S else ""


def completed(kernel: Kernel) -> Kernel:
    """`kernel` with what follows from what it says: counts are rates × time, and so on.

    A row without any count or time is a point of rates: its work is that of one second.
    """
    if says_no_rates(kernel):
        return kernel
    result = _with_counts(kernel)
    if result.flop is None and result.time_s is None and not result.moved:
        return replace(_with_counts(replace(kernel, time_s=1.0)), time_s=None, is_rate=True)
    return result


def _with_counts(kernel: Kernel) -> Kernel:
    flop, time_s, moved = kernel.flop, kernel.time_s, dict(kernel.moved)
    if flop is None and kernel.precision_flop:
        flop = sum(kernel.precision_flop.values())
    for _ in range(2):  # a time found last can still complete counts
        flop = _first(flop, _product(kernel.flop_rate, time_s))
        flop = _first(flop, *(_product(ai, moved.get(lv)) for lv, ai in kernel.intensity.items()))
        for level, bandwidth in kernel.bandwidth.items():
            _fill(moved, level, _product(bandwidth, time_s))
        for level, intensity in kernel.intensity.items():
            _fill(moved, level, _quotient(flop, intensity))
        time_s = _first(time_s, _quotient(flop, kernel.flop_rate))
        time_s = _first(
            time_s, *(_quotient(moved.get(lv), bw) for lv, bw in kernel.bandwidth.items())
        )
    return replace(kernel, flop=flop, time_s=time_s, moved=moved)


def conflicts(kernel: Kernel) -> list[Conflict]:
    """Where a completed row contradicts itself by more than 1 %."""
    if says_no_rates(kernel):
        return []
    candidates = [
        _conflict("FLOP rate", kernel.flop_rate, _quotient(kernel.flop, kernel.time_s), kernel)
    ]
    if kernel.precision_flop and kernel.flop is not None:
        whole = sum(kernel.precision_flop.values())
        candidates.append(_conflict("FLOPs by precision", whole, kernel.flop, kernel))
    for level, bandwidth in kernel.bandwidth.items():
        rate = _quotient(kernel.moved.get(level), kernel.time_s)
        candidates.append(_conflict(f"{level.label} bandwidth", bandwidth, rate, kernel))
    for level, intensity in kernel.intensity.items():
        ratio = _quotient(kernel.flop, kernel.moved.get(level))
        candidates.append(_conflict(f"{level.label} intensity", intensity, ratio, kernel))
    return [conflict for conflict in candidates if conflict is not None]


def with_main(kernel: Kernel, main: MemoryLevel) -> Kernel:
    """`kernel` with its main memory called `main`."""
    used = {*kernel.moved, *kernel.bandwidth, *kernel.intensity} & MAIN_LEVELS
    if used <= {main}:
        return kernel

    def renamed(columns: Mapping[MemoryLevel, float]) -> dict[MemoryLevel, float]:
        return {main if level in MAIN_LEVELS else level: v for level, v in columns.items()}

    return replace(
        kernel,
        moved=renamed(kernel.moved),
        bandwidth=renamed(kernel.bandwidth),
        intensity=renamed(kernel.intensity),
    )


def _conflict(
    what: str, stated: float | None, follows: float | None, kernel: Kernel
) -> Conflict | None:
    if not stated or not follows or stated < 0 or follows < 0:
        return None
    ratio = stated / follows
    off = abs(ratio - 1) > TOLERANCE and math.isfinite(ratio) and ratio > 0
    return Conflict(what, ratio, kernel.where) if off else None


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _fill(moved: dict[MemoryLevel, float], level: MemoryLevel, value: float | None) -> None:
    if value is not None:
        moved.setdefault(level, value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) and value <= MAX_COUNT else None


def _product(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else _finite(a * b)


def _quotient(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else _finite(a / b)
