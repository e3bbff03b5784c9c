"""Event metadata of a TPU core as ops: names, categories, and what one occurrence costs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from google.protobuf.message import DecodeError

from roofline.importers.shared.op_tables import path_of_tf_op
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import EventKind, Plane, Stats
from roofline.importers.xspace.xspace_pb2 import MemoryAccessBreakdown
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64

_U64 = 2**64
_READ, _WRITE = 1, 2
_HBM_SPACE = 1
_ON_CHIP = {
    (2, _READ): MemoryLevel.CMEM_READ,
    (2, _WRITE): MemoryLevel.CMEM_WRITE,
    (3, _READ): MemoryLevel.VMEM_READ,
    (3, _WRITE): MemoryLevel.VMEM_WRITE,
}
LEVELS = (MemoryLevel.HBM, *_ON_CHIP.values())
UNNAMED = "(no name)"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpKind:
    """The op of one event metadata; costs are of one occurrence.

    `shape` is that of the result, where the compiler's stats have it.
    """

    name: str
    category: str
    program_id: int
    symbol_id: int
    flop: int
    model_flop: int
    bytes_accessed: int
    traffic_bytes: Mapping[MemoryLevel, int] | None
    has_source: bool
    source_file: str
    source_line: int
    source_stack: str
    long_name: str
    framework_path: str
    shape: str
    cost_known: bool
    has_id: bool
    """False where the file does not tell program and instruction: then the name is all there is."""


def op_kinds(plane: Plane, oddities: Oddities) -> tuple[tuple[OpKind | None, ...], int]:
    """The plane's event metadata as ops (`None`: not an op), and how many costs are negative.

    The last one stands for events whose metadata the file lacks: they are work, not idle time.
    """
    negative = 0
    kinds: list[OpKind | None] = []
    for kind in plane.event_kinds:
        op = _op_kind(kind)
        if not op.has_id and oddities.drops_ops_without_id:
            kinds.append(None)
            continue
        wraps = max(op.flop, op.model_flop, op.bytes_accessed) >= _U64 // 2
        if wraps and not oddities.wraps_negative_costs:
            # A negative count is unknown: XProf shows it as 2**64 minus something.
            op = replace(
                op, flop=0, model_flop=0, bytes_accessed=0, traffic_bytes=None, cost_known=False
            )
            negative += 1
        kinds.append(op)
    nameless = _op_kind(EventKind("", "", Stats({}, ())))
    kinds.append(None if oddities.drops_ops_without_id else nameless)
    return tuple(kinds), negative


def _op_kind(kind: EventKind) -> OpKind:
    stats = kind.stats
    flop = stats.int_or_uint("flops")
    bytes_accessed = stats.int_or_uint("bytes_accessed")
    traffic = _traffic(stats.raw("memory_access_breakdown"))
    category = stats.text("hlo_category")
    source_file, source_line = _source(stats.text("source"))
    has_id = "program_id" in stats and stats.int_or_uint("symbol_id") != 0
    return OpKind(
        name=kind.display_name or kind.name or ("" if has_id else UNNAMED),
        category=category,
        program_id=stats.int_or_uint("program_id"),
        symbol_id=stats.int_or_uint("symbol_id"),
        flop=flop,
        model_flop=stats.int_or_uint("model_flops") or flop,
        bytes_accessed=bytes_accessed,
        traffic_bytes=traffic,
        has_source="source" in stats or "source_stack" in stats,
        source_file=source_file,
        source_line=source_line,
        source_stack=stats.text("source_stack"),
        long_name=kind.name if kind.display_name else "",
        framework_path=path_of_tf_op(stats.text("tf_op")),
        shape=stats.text("shape_with_layout"),
        cost_known=_cost_known(kind, category, flop, bytes_accessed, traffic),
        has_id=has_id,
    )


def _cost_known(
    kind: EventKind,
    category: str,
    flop: int,
    bytes_accessed: int,
    traffic: Mapping[MemoryLevel, int] | None,
) -> bool:
    """False where nothing was counted: no cost stat at all, or a custom call with zeros.

    The compiler cannot look into a custom call; without the author's estimate it writes zeros.
    """
    if flop or bytes_accessed or traffic:
        return True
    counted = any(name in kind.stats for name in ("flops", "bytes_accessed"))
    return counted and category != "custom-call"


def _traffic(raw: bytes) -> Mapping[MemoryLevel, int] | None:
    """Bytes per level from a memory access breakdown; `None` without one (or an unreadable one).

    HBM counts every operation, on-chip memories reads and writes apart; other spaces are ignored.
    """
    try:
        entries = MemoryAccessBreakdown.FromString(raw).memory_accessed
    except DecodeError:
        return None
    if not entries:
        return None
    traffic: dict[MemoryLevel, int] = {}
    for entry in entries:
        level = _ON_CHIP.get((entry.memory_space, entry.operation_type))
        if entry.memory_space == _HBM_SPACE:
            level = MemoryLevel.HBM
        if level is not None:
            traffic[level] = (traffic.get(level, 0) + entry.bytes_accessed) % _U64
    return traffic


_LINE_NUMBER = re.compile(r"\s*[+-]?\d{1,100}\s*\Z")


def _source(text: str) -> tuple[str, int]:
    """File and line of `file:line`, cut at the first colon; ("", -1) where that does not parse."""
    file, colon, rest = text.partition(":")
    if not colon or not _LINE_NUMBER.match(rest):
        return "", -1
    line = int(rest)
    return (file, line) if -(2**31) <= line < 2**31 else ("", -1)


def keys_of(kinds: Sequence[OpKind | None]) -> I64:
    """Dense op key per event metadata: by program and symbol; -1 for no op.

    Without these each metadata has its own: equal names of several programs cost differently.
    """
    keys: dict[tuple[int, int] | int, int] = {}
    numbers = [
        -1 if op is None else keys.setdefault(_ids_of(op) or number, len(keys))
        for number, op in enumerate(kinds)
    ]
    return np.array([*numbers, -1], np.int64)


def _ids_of(op: OpKind) -> tuple[int, int] | None:
    return (op.program_id, op.symbol_id) if op.has_id else None
