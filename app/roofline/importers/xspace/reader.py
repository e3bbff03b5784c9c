"""Reads captures: the planes of each host, by what computed there, joined into one profile."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from roofline.importers.source import Progress, SourceFile
from roofline.importers.xspace.captures import captures_of, several_captures
from roofline.importers.xspace.cpu import has_cpu_ops, read_cpu_host, read_without_device
from roofline.importers.xspace.gpu import read_gpu_host
from roofline.importers.xspace.hosts import merge_hosts
from roofline.importers.xspace.oddities import Oddities
from roofline.importers.xspace.planes import Space, open_space, read_environment
from roofline.importers.xspace.tpu import read_tpu_host
from roofline.model.profile import Profile


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
    runs = captures_of([space.captured for space in spaces])
    if len(runs) > 1 and not oddities.joins_captures:
        raise several_captures(runs, [source.name for source in sources])
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
