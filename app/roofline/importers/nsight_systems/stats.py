"""Tables that `nsys stats` writes as text: all work in the order of time, or sums by kernel.

Reports had other names until 2022 (`gputrace`, `gpukernsum`), so the columns tell a table.
"""

import re
from typing import Any

import numpy as np

from roofline.importers.nsight_systems.tables import MEMSET, copy_name
from roofline.importers.shared.databases import ABSENT, Table, Tables, numbered
from roofline.importers.shared.events import Names
from roofline.importers.shared.kernel_names import COPY, kernel_category, shown
from roofline.importers.shared.launches import Launch
from roofline.importers.shared.listed_tables import ListedTable
from roofline.model.memory import MemoryLevel

# Words of the columns that tell a table, the fullest first; those of host calls count "num calls".
TOLD_BY = (
    {"start", "duration", "corrid", "name"},
    {"total time", "instances", "category", "operation"},
    {"total time", "instances", "name"},
    {"total time", "count", "operation"},
    {"total time", "operations", "operation"},
    {"total", "count", "operation"},
    {"total", "operations", "operation"},
)
WORK, ALL_SUMS, SIZES = 0, 1, 5
"""Ranks of a list of all work, of sums of both kernels and copies, and of the first of sizes."""

_MOVE = re.compile(r"\[CUDA (?:memset|memcpy (?P<unified>unified )?(?P<way>[^\]]*))\]", re.I)
# `copyKind` of an export by the first letters of a copy's two ends; of unified memory; of others.
_WAYS, _UNIFIED, _OTHER = {"HD": 1, "DH": 2, "DD": 8, "HH": 9, "PP": 10}, {1: 11, 2: 12, 8: 13}, 99
_MEMSET, _KERNEL, _WITHIN = 0, -1, 8
# The memory or link whose bytes a memset or copy moves; of a peer's copy the link is not known.
_LEVELS = {
    _MEMSET: MemoryLevel.DRAM, _WITHIN: MemoryLevel.DRAM,
    **dict.fromkeys((1, 2, 11, 12), MemoryLevel.HOST),
}  # fmt: skip
_MEMORIES = {"pageable": 0, "pinned": 1, "device": 2, "array": 3, "managed": 4}
_ORDINAL = re.compile(r"\s*\(\d{1,4}\)\Z")
_EXPORTED = "CUPTI_ACTIVITY_KIND_"
_COLUMNS = {
    "start": "start", "duration": "lasted", "corrid": "correlationId", "bytes": "bytes",
    "grdx": "gridX", "grdy": "gridY", "grdz": "gridZ",
    "blkx": "blockX", "blky": "blockY", "blkz": "blockZ",
}  # fmt: skip


def launch_of(name: str, size: int = ABSENT, **rest: Any) -> Launch:
    """The sum of a kernel or of a kind of copy, of which the bytes may be known."""
    kind = _kind(name)
    if kind == _KERNEL:
        kernel = shown(name) or "kernel"
        return Launch(name=kernel, category=kernel_category(name), flop=None, **rest)
    moved = MEMSET if kind == _MEMSET else copy_name(kind, ABSENT, ABSENT)
    level, size = _LEVELS.get(kind), size * (2 if kind == _WITHIN else 1)
    # Sizes are in megabytes, to three digits: none left is not none moved.
    traffic = {level: size} if level and size > 0 else {}
    return Launch(name=moved, category=COPY, flop=0, traffic_bytes=traffic, **rest)


def as_export(table: ListedTable) -> Tables:
    """A list of all work as the tables of an export."""
    names, models, texts = Names(), Names(), table.texts("name")
    kinds = {text: _kind(text) for text in dict.fromkeys(texts)}
    kind = np.array([kinds[text] for text in texts], np.int64)
    numbers = {to: table.numbers(of) for of, to in _COLUMNS.items()}
    is_timed = (numbers["start"] != ABSENT) & (numbers["lasted"] != ABSENT)
    for of, to in (("srcmemkd", "srcKind"), ("dstmemkd", "dstKind")):
        memories = [_MEMORIES.get(cell.lower(), ABSENT) for cell in table.texts(of)]
        numbers[to] = np.array(memories, np.int64)
    name = names.places(texts)
    numbers |= {
        "end": numbers["start"] + numbers.pop("lasted"),
        "demangledName": name,
        "shortName": name,
        "copyKind": kind,
        "deviceId": models.places(table.texts("device")),
        "globalPid": np.zeros(len(texts), np.int64),
        # Sizes are in megabytes, to three digits: none left is not none moved.
        "bytes": np.where(numbers["bytes"] == 0, ABSENT, numbers["bytes"]),
    }
    events = Table(numbers=numbers)
    gpus = numbered([_ORDINAL.sub("", text) for text in models.texts], "name")
    gpus.numbers["cuDevice"] = gpus["id"]
    parts = {"KERNEL": kind == _KERNEL, "MEMSET": kind == _MEMSET, "MEMCPY": kind > _MEMSET}
    tables = {f"{_EXPORTED}{of}": events.selected(is_timed & mine) for of, mine in parts.items()}
    return Tables(tables | {"StringIds": numbered(names.texts, "value"), "TARGET_INFO_GPU": gpus})


def _kind(name: str) -> int:
    """`copyKind` of a copy; of a memset, a kernel."""
    match = _MOVE.match(name)
    if match is None or match["way"] is None:
        return _KERNEL if match is None else _MEMSET
    ways = "".join(re.findall("[HDAP]", match["way"])).replace("A", "D")
    kind = _WAYS.get(ways, _OTHER)
    return _UNIFIED.get(kind, kind) if match["unified"] else kind
