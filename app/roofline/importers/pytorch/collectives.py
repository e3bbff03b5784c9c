"""Collectives and copies in a Kineto trace: what was moved, over which link, by how many ranks.

A kernel's name is not the collective: several run as `ncclKernel_SendRecv`. What torch writes into
the kernel's arguments counts first (`Collective name`, `In msg nelems`, `Group size`, `dtype`),
then what the calls around its launch tell (`attribution.py`). NCCL records the bytes of each call
as the payload of an NVTX range.
"""

import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.importers.pytorch.header import device_properties, whole
from roofline.importers.pytorch.inputs import Tensor, total_bytes
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.shared.kernel_names import NAN, UNKNOWN_KIND, Collective, kind_by_kernel
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
# In front of the collective's name: `nccl:`, `c10d::`, `symm_mem::multimem_`, `_C_custom_ar::`.
_LIBRARY = re.compile(r"\A(?:.*:)?(?:multimem_|one_shot_|two_shot_)?")
_LIBRARIES = ("c10d::", "symm_mem::", "_c10d_functional::", "c10d_functional::", "_C_custom_ar::",
              "vllm::all_", "vllm::reduce_scatter", "sgl_kernel::all_reduce")  # fmt: skip
# Element types in torch's words for a message: in XLA's notation, and in bytes.
_TYPES = {
    "double": ("f64", 8),
    "float": ("f32", 4),
    "half": ("f16", 2),
    "bfloat16": ("bf16", 2),
    "long": ("s64", 8),
    "int": ("s32", 4),
    "short": ("s16", 2),
    "char": ("s8", 1),
    "byte": ("u8", 1),
    "bool": ("pred", 1),
    "float8_e4m3fn": ("f8e4m3fn", 1),
    "float8_e5m2": ("f8e5m2", 1),
}
_RANK_CHARACTERS = 2_000
# What stands before a payload in exports of 2026: domain, schema, its size and that of both (found
# by nsys-ai, `nccl_payload_breakdown`). Bytes of a field by its type: 32 bits, an id, a size.
_PAYLOAD = struct.Struct("<I4xI4xQQ")
_FIELD_BYTES, _NOT_READ = {5: 4, 18: 8, 22: 8}, 2**62
_COMMUNICATOR, _RANKS, _SIZE = "NCCL communicator ID", "No. of ranks", "Message size [bytes]"
_MOST_BYTES = 2**50
# The payload of these is of all ranks together.
_OF_ALL_RANKS, _PAIRS = ("all-gather", "reduce-scatter", "all-to-all"), ("send", "recv")


@dataclass(frozen=True, slots=True)
class Message:
    """The message that a kernel's arguments describe, in XLA's notation, and who takes part.

    `ranks` is the text of the trace. Texts are empty and the size is 0 where they do not say.
    """

    sent: str
    received: str
    ranks: str
    group_size: int


def message_of(arguments: Mapping[str, object]) -> Message:
    """The message of a kernel of communication."""
    kind, _ = _type(arguments)
    ranks = arguments.get("Process Group Ranks")
    return Message(
        sent=_elements(kind, whole(arguments.get("In msg nelems"))),
        received=_elements(kind, whole(arguments.get("Out msg nelems"))),
        ranks=ranks[:_RANK_CHARACTERS] if isinstance(ranks, str) else "",
        group_size=max(whole(arguments.get("Group size")) or 0, 0),
    )


def _type(arguments: Mapping[str, object]) -> tuple[str, int]:
    """The element type in XLA's notation and its bytes; "" and 0 where they are not known."""
    return _TYPES.get(str(arguments.get("dtype")).lower(), ("", 0))


def _elements(kind: str, count: int | None) -> str:
    return f"{kind}[{count}]" if kind and count is not None and count >= 0 else ""


def collective_of(kernel: str, arguments: Mapping[str, object]) -> Collective:
    """The message of a kernel of communication, by its arguments, else by its name."""
    stated = arguments.get("Collective name")
    if not isinstance(stated, str):
        return Collective(kind_by_kernel(kernel))
    kind = _kind_by_name(stated)
    elements = whole(arguments.get(f"{'Out' if kind == 'all-gather' else 'In'} msg nelems"))
    _, size = _type(arguments)
    payload = float(elements * size) if elements and size else NAN
    return Collective(kind, payload, whole(arguments.get("Group size")) or 0)


