"""A profile whose ops move data over links, for tests: copies, collectives, and one of each doubt.

Times are in us on one core. The device is a TPU v6e unless told: 32 GB/s to its host, 100 GB/s over
one link of ICI.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.model.device import MemoryPeak, PeakOrigin, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.model.timeline import (
    WHOLE_CAPTURE,
    CoreTimes,
    Timeline,
    TransferOccurrences,
    Transfers,
    WorkTimes,
    no_transfers,
)
from tests.builders import analysis_on, profile_from_table, reported

PS_PER_US = 1_000_000.0
NAN = float("nan")
HOST, ICI = MemoryLevel.HOST, MemoryLevel.ICI
V6E = reported(name="TPU v6 Lite", gflops=918_000.0, gibs={MemoryLevel.HBM: 1525.0})

OPS = """
op            | category          | self_us | flop | hbm_bytes
copy-start.1  | copy-start        | 1       | 0    | 1e6
copy-done.1   | copy-done         | 50      | 0    | 1e6
copy-start.2  | copy-start        | 1       | 0    | 1e6
copy-done.2   | copy-done         | 1       | 0    | 1e6
all-reduce.1  | all-reduce        | 40      | 1e6  | 4e6
fused.1       | all-reduce fusion | 20      | 0    | 1e6
ag-start      | all-gather-start  | 1       | 0    | 1e6
matmul        | fusion            | 100     | 9e9  | 1e6
"""


@dataclass(frozen=True)
class Moved:
    """One transfer: rows of its ops, bytes on the wire, and its times."""

    op: int
    done: int
    kind: str
    link: MemoryLevel | None
    wire: float
    interval_us: float
    wait_us: float
    exposed_us: float


# 1.28 MB take 40 us to the host at the peak: 50 us were waited for the first, none for the second.
MOVED = (
    Moved(0, 1, "in", HOST, 1.28e6, 300, 50, 51),
    Moved(2, 3, "out", HOST, 1.28e6, 120, 1, 2),
    Moved(4, -1, "all-reduce", ICI, 2e6, 40, NAN, 40),
    Moved(5, -1, "all-reduce", ICI, NAN, 20, NAN, 20),
)


def moving(
    device: ReportedDevice = V6E, moved: Sequence[Moved] = MOVED, group_size: int = 2
) -> Profile:
    """The profile."""
    return profile_from_table(OPS, device=device, timeline=_timeline(moved, group_size))


def waited(table: str, idle_us: float) -> RooflineAnalysis:
    """The analysis of a table of ops which ran one after the other, and waited so long for the
    host."""
    profile = profile_from_table(table, idle_us=idle_us)
    line, ops, idle_ps = _timeline((), 0), profile.ops, np.array([idle_us * PS_PER_US])
    count = len(ops)
    times = replace(
        line.times,
        total_ps=np.array([float(profile.time_ps)]),
        idle_ps=idle_ps,
        host_wait_ps=idle_ps,
    )
    work = WorkTimes(
        core=np.zeros(count, np.int64),
        scope=np.full(count, WHOLE_CAPTURE),
        op=np.arange(count),
        time_ps=ops.self_time_ps.astype(np.float64),
        calls=ops.occurrences.astype(np.float64),
        is_work=np.ones(count, np.bool_),
    )
    timed = replace(
        profile, timeline=replace(line, times=times, work=work, transfers=no_transfers())
    )
    return analysis_on(timed)


def with_links(profile: Profile, links: Sequence[MemoryLevel | None]) -> Profile:
    """`profile` with other links of its transfers."""
    line = profile.timeline
    assert line is not None
    transfers = replace(line.transfers, link=tuple(links))
    return replace(profile, timeline=replace(line, transfers=transfers))


def _timeline(moved: Sequence[Moved], group_size: int) -> Timeline:
    none, zero = np.zeros(0, np.int64), np.zeros(1)
    return Timeline(
        cores=("core 0",),
        steps=0,
        times=CoreTimes(
            core=np.array([0]),
            scope=np.array([WHOLE_CAPTURE]),
            total_ps=np.array([214 * PS_PER_US]),
            infeed_outfeed_ps=zero,
            host_ps=_ps([one.exposed_us for one in moved if one.link is HOST]).sum(keepdims=True),
            exposed_ps={
                ICI: _ps([one.exposed_us for one in moved if one.link is ICI]).sum(keepdims=True)
            },
            launch_gaps_ps=zero,
            idle_ps=zero,
            host_wait_ps=zero,
            start_idle_ps=zero,
        ),
        work=WorkTimes(
            core=none, scope=none, op=none, time_ps=zero[:0], calls=zero[:0], is_work=none > 0
        ),
        transfers=transfers_of(moved, group_size),
    )


def transfers_of(moved: Sequence[Moved], group_size: int) -> Transfers:
    """Transfers on the first core, each once."""
    return Transfers(
        op=np.array([one.op for one in moved]),
        done=np.array([one.done for one in moved]),
        kind=tuple(one.kind for one in moved),
        link=tuple(one.link for one in moved),
        group_size=np.full(len(moved), group_size),
        unpaired=np.zeros(len(moved), np.bool_),
        occurrences=TransferOccurrences(
            transfer=np.arange(len(moved)),
            core=np.zeros(len(moved), np.int64),
            count=np.ones(len(moved)),
            wire_bytes=np.array([one.wire for one in moved]),
            payload_bytes=np.array([one.wire for one in moved]),
            interval_ps=_ps([one.interval_us for one in moved]),
            wait_ps=_ps([one.wait_us for one in moved]),
            exposed_ps=_ps([one.exposed_us for one in moved]),
        ),
    )


def one_core(
    *scopes: tuple[float, float, float, float],
    calls: Sequence[float] | None = None,
    transfers: Transfers | None = None,
) -> Timeline:
    """Of the capture and each step: the time of two ops, exposed and idle time.

    A call of the first op lasts 10 us and one of the second 50 us, unless `calls` counts them.
    """
    first, second, exposed, idle = (_ps(column) for column in zip(*scopes, strict=True))
    count, zero = len(scopes), np.zeros(len(scopes))
    work = np.stack([first, second], axis=1).ravel()
    scope = np.arange(count) + WHOLE_CAPTURE
    return Timeline(
        cores=("core 0",),
        steps=count - 1,
        times=CoreTimes(
            core=np.zeros(count, np.int64),
            scope=scope,
            total_ps=first + second + exposed + idle,
            infeed_outfeed_ps=zero,
            host_ps=zero,
            exposed_ps={ICI: exposed},
            launch_gaps_ps=zero,
            idle_ps=idle,
            host_wait_ps=zero,
            start_idle_ps=zero,
        ),
        work=WorkTimes(
            core=np.zeros(2 * count, np.int64),
            scope=np.repeat(scope, 2),
            op=np.tile([0, 1], count),
            time_ps=work,
            calls=work / np.tile(_ps([10, 50]), count) if calls is None else np.array(calls),
            is_work=np.ones(2 * count, np.bool_),
        ),
        transfers=transfers or no_transfers(),
    )


def analysis_with_ici(profile: Profile, gbs: float = 100.0) -> RooflineAnalysis:
    """The analysis of a profile on its device with a peak of ICI."""
    ici = MemoryPeak(level=ICI, gbs=gbs, origin=PeakOrigin.CATALOGUE, source="a test")
    return analysis_on(profile, replace(resolve(profile.device), links=(ici,)))


def _ps(us: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(us, np.float64) * PS_PER_US
