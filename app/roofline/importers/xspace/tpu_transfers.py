"""Ops of a TPU core: names, categories, costs, the use of its time by them, and their transfers.

Every op has one role. The start and the done op of an asynchronous transfer are paired by the
start's name, which the done op has as its first operand, first in, first out, on one core.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from google.protobuf.message import DecodeError

from roofline.importers.shared.hlo_text import Instruction, host_direction, parse_instruction
from roofline.importers.shared.kernel_names import NAN, Collective
from roofline.importers.shared.op_tables import OpLabels, path_of_tf_op
from roofline.importers.xspace.hlo.handlers import KINDS
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import EventKind, Plane, Stats
from roofline.importers.xspace.xspace_pb2 import MemoryAccessBreakdown
from roofline.model.categories import is_infeed_outfeed
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import F64, I64, Bools
from roofline.model.plain_data import Aligned

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
class OpKind(OpLabels):
    """The op of one event metadata, as a label; costs are of one occurrence."""

    symbol_id: int
    flop: int
    model_flop: int
    bytes_accessed: int
    traffic_bytes: Mapping[MemoryLevel, int] | None
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
        results=stats.text("shape_with_layout"),
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


class Role(IntEnum):
    """The role of an op's own time."""

    WORK = 0
    CONTAINER = 1
    INFEED_OUTFEED = 2
    COMMUNICATION = 3
    HOST_TRANSFER = 4


