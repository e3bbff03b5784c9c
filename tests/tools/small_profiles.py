"""Small profiles in memory, every number of them chosen by the test that builds them."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.tools import xspace_writer_pb2 as pb
from tests.tools.xspace_wire import HBM, READ, WRITE, PlaneBuilder, breakdown

MICROSECOND_PS = 1_000_000

CAPABILITIES: dict[str, Any] = {
    "device_type_string": "TPU v4",
    "peak_teraflops_per_second": 275.0,
    "peak_hbm_bw_gigabytes_per_second": 1228.8,
    "peak_cmem_rd_bw_gigabytes_per_second": 2150.0,
    "peak_cmem_wr_bw_gigabytes_per_second": 1900.0,
}

Span = tuple[int, int]
Stats = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class SmallOp:
    """One kind of op and where its events lie; spans are (begin, duration) in picoseconds.

    `symbol` None gives each op its own. `extra` are further stats of the op, `event` of its events.
    """

    name: str
    spans: Sequence[Span]
    category: str = "loop fusion"
    program: int | None = 7
    symbol: int | None = None
    flops: int = 0
    bytes_accessed: int = 0
    memory: Sequence[tuple[int, int, int]] | None = None
    extra: Stats = ()
    event: Stats = ()
    long_name: str = ""


def hbm(nbytes: int) -> list[tuple[int, int, int]]:
    """A memory access breakdown: half read from HBM, half written to it."""
    return [(READ, HBM, nbytes - nbytes // 2), (WRITE, HBM, nbytes // 2)]


def tpu_plane(
    ops: Iterable[SmallOp],
    steps: Iterable[Span] = (),
    *,
    name: str = "/device:TPU:0",
    plane_id: int = 0,
    capabilities: dict[str, Any] | None = None,
    timestamp_ns: int = 0,
) -> PlaneBuilder:
    """One TensorCore with a `Steps` line and an `XLA Ops` line."""
    plane = PlaneBuilder(name, plane_id)
    for stat, value in (CAPABILITIES if capabilities is None else capabilities).items():
        plane.plane_stat(stat, value)
    add_steps(plane, steps, timestamp_ns=timestamp_ns)
    add_ops(plane, ops, timestamp_ns=timestamp_ns)
    return plane


def add_steps(
    plane: PlaneBuilder,
    steps: Iterable[Span],
    *,
    name: str = "Steps",
    timestamp_ns: int = 0,
    stats: Stats = (),
) -> None:
    """Add a line of step markers."""
    line = plane.line(1, name, timestamp_ns)
    for number, (begin, duration) in enumerate(steps):
        marker = plane.event_meta(("step", name, number), str(number))
        plane.event(line, marker, begin, duration, stats)


def add_ops(
    plane: PlaneBuilder, ops: Iterable[SmallOp], *, name: str = "XLA Ops", timestamp_ns: int = 0
) -> None:
    """Add an op line, its events by begin, enclosing ones first."""
    line = plane.line(3, name, timestamp_ns)
    events = []
    for number, op in enumerate(ops):
        kind = plane.event_meta(
            ("op", name, number), op.long_name or f"%{op.name} = x", op.name, _stats(op, number)
        )
        events += [(begin, -duration, kind, op.event) for begin, duration in op.spans]
    for begin, minus_duration, kind, stats in sorted(events, key=lambda event: event[:2]):
        plane.event(line, kind, begin, -minus_duration, stats)


def space_bytes(planes: Iterable[PlaneBuilder], *, hostname: str = "host-0") -> bytes:
    """The file of one host."""
    out = io.BytesIO()
    for plane in planes:
        plane.write(out)
    out.write(pb.XSpace(hostnames=[hostname]).SerializeToString())
    return out.getvalue()


def _stats(op: SmallOp, number: int) -> list[tuple[Any, ...]]:
    stats: list[tuple[Any, ...]] = [("hlo_category", op.category)]
    if op.program is not None:
        stats.append(("program_id", op.program))
    symbol = number + 1 if op.symbol is None else op.symbol
    if symbol >= 0:
        stats.append(("symbol_id", symbol))
    if op.flops:
        stats.append(("flops", op.flops, "i64" if op.flops < 0 else None))
    if op.bytes_accessed:
        stats.append(("bytes_accessed", op.bytes_accessed))
    if op.memory is not None:
        stats.append(("memory_access_breakdown", breakdown(op.memory)))
    return [*stats, *op.extra]
