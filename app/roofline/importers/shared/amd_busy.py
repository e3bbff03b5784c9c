"""How busy the units of an AMD GPU were during a dispatch, by its counters.

Formulas: the panel "system speed of light" of ROCm/rocprofiler-compute (gfx942), in which every
share is of the cycles that the dispatch took. Counters that say that a unit had any work
(`TCC_BUSY`, `TA_TA_BUSY`, `GRBM_*_BUSY`) are not shares of a greatest rate and are not read.
"""

from dataclasses import dataclass

from roofline.importers.shared.amd_counters import LANES, Counters
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.units import PS_PER_NS, PS_PER_US

# Cycles in which a unit was used, over all compute units.
_CYCLES = {
    Ceiling.VALU: ("SQ_ACTIVE_INST_VALU",),
    Ceiling.TENSOR: ("SQ_VALU_MFMA_BUSY_CYCLES",),
    Ceiling.SALU: ("SQ_ACTIVE_INST_SCA",),
    Ceiling.BRANCH: ("SQ_ACTIVE_INST_MISC",),
    Ceiling.LSU: ("SQ_ACTIVE_INST_FLAT", "SQ_ACTIVE_INST_VMEM"),
    Ceiling.LDS: ("SQ_LDS_IDX_ACTIVE",),
    Ceiling.L1: ("TCP_TOTAL_CACHE_ACCESSES_sum",),
    Ceiling.L2: ("TCC_REQ_sum",),
}
_GPU_CYCLES = "GRBM_GUI_ACTIVE"
_LANE_CYCLES = "SQ_THREAD_CYCLES_VALU"
_CONFLICTS = "SQ_LDS_BANK_CONFLICT"
# Cycles in which a wave was resident, added up over waves: the second is in quads of cycles.
_WAVE_CYCLES = {"SQ_LEVEL_WAVES": 1, "SQ_WAVE_CYCLES": 4}
READ_COUNTERS = frozenset(
    {_GPU_CYCLES, _LANE_CYCLES, _CONFLICTS, *_WAVE_CYCLES}
    | {name for names in _CYCLES.values() for name in names}
)

_SIMDS_PER_UNIT = 4
# Requests that the L2 of a die serves per cycle: one in each of its channels.
_L2_CHANNELS = {"gfx908": 32, "gfx90a": 32, "gfx942": 16, "gfx950": 16}
_SEVERAL_DIES = ("gfx94", "gfx95")
_OVER_SOON_US = 10.0
_FEW_WAVES = 0.4

Slowness = tuple[str, str]
"""Why no unit is busy, as a code and in words; two empty texts where it was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmdSize:
    """The size of a GPU of the CDNA family. `None` is unknown, and so are shares that need it.

    `dies` are the dies (XCDs) with compute units, of which each counts the GPU's cycles;
    `unit_waves` is how many waves fit on one compute unit, `clock_ghz` the greatest clock.
    """

    units: int | None = None
    dies: int | None = None
    clock_ghz: float | None = None
    l2_channels: int | None = None
    unit_waves: int | None = None


def amd_size(
    architecture: str,
    *,
    units: int | None,
    clock_ghz: float | None,
    dies: int | None = None,
    l2_channels: int | None = None,
    unit_waves: int | None = None,
) -> AmdSize:
    """What is known of a GPU, completed by what its architecture (`gfx942`) says.

    Nothing is known of other families: their counters of one name count something else.
    """
    name = architecture.lower()
    if not name.startswith("gfx9"):
        return AmdSize()
    dies = dies or (None if name.startswith(_SEVERAL_DIES) else 1)
    per_die = _L2_CHANNELS.get(name)
    return AmdSize(
        units=units,
        dies=dies,
        clock_ghz=clock_ghz,
        l2_channels=l2_channels or (per_die * dies if per_die and dies else None),
        unit_waves=unit_waves,
    )


def busy_shares(counters: Counters, size: AmdSize, time_ps: int | None) -> dict[Ceiling, float]:
    """Share of a dispatch's time, 0 to 1, in which each unit was used at its greatest rate.

    Units of which not every counter was collected are left out. The vector unit can issue two
    instructions at once: that is a share of 1.
    """
    cycles = _cycles(counters, size, time_ps)
    if not cycles or not size.units:
        return {}
    places = {
        Ceiling.TENSOR: _SIMDS_PER_UNIT * size.units,
        Ceiling.L2: size.l2_channels,
    }
    found = {}
    for ceiling, names in _CYCLES.items():
        used, place = [counters.get(name) for name in names], places.get(ceiling, size.units)
        if place and None not in used:
            found[ceiling] = min(1.0, sum(one or 0.0 for one in used) / (cycles * place))
    return found


def use_shares(counters: Counters) -> dict[UseFactor, float]:
    """Share of the busy time, 0 to 1, that was of use: lanes at work, accesses without conflict."""
    vector, lanes = counters.get("SQ_ACTIVE_INST_VALU"), counters.get(_LANE_CYCLES)
    active, conflicts = counters.get("SQ_LDS_IDX_ACTIVE"), counters.get(_CONFLICTS)
    found = {}
    if vector and lanes is not None:
        found[UseFactor.LANES] = min(1.0, lanes / (vector * LANES))
    if active and conflicts is not None:
        found[UseFactor.BANK_CONFLICTS] = max(0.0, 1.0 - conflicts / active)
    return found


def why_slow(
    counters: Counters, size: AmdSize, time_ps: int | None, blocks: int | None
) -> Slowness:
    """Why a dispatch of `blocks` workgroups could not keep any unit busy."""
    if blocks and size.units and blocks < size.units:
        return "few_blocks", f"{blocks:,} blocks for {size.units:,} compute units"
    if time_ps and time_ps < _OVER_SOON_US * PS_PER_US:
        us = time_ps / PS_PER_US
        return "launch", f"a call of {us:.2g} µs is over before the device is full"
    resident = _resident(counters, size, time_ps)
    if resident is not None and resident < _FEW_WAVES:
        return "low_occupancy", f"only {100 * resident:.0f} % of the waves that fit are resident"
    return "", ""


def _cycles(counters: Counters, size: AmdSize, time_ps: int | None) -> float | None:
    """Cycles of one die during the dispatch.

    The counter also sees what comes before and after: 2.2 times the cycles of a kernel of 5 µs.
    """
    counted = counters.get(_GPU_CYCLES)
    if not counted or not size.dies or not time_ps:
        return None
    most = time_ps / PS_PER_NS * size.clock_ghz if size.clock_ghz else counted
    return min(counted / size.dies, most)


def _resident(counters: Counters, size: AmdSize, time_ps: int | None) -> float | None:
    """Waves on the GPU at a time, over those that fit."""
    cycles = _cycles(counters, size, time_ps)
    waves = next((n * counters[key] for key, n in _WAVE_CYCLES.items() if key in counters), None)
    if waves is None or not (cycles and size.units and size.unit_waves):
        return None
    return waves / (cycles * size.units * size.unit_waves)
