"""One database of rocprofv3 (rocpd, schema 3): the same processes as its JSON results hold.

Every process has tables of its own, `rocpd_NAME` and the process's UUID; ids are local to them.
The views of the file are never used. A dispatch and the HIP call that launched it have events with
one `stack_id`; correlation ids are 0 in ROCm 7.1. `rocpd_info_process`, which has the environment
and the command line, is never read.
"""

import json
from collections.abc import Mapping

import numpy as np

from roofline.importers.rocprofiler_sdk.document import (
    MARKER,
    Agent,
    Copy,
    Dispatch,
    Process,
    Ranges,
    agent_of,
    kernel_name,
    paths,
    shape_of,
)
from roofline.importers.shared.databases import ABSENT, Database, Table
from roofline.importers.source import SourceFile
from roofline.model.op_columns import I64
from roofline.model.profile import distinct_shapes
from roofline.model.units import NS_PER_S

PREFIX = "rocpd_"
_DISPATCHES, _COPIES = f"{PREFIX}kernel_dispatch", f"{PREFIX}memory_copy"
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_SIZES = tuple(f"{of}_size_{axis}" for of in ("grid", "workgroup") for axis in "xyz")


def read_database(source: SourceFile) -> list[Process]:
    """The processes in `source`. Raises `CorruptProfileError` for damage."""
    database = Database(source)
    suffixes = dict.fromkeys(
        name.removeprefix(kind)
        for name in sorted(database.tables)
        for kind in (_DISPATCHES, _COPIES)
        if name.startswith(kind)
    )
    return [_Set(database, suffix).process(source.name) for suffix in suffixes]


