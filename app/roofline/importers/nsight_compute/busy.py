"""How busy each unit was during a launch, what of that was of use, and why no unit was busy.

Busy: the profiler's own shares of every unit's greatest rate. A metric is
`<name>.avg.pct_of_peak_sustained_elapsed`, in per cent of the launch's time. The share of a ceiling
is the largest of its metrics. The section SpeedOfLight, part of the profiler's default set, stores
one metric per unit; other sections add more. Names from reports of 2020.3 to 2025.2.

Why not: the first cause that holds counts, as NVIDIA's own guides go from the grid to the warps
(Nsight Compute, "Kernel Profiling Guide": launch statistics, occupancy, warp states).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil, prod
from typing import NamedTuple

from roofline.importers.nsight_compute.launches import Launch
from roofline.model.ceilings import Ceiling, CeilingKind, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.plain_data import read_beside
from roofline.model.units import NS_PER_US

Numbers = Mapping[str, float]
Shares = dict[Ceiling, float]

METRICS: Mapping[Ceiling, Sequence[str]] = {
    Ceiling(unit): names for unit, names in read_beside(__file__, "busy.json").items()
}
"""Counters of each unit's use. The last two are the headlines: the largest of what the profiler
looks at, named or not."""

_ELAPSED, _ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
_IN_SM = ("sm__", "l1tex__", "idc__")  # their active cycles are those of the SMs
_ROWS = tuple(
    (name, f"{name}{_ELAPSED}", f"{name}{_ACTIVE}" if name.startswith(_IN_SM) else "", ceiling)
    for ceiling, names in METRICS.items()
    for name in names
)
# Each way of the DRAM as a share of what both together can move.
_DRAM_WAYS = tuple(
    f"dram__bytes_{way}.sum.pct_of_peak_sustained_elapsed" for way in ("read", "write")
)
SHARE_METRICS = frozenset([*_DRAM_WAYS, *(one for _, *names, _ in _ROWS for one in names if one)])
SM_ACTIVE_CYCLES = "sm__cycles_active.avg"
_ELAPSED_CYCLES = ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")
DRAM_SHARE = f"gpu__dram_throughput{_ELAPSED}"
_BUSY_METRICS = SHARE_METRICS | {SM_ACTIVE_CYCLES, *_ELAPSED_CYCLES}

# Turing's L1 moves 64 bytes a cycle and needs two for a wavefront, but the metric's peak is one a
# cycle (Jia et al., "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking", 2019).
_TURING = (7, 5)
_MEMORY_HEADLINE = f"gpu__compute_memory_throughput{_ELAPSED}"
_TWICE_ON_TURING = "l1tex__data_pipe_lsu_wavefronts"
_SHARE_THE_PIPE = (Ceiling.TENSOR, Ceiling.FP64, Ceiling.FP16)
_PER_SM = {CeilingKind.SM, CeilingKind.PIPE}
_MEMORY = {CeilingKind.MEMORY, CeilingKind.LINK}
# Queues into L1 are pipes of the SM, and the profiler counts them on the memory's side, too.
_BOTH_SIDES = {Ceiling.LSU, Ceiling.TEX, Ceiling.TMA}
SAME = 0.02  # shares this close are one


def active_ratio(numbers: Numbers) -> float | None:
    """Share of the launch's cycles in which an SM had a warp, mean of all SMs."""
    active = numbers.get(SM_ACTIVE_CYCLES)
    elapsed = next((numbers[name] for name in _ELAPSED_CYCLES if numbers.get(name, 0.0) > 0), None)
    return None if active is None or elapsed is None else min(1.0, max(0.0, active) / elapsed)


