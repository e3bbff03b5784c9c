"""XSpace (`*.xplane.pb`): captures of JAX, TensorFlow and PyTorch/XLA, one file per host.

Format: the protocol buffer XSpace of the OpenXLA profiler. Tried: captures of 2020 (TensorFlow) to
JAX 0.10 (2026). Read: device planes of TPUs and GPUs, ops of programs compiled for the CPU, step
annotations of the host, device capabilities, costs of compiled programs.
Lost: what no roofline needs (other host events, counters by sample, memory events).
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from roofline.importers.shared.protobuf_walk import LENGTH, VARINT, is_perfetto
from roofline.importers.source import Progress, SourceFile
from roofline.importers.xspace.cpu import has_cpu_ops, read_cpu_host, read_without_device
from roofline.importers.xspace.gpu import read_gpu_host
from roofline.importers.xspace.hosts import merge_hosts
from roofline.importers.xspace.messages import peek_field
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Space, open_space, read_environment
from roofline.importers.xspace.tpu import read_tpu_host
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
    return not is_perfetto(head)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile from the captures of one or several hosts."""
    return _read(sources, Oddities(on=False), progress)


def read_as_xprof(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The same as XProf 2.24.2 reads it, mistakes included."""
    return _read(sources, Oddities(on=True), progress)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Programs are millions of small objects that stay: looking for cycles among them took a third
    of an import's time, and found none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(sources: Sequence[SourceFile], oddities: Oddities, progress: Progress) -> Profile:
    with _without_collector():
        profiles = _read_hosts(sources, oddities, progress)
        return profiles[0] if len(profiles) == 1 else merge_hosts(profiles, oddities)


def _read_hosts(
    sources: Sequence[SourceFile], oddities: Oddities, progress: Progress
) -> list[Profile]:
    spaces = [open_space(np.frombuffer(s.data, np.uint8), s.name) for s in sources]
    # A host beside accelerators only drives them: what it computes itself is not a part of the job.
    alone = not any(space.tensor_cores or space.gpus for space in spaces)
    profiles = []
    for k, space in enumerate(spaces):

        def report(fraction: float, done: int = k) -> None:
            progress("read", (done + fraction) / len(spaces))

        reads_cpu = alone and not oddities.ignores_cpu_programs and has_cpu_ops(space)
        profile = read_cpu_host(space) if reads_cpu else _read_host(space, oddities, report)
        profiles.append(replace(profile, environment=read_environment(space)))
    return profiles


def _read_host(space: Space, oddities: Oddities, progress: Callable[[float], None]) -> Profile:
    if space.gpus:
        return read_gpu_host(space, oddities, progress)
    if space.tensor_cores:
        return read_tpu_host(space, oddities, progress)
    return read_without_device(space)


def _is_text(head: bytes) -> bool:
    """True if nothing at the start is a control character: a quoted CSV header, read as a message,
    is a host name. A plane has such characters among its first bytes: the tags of its fields."""
    return not any(byte < 0x20 and byte not in b"\t\n\r" for byte in head[:_TEXT_BYTES])


def _starts_like_space(head: bytes, size_bytes: int) -> bool:
    tag = peek_field(head, 0)
    if tag is None or tag.wire != LENGTH or tag.number not in _TOP_LEVEL_FIELDS:
        return False
    if tag.number != 1:
        return tag.high <= size_bytes
    inner = peek_field(head, tag.low)
    return inner is not None and _PLANE_FIELDS.get(inner.number) == inner.wire


def warm_up() -> None:
    """Load the compiled kernels; compiles them where this machine has not yet, for seconds."""
    open_space(np.frombuffer(b"", np.uint8), "")
