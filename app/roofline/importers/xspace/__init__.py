"""XSpace (`*.xplane.pb`): captures of JAX, TensorFlow and PyTorch/XLA, one file per host.

Format: the protocol buffer XSpace of the OpenXLA profiler. Tried: captures of 2020 (TensorFlow) to
JAX 0.10 (2026). Read: device planes of TPUs and GPUs, ops of programs compiled for the CPU, step
annotations of the host, device capabilities, costs of compiled programs.
Lost: what no roofline needs (other host events, counters by sample, memory events).
"""

from collections.abc import Sequence

from roofline.importers.shared.protobuf_walk import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    DamagedError,
    is_perfetto,
    is_pprof,
    varint,
)
from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile
from roofline.model.units import KIB

FORMAT_ID = "xspace"
LABEL = "XSpace (JAX, TensorFlow, PyTorch/XLA)"
READS = LABEL

_TEXT_BYTES = KIB
_TOP_LEVEL_FIELDS = range(1, 5)
_PLANE_FIELDS = {1: VARINT, 2: LENGTH, 3: LENGTH, 4: LENGTH, 5: LENGTH, 6: LENGTH}


def recognises(source: SourceFile) -> bool:
    """True if the head starts with messages that only an XSpace has: planes with known fields."""
    head = source.head
    if _is_text(head) or not _starts_like_space(head, source.size_bytes):
        return False
    return not is_perfetto(head) and not is_pprof(head)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile from the captures of one or several hosts."""
    from roofline.importers.xspace import reader  # loads slowly

    return reader.read(sources, progress=progress)


def read_as_xprof(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The same as XProf 2.24.2 reads it, mistakes included."""
    from roofline.importers.xspace import reader  # loads slowly

    return reader.read_as_xprof(sources, progress=progress)


def _is_text(head: bytes) -> bool:
    """True if nothing at the start is a control character: a quoted CSV header, read as a message,
    is a host name. A plane has such characters among its first bytes: the tags of its fields."""
    return not any(byte < 0x20 and byte not in b"\t\n\r" for byte in head[:_TEXT_BYTES])


def _starts_like_space(head: bytes, size_bytes: int) -> bool:
    field = _first_field(head, 0)
    if field is None:
        return False
    number, wire, low, high = field
    if wire != LENGTH or number not in _TOP_LEVEL_FIELDS:
        return False
    if number != 1:
        return high <= size_bytes
    inner = _first_field(head, low)
    return inner is not None and _PLANE_FIELDS.get(inner[0]) == inner[1]


def _first_field(head: bytes, low: int) -> tuple[int, int, int, int] | None:
    """The first field of a message that may go on past `head`: number, wire type, and its value or
    its byte range. `None` where no message starts so."""
    try:
        tag, pos = varint(head, low, len(head))
        number, wire = tag >> 3, tag & 7
        if number and wire == VARINT:
            return number, wire, varint(head, pos, len(head))[0], 0
        if number and wire == LENGTH:
            size, pos = varint(head, pos, len(head))
            return number, wire, pos, pos + size
    except DamagedError:
        return None
    return (number, wire, pos, len(head)) if number and wire in (FIXED64, FIXED32) else None
