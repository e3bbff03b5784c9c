"""A measured run on every part of the catalogue: ridges, the least time, and the share of the peak.

The least time is the longest clock of each op, summed: nothing is said of how near a program would
come to it. Ops whose work has no peak there are left out, and the share of the time that is counted
stands beside the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.compare.comparison import common_unit
from roofline.compare.run import Run
from roofline.devices.catalogue import parts
from roofline.devices.choice import known_part
from roofline.devices.listing import Ridge, ridges_of
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import Bools
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.quantities import duration, flop_rate, percent, significant
from roofline.presentation.text_table import spaced, table

Record = dict[str, Any]

_COMPUTE = "compute"
_PER_US = GIGA / US_PER_S  # of a GFLOP/s or a GB/s
_MAIN = frozenset(level.value for level in MemoryLevel if level.is_main)
_LINKS = frozenset(level.value for level in MemoryLevel if level.is_link)
_MEMORIES = frozenset(level.value for level in MemoryLevel)
_SAME_WORK = {
    "matrix_fp64": "vector_fp64",
    "matrix_fp32": "vector_fp32",
    "matrix_tf32": "vector_fp32",
}
"""The unit that does the work of one that a part does not have, at the same precision."""

_NEARLY_ALL = 0.99  # of the FLOPs
_SECONDS_PER_HOUR = 3600.0  # a million times us is seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPart:
    """The run on one part: the least time of the ops counted, in us per unit and core.

    `known_share` is the share of the run's time that these ops take where they ran, `gflops` their
    rate in the least time and `peak_ratio` that rate over the part's main peak; `dollars` is the
    price of a million units in that time. `None` is not known, as where over 1 % of the FLOPs have
    no peak there.
    """

    part: Part
    ridges: tuple[Ridge, ...]
    least_us: float | None
    known_share: float
    memory_bound_share: float | None
    gflops: float | None
    peak_ratio: float | None
    dollars: float | None


def on_parts(
    run: Run, prices: Mapping[str, float] | None = None, chosen: Sequence[Part] | None = None
) -> tuple[OnPart, ...]:
    """`run` on `chosen` parts, or on all; `prices` are dollars per device hour, by part."""
    unit = common_unit([run])
    return tuple(_on(run, unit, part, (prices or {}).get(part.id)) for part in chosen or parts())


def intensity_of(run: Run) -> float | None:
    """FLOP per byte of the main memory, over ops that have both counted."""
    calls = run.units[common_unit([run])].calls
    moved = run.work.get(run.main_memory, np.zeros(len(run))) * calls
    flop = run.flop * calls
    both = ~np.isnan(flop) & ~np.isnan(moved)
    whole = float(moved[both].sum())
    return float(flop[both].sum()) / whole if whole else None


def read_prices(text: str) -> dict[str, float]:
    """Dollars per device hour by part, as in "h100-sxm=2.5 mi300x=2".

    `BadViewError` says what is not understood.
    """
    found = {}
    for one in text.replace(",", " ").split():
        name, _, amount = one.partition("=")
        try:
            price = float(amount)
        except ValueError:
            price = 0.0
        if not 0 < price < np.inf:
            raise BadViewError(
                f'"{one}" is not a price.', remedy="Write dollars per device hour: h100-sxm=2.5."
            )
        found[known_part(name).id] = price
    return found


def _on(run: Run, unit: str, part: Part, price: float | None) -> OnPart:
    times = run.units[unit]
    peaks = _peaks(part)
    clocks, counts = _clocks(run, peaks, times.calls)
    memory = np.fmax.reduce([c for n, c in clocks.items() if n in _MEMORIES] or [_none(run)])
    compute = np.fmax.reduce([c for n, c in clocks.items() if n not in _MEMORIES] or [_none(run)])
    needs = np.where(counts, np.fmax(memory, compute), 0.0)
    least_us, measured_us = float(needs.sum()), float(times.time_us[counts].sum())
    flop = float(np.nansum((run.flop * times.calls)[counts]))
    if flop < _NEARLY_ALL * float(np.nansum(run.flop * times.calls)):
        least_us = 0.0  # most of the work has no peak there
    gflops = flop / least_us / _PER_US if least_us and flop else None
    main = peaks.get(_COMPUTE)
    return OnPart(
        part=part,
        ridges=ridges_of(part),
        least_us=least_us or None,
        known_share=measured_us / times.total_us if times.total_us else 0.0,
        memory_bound_share=float(needs[memory > compute].sum()) / least_us if least_us else None,
        gflops=gflops,
        peak_ratio=gflops * _PER_US / main if gflops and main else None,
        dollars=price * least_us / _SECONDS_PER_HOUR if price and least_us else None,
    )


def _none(run: Run) -> Floats:
    return np.zeros(len(run))


def _peaks(part: Part) -> dict[str, float]:
    """FLOP/us and bytes/us of one device, by resource; the main unit's under `compute`, too."""
    compute = part.compute()
    found = {one.unit.value: one.gflops * _PER_US for one in compute}
    for unit, other in _SAME_WORK.items():
        if unit not in found and other in found:
            found[unit] = found[other]
    if compute:
        found[_COMPUTE] = compute[0].gflops * _PER_US
    main = next((one for one in part.memory() if one.level.is_main), None)
    if main is not None:
        found |= dict.fromkeys(_MAIN, main.gbs * _PER_US)
    return found


