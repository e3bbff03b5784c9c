"""Reads one trace file into its columns.

The file is read in windows and never mapped, so that memory holds what is kept of its events and
not the file.
"""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.errors import CorruptProfileError
from roofline.importers.pytorch.collectives import called_collective, collective_of, message_of
from roofline.importers.pytorch.header import EVENTS_KEY, device_properties, read_header
from roofline.importers.pytorch.inputs import read_inputs
from roofline.importers.pytorch.json_text import ABSENT
from roofline.importers.pytorch.scan import (
    END,
    FULL,
    N_COLUMNS,
    Column,
    Kind,
    hash_of_text,
    scan_events,
)
from roofline.importers.pytorch.signatures import (
    READING_IN_CAPTURES,
    READING_VALUES,
    Signature,
    read_signature,
)
from roofline.importers.pytorch.trace import (
    MOST_CALLS,
    NO_KERNEL,
    Annotation,
    Step,
    Trace,
    api_of,
    node_id,
)
from roofline.importers.shared.kernel_names import Collective, is_collective
from roofline.importers.shared.tables_text import json_of
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64, Bools
from roofline.model.profile import SHAPE_AXES
from roofline.model.units import MIB

WINDOW_BYTES = 4 * MIB
ROWS_PER_SCAN = 32_768
MAX_EVENT_BYTES = 64 * MIB
MAX_HEADER_BYTES = 32 * MIB
MAX_DEVICES = 4_096
_STEP_NUMBER = re.compile(r"ProfilerStep\*?#?(\d{1,18})\Z")
_MAX_COUNTER_RANGES = 100_000
# The operator whose arguments say what a collective moves.
_STATING = hash_of_text("record_param_comms").view(np.int64)
_MAX_ANNOTATIONS = 100_000
_MAX_SCOPES = 1_000_000
# Of an event of memory: that of the host has the number -1.
_DEVICE_MEMORY = re.compile(rb'"Device Id"\s*:\s*\d')
_READING_VALUES, _READING_IN_CAPTURES = (
    np.sort(np.array([hash_of_text(name) for name in names], np.uint64))
    for names in (READING_VALUES, READING_IN_CAPTURES)
)


