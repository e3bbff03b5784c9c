"""Profiles of PyTorch traces for tests: of traces made up, of minimal files and of real ones."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from roofline.importers.pytorch.signatures import Signature, read_signature
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.profile import Profile
from tests.profiles import imported
from tests.tools.make_kineto_traces import KinetoTrace

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "samples" / "pytorch"
MINIMAL = Path(__file__).resolve().parent / "minimal_kineto"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the reference folder is not there")


def profile_of(folder: Path, *traces: Any) -> Profile:
    """The profile of traces (text, bytes, events or a builder), one file each in `folder`."""
    sources = []
    for k, trace in enumerate(traces):
        path = folder / f"rank{k}.json"
        if isinstance(trace, KinetoTrace):
            trace = trace.as_json()
        if isinstance(trace, list | dict):
            trace = json.dumps(trace)
        path.write_bytes(trace if isinstance(trace, bytes) else str(trace).encode())
        sources.append(SourceFile(path))
    return import_profile(sources)


def signature(
    operator: str,
    dims: Sequence[Any],
    types: Sequence[Any],
    values: Sequence[Any] | None = None,
    strides: Any = None,
) -> Signature:
    """An operator with these arguments, of which the trace states neither FLOPs nor bytes."""
    return read_signature(
        operator, dims=dims, types=types, strides=strides, values=values, flop=-1, moved_bytes=-1
    )


def minimal_profile(name: str) -> Profile:
    """The profile of one of the smallest traces that once gave a wrong number."""
    return imported(MINIMAL / f"{name}.json")


def shared_profile(name: str, folder: Path) -> Profile:
    """The profile of a real trace; `name` is its file's without the endings."""
    return shared_profiles(folder, name)


def shared_profiles(folder: Path, *names: str) -> Profile:
    """The profile of several real traces that belong together."""
    return import_profile([_unpacked(name, folder) for name in names])


def _unpacked(name: str, folder: Path) -> SourceFile:
    path = folder / f"{name}.json"
    path.write_bytes(gzip.decompress((SHARED / f"{name}.json.gz").read_bytes()))
    return SourceFile(path)


def row(profile: Profile, name: str) -> int:
    """The first op whose name starts so."""
    return next(k for k, op in enumerate(profile.ops.name) if op.startswith(name))


def codes(profile: Profile) -> dict[str, int]:
    """How often each kind of finding was noticed."""
    return {found.code: found.count for found in profile.diagnostics}
