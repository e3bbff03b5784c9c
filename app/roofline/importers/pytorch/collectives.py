"""Collectives and copies in a Kineto trace: what was moved, over which link, by how many ranks.

A kernel's name is not the collective: several run as `ncclKernel_SendRecv`. What torch writes into
the kernel's arguments counts first (`Collective name`, `In msg nelems`, `Group size`, `dtype`).
"""

import re
from collections.abc import Mapping

from roofline.importers.pytorch.header import device_properties, whole
from roofline.importers.shared.collectives import NAN, Collective, kind_by_kernel
from roofline.model.memory import MemoryLevel

_BY_NAME = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "send": "send",
    "recv": "recv",
}
_DTYPE_BYTES = {
    **dict.fromkeys(("double", "long"), 8),
    **dict.fromkeys(("float", "int"), 4),
    **dict.fromkeys(("half", "bfloat16", "short"), 2),
    **dict.fromkeys(("byte", "char", "bool", "float8_e4m3fn", "float8_e5m2"), 1),
}


def collective_of(kernel: str, arguments: Mapping[str, object]) -> Collective:
    """What a kernel of communication moves, by its arguments, else by its name."""
    stated = arguments.get("Collective name")
    if not isinstance(stated, str):
        return Collective(kind_by_kernel(kernel))
    kind = _kind_by_name(stated)
    elements = whole(arguments.get(f"{'Out' if kind == 'all-gather' else 'In'} msg nelems"))
    size = _DTYPE_BYTES.get(str(arguments.get("dtype")).lower())
    payload = float(elements * size) if elements and size else NAN
    return Collective(kind, payload, whole(arguments.get("Group size")) or 0)


def _kind_by_name(stated: str) -> str:
    letters = re.sub(r"[^a-z]", "", stated.lower())
    return next((kind for key, kind in _BY_NAME.items() if letters.startswith(key)), "collective")


def copy_direction(copy: str) -> str:
    """ "in" (to the device) or "out" for a copy from or to the host; "" for any other."""
    if "HtoD" in copy:
        return "in"
    return "out" if "DtoH" in copy else ""


def link_of(header: Mapping[str, object], *, is_hip: bool) -> MemoryLevel | None:
    """The link between devices where all ranks fit on this host; `None` where it is not known."""
    job = header.get("distributedInfo")
    ranks = whole(job.get("world_size")) if isinstance(job, Mapping) else None
    if not ranks or ranks > len(device_properties(header)):
        return None
    return MemoryLevel.XGMI if is_hip else MemoryLevel.NVLINK
