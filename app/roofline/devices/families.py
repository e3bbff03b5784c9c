"""The part behind a family name, from what else a profile says about its device.

XProf names GPUs by architecture ("Nvidia GPU (Ampere)", "AMD GPU - gfx942"), shared by several
parts. Processors and clock, memory size and bandwidth tell them apart; a part that none of them
contradicts, and at least two confirm, is it. Nothing is guessed from less.
"""

import math
from dataclasses import replace

from roofline.devices.catalogue import parts, spelling
from roofline.devices.parts import Part
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, DeviceTraits
from roofline.model.memory import main_level

# Drivers keep some memory for themselves and error correction; vendors print GiB as GB.
_MEMORY_RANGE = (0.88, 1.09)
_BANDWIDTH_TOLERANCE = 0.04
# A vector rate is a power of two FLOP per processor and cycle; clocks are rounded.
_CYCLE_TOLERANCE = 0.05
_ENOUGH = 2
_NO_FAMILY = ("gpu", "nvidia gpu", "amd gpu")


def resolve_family(family: str, traits: DeviceTraits) -> Part | None:
    """The one part of `family` that `traits` fit, or `None` where none or several do.

    A profile that names no family ("GPU") needs all three traits. Parts with equal roofs count as
    one, which then has all their names.
    """
    name = spelling(family)
    nameless = name in _NO_FAMILY
    found = [
        part
        for part in parts()
        if part.kind is DeviceKind.GPU and (nameless or spelling(part.family) == name)
        if _fits(part, traits, at_least=_ENOUGH + nameless)
    ]
    if not found or any(part.roofs != found[0].roofs for part in found):
        return None
    return replace(found[0], name=" or ".join(part.name for part in found))


def _fits(part: Part, traits: DeviceTraits, *, at_least: int) -> bool:
    checks = (_same_cycles(part, traits), _same_memory(part, traits), _same_bandwidth(part, traits))
    return False not in checks and checks.count(True) >= at_least


def _same_cycles(part: Part, traits: DeviceTraits) -> bool | None:
    rate = part.figure(ComputeUnit.VECTOR_FP32.value)
    if rate is None or not traits.processor_count or not traits.clock_ghz:
        return None
    per_chip = traits.processor_count * part.devices_per_chip
    exponent = math.log2(rate.value / (per_chip * traits.clock_ghz * 1e9))
    return abs(exponent - round(exponent)) < _CYCLE_TOLERANCE


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
