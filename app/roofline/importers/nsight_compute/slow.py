"""Why no unit was busy during a launch: too few blocks, warps or time, or what its warps wait for.

The first cause that holds counts, as NVIDIA's own guides go from the grid to the warps (Nsight
Compute, "Kernel Profiling Guide": launch statistics, occupancy, warp states).
"""

from math import prod
from typing import NamedTuple

from roofline.importers.nsight_compute.busy import active_ratio
from roofline.importers.nsight_compute.launches import Launch
from roofline.importers.nsight_compute.waste import MANY_WAVES, WAVES
from roofline.model.units import NS_PER_US

_BLOCKS = "launch__grid_size"
_SMS = "device__attribute_multiprocessor_count"
_RESIDENT = "sm__warps_active.avg.pct_of_peak_sustained_active"
_LIMIT = "launch__occupancy_limit_"
# Not the warps themselves: a block whose warps fill the SM is not what keeps others away.
_LIMITERS = {
    "registers": "registers limit them",
    "shared_mem": "shared memory limits them",
    "blocks": "the blocks that an SM can hold limit them",
    "barriers": "barriers limit them",
}
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
# What a warp waits for; warps that were selected, or could have been, do not wait.
_STALLS = {
    "barrier": "warps wait for each other at barriers",
    "membar": "warps wait at memory barriers",
    "long_scoreboard": "warps wait for global or local memory",
    "short_scoreboard": "warps wait for shared memory or special functions",
    "wait": "warps wait for the previous instruction",
    "math_pipe_throttle": "warps wait for a busy arithmetic pipe",
    "lg_throttle": "warps wait for the queue of global and local memory",
    "mio_throttle": "warps wait for the queue of shared memory and special functions",
    "tex_throttle": "warps wait for the queue of the texture unit",
    "no_instruction": "warps wait for instructions to be fetched",
    "imc_miss": "warps wait for constants",
    "branch_resolving": "warps wait for branches to be resolved",
    "dispatch_stall": "warps wait for the dispatcher",
    "drain": "warps wait at their end for stores",
    "sleeping": "warps sleep",
    "gmma": "warps wait for matrix instructions of their group",
    "misc": "warps wait for another reason",
}
_BARRIERS = {"barrier", "membar"}
WANTED = frozenset(
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
