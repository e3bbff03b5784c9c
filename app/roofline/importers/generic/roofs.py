"""Roofs that a file states: of the JSON schema, of roof CSV, of comments, and of ERT's JSON.

Sparse rates are left out: everywhere in this program a rate is a dense one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from roofline.importers.generic.names import level_named, precision_named, unit_named
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
from roofline.model.units import GIGA

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
        (kind for kind, words in _KIND_WORDS.items() if words.search(lower)),
        DeviceKind.UNKNOWN,
    )


def ert_roofs(content: Mapping[str, object]) -> Machine:
    """The roofs of the Empirical Roofline Toolkit's `roofline.json`, in GFLOP/s and GB/s.

    Datasheet roofs (`spec`) count only where none was measured.
    """
    roofs: list[Roof] = []
    skipped: list[str] = []
    for section, kind in (("empirical", "measured"), ("spec", "theoretical")):
        if roofs:
            break
        for key, memory in (("gflops", False), ("gbytes", True)):
            for label, value in _ert_rows(content.get(section), key):
                what = label.replace("GFLOPs", "").strip()
                roof = roof_of(what=what, value=value * GIGA, kind=kind, name=label, memory=memory)
                if isinstance(roof, Roof):
                    roofs.append(roof)
                else:
                    skipped.append(roof)
    metadata = content.get("metadata")
    host = metadata.get("HOSTNAME", "") if isinstance(metadata, Mapping) else ""
    return Machine(
        hostname=host if isinstance(host, str) else "", roofs=tuple(roofs), skipped=tuple(skipped)
    )


def _ert_rows(section: object, key: str) -> Iterable[tuple[str, float]]:
    part = section.get(key) if isinstance(section, Mapping) else None
    rows = part.get("data") if isinstance(part, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str(label), int() | float() as value, *_]:
                yield label, float(value)


def _stated(roof: Roof) -> str:
    return f"{roof.label}, {'measured' if roof.is_measured else 'as stated'} in the file"
