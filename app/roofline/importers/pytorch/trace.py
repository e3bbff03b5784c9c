"""A trace file as columns: its operators, device work, launches and steps.

About 30 bytes per operator, 50 per kernel, 20 per launch. Launches are told apart by the names of
the runtime's calls: some launch a kernel, some a whole graph. Stacks follow from the calls of
Python's functions that a trace `with_stack` has.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from itertools import islice

import numpy as np

from roofline.importers.pytorch.collectives import Message
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.shared.kernel_names import Collective
from roofline.importers.shared.nesting import NOT_FOUND, nest
from roofline.model.op_columns import I64, Bools
from roofline.model.profile import SHAPE_AXES


class Api(IntEnum):
    """The thing that a runtime call starts; `OTHER` are waiting, and whatever else there is.

    Between `CAPTURE` and `CAPTURED` launches do not run: they are recorded into a graph.
    """

    OTHER = 0
    KERNEL = 1
    GRAPH = 2
    CAPTURE = 3
    CAPTURED = 4
    COPY = 5
    FILL = 6


_NAMES = (
    (Api.GRAPH, r"graph_?launch"),
    (Api.KERNEL, r"launch_?(?:cooperative_?)?kernel|module_?launch|launch_?grid"),
    (Api.CAPTURE, r"stream_?begin_?capture"),
    (Api.CAPTURED, r"stream_?end_?capture"),
    (Api.COPY, r"memcpy"),
    (Api.FILL, r"memset"),
)
_KINDS = tuple((api, re.compile(pattern, re.IGNORECASE)) for api, pattern in _NAMES)


def api_of(name: str) -> Api:
    """The kind of a call such as `cudaLaunchKernel` or `hipGraphLaunch`."""
    return next((api for api, pattern in _KINDS if pattern.search(name)), Api.OTHER)


NO_KERNEL = -1


class Columns:
    """Named columns that grow; an array moves when it grows, so nothing is held twice."""

    def __init__(self, **typecodes: str) -> None:
        self._arrays = {name: array(code) for name, code in typecodes.items()}

    def extend(self, **values: I64) -> None:
        """Append one window's values, one array per column."""
        for name, column in self._arrays.items():
            given = np.ascontiguousarray(values[name], np.dtype(column.typecode))
            column.frombytes(given.view(np.uint8).data)

    def __getitem__(self, name: str) -> I64:
        column = self._arrays[name]
        return np.frombuffer(column, np.dtype(column.typecode))

    @property
    def spans(self) -> dict[str, I64]:
        """Begin, duration and thread of spans."""
        return {name: self[name] for name in ("begin", "duration", "thread")}

    def keep(self, is_kept: Bools) -> None:
        """Drop rows."""
        for name, column in self._arrays.items():
            self._arrays[name] = array(column.typecode, self[name][is_kept].tobytes())

    def forget(self, *names: str) -> None:
        """Free columns that are not needed any more."""
        for name in names:
            del self._arrays[name]

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))


_FORWARD_THREADS = 1 << 16


def node_id(sequence: I64, forward_thread: I64) -> I64:
    """Autograd's number of the node that an operator makes or runs, with the thread of its forward
    pass; -1: of none. An operator of a forward pass has thread 0."""
    known = (sequence >= 0) & (sequence < 2**47) & (forward_thread < _FORWARD_THREADS)
    return np.where(known, sequence * _FORWARD_THREADS + np.maximum(forward_thread, 0), -1)


def node_of(node: I64) -> tuple[I64, I64]:
    """Sequence and thread of each `node_id`; of no node they mean nothing."""
    return node // _FORWARD_THREADS, node % _FORWARD_THREADS


# Spans on threads: begin and duration in ns.
_SPANS = partial(Columns, begin="q", duration="q", thread="i")


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """One `ProfilerStep`, or a step of a server: its number, and its span on the host's clock.

    `label` is what people read; without one it is the number.
    """

    number: int
    begin_ns: int
    end_ns: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A server's mark around a step, or around the capture of a graph; on the host's clock."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(slots=True, kw_only=True, eq=False)
