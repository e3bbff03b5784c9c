"""Which part a profile's device is: by its name, by its family, or as this machine's CPU; and
whether two files of one upload can come from one machine.

XProf names GPUs by architecture ("Nvidia GPU (Ampere)", "AMD GPU - gfx942"), some runtimes by their
maker alone ("AMD GPU"), and vendors sell different boards under one name ("NVIDIA H100").
Processors and clock, memory size and bandwidth tell them apart. Nothing is guessed: there is no
match if the traits fit no part, or several parts with different roofs.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from roofline.devices.catalogue import find, fitting, gpus, sharing, spelling
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import main_level
from roofline.model.units import GIGA

_NO_NAME = ("", "localhost")
_LETTERS_SHOWN = 60  # a damaged file may have thousands


def catalogue_part(reported: ReportedDevice) -> Part | None:
    """The catalogue's part that a reported device is: by its name, else by its family.

    AMD's tools name generations of their own ("MI200"); the architecture is the family, too.
    A partition is its part only where the profiler measured the clock at which peaks are told.
    """
    traits = reported.traits
    named = find(reported.name)
    if named is not None and reported.peak_clock_ghz is None and _is_slice(named, traits):
        return None
    return (
        named
        or resolve_shared_name(reported.name, traits)
        or resolve_family(reported.name, traits)
        or resolve_family(f"AMD GPU - {traits.architecture}", traits)
        or _as_people_write(reported)
    )


def _as_people_write(reported: ReportedDevice) -> Part | None:
    """The part of a table that a person wrote, which has a name and nothing else: "RTX 4090"."""
    has_peaks = reported.peak_gflops or reported.unit_gflops or reported.bandwidth_gbs
    is_bare = not has_peaks and reported.traits == DeviceTraits(hostname=reported.traits.hostname)
    has_model = any(map(str.isdigit, reported.name))
    return _only(fitting(reported.name)) if is_bare and has_model else None


def is_this_machine(reported: ReportedDevice, machine: Part) -> bool:
    """True for a CPU capture that names this machine or its model of CPU."""
    if reported.kind is not DeviceKind.CPU:
        return False
    host = reported.traits.hostname
    return (host not in _NO_NAME and host == machine.hostname) or reported.name == machine.name


_ACCELERATORS = frozenset({DeviceKind.TPU, DeviceKind.GPU})


def differ(one: ReportedDevice, other: ReportedDevice) -> bool:
    """True where two files certainly ran on different devices: a TPU and a GPU, or two parts.

    A device that the catalogue does not know differs from no other of its kind. A host's processor
    differs from nothing: it drives the accelerators of the other files.
    """
    part, other_part = catalogue_part(one), catalogue_part(other)
    kinds = _kind(one, part), _kind(other, other_part)
    if not set(kinds) <= _ACCELERATORS:
        return False
    if kinds[0] is not kinds[1]:
        return True
    # A family name may stand for several parts that are alike.
    return part is not None and other_part is not None and part.roofs != other_part.roofs


def label(reported: ReportedDevice) -> str:
    """The device's name for people: the part's, else the profile's own, as much as fits a line."""
    part = catalogue_part(reported)
    return part.name if part is not None else reported.name[:_LETTERS_SHOWN]


def _kind(reported: ReportedDevice, part: Part | None) -> DeviceKind:
    """The kind of device; a person's table names a part, not its kind."""
    return reported.kind if part is None else part.kind


# Drivers keep some memory for themselves and error correction; vendors print GiB as GB.
_MEMORY_RANGE = (0.88, 1.09)
_BANDWIDTH_TOLERANCE = 0.04
# A vector rate is a power of two FLOP per processor and cycle; clocks are rounded.
_CYCLE_TOLERANCE = 0.05
_SAME_CLOCK = 0.01
_ENOUGH = 2
# A board sold under a part's name may lack some of its processors, a partition half or more.
_SLICE = 0.75
# Names that say the maker at most. AMD's runtime says no more of parts it has no name for.
_NAMELESS = {"gpu": "", "nvidia gpu": "NVIDIA", "amd gpu": "AMD", "amd radeon graphics": "AMD"}