class _Set:
    """The tables of one process."""

    def __init__(self, database: Database, suffix: str) -> None:
        self._database, self._suffix = database, suffix
        strings = self._read("string", needed=("id",), texts=("string",))
        self._strings = dict(zip(strings["id"].tolist(), strings.texts["string"], strict=True))

    def _read(
        self,
        name: str,
        *,
        needed: tuple[str, ...],
        optional: tuple[str, ...] = (),
        texts: tuple[str, ...] = (),
        reals: tuple[str, ...] = (),
    ) -> Table:
        return self._database.read(
            f"{PREFIX}{name}{self._suffix}",
            needed=needed,
            optional=optional,
            texts=texts,
            reals=reals,
        )

    def process(self, file_name: str) -> Process:
        agents, is_gpu = self._agents()
        dispatches, pid = self._dispatches()
        return Process(
            file_name=file_name,
            pid=pid,
            agents=agents,
            dispatches=dispatches,
            copies=self._copies(is_gpu),
        )

    def _agents(self) -> tuple[dict[int, Agent], dict[int, bool]]:
        table = self._read(
            "info_agent",
            needed=("id",),
            texts=("type", "name", "product_name", "user_name", "extdata"),
        )
        agents, is_gpu, texts = {}, {}, table.texts
        for at, number in enumerate(table["id"].tolist()):
            is_gpu[number] = texts["type"][at] == "GPU"
            if is_gpu[number]:
                named = texts["product_name"][at] or texts["user_name"][at]
                described = {"name": texts["name"][at], "product_name": named}
                agents[number] = agent_of({**_object(texts["extdata"][at]), **described})
        return agents, is_gpu

    def _kernels(self) -> dict[int, str]:
        table = self._read(
            "info_kernel_symbol",
            needed=("id",),
            texts=("display_name", "kernel_name", "extdata"),
        )
        names = {}
        for at, number in enumerate(table["id"].tolist()):
            row = {name: column[at] for name, column in table.texts.items()}
            names[number] = kernel_name({**row, **_object(row["extdata"])})
        return names

    def _dispatches(self) -> tuple[list[Dispatch], int]:
        needed = ("start", "end", "agent_id", "kernel_id", "dispatch_id")
        table = self._read("kernel_dispatch", needed=needed, optional=("event_id", "pid", *_SIZES))
        names, counters = self._kernels(), self._counters()
        calls = self._calls(table["event_id"])
        sizes = distinct_shapes(np.stack([table[name] for name in _SIZES], axis=1))
        shapes = [_shape(row) for row in sizes["shapes"].tolist()]
        around = self._paths(calls)
        columns = [table[name].tolist() for name in (*needed, "event_id")]
        rows = zip(*columns, sizes["shape"].tolist(), calls["start"].tolist(), strict=True)
        result = []
        for at, (start, end, agent, kernel, number, event, size, launched) in enumerate(rows):
            grid, shape = shapes[size]
            result.append(
                Dispatch(
                    kernel=names.get(kernel) or f"kernel {kernel}",
                    agent=agent,
                    number=number,
                    grid=grid,
                    shape=shape,
                    times=(start, end) if 0 < end - start < _LONGEST_NS and start >= 0 else None,
                    counters=counters.get(event, {}),
                    launched_ns=launched if launched >= 0 else None,
                    path=around[at],
                )
            )
        pid = int(table["pid"][0]) if len(table) and table["pid"][0] != ABSENT else 0
        return result, pid

    def _calls(self, event: I64) -> dict[str, I64]:
        """Start and thread of the call whose event has the stack of each of these events; -1 where
        that is unknown."""
        events = self._read("event", needed=("id", "stack_id"))
        stack_of = _Lookup(events["id"], events["stack_id"])
        regions = self._read("region", needed=("start", "event_id"), optional=("tid",))
        order = np.argsort(regions["start"], kind="stable")
        stacks = stack_of(regions["event_id"][order])
        called = stacks > 0
        stack = stack_of(event)
        return {
            name: _Lookup(stacks[called], regions[name][order][called])(stack)
            for name in ("start", "tid")
        }

    def _paths(self, calls: Mapping[str, I64]) -> list[str]:
        """The ranges of roctx around each call."""
        events = self._read("event", needed=("id",), optional=("category_id",))
        columns = ("tid", "start", "end", "name_id", "event_id")
        regions = self._read("region", needed=("start", "event_id"), optional=columns)
        kinds = _Lookup(events["id"], events["category_id"])(regions["event_id"])
        markers = [
            number
            for number in np.unique(kinds).tolist()
            if (self._strings.get(number) or "").startswith(MARKER)
        ]
        marked = np.flatnonzero(np.isin(kinds, markers))
        named, name = np.unique(regions["name_id"][marked], return_inverse=True)
        ranges = Ranges(
            thread=regions["tid"][marked],
            begin=regions["start"][marked],
            end=regions["end"][marked],
            name=name,
            names=[self._strings.get(number) or "" for number in named.tolist()],
        )
        return paths(ranges, calls["tid"], calls["start"])

    def _counters(self) -> dict[int, dict[str, float]]:
        """Counters by event; one counter has a row per instance of its block."""
        kinds = self._read("info_pmc", needed=("id",), texts=("symbol", "name"))
        names = {
            number: kinds.texts["symbol"][at] or kinds.texts["name"][at] or ""
            for at, number in enumerate(kinds["id"].tolist())
        }
        table = self._read("pmc_event", needed=("event_id", "pmc_id"), reals=("value",))
        result: dict[int, dict[str, float]] = {}
        rows = zip(
            table["event_id"].tolist(), table["pmc_id"].tolist(), table.reals["value"], strict=True
        )
        for event, kind, value in rows:
            name = names.get(kind, "")
            if name and 0 <= value < 2**62:
                mine = result.setdefault(event, {})
                mine[name] = mine.get(name, 0.0) + value
        return result

    def _copies(self, is_gpu: Mapping[int, bool]) -> list[Copy]:
        needed = ("start", "end", "size", "src_agent_id", "dst_agent_id")
        table = self._read("memory_copy", needed=needed, optional=("name_id",))
        rows = zip(*(table[name].tolist() for name in (*needed, "name_id")), strict=True)
        result = []
        for start, end, size, source, target, name in rows:
            ends = ["DEVICE" if is_gpu.get(agent) else "HOST" for agent in (source, target)]
            result.append(
                Copy(
                    name=self._strings.get(name) or f"MEMORY_COPY_{ends[0]}_TO_{ends[1]}",
                    agent=target if is_gpu.get(target) else source,
                    times=(start, end) if 0 < end - start < _LONGEST_NS and start >= 0 else None,
                    size=size if 0 <= size < 2**62 else None,
                )
            )
        return result


def _shape(sizes: list[int]) -> tuple[str, tuple[int, ...]]:
    """Of a grid and a workgroup: the grid in words, and workgroups and work items of one."""
    grid = "x".join(map(str, sizes[:3])) if min(sizes) > 0 else ""
    return grid, shape_of(sizes[:3], sizes[3:])


class _Lookup:
    """Numbers by id; of equal ids the first counts, and unknown ones give -1."""

    def __init__(self, ids: I64, values: I64) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, self._values = ids[order], np.append(values[order], -1)

    def __call__(self, wanted: I64) -> I64:
        at = np.searchsorted(self._ids, wanted)
        known = at < len(self._ids)
        if len(self._ids):
            known &= self._ids[np.where(known, at, 0)] == wanted
        return self._values[np.where(known, at, -1)]


def _object(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