def parts_text(found: Sequence[OnPart]) -> str:
    """A table for a terminal: the least time, the rate in it and its share of the peak."""
    heads = (
        "Device",
        "Ridge",
        "At least",
        "Rate then",
        "Of the peak",
        "By memory",
        "$ per million",
    )
    rows = [
        (
            f"{one.part.name} ({one.part.id})",
            significant(one.ridges[0].flop_per_byte) if one.ridges else "–",
            duration(one.least_us),
            flop_rate(one.gflops),
            percent(one.peak_ratio),
            percent(one.memory_bound_share),
            significant(one.dollars),
        )
        for one in found
    ]
    note = (
        "\nRidge: FLOP/B of the main unit. At least: the longest clock of each operation, summed, "
        "per step and\ncore, with the operations whose work is known. – is not known.\n"
    )
    return spaced(table(heads, rows, left={0})) + note


def _clocks(run: Run, peaks: Mapping[str, float], calls: Floats) -> tuple[dict[str, Floats], Bools]:
    """Clocks of the main memory and the compute units, and the ops all of whose work has one."""
    times = run.units[common_unit([run])].time_us
    counts = (run.is_placed > 0) & (times > 0)
    clocks: dict[str, Floats] = {}
    for name, work in run.work.items():
        done = np.nan_to_num(work) * calls
        if name in peaks:
            clocks[name] = done / peaks[name]
        elif name not in _MEMORIES or name in _MAIN or name in _LINKS:
            counts = counts & ~(done > 0)
    return clocks, counts & (np.fmax.reduce(list(clocks.values()) or [_none(run)]) > 0)


def parts_record(found: Sequence[OnPart]) -> list[Record]:
    """The same for JSON; rates in GFLOP/s, times in us."""
    return [
        {
            "device": one.part.id,
            "name": one.part.name,
            "ridges": [_ridge(each) for each in one.ridges],
            "links": [
                {"link": link.level.value, "label": link.level.label, "gbs": link.gbs}
                for link in one.part.links()
            ],
            "least_us": one.least_us,
            "known_share": one.known_share,
            "memory_bound_share": one.memory_bound_share,
            "gflops": one.gflops,
            "peak_ratio": one.peak_ratio,
            "dollars_per_million": one.dollars,
        }
        for one in found
    ]


def _ridge(one: Ridge) -> Record:
    return {
        "unit": one.unit,
        "label": one.label,
        "flop_per_byte": one.flop_per_byte,
        "rows": one.rows,
    }