def busy_shares(numbers: Numbers) -> Shares:
    """Share (0 to 1) of the launch's time in which each unit was busy; only what was measured."""
    shares: Shares = {}
    for ceiling, share in _measured(numbers):
        shares[ceiling] = max(shares.get(ceiling, 0.0), share)
    _name_shared_pipe(shares)
    _keep_if_largest(Ceiling.SM_OTHER, shares, _side(shares, _PER_SM))
    _keep_if_largest(Ceiling.MEMORY_OTHER, shares, {*_side(shares, _MEMORY), *_BOTH_SIDES})
    return shares


def _measured(numbers: Numbers) -> Iterator[tuple[Ceiling, float]]:
    active = active_ratio(numbers)
    is_turing = _capability(numbers) == _TURING
    for name, elapsed, of_active, ceiling in _ROWS:
        percent = numbers.get(elapsed)
        if percent is None and active is not None and of_active in numbers:
            percent = numbers[of_active] * active
        if percent is not None:
            factor = 2 if is_turing and name == _TWICE_ON_TURING else 1
            yield ceiling, min(1.0, max(0.0, percent * factor / 100))
    if all(way in numbers for way in _DRAM_WAYS):
        yield Ceiling.DRAM, min(1.0, sum(numbers[way] for way in _DRAM_WAYS) / 100)


def is_counted_half(numbers: Numbers) -> bool:
    """True where the report's own throughput of the memory has half of what Turing's L1 did."""
    stated = numbers.get(_MEMORY_HEADLINE)
    l1 = busy_shares(numbers).get(Ceiling.L1, 0.0) if _capability(numbers) == _TURING else 0.0
    return stated is not None and l1 > stated / 100 + SAME


def _capability(numbers: Numbers) -> tuple[float, ...]:
    part = "device__attribute_compute_capability_"
    return tuple(numbers.get(f"{part}{name}", 0.0) for name in ("major", "minor"))


def _name_shared_pipe(shares: Shares) -> None:
    """The pipe that several kinds of instructions share is named after the one that fills it."""
    busiest = max(_SHARE_THE_PIPE, key=lambda ceiling: shares.get(ceiling, -1.0))
    shared, named = shares.get(Ceiling.SHARED_PIPE), shares.get(busiest)
    if shared is not None and named is not None and abs(shared - named) <= SAME:
        shares[busiest] = max(shared, named)
        del shares[Ceiling.SHARED_PIPE]


def _side(shares: Iterable[Ceiling], kinds: set[CeilingKind]) -> set[Ceiling]:
    others = {Ceiling.SM_OTHER, Ceiling.MEMORY_OTHER}
    return {share for share in shares if share.kind in kinds and share not in others}


def _keep_if_largest(headline: Ceiling, shares: Shares, named: Iterable[Ceiling]) -> None:
    """Keep a headline only where it says more than every named unit of its side."""
    share = shares.get(headline)
    if share is not None and share <= SAME + max(
        (shares.get(ceiling, 0.0) for ceiling in named), default=0
    ):
        del shares[headline]


WAVES = "launch__waves_per_multiprocessor"
MANY_WAVES = 10
_WARP_LANES = 32
_LANES = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
# Numerator and denominator of a share: what would have been enough, and what there was.
_RATIOS = {
    UseFactor.SECTORS: (
        "memory_l2_theoretical_sectors_global_ideal",
        "memory_l2_theoretical_sectors_global",
    ),
    UseFactor.BANK_CONFLICTS: ("memory_l1_wavefronts_shared_ideal", "memory_l1_wavefronts_shared"),
    UseFactor.REPLAYS: ("smsp__inst_executed.sum", "smsp__inst_issued.sum"),
}
_WASTE_METRICS = frozenset({WAVES, _LANES, *(name for pair in _RATIOS.values() for name in pair)})
_PIPES = {
    Ceiling.FP64: ComputeUnit.VECTOR_FP64,
    Ceiling.FP16: ComputeUnit.VECTOR_FP16,
    Ceiling.FMA: ComputeUnit.VECTOR_FP32,
}


