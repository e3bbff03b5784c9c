"""Linux's description of this machine: processor, threads, caches, memory.

Elsewhere caches stay unknown, and only compute and main memory are measured.
"""

import os
import platform
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from roofline.model.memory import MemoryLevel
from roofline.model.units import GIB, KIB, MIB

_CPU_INFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LEVELS = {1: MemoryLevel.L1, 2: MemoryLevel.L2, 3: MemoryLevel.LLC}
_VENDORS = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}
_SUFFIXES = {"K": KIB, "M": MIB, "G": GIB}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A data cache: capacity in bytes, and how many logical processors share it."""

    level: MemoryLevel
    size_bytes: int
    shared_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine. `threads` is how many logical processors this process may use."""

    hostname: str
    cpu: str
    vendor: str
    threads: int
    memory_bytes: int
    caches: tuple[Cache, ...]


def this_machine() -> Machine:
    """The operating system's description of this machine."""
    info = _cpu_info()
    vendor = info.get("vendor_id", "")
    return Machine(
        hostname=socket.gethostname(),
        cpu=info.get("model name") or platform.processor() or platform.machine() or "CPU",
        vendor=_VENDORS.get(vendor, vendor),
        threads=_threads(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        caches=tuple(read_caches(_CACHES)),
    )


def read_caches(folder: Path) -> Iterator[Cache]:
    """Data and unified caches listed in a sysfs folder, inner first; none where it is missing."""
    for index in sorted(folder.glob("index*")):
        level = _LEVELS.get(int(_line(index / "level") or 0))
        size = re.fullmatch(r"(\d+)([KMG])", _line(index / "size"))
        if level and size and _line(index / "type") in ("Data", "Unified"):
            yield Cache(
                level=level,
                size_bytes=int(size[1]) * _SUFFIXES[size[2]],
                shared_by=_count(_line(index / "shared_cpu_list")),
            )


def _threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_info() -> dict[str, str]:
    """The first processor's entries."""
    try:
        first = _CPU_INFO.read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _count(ranges: str) -> int:
    """How many processors "0-3,8" lists; 1 where nothing is listed."""
    count = 0
    for one in filter(None, ranges.split(",")):
        low, _, high = one.partition("-")
        count += int(high or low) - int(low) + 1
    return max(1, count)
