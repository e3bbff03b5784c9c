"""The use of a GPU's time by events of its streams: work, communication, copies, infeed.

An HLO instruction's opcode decides, then the kernel's name. Copies tell their direction by name and
their size in `memcpy_details`. AMD's `__amd_rocclr_copyBuffer` tells neither: it is work.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.shared.kernel_names import (
    NAN,
    Collective,
    is_collective,
    is_of_library,
    kind_by_kernel,
)
from roofline.importers.shared.op_tables import OpLabels
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    HOST_COPY,
    INFEED_OUTFEED,
    WORK,
    Link,
)
from roofline.importers.xspace.event_scan import Events
from roofline.importers.xspace.hlo.handlers import collective_of, fits_on_host
from roofline.importers.xspace.hlo.ops import Programs
from roofline.importers.xspace.messages import Line
from roofline.importers.xspace.planes import Plane
from roofline.importers.xspace.texts import TextNumbers
from roofline.model.categories import is_infeed_outfeed
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I8, I32, I64
from roofline.model.profile import distinct

DETAILS = "memcpy_details"
_HOST_COPY = re.compile(r"(?i)(?:cuda)?memcpy(?:(h2d|htod)|d2h|dtoh)")
_SIZE = re.compile(r"(?:\A|\s)size:(\d{1,18})(?!\d)")
_STREAM = "Stream #"
_NOT_READ = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLinks:
    """How the GPUs of one host are connected: a link between them, for groups that fit on it."""

    n_gpus: int
    link: MemoryLevel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moves:
    """The role of a GPU's events (-1: on no stream), and the number of each transfer (-1: none)
    in `moved`, over the link at the same place of `links`."""

    kind: I8
    transfer: I32
    moved: tuple[Collective, ...]
    links: tuple[Link, ...]


def is_stream(line: Line) -> bool:
    """True for a line of what ran, not one that was derived from others."""
    return line.name.startswith(_STREAM)


class StreamMoves:
    """Takes one GPU's events piece by piece, after their ops are known."""

    def __init__(
        self, plane: Plane, programs: Programs, host: HostLinks, labels: Sequence[OpLabels]
    ) -> None:
        self._programs, self._host, self._labels = programs, host, labels
        self._details = TextNumbers(plane)
        self._names = (*plane.event_names, "")  # -1, an unknown event, has no name
        # Most names of a file are of other lines' events: a name is read when a stream has it.
        self._kind_of_name = np.full(len(self._names), _NOT_READ, np.int8)
        self._is_of_library = np.zeros(len(self._names), np.bool_)
        self._kind_of_op: list[int] = []  # by label; -1 where kernels' names tell
        self._of_op: dict[int, tuple[Collective, Link]] = {}
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._moved: list[Collective] = []
        self._links: list[Link] = []
        self._kind: list[I8] = []
        self._transfer: list[I32] = []

    def take(self, events: Events, op: I64, *, is_stream: bool) -> None:
        """The next events of a line, whose ops are numbered by `op`."""
        kind, transfer = np.full(len(events), -1, np.int8), np.full(len(events), -1, np.int32)
        if is_stream:
            kind = self._kinds(events.meta, op)
            rows = np.flatnonzero((kind == COMMUNICATION) | (kind == HOST_COPY))
            if len(rows):
                transfer[rows] = self._transfers(events, op, kind, rows)
        self._kind.append(kind)
        self._transfer.append(transfer)

    def result(self) -> Moves:
        """All events so far."""
        return Moves(
            kind=np.concatenate([np.zeros(0, np.int8), *self._kind]),
            transfer=np.concatenate([np.zeros(0, np.int32), *self._transfer]),
            moved=tuple(self._moved),
            links=tuple(self._links),
        )

    def _kinds(self, meta: I32, op: I64) -> I8:
        for label in self._labels[len(self._kind_of_op) :]:
            self._kind_of_op.append(self._read_op(label))
        by_name = self._kinds_of_names(meta)
        by_op = np.array([*self._kind_of_op, -1], np.int8)[op]
        # A copy names its direction and size, a library what it does; else the op knows best.
        is_sure = (by_name == HOST_COPY) | (self._is_of_library[meta] & (by_op == WORK))
        kind: I8 = np.where(is_sure | (by_op < 0), by_name, by_op)
        return kind

    def _kinds_of_names(self, meta: I32) -> I8:
        unread = meta[self._kind_of_name[meta] == _NOT_READ]
        for number in np.unique(unread).tolist() if len(unread) else ():
            self._kind_of_name[number] = _kind_of_name(self._names[number])
            self._is_of_library[number] = is_of_library(self._names[number])
        kinds: I8 = self._kind_of_name[meta]
        return kinds

    def _read_op(self, label: OpLabels) -> int:
        """Kind of an op; -1 where no program describes it."""
        if is_infeed_outfeed(label.category):
            return INFEED_OUTFEED
        module = self._programs.module(label.program_id) if label.long_name else None
        instruction = module.by_name.get(label.name) if module is not None else None
        if instruction is None:
            return -1
        collective = collective_of(instruction)
        if collective is None:
            return WORK
        fits = fits_on_host(instruction, self._host.n_gpus)
        self._of_op[len(self._kind_of_op)] = collective, self._host.link if fits else None
        return COMMUNICATION

    def _transfers(self, events: Events, op: I64, kind: I8, rows: I64) -> I64:
        """Number of what each of the rows moves; the loop is over distinct ones."""
        details = self._details.number(events.stats.get(DETAILS), len(events))[rows]
        is_copy = kind[rows] == HOST_COPY
        # A copy is told by its name and size, a collective by its op and name.
        first = np.where(is_copy, -1, op[rows]) + 1
        second = events.meta[rows].astype(np.int64) + 1
        third = np.where(is_copy, details, -1) + 1
        n_second, n_third = len(self._names) + 1, len(self._details.texts) + 1
        keys = (first * n_second + second) * n_third + third
        distinct_keys, of_row = distinct(keys)
        numbers = [
            self._number(key // n_third // n_second - 1, key // n_third % n_second - 1,
                         key % n_third - 1)
            for key in distinct_keys.tolist()
        ]  # fmt: skip
        return np.array(numbers, np.int64)[of_row]

    def _number(self, op: int, meta: int, detail: int) -> int:
        key = (op, meta, detail)
        if key not in self._numbers:
            self._numbers[key] = len(self._moved)
            collective, link = self._described(op, self._names[meta], detail)
            self._moved.append(collective)
            self._links.append(link)
        return self._numbers[key]

    def _described(self, op: int, name: str, detail: int) -> tuple[Collective, Link]:
        copy = _HOST_COPY.match(name)
        if copy is not None:
            size = _SIZE.search(self._details.texts[detail]) if detail >= 0 else None
            payload = float(size[1]) if size is not None else NAN
            return Collective("in" if copy[1] else "out", payload), MemoryLevel.HOST
        return self._of_op.get(op, (Collective(kind_by_kernel(name)), None))


def _kind_of_name(name: str) -> int:
    if _HOST_COPY.match(name) is not None:
        return HOST_COPY
    return COMMUNICATION if is_collective(name) else WORK