def use_factors(
    numbers: Numbers, busy: Mapping[Ceiling, float], fused: Mapping[ComputeUnit, float]
) -> dict[UseFactor, float]:
    """Shares (0 to 1) of use by factor, only what was measured.

    `fused` is, per vector unit, its operations over those of as many multiply-adds. An op has one
    such factor: that of the busiest of these pipes.
    """
    shares = {
        UseFactor.LANES: _over(numbers.get(_LANES), _WARP_LANES),
        UseFactor.MULTIPLY_ADDS: _fused(busy, fused),
        **{
            factor: _over(numbers.get(ideal), numbers.get(real))
            for factor, (ideal, real) in _RATIOS.items()
        },
        **_waves(numbers),
    }
    return {factor: share for factor, share in shares.items() if share is not None}


def _fused(busy: Mapping[Ceiling, float], fused: Mapping[ComputeUnit, float]) -> float | None:
    pipe = max(_PIPES, key=lambda ceiling: busy.get(ceiling, 0.0))
    return fused.get(_PIPES[pipe]) if busy.get(pipe) else None


def _waves(numbers: Numbers) -> dict[UseFactor, float | None]:
    """How full one wave or several are, and the SMs where many waves should level them out."""
    waves = numbers.get(WAVES, 0.0)
    if waves <= 0:
        return {}
    levelled = active_ratio(numbers) if waves >= MANY_WAVES else None
    factor = UseFactor.FEW_BLOCKS if waves < 1 else UseFactor.LAST_WAVE
    return {factor: waves / ceil(waves), UseFactor.EQUAL_SMS: levelled}


def _over(part: float | None, whole: float | None) -> float | None:
    if part is None or whole is None or part < 0 or whole <= 0:
        return None
    return min(1.0, part / whole)


_BLOCKS = "launch__grid_size"
_SMS = "device__attribute_multiprocessor_count"
_RESIDENT = "sm__warps_active.avg.pct_of_peak_sustained_active"
_LIMIT = "launch__occupancy_limit_"
_CAUSES = read_beside(__file__, "causes.json")
# Not the warps themselves: a block whose warps fill the SM is not what keeps others away.
_LIMITERS: Mapping[str, str] = _CAUSES["limiters"]
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
# What a warp waits for; warps that were selected, or could have been, do not wait.
_STALLS: Mapping[str, str] = _CAUSES["stalls"]
_BARRIERS = {"barrier", "membar"}
_SLOW_METRICS = frozenset(
    {_BLOCKS, WAVES, _SMS, _RESIDENT}
    | {_LIMIT + name for name in (*_LIMITERS, "warps")}
    | {_STALL.format(name) for name in _STALLS}
)

_SHORT_NS = 10_000
_WORKING = 0.8
_RESIDENT_PERCENT = 40
_WHOLE_WAVE = 0.01  # tables print two decimals


class SlowCause(NamedTuple):
    """A code of why a launch keeps no unit busy, and the same in words; empty: not measured."""

    why: str = ""
    words: str = ""


def slow_cause(launch: Launch, time_ns: float | None) -> SlowCause:
    """The first cause that holds for `launch`, which took `time_ns`."""
    causes = (
        _few_blocks(launch),
        _short(time_ns),
        _unequal(launch),
        _low_occupancy(launch),
        _stalled(launch),
    )
    return next((cause for cause in causes if cause is not None), SlowCause())


def _few_blocks(launch: Launch) -> SlowCause | None:
    sides = None if launch.grid is None else float(prod(launch.grid))
    blocks, sms = launch.numbers.get(_BLOCKS, sides), launch.numbers.get(_SMS)
    waves = launch.numbers.get(WAVES)
    if not blocks:
        return None
    noun = "block" if blocks == 1 else "blocks"
    if sms is not None and blocks < sms:
        return SlowCause("few_blocks", f"{blocks:,.0f} {noun} for {sms:,.0f} SMs")
    if waves is not None and 0 < waves < 1:
        fit = blocks / waves
        return SlowCause("few_blocks", f"{blocks:,.0f} {noun} where {fit:,.0f} fit at once")
    return None