def called_collective(name: str, tensors: Sequence[Sequence[Tensor]]) -> Collective:
    """The message of `nccl:all_reduce`, `c10d::_allgather_base_` and the like.

    `tensors` are lists of the arguments per place. Operators list the output first, annotations
    have inputs only.
    """
    sizes = [_size(place) for place in tensors[:2]]
    kind = _kind_by_name(_LIBRARY.sub("", name))
    first, second, *_ = *sizes, NAN, NAN
    if "::" not in name:
        # The result of an all-gather is as many inputs as there are ranks.
        return Collective(kind, NAN if kind == "all-gather" else first)
    if kind == "all-gather":
        return Collective(kind, first, _times(first, second))
    if kind == "reduce-scatter":
        return Collective(kind, second, _times(second, first))
    return Collective(kind, second if kind == "all-to-all" else first)


def payloads_of(blobs: Iterable[str], fields: Iterable[Mapping[str, Any]]) -> list[dict[str, int]]:
    """The fields of NVTX payloads, a character per byte, by their schemas; none of unsound ones."""
    of_schema = defaultdict[tuple[int, int], dict[str, tuple[int, int]]](dict)
    for row in fields:
        place = (row.get("offset", 0), _FIELD_BYTES.get(row["type"], _NOT_READ))
        of_schema[row["domainId"], row["schemaId"]][row.get("name", "")] = place
    found = []
    for blob in (text.encode("latin-1") for text in blobs):
        head, values = blob[: _PAYLOAD.size], blob[_PAYLOAD.size :]
        domain, schema, size, whole = _PAYLOAD.unpack(head.ljust(_PAYLOAD.size, b"\0"))
        is_sound = whole == len(blob) and size == len(values)
        known = of_schema[domain, schema] if is_sound else {}
        read = {of: (at, at + n) for of, (at, n) in known.items() if 0 <= at <= size - n}
        found.append({of: int.from_bytes(values[slice(*at)], "little") for of, at in read.items()})
    return found


def nccl_messages(
    calls: Iterable[tuple[str, int]], payloads: Sequence[Mapping[str, int]]
) -> Iterator[Collective]:
    """What calls of NCCL move, each told by its name and the place of its payload (-1: none), which
    has the bytes of one rank's message. How many ranks there are is in the communicator's own."""
    ranks = {one.get(_COMMUNICATOR): one[_RANKS] for one in payloads if _RANKS in one}
    for name, at in calls:
        call, payload = called_collective(name, ()), payloads[at] if at >= 0 else {}
        size, group = payload.get(_SIZE, _MOST_BYTES), ranks.get(payload.get(_COMMUNICATOR), 0)
        times = group if call.kind in _OF_ALL_RANKS else 1
        if size < _MOST_BYTES and times:
            call = Collective(call.kind, float(size * times), 0 if call.kind in _PAIRS else group)
        yield call


def called_collective_of(call: Signature) -> Collective | None:
    """The message of an operator; `None` if it is not of a library of collectives."""
    if call.inputs is None or not call.operator.startswith(_LIBRARIES):
        return None
    message = called_collective(call.operator, call.inputs.tensors)
    return message if message.kind != UNKNOWN_KIND else None


def _size(place: Sequence[Tensor]) -> float:
    size = total_bytes(place) if place else None
    return NAN if size is None else float(size)


def _times(larger: float, smaller: float) -> int:
    """How many of the smaller one the larger is; 0 unless it is a whole number."""
    times = larger / smaller if smaller > 0 and larger > 0 else 0.0
    return int(times) if times == int(times) else 0


def _kind_by_name(stated: str) -> str:
    letters = re.sub(r"[^a-z]", "", stated.lower())
    return next((kind for key, kind in _BY_NAME.items() if letters.startswith(key)), UNKNOWN_KIND)


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
