"""Parts of the catalogue: published figures with their sources, and peaks per profiler device.

A figure is per chip or board; a profiler may see a part of it as one device (a TensorCore, a GCD).
`devices_per_chip` says how many, and every peak here is divided by it.
"""

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, NamedTuple

from roofline.model.compute import ComputeUnit, Precision
from roofline.model.device import DeviceKind, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA

THIS_MACHINE = "this-machine"
MEASURED = "measured:"
"""Ids of devices as they were measured begin with this."""
PROCESSORS = "processors"
CLOCK = "clock"

# Memories that each processor has for itself: they move a fixed number of bytes per cycle.
_OF_ONE_PROCESSOR = frozenset({MemoryLevel.SHARED, MemoryLevel.LDS})
# How far the exponent of a rate per cycle may be from a whole number: 17 % of the rate.
_NEAR = 0.23
_UNITS = {unit.value: unit for unit in ComputeUnit}
_LEVELS = {level.value: level for level in MemoryLevel}

# Which published figure is the peak of a link, by vendor.
_LINK_FIGURES = {
    "Google": {
        MemoryLevel.HOST: "pcie_oneway",
        MemoryLevel.ICI: "link_oneway",
        MemoryLevel.DCN: "network_oneway",
    },
    "NVIDIA": {
        MemoryLevel.HOST: "pcie_oneway",
        MemoryLevel.NVLINK: "links_oneway",
        MemoryLevel.DCN: "network_oneway",
    },
    "AMD": {MemoryLevel.HOST: "pcie_oneway", MemoryLevel.XGMI: "links_oneway"},
}

# A vendor's word for its matrix unit.
_MATRIX_WORDS = {"Google": "MXU", "NVIDIA": "Tensor core", "AMD": "Matrix core", "Intel": "XMX"}
_ACCELERATOR_WORDS = {"AWS": "Tensor engine", "Intel": "MME"}


class FigureStatus(StrEnum):
    """The use of a published number: one is chosen, others differ or are wrong.

    An `EXAMPLE` is what a guide's worked example computes with, `SUSTAINED` what programs reach of
    the chosen number at best.
    """

    CHOSEN = "chosen"
    ALTERNATIVE = "alternative"
    REJECTED = "rejected"
    EXAMPLE = "example"
    SUSTAINED = "sustained"


class Source(NamedTuple):
    """Where a figure was read; `kind` says how near the maker that is, `revision` which state.

    `address` is empty where there is nothing to open.
    """

    key: str
    title: str
    address: str
    revision: str
    kind: str

    @property
    def text(self) -> str:
        """Title and address in one line."""
        return f"{self.title} ({self.address})" if self.address else self.title


class Figure(NamedTuple):
    """One published number, in SI units: FLOP/s, op/s, B/s, B, Hz or a ratio.

    `of` is the key of a compute unit or memory level, or a name such as "memory_bytes";
    `scope` "chip" (a board is one) or "link" (one of several).
    """

    of: str
    value: float
    unit: str
    status: FigureStatus
    source: Source
    note: str = ""
    scope: str = "chip"

    @property
    def text(self) -> str:
        """Source, kind and note in one line, as shown beside a peak."""
        note = f": {self.note}" if self.note else ""
        if self.source.kind == "derived":
            return f"Derived{note}"
        return f"{self.source.text}, {self.source.kind}{note}"


class PartPeak(NamedTuple):
    """The rate of one compute unit in GFLOP/s per profiler device, at `clock_ghz`.

    `per_cycle` is the FLOP that one processor does per cycle; both are `None` where not known.
    """

    unit: ComputeUnit
    label: str
    gflops: float
    figure: Figure
    per_cycle: float | None = None
    clock_ghz: float | None = None

    def at_clock(self, processors: int, clock_ghz: float) -> "PartPeak":
        """The same unit of `processors` at another clock, where its work per cycle is known."""
        if self.per_cycle is None:
            return self
        gflops = self.per_cycle * processors * clock_ghz
        return self._replace(gflops=gflops, clock_ghz=clock_ghz)


class PartBandwidth(NamedTuple):
    """The bandwidth of one memory level in GB/s (1e9) per profiler device.

    `per_cycle` are the bytes that one processor moves per cycle of `clock_ghz`; `None` for memories
    that the processors share, and where that is not known.
    """

    level: MemoryLevel
    gbs: float
    figure: Figure
    per_cycle: float | None = None
    clock_ghz: float | None = None

    def at_clock(self, processors: int, clock_ghz: float) -> "PartBandwidth":
        """The same memory of `processors` at another clock, where its bytes per cycle are known."""
        if self.per_cycle is None:
            return self
        return self._replace(gbs=self.per_cycle * processors * clock_ghz, clock_ghz=clock_ghz)