def _short(time_ns: float | None) -> SlowCause | None:
    if time_ns is None or time_ns >= _SHORT_NS:
        return None
    time_us = time_ns / NS_PER_US
    return SlowCause("launch", f"a call of {time_us:.1f} µs is over before the device is full")


def _unequal(launch: Launch) -> SlowCause | None:
    """SMs that end before others: in the last wave of blocks, or by unequal blocks."""
    working, waves = active_ratio(launch.numbers), launch.numbers.get(WAVES)
    if working is None or waves is None or working >= _WORKING:
        return None
    if waves >= MANY_WAVES:
        return SlowCause("imbalance", "some SMs work longer than others")
    if abs(waves - round(waves)) <= _WHOLE_WAVE:
        return None
    return SlowCause("tail", f"the last of {waves:.1f} waves runs alone")


def _low_occupancy(launch: Launch) -> SlowCause | None:
    percent = launch.numbers.get(_RESIDENT)
    if percent is None or percent >= _RESIDENT_PERCENT:
        return None
    limits = {
        words: launch.numbers[_LIMIT + name]
        for name, words in _LIMITERS.items()
        if _LIMIT + name in launch.numbers
    }
    limiter = min(limits, key=limits.__getitem__, default="")
    is_limit = limiter and limits[limiter] <= launch.numbers.get(f"{_LIMIT}warps", 0.0)
    words = f"only {percent:.0f} % of the warps are resident"
    return SlowCause("low_occupancy", f"{words}; {limiter}" if is_limit else words)


def _stalled(launch: Launch) -> SlowCause | None:
    waits = {
        name: launch.numbers[_STALL.format(name)]
        for name in _STALLS
        if _STALL.format(name) in launch.numbers
    }
    if not any(waits.values()):
        return None
    longest = max(waits, key=waits.__getitem__)
    code = "barrier" if longest in _BARRIERS else f"dependency:{longest}"
    return SlowCause(code, _STALLS[longest])


_COUNTED = re.compile(
    r"gpu__time_duration(_measured_user)?\.sum"
    r"|(sm|smsp|l1tex|lts|dram)__cycles_elapsed\.(avg|max)(\.per_second)?"
    r"|sms?p?__sass_thread_inst_executed_ops?_[dfh](add|mul|fma)_pred_on\."
    r"|derived__smsp__sass_thread_inst_executed_op_[dfh]fma_pred_on_x2$"
    r"|sm__ops_path_tensor_src_"
    r"|sms?p?__inst_executed_pipe_(tensor|tc|fp16)"
    r"|sm__pipe_tensor(_op_\w+)?_cycles_active\."
    r"|dram__(bytes|sectors)(_op)?(_read|_write)?\.sum"
    r"|lts__t_bytes\.sum|lts__lts2xbar_cycles_active\.sum|derived__lts__lts2xbar_bytes"
    r"|l1tex__(t_bytes|m_xbar2l1tex_read_bytes)\.sum"
    r"|(derived__)?l1tex__lsu_writeback_(active|bytes)"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
    r"|device__attribute_(display_name|device_index|multiprocessor_count|clock_rate|total_memory"
    r"|compute_capability_m\w+|max_mem_frequency_khz|fb_bus_width|global_memory_bus_width)$"
    r"|sass__(thread_)?inst_executed(_true)?_per_opcode"
)
_NAMES = _BUSY_METRICS | _WASTE_METRICS | _SLOW_METRICS


@lru_cache(maxsize=16_384)
def is_wanted(metric: str) -> bool:
    """True for metrics that say how much was done, how busy units were, or why they were not."""
    return metric in _NAMES or is_counted(metric)


def is_counted(metric: str) -> bool:
    """True for metrics that times, work and peaks are made of."""
    return _COUNTED.match(metric) is not None