class Trace:
    """The kept content of one file. Times are ns of the trace's own clock.

    `work` is what devices ran, its `shape` a place in `shapes`, of which the first is
    unknown; `copied` are bytes of its copies by place, `sizes` those of launches
    by correlation, where the launch states them; `apis` are names of the runtime's calls by kind.
    `collectives` are those of device events by place, `messages` what they state. `scopes` are
    calls of modules, and ranges that the program names, `frames` calls of Python's functions and of
    modules: `name` and `caller` are places in `lines`, of which the first is unknown.
    `device_annotations` are those of servers on the device's clock.
    `kernel` of a launch is the name of what
    it launches, -1 where the launch does not say. `uses_device_memory` is looked for only where the
    machine has a device and no event is of one. `device_ids` are the devices that worked.
    Ids are kept modulo 2**32; 0 is unknown. `node` of an operator is `node_id`.
    """

    file_name: str
    header: dict[str, object] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    shapes: list[tuple[int, ...]] = field(default_factory=lambda: [(0,) * SHAPE_AXES])
    signatures: list[Signature] = field(default_factory=list)
    operators: Columns = field(
        default_factory=partial(_SPANS, signature="i", external="I", node="q")
    )
    work: Columns = field(
        default_factory=partial(
            Columns,
            begin="q",
            duration="q",
            name="i",
            correlation="I",
            external="I",
            device="h",
            kind="b",
            shape="i",
        )
    )
    launches: Columns = field(
        default_factory=partial(
            Columns, begin="q", correlation="I", thread="i", api="b", kernel="i"
        )
    )
    scopes: Columns = field(default_factory=partial(_SPANS, name="i"))
    frames: Columns = field(default_factory=partial(_SPANS, name="i", caller="i"))
    lines: list[str] = field(default_factory=lambda: [""])
    copied: Columns = field(default_factory=partial(Columns, place="q", bytes="q"))
    sizes: Columns = field(default_factory=partial(Columns, correlation="I", bytes="q"))
    steps: list[Step] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    device_annotations: list[Annotation] = field(default_factory=list)
    counters: list[dict[str, object]] = field(default_factory=list)
    collectives: dict[int, Collective] = field(default_factory=dict)
    called: Columns = field(default_factory=partial(_SPANS, moved="i"))
    stated: Columns = field(default_factory=partial(_SPANS, moved="i"))
    calls: list[Collective] = field(default_factory=list)
    messages: dict[int, Message] = field(default_factory=dict)
    other_categories: dict[str, int] = field(default_factory=dict)
    apis: dict[Api, str] = field(default_factory=dict)
    uses_device_memory: bool = False
    device_ids: frozenset[int] = frozenset()
    is_hip: bool = False
    is_cut: bool = False
    n_events: int = 0
    n_damaged: int = 0

    def keep_work(self, is_kept: Bools) -> None:
        """Drop device events."""
        place = np.cumsum(is_kept) - 1
        self.copied.keep(is_kept[self.copied["place"]])
        bytes_kept = np.array(self.copied["bytes"])
        moved = place[self.copied["place"]]
        self.copied = Columns(place="q", bytes="q")
        self.copied.extend(place=moved, bytes=bytes_kept)
        self.work.keep(is_kept)
        self.collectives = {
            int(place[at]): moved for at, moved in self.collectives.items() if is_kept[at]
        }
        self.messages = {
            int(place[at]): message for at, message in self.messages.items() if is_kept[at]
        }


MOST_FRAMES = 24
MOST_CALLS = 2_000_000
"""Of more calls of functions than this no stack is made: some would lack their inner frames."""
# `torch/nn/functional.py(2428): embedding`; functions in C have no file.
_FRAME = re.compile(r"(?P<file>.+?)\((?P<line>\d{1,9})\): (?P<function>.+)\Z")


class Stacks:
    """The stacks around points of the host's threads, by the calls of Python's functions.

    `frame` is the innermost call around each point, -1 where there is none.
    """

    def __init__(self, trace: Trace, *, point_ns: I64, point_thread: I64) -> None:
        self.frame = np.full(len(point_ns), NOT_FOUND, np.int32)
        self._frames, self._lines = trace.frames, trace.lines
        self._known = {NOT_FOUND: ""}
        if 0 < len(trace.frames) <= MOST_CALLS:
            self._outer, self.frame, _ = nest(
                **self._frames.spans, point_ns=point_ns, point_thread=point_thread
            )

    def of(self, frame: int) -> str:
        """The stack of this call, a frame per line, the innermost first."""
        if frame not in self._known:
            self._known[frame] = "\n".join(islice(self._inside_out(frame), MOST_FRAMES))
        return self._known[frame]

    def _inside_out(self, frame: int) -> Iterator[str]:
        """A trace has the first line of each function; newer ones also the line that called."""
        name, caller, called_at = self._frames["name"], self._frames["caller"], ""
        while frame >= 0:
            text = self._lines[int(name[frame])]
            if match := _FRAME.match(text):
                file, _, line = called_at.rpartition(":")
                yield f"{file}({line}): {match['function']}" if file == match["file"] else text
            called_at = self._lines[int(caller[frame])]
            frame = int(self._outer[frame])


def source_of(stack: str) -> tuple[str, int]:
    """File and line of the innermost frame; "" and -1 without one."""
    match = _FRAME.match(stack.partition("\n")[0])
    return (match["file"], int(match["line"])) if match else ("", -1)
