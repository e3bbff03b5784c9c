"""The device list that the page's picker reads: `docs/devices-data.md`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from roofline.devices import catalogue
from roofline.devices.in_flight import in_flight
from roofline.devices.parts import Figure, Part, PartBandwidth, PartPeak, Source
from roofline.devices.sustained import SUSTAINED_SOURCE, sustained_matrix_rate
from roofline.model.compute import Precision
from roofline.model.device import DeviceKind
from roofline.model.units import GIGA

SCHEMA = 1
_BYTES = {
    Precision.FP64: 8.0,
    Precision.FP32: 4.0,
    Precision.TF32: 4.0,
    Precision.BF16: 2.0,
    Precision.FP16: 2.0,
    Precision.FP8: 1.0,
    Precision.INT8: 1.0,
    Precision.FP4: 0.5,
    Precision.INT4: 0.5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """Where a compute unit's roof meets the main memory's, in FLOP per byte.

    `rows` is B*, from which arithmetic binds a matrix product whose weights are stored in the
    unit's own format: ridge · bytes of a weight ÷ 2. `None` for vector units.
    """

    unit: str
    label: str
    flop_per_byte: float
    rows: float | None


def ridges_of(part: Part) -> tuple[Ridge, ...]:
    """The ridges of a part, its main unit first; none where its bandwidth is not known."""
    main = next((one for one in part.memory() if one.level.is_main), None)
    if main is None:
        return ()
    return tuple(
        Ridge(
            unit=one.unit.value,
            label=one.label,
            flop_per_byte=one.gflops / main.gbs,
            rows=one.gflops / main.gbs * _BYTES[one.unit.precision] / 2
            if one.unit.is_matrix
            else None,
        )
        for one in part.compute()
        if one.unit.precision in _BYTES
    )


class SourceEntry(TypedDict):
    """Where a number was read."""

    title: str
    address: str
    kind: str


class SustainedEntry(TypedDict):
    """The shares of the matrix unit's rates that programs reach; `ratio` is the upper end."""

    low_ratio: float
    ratio: float
    source: str


class ComputeEntry(TypedDict):
    """One compute unit's rate in GFLOP/s per profiler device."""

    unit: str
    label: str
    gflops: float
    source: str
    status: str
    note: str


class MemoryEntry(TypedDict):
    """One memory level's bandwidth in GB/s (1e9) per profiler device."""

    level: str
    label: str
    gbs: float
    source: str
    status: str
    note: str


class InFlightEntry(TypedDict):
    """Bytes that a level of a chip needs under way for its bandwidth, and its idle latency."""

    level: str
    latency_ns: float
    bytes: float
    source: str


class DeviceEntry(TypedDict):
    """One part, its numbers per profiler device."""

    id: str
    name: str
    vendor: str
    kind: str
    aliases: list[str]
    scope: str
    devices_per_chip: int
    core_word: str
    memory_bytes: float | None
    main_unit: str | None
    main_level: str | None
    ridge: float | None
    compute: list[ComputeEntry]
    sustained_matrix: SustainedEntry | None
    absent: list[str]
    memory: list[MemoryEntry]
    links: list[MemoryEntry]
    in_flight: list[InFlightEntry]
    notes: str


class DeviceList(TypedDict):
    """Every part, first this machine and those that were measured, and the numbers' sources."""

    schema: int
    sources: dict[str, SourceEntry]
    devices: list[DeviceEntry]


def device_list(machine: Part | None, measured: Sequence[Part] = ()) -> DeviceList:
    """The catalogue, `machine` and those that were measured, as the page's picker wants them."""
    parts = (*([machine] if machine else []), *measured, *catalogue.parts())
    figures = [figure for part in parts for figure in _shown(part)]
    return {
        "schema": SCHEMA,
        "sources": {
            **{figure.source.key: _source(figure.source) for figure in figures},
            SUSTAINED_SOURCE: _source(catalogue.sources()[SUSTAINED_SOURCE]),
        },
        "devices": [_device(part) for part in parts],
    }


def _shown(part: Part) -> tuple[Figure, ...]:
    rates = (peak.figure for peak in part.compute())
    latencies = (one.figure for one in in_flight(part))
    return (*rates, *(peak.figure for peak in (*part.memory(), *part.links())), *latencies)


def _source(source: Source) -> SourceEntry:
    return {"title": source.title, "address": source.address, "kind": source.kind}


def _device(part: Part) -> DeviceEntry:
    compute, memory = part.compute(), part.memory()
    main = next((one.level.value for one in memory if one.level.is_main), None)
    ridge = next((round(one.flop_per_byte, 3) for one in ridges_of(part)), None)
    return {
        "id": part.id,
        "name": part.name,
        "vendor": part.vendor,
        "kind": part.kind.value,
        "aliases": [*part.aliases, *part.shared_aliases],
        "scope": part.scope,
        "devices_per_chip": part.devices_per_chip,
        "core_word": part.core_word,
        "memory_bytes": part.memory_bytes,
        "main_unit": compute[0].unit.value if compute else None,
        "main_level": main,
        "ridge": ridge,
        "compute": [_compute(peak) for peak in compute],
        "sustained_matrix": _sustained(part.kind),
        "absent": [unit.value for unit in part.absent_units],
        "memory": [_memory(peak) for peak in memory],
        "links": [_memory(peak) for peak in part.links()],
        "in_flight": [
            {
                "level": one.level.value,
                "latency_ns": round(one.latency_s * GIGA, 1),
                "bytes": round(one.bytes),
                "source": one.figure.source.key,
            }
            for one in in_flight(part)
        ],
        "notes": part.notes,
    }


def _sustained(kind: DeviceKind) -> SustainedEntry | None:
    found = sustained_matrix_rate(kind)
    if found is None:
        return None
    return {"low_ratio": found.low_ratio, "ratio": found.ratio, "source": SUSTAINED_SOURCE}


def _compute(peak: PartPeak) -> ComputeEntry:
    figure = peak.figure
    return {
        "unit": peak.unit.value,
        "label": peak.label,
        "gflops": peak.gflops,
        "source": figure.source.key,
        "status": figure.source.kind,
        "note": figure.note,
    }


def _memory(peak: PartBandwidth) -> MemoryEntry:
    figure = peak.figure
    return {
        "level": peak.level.value,
        "label": peak.level.label,
        "gbs": peak.gbs,
        "source": figure.source.key,
        "status": figure.source.kind,
        "note": figure.note,
    }
