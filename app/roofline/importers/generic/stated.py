"""What a person states: kernels, completed, and the roofs of a machine.

What two of work, rate and time say about the third completes a kernel. Rows that say a thing twice
are checked: what they say must agree within 1 %, and usual slips are called by their name.

Roofs are of the JSON schema, of roof CSV, of comments, and of ERT's JSON. Sparse rates are left
out: everywhere in this program a rate is a dense one.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from roofline.importers.generic.names import level_named, precision_named, unit_named
from roofline.importers.shared.launches import MAX_COUNT
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import (
    LEAST_PEAK,
    MOST_PEAK,
    DeviceKind,
    DeviceTraits,
    PeakOrigin,
    ReportedDevice,
)
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


LABEL_LENGTH = 80  # of a roof, as messages and the device panel show it
_MEASURED_WORDS = frozenset({"measured", "empirical", "emp", "benchmark"})
_KIND_WORDS = {
    DeviceKind.TPU: re.compile(r"\b(?:tpu|trillium|ironwood)"),
    DeviceKind.GPU: re.compile(
        r"\b(?:nvidia|gpu|geforce|rtx|tesla|quadro|instinct|radeon|gfx\d|[abhv]100|[bh]200|gh200|"
        r"mi[123]\d\d|(?:[tl]4|l40s?|a10g?|a40|p100|gb[23]00)\b)"
    ),
    DeviceKind.CPU: re.compile(
        r"\b(?:cpu|xeon|epyc|ryzen|core i|graviton|grace|neoverse|altra|power\d)"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """One ceiling in base units (FLOP/s or byte/s). `level` for memory, `unit` for compute, both
    `None` for the compute peak of no particular precision."""

    label: str
    value: float
    level: MemoryLevel | None = None
    unit: ComputeUnit | None = None
    is_measured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The device as the files describe it; `skipped` are roofs that could not be used, in words."""

    name: str = ""
    count: int = 1
    hostname: str = ""
    roofs: tuple[Roof, ...] = ()
    skipped: tuple[str, ...] = ()


def roof_of(
    *, what: str, value: float, kind: str = "", sparsity: str = "", name: str = "", memory: bool
) -> Roof | str:
    """The roof described, or in words why it cannot be used. `what` is a level or a precision."""
    label = (name or what or ("memory" if memory else "compute"))[:LABEL_LENGTH]
    if not value > 0:
        return f"{label} (not positive)"
    if not LEAST_PEAK <= value / GIGA < MOST_PEAK:
        return f"{label} (a rate that no device has)"
    is_measured = kind.strip().lower() in _MEASURED_WORDS
    if memory:
        level = level_named(what)
        if level is None:
            return f"{label} (unknown memory level “{what[:40]}”)"
        return Roof(label=label, value=value, level=level, is_measured=is_measured)
    if sparsity.strip().lower() in {"sparse", "structured", "2:4"}:
        return f"{label} (a sparse rate)"
    words = f"{what} {name}"
    precision = precision_named(what) or precision_named(name)
    unit = unit_named(words, precision) if precision else None
    if precision and unit is None:
        return f"{label} (no such compute unit)"
    return Roof(label=label, value=value, unit=unit, is_measured=is_measured)


def sorted_out(found: Iterable[Roof | str]) -> tuple[tuple[Roof, ...], tuple[str, ...]]:
    """The roofs among what `roof_of` found, and why others cannot be used."""
    every = [*found]
    return (
        tuple(roof for roof in every if isinstance(roof, Roof)),
        tuple(why for why in every if isinstance(why, str)),
    )


def merged(machines: Sequence[Machine]) -> Machine:
    """The machines of several files as one; the first name, the larger count."""
    return Machine(
        name=next((machine.name for machine in machines if machine.name), ""),
        count=max((machine.count for machine in machines), default=1),
        hostname=next((machine.hostname for machine in machines if machine.hostname), ""),
        roofs=tuple(roof for machine in machines for roof in machine.roofs),
        skipped=tuple(text for machine in machines for text in machine.skipped),
    )


def main_memory(roofs: Iterable[Roof], levels: Iterable[MemoryLevel]) -> MemoryLevel:
    """The name of the main memory: HBM if anything in the files says so, else DRAM."""
    named = {roof.level for roof in roofs} | set(levels)
    return MemoryLevel.HBM if MemoryLevel.HBM in named else MemoryLevel.DRAM


def reported_device(machine: Machine, main: MemoryLevel) -> ReportedDevice:
    """The device that the files describe; of several roofs for one thing the highest counts."""
    levels: dict[MemoryLevel, Roof] = {}
    units: dict[ComputeUnit | None, Roof] = {}
    for roof in sorted(machine.roofs, key=lambda roof: roof.value):
        if roof.level is not None:
            levels[main if roof.level in MAIN_LEVELS else roof.level] = roof
        else:
            units[roof.unit] = roof
    nameless = units.pop(None, None)
    named = {unit: roof for unit, roof in units.items() if unit is not None}
    all_roofs = (*levels.values(), *named.values(), *((nameless,) if nameless else ()))
    is_measured = bool(all_roofs) and all(roof.is_measured for roof in all_roofs)
    keyed = {
        **{level.value: roof for level, roof in levels.items()},
        **{unit.value: roof for unit, roof in named.items()},
        **({"compute": nameless} if nameless else {}),
    }
    return ReportedDevice(
        kind=device_kind(machine.name),
        name=machine.name,
        core_count=machine.count,
        peak_gflops=nameless.value / GIGA if nameless else None,
        unit_gflops={unit: roof.value / GIGA for unit, roof in named.items()},
        bandwidth_gbs={level: roof.value / GIGA for level, roof in levels.items()},
        traits=DeviceTraits(hostname=machine.hostname),
        derivation={key: _stated(roof) for key, roof in keyed.items()},
        peak_origin=PeakOrigin.MEASURED if is_measured else PeakOrigin.PROFILE,
    )


def device_kind(name: str) -> DeviceKind:
    """The family that a device's name belongs to, as far as its words tell."""
    lower = name.lower()
    return next(
        (kind for kind, words in _KIND_WORDS.items() if words.search(lower)), DeviceKind.UNKNOWN
    )


def ert_roofs(content: Mapping[str, object]) -> Machine:
    """The roofs of the Empirical Roofline Toolkit's `roofline.json`, in GFLOP/s and GB/s.

    Datasheet roofs (`spec`) count only where none was measured.
    """
    found: list[Roof | str] = []
    for section, kind in (("empirical", "measured"), ("spec", "theoretical")):
        if any(isinstance(one, Roof) for one in found):
            break
        for key, memory in (("gflops", False), ("gbytes", True)):
            for label, value in _ert_rows(content.get(section), key):
                what = label.replace("GFLOPs", "").strip()
                found.append(
                    roof_of(what=what, value=value * GIGA, kind=kind, name=label, memory=memory)
                )
    roofs, skipped = sorted_out(found)
    metadata = content.get("metadata")
    host = metadata.get("HOSTNAME", "") if isinstance(metadata, Mapping) else ""
    return Machine(hostname=host if isinstance(host, str) else "", roofs=roofs, skipped=skipped)


def _ert_rows(section: object, key: str) -> Iterable[tuple[str, float]]:
    part = section.get(key) if isinstance(section, Mapping) else None
    rows = part.get("data") if isinstance(part, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str(label), int() | float() as value, *_]:
                yield label, float(value)


def _stated(roof: Roof) -> str:
    return f"{roof.label}, {'measured' if roof.is_measured else 'as stated'} in the file"