def resolve_family(family: str, traits: DeviceTraits) -> Part | None:
    """The one part of `family` that `traits` fit, or `None` where none or several do.

    No trait may contradict the part, and two must confirm it; all three where the profile names no
    family ("GPU"), except AMD's parts, which differ in processors. Parts with equal roofs count as
    one, which then has all their names.
    """
    name = spelling(family)
    vendor = _NAMELESS.get(name)
    if vendor is None:
        found, enough = gpus(family=name) if name else (), _ENOUGH
    else:
        found, enough = gpus(vendor=vendor), _ENOUGH + (vendor != "AMD")
    alike = [part for part in found if _fits(part, traits, at_least=enough)]
    return _only(alike) or _only([part for part in alike if _off_clock(part, traits) < _SAME_CLOCK])


def resolve_shared_name(name: str, traits: DeviceTraits) -> Part | None:
    """The one part sold as `name` that processors, memory and bandwidth fit, or `None`.

    One of the three must confirm it; clocks do not count, for boards of one part differ in them.
    Where the parts that fit differ in memory alone, the answer has only what they have in common.
    """
    clockless = replace(traits, clock_ghz=None, cycles_per_ns=None)
    found = [part for part in sharing(name) if _fits(part, clockless, at_least=1)]
    return _only(found) or _common(found)


def _only(found: Sequence[Part]) -> Part | None:
    """The one part in `found`, or several that are one in a roofline, under all their names."""
    if not found or any(part.roofs != found[0].roofs for part in found):
        return None
    return found[0]._replace(name=_names(found))


def _common(found: Sequence[Part]) -> Part | None:
    """A part with the figures that all of `found` have in common, if their compute is."""
    if not found or any(part.compute_roofs != found[0].compute_roofs for part in found):
        return None
    agreed = {
        one.of for one in found[0].figures if len({part.value(one.of) for part in found}) == 1
    }
    figures = tuple(one for one in found[0].figures if one.of in agreed)
    return found[0]._replace(name=_names(found), figures=figures)


def _names(found: Sequence[Part]) -> str:
    return " or ".join(part.name for part in found)


def _is_slice(part: Part, traits: DeviceTraits) -> bool:
    """True where the device has far fewer processors than its name says: a partition of the part
    (MIG, CPX), whose peaks are not the part's."""
    own = traits.processor_count or math.inf
    return own < _SLICE * (part.processor_count or 0)


def _fits(part: Part, traits: DeviceTraits, *, at_least: int) -> bool:
    processors = _same_processors(part, traits), _same_cycles(part, traits)
    checks = (
        False not in processors and (True in processors or None),
        _same_memory(part, traits),
        _same_bandwidth(part, traits),
    )
    return False not in checks and checks.count(True) >= at_least


def _same_processors(part: Part, traits: DeviceTraits) -> bool | None:
    if part.processor_count is None or not traits.processor_count:
        return None
    return part.processor_count == traits.processor_count


def _same_cycles(part: Part, traits: DeviceTraits) -> bool | None:
    off = _off_clock(part, traits)
    return None if math.isnan(off) else off < _CYCLE_TOLERANCE


def _off_clock(part: Part, traits: DeviceTraits) -> float:
    """How far FLOPs per processor and cycle are from a power of two; NaN where not known."""
    rate = part.figure(ComputeUnit.VECTOR_FP32.value)
    cycles = traits.all_cycles_per_ns
    if rate is None or not cycles:
        return math.nan
    per_cycle = rate.value / (cycles * part.devices_per_chip * GIGA)
    if not per_cycle:  # the clock of a damaged file
        return math.inf
    exponent = math.log2(per_cycle)
    return abs(exponent - round(exponent))


def _same_memory(part: Part, traits: DeviceTraits) -> bool | None:
    if part.memory_bytes is None or not traits.memory_bytes:
        return None
    low, high = _MEMORY_RANGE
    sizes = (part.memory_bytes, *part.memory_variants)
    return any(low < traits.memory_bytes / size < high for size in sizes)


def _same_bandwidth(part: Part, traits: DeviceTraits) -> bool | None:
    memory = {one.level: one.gbs for one in part.memory()}
    gbs = memory.get(main_level(memory))
    if gbs is None or not traits.memory_gbs:
        return None
    # AMD's driver counts half of HBM's transfers (see the comparisons).
    halves = (1.0, 0.5) if part.vendor == "AMD" else (1.0,)
    return any(abs(traits.memory_gbs / (gbs * half) - 1) < _BANDWIDTH_TOLERANCE for half in halves)