class Numbering:
    """Dense numbers for keys of 64 bits."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    @property
    def keys(self) -> frozenset[int]:
        """All keys that have a number."""
        return frozenset(self._numbers)

    def number(self, keys: I64, first_seen: Callable[[int], None]) -> I64:
        """Number of each key; `first_seen` is told the place of each new key, in number order."""
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        numbers = np.empty(len(distinct), np.int64)
        for k, key in enumerate(distinct.tolist()):
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                first_seen(int(first[k]))
            numbers[k] = self._numbers[key]
        return numbers[inverse]


def read_trace(
    source: SourceFile,
    progress: Callable[[float], None],
    *,
    has_capture: bool = False,
    keeps_arguments: bool = False,
) -> Trace:
    """Everything kept of `source`, with sizes of allocations if it `has_capture` of a graph, and
    with the texts of operators' arguments if it `keeps_arguments`.

    Raises `CorruptProfileError` if it holds no list of events.
    """
    reader = _Reader(source, progress, has_capture=has_capture, keeps_arguments=keeps_arguments)
    return reader.read()


class _Reader:
    """Windows of one file, scanned one after the other."""

    def __init__(
        self,
        source: SourceFile,
        progress: Callable[[float], None],
        *,
        has_capture: bool,
        keeps_arguments: bool,
    ) -> None:
        self._source = source
        self._keeps_arguments = keeps_arguments
        self._valued = _READING_IN_CAPTURES if has_capture else _READING_VALUES
        self._progress = progress
        self._trace = Trace(file_name=source.name)
        self._names, self._signatures, self._shapes = Numbering(), Numbering(), Numbering()
        self._threads, self._devices, self._lines = Numbering(), Numbering(), Numbering()
        self._others: dict[int, str] = {}
        self._api_hashes, self._api_kinds = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._is_collective: list[bool] = []
        self._calls: dict[tuple[str, ...], int] = {}
        self._rows = np.empty((ROWS_PER_SCAN, N_COLUMNS), np.int64)

    def read(self) -> Trace:
        """The trace."""
        with self._source.path.open("rb") as file:
            before, rest = self._find_events(file.read)
            after = self._scan_all(rest, file.readinto)
            self._trace.is_cut = after is None
            if after is not None:
                after += file.read(MAX_HEADER_BYTES)
        self._trace.header = read_header(before, after or b"")
        self._trace.uses_device_memory = self._finds_device_memory()
        self._trace.device_ids = self._devices.keys
        return self._trace

    def _finds_device_memory(self) -> bool:
        """True if memory of a listed device was allocated; events of work tell as much."""
        trace = self._trace
        if len(trace.work) or trace.apis or not device_properties(trace.header):
            return False
        return _DEVICE_MEMORY.search(self._source.data) is not None

    def _find_events(self, read: Callable[[int], bytes]) -> tuple[bytes, bytes]:
        """The text before the list of events, and the bytes that were read behind its bracket."""
        text = b""
        while len(text) < MAX_HEADER_BYTES:
            chunk = read(WINDOW_BYTES)
            text += chunk
            start = text[:16].lstrip(b"\xef\xbb\xbf \t\r\n")
            if start.startswith(b"["):
                at = text.index(b"[") + 1
                return b"{" + b'"traceEvents": [', text[at:]
            match = EVENTS_KEY.search(text)
            if match:
                return text[: match.end()], text[match.end() :]
            if not chunk:
                break
        raise CorruptProfileError(
            f"{self._source.name} has no list of trace events in its first"
            f" {len(text):,} bytes: it is cut short, or not a PyTorch trace.",
            remedy="Export the trace again, and wait until the profiler has written all of it.",
        )

    def _scan_all(self, start: bytes, readinto: Callable[[memoryview], int]) -> bytes | None:
        """Scan to the end of the list; what was read behind it, `None` if the file ends before."""
        buffer = np.zeros(max(2 * WINDOW_BYTES, len(start)), np.uint8)
        buffer[: len(start)] = np.frombuffer(start, np.uint8)
        held, done = len(start), 0
        while True:
            used, is_end = self._scan_window(buffer, held)
            done += used
            if is_end:
                return buffer[used:held].tobytes()
            buffer[: held - used] = buffer[used:held].copy()
            held -= used
            buffer = self._with_room(buffer, held, done)
            count = readinto(buffer[held:].data)
            if not count:
                return None
            held += count
            self._progress(min(1.0, done / max(self._source.size_bytes, 1)))

    def _with_room(self, buffer: NDArray[np.uint8], held: int, done: int) -> NDArray[np.uint8]:
        if len(buffer) - held >= WINDOW_BYTES:
            return buffer
        if held > MAX_EVENT_BYTES:
            raise CorruptProfileError(
                f"{self._source.name} is damaged: the event after the first {done:,} bytes of"
                " events does not end.",
                remedy="Export the trace again, or check that it was copied completely.",
            )
        larger = np.zeros(2 * len(buffer), np.uint8)
        larger[:held] = buffer[:held]
        return larger

    def _scan_window(self, buffer: NDArray[np.uint8], held: int) -> tuple[int, bool]:
        pos, counts = 0, np.zeros(4, np.int64)
        while True:
            ended = scan_events(buffer, pos, held, self._rows, self._valued, counts)
            n, events, damaged, pos = counts.tolist()
            self._trace.n_events += events
            self._trace.n_damaged += damaged
            if n:
                self._take(buffer, self._rows[:n])
            if ended != FULL:
                return pos, ended == END

    # ------------------------------------------------------------------------------- one window

    def _take(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        kind = rows[:, Column.KIND]
        self._take_operators(buffer, rows[kind == Kind.OPERATOR])
        self._take_work(
            buffer, rows[(kind == Kind.KERNEL) | (kind == Kind.MEMCPY) | (kind == Kind.MEMSET)]
        )
        self._take_launches(buffer, rows[kind == Kind.RUNTIME])
        self._take_scopes(buffer, rows[kind == Kind.SCOPE])
        self._take_frames(buffer, rows[(kind == Kind.FRAME) | (kind == Kind.SCOPE)])
        for row in rows[kind == Kind.STEP]:
            self._take_step(buffer, row)
        if (kind == Kind.COLLECTIVE).any():
            self._take_called(buffer, rows[kind == Kind.COLLECTIVE], stated=False)
        for row in rows[kind == Kind.ANNOTATION]:
            self._take_annotation(buffer, row, self._trace.annotations)
        for row in rows[kind == Kind.DEVICE_ANNOTATION]:
            self._take_annotation(buffer, row, self._trace.device_annotations)
        for row in rows[kind == Kind.COUNTERS]:
            self._take_counters(buffer, row)
        self._take_others(buffer, rows[kind == Kind.OTHER])

    def _take_operators(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        if not len(rows):
            return
        states = rows[:, Column.NAME_HASH] == _STATING
        if states.any():
            self._take_called(buffer, rows[states], stated=True)
        signature = self._signatures.number(
            rows[:, Column.SIGNATURE],
            lambda k: self._trace.signatures.append(self._signature_of(buffer, rows[k])),
        )
        self._trace.operators.extend(
            **self._spans(rows),
            signature=signature,
            external=_id(rows, Column.EXTERNAL_ID),
            node=node_id(rows[:, Column.SEQUENCE], rows[:, Column.FORWARD_THREAD]),
        )

    def _signature_of(self, buffer: NDArray[np.uint8], row: I64) -> Signature:
        found = signature_of(buffer, row)
        if self._keeps_arguments:
            found = replace(found, recorded=text_of(buffer, row, Column.ARGS_AT))
        return found

    def _take_work(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        if not len(rows):
            return
        name = self._numbered(buffer, rows, Column.NAME_AT)
        device = np.where(rows[:, Column.DEVICE] >= 0, rows[:, Column.DEVICE], rows[:, Column.PID])
        at = np.flatnonzero((rows[:, Column.KIND] != Kind.KERNEL) & (rows[:, Column.BYTES] >= 0))
        place = at + len(self._trace.work)
        self._trace.copied.extend(place=place, bytes=rows[at, Column.BYTES])
        self._take_collectives(buffer, rows, name)
        self._trace.work.extend(
            begin=rows[:, Column.BEGIN_NS],
            duration=rows[:, Column.DURATION_NS],
            name=name,
            correlation=_id(rows, Column.CORRELATION),
            external=_id(rows, Column.EXTERNAL_ID),
            device=self._device(device),
            kind=rows[:, Column.KIND],
            shape=self._shape(buffer, rows),
        )

    def _numbered(self, buffer: NDArray[np.uint8], rows: I64, column: Column) -> I64:
        """The numbers of the names of `column`, whose hashes stand behind them."""
        return self._names.number(
            rows[:, column + 2],
            lambda k: self._trace.names.append(name_of(buffer, rows[k], column)),
        )

    def _shape(self, buffer: NDArray[np.uint8], rows: I64) -> I64:
        """The place of each kernel's launch shape; 0 where its event has none."""
        result = np.zeros(len(rows), np.int64)
        known = np.flatnonzero(rows[:, Column.SHAPE_HASH] != ABSENT)
        if len(known):
            these = rows[known]
            result[known] = 1 + self._shapes.number(
                these[:, Column.SHAPE_HASH],
                lambda k: self._trace.shapes.append(_shape_of(buffer, these[k])),
            )
        return result

    def _device(self, device: I64) -> I64:
        numbers = self._devices.number(device, lambda _: None)
        if int(numbers.max()) > MAX_DEVICES:
            raise CorruptProfileError(
                f"{self._source.name} names more than {MAX_DEVICES:,} devices: it is damaged.",
                remedy="Export the trace again.",
            )
        return numbers

    def _take_collectives(self, buffer: NDArray[np.uint8], rows: I64, name: I64) -> None:
        """The messages that kernels of communication describe."""
        known = len(self._is_collective)
        self._is_collective += [is_collective(text) for text in self._trace.names[known:]]
        for at in np.flatnonzero(np.array(self._is_collective, np.bool_)[name]).tolist():
            text = text_of(buffer, rows[at], Column.ARGS_AT)
            arguments = json_of(text) if "Collective name" in text else None
            stated = arguments if isinstance(arguments, dict) else {}
            place = at + len(self._trace.work)
            self._trace.collectives[place] = collective_of(self._trace.names[name[at]], stated)
            if stated:
                self._trace.messages[place] = message_of(stated)

    def _take_called(self, buffer: NDArray[np.uint8], rows: I64, *, stated: bool) -> None:
        """Collectives as the host called them. Those with the same texts are read once.

        `stated`: with arguments that say what is moved, else with their inputs.
        """
        places = (Column.ARGS_AT,) if stated else (Column.DIMS_AT, Column.TYPES_AT)
        moved = []
        for row in rows:
            texts = tuple(text_of(buffer, row, place) for place in (Column.NAME_AT, *places))
            if texts not in self._calls:
                self._calls[texts] = len(self._trace.calls)
                self._trace.calls.append(stated_of(*texts) if stated else called_of(*texts))
            moved.append(self._calls[texts])
        (self._trace.stated if stated else self._trace.called).extend(
            **self._spans(rows), moved=np.array(moved, np.int64)
        )

    def _take_launches(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        # The kind of each runtime call; the trace keeps one name of each kind.
        hashes = rows[:, Column.NAME_HASH]
        unseen = ~np.isin(hashes, self._api_hashes)
        if unseen.any():
            self._learn_apis(buffer, rows[unseen])
        api = self._api_kinds[np.searchsorted(self._api_hashes, hashes)]
        known = rows[:, Column.CORRELATION] > 0
        if not known.all():
            rows, api = rows[known], api[known]
        if not len(rows):
            return
        if not self._trace.is_hip:
            self._trace.is_hip = text_of(buffer, rows[0], Column.NAME_AT).startswith("hip")
        self._trace.launches.extend(
            begin=rows[:, Column.BEGIN_NS],
            correlation=_id(rows, Column.CORRELATION),
            thread=self._thread(rows),
            api=api,
            kernel=self._launched(buffer, rows),
        )
        sized = rows[rows[:, Column.BYTES] >= 0]
        self._trace.sizes.extend(
            correlation=_id(sized, Column.CORRELATION), bytes=sized[:, Column.BYTES]
        )

    def _launched(self, buffer: NDArray[np.uint8], rows: I64) -> I64:
        """Number of the kernel that each launch names."""
        result = np.full(len(rows), NO_KERNEL)
        named = np.flatnonzero(rows[:, Column.KERNEL_LEN] > 0)
        if len(named):
            result[named] = self._numbered(buffer, rows[named], Column.KERNEL_AT)
        return result

    def _learn_apis(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        hashes, first = np.unique(rows[:, Column.NAME_HASH], return_index=True)
        names = [name_of(buffer, rows[at]) for at in first.tolist()]
        kinds = [api_of(name) for name in names]
        for kind, name in zip(kinds, names, strict=True):
            self._trace.apis.setdefault(kind, name)
        known = np.concatenate([self._api_hashes, hashes])
        order = np.argsort(known)
        self._api_hashes = known[order]
        self._api_kinds = np.concatenate([self._api_kinds, np.array(kinds, np.int64)])[order]

    def _thread(self, rows: I64) -> I64:
        # Pairs of ids as one key; ids that are texts are hashes already.
        keys = rows[:, Column.PID] * np.int64(0x9E3779B97F4A7C1) + rows[:, Column.TID]
        return self._threads.number(keys, lambda _: None)

    def _spans(self, rows: I64) -> dict[str, I64]:
        return {
            "begin": rows[:, Column.BEGIN_NS],
            "duration": rows[:, Column.DURATION_NS],
            "thread": self._thread(rows),
        }

    def _take_scopes(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        if not len(rows) or len(self._trace.scopes) >= _MAX_SCOPES:
            return
        name = self._numbered(buffer, rows, Column.NAME_AT)
        self._trace.scopes.extend(**self._spans(rows), name=name)

    def _take_frames(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        """Calls of Python's functions; those without a file, as in C, only name their caller."""
        if not len(rows) or len(self._trace.frames) > MOST_CALLS:
            return
        first = buffer[rows[:, Column.NAME_AT]]
        has_file = (rows[:, Column.KIND] == Kind.FRAME) & (first != ord("<"))
        self._trace.frames.extend(
            **self._spans(rows),
            name=self._lines_of(buffer, rows, has_file, Column.NAME_AT),
            caller=self._lines_of(buffer, rows, rows[:, Column.KERNEL_LEN] > 0, Column.KERNEL_AT),
        )

    def _lines_of(self, buffer: NDArray[np.uint8], rows: I64, known: Bools, column: Column) -> I64:
        """The places in `lines` of the texts of `column`, whose hashes stand behind them."""
        result = np.zeros(len(rows), np.int64)
        these = rows[known]
        if len(these):
            result[known] = 1 + self._lines.number(
                these[:, column + 2],
                lambda k: self._trace.lines.append(name_of(buffer, these[k], column)),
            )
        return result

    def _take_step(self, buffer: NDArray[np.uint8], row: I64) -> None:
        match = _STEP_NUMBER.match(text_of(buffer, row, Column.NAME_AT))
        if match:
            begin = int(row[Column.BEGIN_NS])
            end = begin + int(row[Column.DURATION_NS])
            step = Step(number=int(match.group(1)), begin_ns=begin, end_ns=end)
            self._trace.steps.append(step)

    def _take_annotation(self, buffer: NDArray[np.uint8], row: I64, into: list[Annotation]) -> None:
        if len(into) < _MAX_ANNOTATIONS:
            begin = int(row[Column.BEGIN_NS])
            end = begin + int(row[Column.DURATION_NS])
            name = name_of(buffer, row)
            into.append(Annotation(name=name, begin_ns=begin, end_ns=end))

    def _take_counters(self, buffer: NDArray[np.uint8], row: I64) -> None:
        if len(self._trace.counters) >= _MAX_COUNTER_RANGES:
            return
        counters = json_of(text_of(buffer, row, Column.ARGS_AT))
        if isinstance(counters, dict):
            self._trace.counters.append(counters)

    def _take_others(self, buffer: NDArray[np.uint8], rows: I64) -> None:
        hashes, first, count = np.unique(
            rows[:, Column.CATEGORY_HASH], return_index=True, return_counts=True
        )
        for key, at, n in zip(hashes.tolist(), first.tolist(), count.tolist(), strict=True):
            if key not in self._others:
                self._others[key] = text_of(buffer, rows[at], Column.CATEGORY_AT)[:80]
            label = self._others[key]
            known = self._trace.other_categories
            known[label] = known.get(label, 0) + n


def _shape_of(buffer: NDArray[np.uint8], row: I64) -> tuple[int, ...]:
    """Grid and block of a kernel; zeros where they are not three whole numbers each."""
    found = [json_of(text_of(buffer, row, column)) for column in (Column.GRID_AT, Column.BLOCK_AT)]
    sizes = [size for extent in found if isinstance(extent, list) for size in extent]
    is_sound = len(sizes) == SHAPE_AXES and all(
        type(size) is int and 0 < size < 2**31 for size in sizes
    )
    return tuple(sizes) if is_sound else (0,) * SHAPE_AXES


def _id(rows: I64, column: Column) -> I64:
    """Ids in 32 bits, 0 where there is none."""
    return np.maximum(rows[:, column], 0) & 0xFFFFFFFF


_MAX_NAME_CHARACTERS = 2_000


def text_of(buffer: NDArray[np.uint8], row: I64, column: Column) -> str:
    """The text whose place stands in `column` and whose length in the next; "" without one."""
    at, length = int(row[column]), int(row[column + 1])
    return buffer[at : at + length].tobytes().decode("utf-8", "replace") if length > 0 else ""


def called_of(name: str, dims: str, types: str) -> Collective:
    """The collective that a call with these inputs starts."""
    shapes, spelled = (json_of(text) if text else None for text in (dims, types))
    inputs = read_inputs(name, dims=shapes, types=spelled, strides=None, values=None)
    return called_collective(name, inputs.tensors)


def stated_of(name: str, arguments: str) -> Collective:
    """The collective that an operator's own arguments describe."""
    stated = json_of(arguments) if "Collective name" in arguments else None
    return collective_of(name, stated if isinstance(stated, dict) else {})


def name_of(buffer: NDArray[np.uint8], row: I64, column: Column = Column.NAME_AT) -> str:
    """The name as text: escapes resolved where they are valid, and nothing unprintable."""
    raw = text_of(buffer, row, column)
    unescaped = json_of(f'"{raw}"') if "\\" in raw else raw
    shown = unescaped if isinstance(unescaped, str) else raw
    printable = "".join(ch if ch.isprintable() else " " for ch in shown[:_MAX_NAME_CHARACTERS])
    return printable.encode("utf-8", "replace").decode().strip() or "(no name)"


def signature_of(buffer: NDArray[np.uint8], row: I64) -> Signature:
    """The operator of an event, with the costs that follow from its inputs."""

    def value(column: Column) -> object:
        text = text_of(buffer, row, column)
        return json_of(text) if text else None

    return read_signature(
        name_of(buffer, row),
        dims=value(Column.DIMS_AT),
        types=value(Column.TYPES_AT),
        strides=value(Column.STRIDES_AT),
        values=value(Column.VALUES_AT),
        flop=int(row[Column.FLOP]),
        moved_bytes=int(row[Column.KERNEL_BYTES]),
    )