class LinkShape(NamedTuple):
    """How the links of a part join chips: `domain` chips reach each other, or `axes` of a torus.

    A `switch` joins any pair at the full rate, a `mesh` has a link for each pair, a `bridge` joins
    two boards, a `host` has PCIe alone. An axis of a torus is closed where its size is a multiple
    of `wrap_multiple`, with `whole_cubes` only where all sizes are; a `pod` has so many chips.
    """

    kind: Literal["switch", "mesh", "bridge", "host", "torus"]
    note: str
    domain: int | None = None
    axes: int = 0
    wrap_multiple: int = 0
    whole_cubes: bool = False
    pod: int | None = None
    has_in_switch_reduction: bool = False

    @property
    def scale_up(self) -> str:
        """The figure of all links of a chip in one direction."""
        return "pcie_oneway" if self.kind == "host" else "links_oneway"


def pruned_bytes(size: float) -> float:
    """Bytes of an element of weights pruned to 2 of 4, `size` where they are dense: half of the
    values, and two bits of index for each."""
    return 0.5 * size + 0.125


class Part(NamedTuple):
    """One part of the catalogue, or this machine.

    `family` is a profiler's name for several parts, `scope` what one profiler device is,
    `may_split` true where a profile shows a chip as one device or as two. `memory_variants` are
    further capacities (bytes) that the part was made with. `shared_aliases` are device names that
    other parts have, too. `topology` says what its links join.
    """

    id: str
    vendor: str
    name: str
    kind: DeviceKind
    aliases: tuple[str, ...]
    family: str
    scope: str
    devices_per_chip: int
    notes: str
    figures: tuple[Figure, ...]
    topology: LinkShape | None = None
    may_split: bool = False
    memory_variants: tuple[int, ...] = ()
    shared_aliases: tuple[str, ...] = ()
    origin: PeakOrigin = PeakOrigin.CATALOGUE
    hostname: str = ""

    def figure(self, of: str) -> Figure | None:
        """The chosen number of `of`, or `None` when none is known."""
        return next(self._chosen(of), None)

    def sparse(self, precision: str) -> Figure | None:
        """How many times the dense rate products with pruned weights reach at `precision`."""
        is_product = precision not in ("fp32", "fp64")
        return self.figure(f"sparse_{precision}") or (self.figure("sparse") if is_product else None)

    def reached(self, of: str) -> Figure | None:
        """The number that programs reach of `of` while they go on; of a part that was measured."""
        return next(
            (one for one in self.figures if one.of == of and one.status is FigureStatus.SUSTAINED),
            None,
        )

    def value(self, of: str) -> float | None:
        """The chosen value of `of` per chip, or `None` when none is known."""
        figure = self.figure(of)
        return None if figure is None else figure.value

    def compute(self, devices: int | None = None) -> tuple[PartPeak, ...]:
        """Rates per device, the main one first; a unit that the part lacks has none.

        `devices` is the number of devices that a profile shows of one chip.
        """
        share = GIGA * (devices or self.devices_per_chip)
        peaks = [
            PartPeak(
                unit=unit,
                label=self._label(unit),
                gflops=figure.value / share,
                figure=figure,
                per_cycle=self._per_cycle(figure),
                clock_ghz=self._clock_behind(figure),
            )
            for key, unit in _UNITS.items()
            for figure in self._chosen(key)
            if figure.value
        ]
        return tuple(sorted(peaks, key=lambda peak: self._rank(peak.unit)))

    def links(self, devices: int | None = None) -> tuple[PartBandwidth, ...]:
        """Bandwidths of the links per device, one way; of ICI that of one link.

        A group of devices on one axis uses one link of a TPU, whatever the chip has in all.
        """
        share = GIGA * (devices or self.devices_per_chip)
        return tuple(
            PartBandwidth(
                level=level,
                gbs=figure.value / (GIGA if figure.scope == "link" else share),
                figure=figure,
            )
            for level, key in _LINK_FIGURES.get(self.vendor, {}).items()
            for figure in self._chosen(key)
        )

    def sustained_link(self, level: MemoryLevel) -> tuple[float, Figure] | None:
        """The share (0 to 1) of a link's peak that traffic reaches, and who measured it."""
        key = _LINK_FIGURES.get(self.vendor, {}).get(level, "")
        peak = self.figure(key)
        reached = next(
            (f for f in self.figures if f.of == key and f.status is FigureStatus.SUSTAINED), None
        )
        return (reached.value / peak.value, reached) if peak and reached else None

    def memory(self, devices: int | None = None) -> tuple[PartBandwidth, ...]:
        """Bandwidths per device, the main memory first."""
        share = GIGA * (devices or self.devices_per_chip)
        return tuple(
            PartBandwidth(
                level=level,
                gbs=figure.value / share,
                figure=figure,
                per_cycle=self._per_cycle(figure) if level in _OF_ONE_PROCESSOR else None,
                clock_ghz=self._clock_behind(figure) if level in _OF_ONE_PROCESSOR else None,
            )
            for key, level in _LEVELS.items()
            for figure in self._chosen(key)
        )

    @property
    def absent_units(self) -> tuple[ComputeUnit, ...]:
        """Units that the part is known not to have."""
        return tuple(unit for key, unit in _UNITS.items() for f in self._chosen(key) if not f.value)

    @property
    def has_matrix_unit(self) -> bool:
        """Whether a rate of matrix products is known; without it vector units multiply."""
        return any(one.unit.is_matrix for one in self.compute())

    @property
    def processor_count(self) -> int | None:
        """SMs or CUs of one device, or `None` when unknown."""
        figure = self.figure(PROCESSORS)
        return None if figure is None else int(figure.value) // self.devices_per_chip

    @property
    def memory_bytes(self) -> float | None:
        """Capacity of the main memory per device, or `None` when unknown."""
        figure = self.figure("memory_bytes")
        return None if figure is None else figure.value / self.devices_per_chip

    @property
    def compute_roofs(self) -> tuple[tuple[ComputeUnit, float], ...]:
        """Units and their GFLOP/s per device."""
        return tuple((peak.unit, peak.gflops) for peak in self.compute())

    @property
    def roofs(self) -> tuple[object, ...]:
        """All that two parts must share to be one part in a roofline."""
        return self.compute_roofs, tuple((one.level, one.gbs) for one in self.memory())

    @property
    def core_word(self) -> str:
        """The word for one profiler device of it."""
        if self.kind is DeviceKind.TPU:
            return "TensorCore"
        return "GPU" if self.kind is DeviceKind.GPU else "core"

    def _per_cycle(self, figure: Figure) -> float | None:
        """The rate of one processor per cycle: the power of two nearest to the published rate.

        Tensor cores of some parts have a clock of their own below the boost clock, so that the
        plain quotient is up to 14 % lower. `None` where nothing says so, or no power is near.
        """
        processors, clock = self.value(PROCESSORS), self.value(CLOCK)
        if not (processors and clock and figure.value):
            return None
        exponent = math.log2(figure.value / (processors * clock))
        return 2.0 ** round(exponent) if abs(exponent - round(exponent)) < _NEAR else None

    def _clock_behind(self, figure: Figure) -> float | None:
        """The clock in GHz at which a figure of the processors holds, or `None` if not known."""
        per_cycle, processors = self._per_cycle(figure), self.value(PROCESSORS)
        if not (per_cycle and processors):
            return None
        return figure.value / (processors * per_cycle) / GIGA

    def _chosen(self, of: str) -> Iterator[Figure]:
        return (f for f in self.figures if f.of == of and f.status is FigureStatus.CHOSEN)

    def _rank(self, unit: ComputeUnit) -> int:
        first = main_units(self.kind)
        return first.index(unit) if unit in first else len(first)

    def _label(self, unit: ComputeUnit) -> str:
        if not unit.is_matrix:
            return unit.label
        words = _ACCELERATOR_WORDS if self.kind is DeviceKind.ACCELERATOR else _MATRIX_WORDS
        word = "BLAS" if self.kind is DeviceKind.CPU else words.get(self.vendor, "Matrix")
        return f"{word} {unit.precision.value}"


def main_units(kind: DeviceKind) -> tuple[ComputeUnit, ...]:
    """Which unit's roof to draw first on such a device, best first."""
    matrix = (ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_FP16)
    single = (ComputeUnit.VECTOR_FP32, ComputeUnit.MATRIX_FP32)
    return single if kind is DeviceKind.CPU else (*matrix, *single)


def same_hardware(kind: DeviceKind, unit: ComputeUnit) -> tuple[ComputeUnit, ...]:
    """Other units that are the same hardware: a CPU's matrix products run on its vector units."""
    if kind is not DeviceKind.CPU or unit.precision not in (Precision.FP32, Precision.FP64):
        return ()
    other = "vector" if unit.is_matrix else "matrix"
    return (ComputeUnit(f"{other}_{unit.precision.value}"),)