_CONTAINERS = frozenset({"call", "conditional", "while"})
_HALF = re.compile(r"-(start|done|update)\Z")
_COPIES = re.compile(r"(?:copy|slice|dynamic-slice|dynamic-update-slice|async)-(?:start|done)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Collective):
    """One op's part in transfers: its role, what it moves, and which half of a pair it is.

    `half` is "start", "done", or "" for a synchronous op; `start` names the start op of a done op.
    """

    role: Role
    kind: str = ""
    link: MemoryLevel | None = None
    half: str = ""
    start: str = ""


_WORK = Part(role=Role.WORK)


def parts_of(kinds: Iterable[OpKind | None]) -> tuple[Part, ...]:
    """The part of each op of a core; of what is not an op, work."""
    by_category: dict[str, Part | None] = {}

    def part_of(kind: OpKind) -> Part:
        category = kind.category
        if category not in by_category:
            by_category[category] = _of_category(category.lower())
        return by_category[category] or _of_text(kind)

    return tuple(_WORK if kind is None else part_of(kind) for kind in kinds)


def _of_category(category: str) -> Part | None:
    """The part of all ops of a category; `None` where each op's own text decides."""
    if is_infeed_outfeed(category):
        return Part(role=Role.INFEED_OUTFEED)
    if category in _CONTAINERS:
        return Part(role=Role.CONTAINER)
    if category in {"host send", "host recv"}:
        return Part(role=Role.HOST_TRANSFER, kind="out" if category.endswith("send") else "in",
                    link=MemoryLevel.HOST)  # fmt: skip
    is_transfer = _base(category) in KINDS or _COPIES.search(category)
    return None if is_transfer else _WORK


def _of_text(kind: OpKind) -> Part:
    base = _base(kind.category.lower())
    return _collective(kind, KINDS[base]) if base in KINDS else _copy(kind)


def _base(category: str) -> str:
    """The category without what a compiler adds for fusions and halves of transfers."""
    return _HALF.sub("", category.removesuffix(" fusion").removesuffix("-fusion"))


def _collective(kind: OpKind, name: str) -> Part:
    text = parse_instruction(kind.long_name)
    half = _HALF.search(kind.category.lower())
    host = text is not None and text.is_host_transfer
    return Part(
        role=Role.HOST_TRANSFER if host else Role.COMMUNICATION,
        kind=({"send": "out", "recv": "in"}[name] if host else name),
        link=MemoryLevel.HOST if host else MemoryLevel.ICI,
        half=half[1] if half else "",
        start=_start_name(kind, text),
        payload_bytes=_payload(name, text),
        group_size=text.group_size if text is not None else 0,
    )


def _payload(kind: str, text: Instruction | None) -> float:
    """Operands, or the result of an all-gather; unknown without shapes and for a done op."""
    if text is None or text.opcode.endswith(("-done", "fusion")):
        return NAN
    if kind != "all-gather":
        return float(sum(shape.size_bytes for shape in text.operands)) or NAN
    # The start of an all-gather returns (operands, results).
    results = text.results[len(text.operands) :] if len(text.results) > 1 else text.results
    return float(sum(shape.size_bytes for shape in results or text.results)) or NAN


def _copy(kind: OpKind) -> Part:
    """A copy to or from the host; a copy on the chip is work of its memory."""
    text = parse_instruction(kind.long_name)
    direction = host_direction(text) if text is not None else None
    half = _HALF.search(kind.category.lower())
    if text is None or half is None:
        return _WORK
    if half[1] == "done":
        return _done_of_copy(kind, text)
    if direction is None:
        return _WORK
    return Part(
        role=Role.HOST_TRANSFER,
        kind=direction,
        link=MemoryLevel.HOST,
        half="start",
        payload_bytes=float(text.results[0].size_bytes),
        start=kind.name,
    )


def _done_of_copy(kind: OpKind, text: Instruction) -> Part:
    """Its operand is the start's result: destination, source, context."""
    spaces = [shape.space for shape in text.operands]
    if len(spaces) < 2 or (spaces[0] == 5) == (spaces[1] == 5):
        return _WORK
    return Part(
        role=Role.HOST_TRANSFER,
        kind="out" if spaces[0] == 5 else "in",
        link=MemoryLevel.HOST,
        half="done",
        start=_start_name(kind, text),
    )


def _start_name(kind: OpKind, text: Instruction | None) -> str:
    """The start op's name: the first operand of a done op; without HLO text, by its number."""
    if text is not None and text.opcode.endswith(("-done", "-update")) and text.operand_names:
        return text.operand_names[0]
    return kind.name.replace("-done", "-start").replace("-update", "-start")


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrences(Aligned):
    """Transfers of one core, as columns: event metadata of the halves (-1: none), times in ps.

    `is_paired` is false for a half whose other half is not in the capture.
    """

    start_meta: I64
    done_meta: I64
    interval_ps: F64
    wait_ps: F64
    exposed_ps: F64
    is_paired: Bools


def pair_halves(
    parts: Sequence[Part], program_ids: Mapping[int, int], begin_ps: I64, end_ps: I64, metas: I64
) -> Occurrences:
    """Transfers among events in time order: synchronous ones, pairs, and halves without another."""
    is_half = np.array([part.half in {"start", "done"} for part in parts], np.bool_)[metas]
    is_update = np.array([part.half == "update" for part in parts], np.bool_)[metas]
    halves = zip(
        begin_ps[is_half].tolist(), end_ps[is_half].tolist(), metas[is_half].tolist(), strict=True
    )
    pairs = _pairs(parts, program_ids, halves)
    whole = ~is_half & ~is_update
    lasted = (end_ps - begin_ps)[whole].astype(np.float64)
    none, nothing = np.full(len(lasted), -1), np.full(len(lasted), np.nan)
    start, done, interval, wait, exposed, paired = (
        np.array(column) for column in (zip(*pairs, strict=True) if pairs else [[]] * 6)
    )
    return Occurrences(
        start_meta=np.concatenate([metas[whole], start.astype(np.int64)]),
        done_meta=np.concatenate([none, done.astype(np.int64)]),
        interval_ps=np.concatenate([lasted, interval]),
        wait_ps=np.concatenate([nothing, wait]),
        exposed_ps=np.concatenate([lasted, exposed]),
        is_paired=np.concatenate([np.ones(len(lasted), np.bool_), paired.astype(np.bool_)]),
    )


_Row = tuple[int, int, float, float, float, bool]


def _pairs(
    parts: Sequence[Part], program_ids: Mapping[int, int], halves: Iterable[tuple[int, int, int]]
) -> list[_Row]:
    """First in, first out: a done op takes the oldest start op of its name and program."""
    waiting: dict[tuple[int, str], deque[tuple[int, int, int]]] = defaultdict(deque)
    rows: list[_Row] = []
    for begin, end, meta in halves:
        part, lasted = parts[meta], float(end - begin)
        open_starts = waiting[program_ids[meta], part.start]
        if part.half == "start":
            open_starts.append((begin, end, meta))
        elif open_starts:
            first, issued, start = open_starts.popleft()
            rows.append((start, meta, float(end - first), lasted, lasted + issued - first, True))
        else:  # it began before the capture
            rows.append((-1, meta, lasted, lasted, lasted, False))
    left = [half for starts in waiting.values() for half in starts]
    return rows + [(m, -1, float(e - b), NAN, float(e - b), False) for b, e, m in left]


def no_occurrences() -> Occurrences:
    """The transfers of a core that has none."""
    none = np.zeros(0, np.int64)
    return pair_halves((), {}, none, none, none)
