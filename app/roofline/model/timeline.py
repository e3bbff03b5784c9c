"""Where the time of each core went, and what was moved over links: facts of a timeline.

An importer that sees events in time divides each core's time without rest: work, exposed
communication, exposed host transfers, infeed and outfeed, launch gaps, idle. Roofs come later: the
analysis divides work by what its peaks allow. Definitions: `docs/budget.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64, Bools
from roofline.model.plain_data import Aligned
from roofline.model.time_bins import TimeBins

WHOLE_CAPTURE = -1
"""The scope of rows that are about the whole capture; other scopes are steps, by their place."""

LAUNCH_GAP_PS = 50_000_000
"""An empty stretch shorter than this (50 us) is a launch gap, a longer one is idle."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoreTimes(Aligned):
    """One row per (core, scope): how its time divides, in ps. The parts and `work` add up to it.

    `exposed_ps` has one column per link that communication is known to use; `None` stands for
    communication whose link is not known. `host_ps` is exposed time of copies to and from the host.
    `host_wait_ps` is the part of launch gaps and idle time that the file shows to be the host's: it
    ended with an event that was launched after it began. What caused the rest is not in the file.
    `start_idle_ps` is idle time at the mostly idle start of a capture, 0 in steps; `host_wait_ps`
    of the capture leaves that start out.
    """

    core: I64
    scope: I64
    total_ps: F64
    infeed_outfeed_ps: F64
    host_ps: F64
    exposed_ps: Mapping[MemoryLevel | None, F64]
    launch_gaps_ps: F64
    idle_ps: F64
    host_wait_ps: F64
    start_idle_ps: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkTimes(Aligned):
    """One row per (core, scope, op): time in which the core did this op's work.

    `time_ps` is exclusive: on overlapping streams an instant is shared equally. `calls` is how
    often the op ran there. `is_work` is false for containers, whose own time has no known cost, and
    for events that no op of the table stands for (`op` -1).
    """

    core: I64
    scope: I64
    op: I64
    time_ps: F64
    calls: F64
    is_work: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transfers(Aligned):
    """Transfers over links: one row per kind of transfer (a start op, or a kernel).

    `op` is the row in the op table of what starts the transfer, `done` of what waits for it (-1:
    it is one synchronous op). `kind` is "all-reduce", "in" (to the device), "out" and so on; `link`
    is `None` where it is not known, `group_size` 0 where it is not known. `unpaired` marks halves
    whose other half is not in the capture. `each` are the single times of collectives on streams,
    which include the wait for the other ranks. Where all ranks of the group are in the profile,
    `least_ps` is the sum over occurrences of the shortest of their times (NaN: unknown): the last
    rank to come waits for none.
    """

    op: I64
    done: I64
    kind: tuple[str, ...]
    link: tuple[MemoryLevel | None, ...]
    group_size: I64
    unpaired: Bools
    occurrences: "TransferOccurrences"
    each: "EachTransfer | None" = None
    least_ps: F64 | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferOccurrences(Aligned):
    """One row per asynchronous occurrence, or for all `count` synchronous ones of an op on a core.

    `transfer` is the row of its kind. Bytes and times (ps) are sums over the occurrences.
    `wire_bytes` are those on the wire per device (NaN where size or group is unknown),
    `payload_bytes` what the program moved. `interval_ps` is from the start of the first half to
    the end of the second, `wait_ps` the time in the second half (NaN where there is none),
    `exposed_ps` the time in which the core did nothing else.
    """

    transfer: I64
    core: I64
    count: F64
    wire_bytes: F64
    payload_bytes: F64
    interval_ps: F64
    wait_ps: F64
    exposed_ps: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EachTransfer(Aligned):
    """Single collectives: the row of their kind, their core, and their time, in order of begin."""

    transfer: I64
    core: I64
    time_ps: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaunchTimes(Aligned):
    """How long single launches took: one row per op and class, in order of both.

    Where they are many, those whose times differ by less than 1.5 % are one class: `count` is how
    many launches are in it, `time_ps` the mean of their times.
    """

    op: I64
    count: I64
    time_ps: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """The timeline of a profile: names of its `cores`, and how many `steps` count.

    `bins` divide the capture by time; `None` where the importer cannot put all cores on one clock.
    `launches` are those of the whole capture; `None` in a range of it.
    """

    cores: tuple[str, ...]
    steps: int
    times: CoreTimes
    work: WorkTimes
    transfers: Transfers
    bins: TimeBins | None = None
    launches: LaunchTimes | None = None

    @property
    def span_ps(self) -> int:
        """From the first event of any core to the last of any; 0 where cores have no common clock.

        Cores may run one after the other: then this is longer than the time of each of them.
        """
        if self.bins is None or not len(self.bins):
            return 0
        return int(self.bins.edges_ps[-1] - self.bins.edges_ps[0])


def no_transfers() -> Transfers:
    """The transfers of a profile that has none."""
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    return Transfers(
        op=none,
        done=none,
        kind=(),
        link=(),
        group_size=none,
        unpaired=np.zeros(0, np.bool_),
        occurrences=TransferOccurrences(
            transfer=none,
            core=none,
            count=nothing,
            wire_bytes=nothing,
            payload_bytes=nothing,
            interval_ps=nothing,
            wait_ps=nothing,
            exposed_ps=nothing,
        ),
    )
