"""One input through everything that a stranger's file goes through."""

import json
import resource
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn
from unicodedata import category

from roofline.analysis.records import RooflineAnalysis
from roofline.errors import ImportStoppedError, RooflineError
from roofline.exports.answering import answer_of
from roofline.exports.render import render
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.source import SourceFile
from roofline.imports.child import found_in
from roofline.imports.children import ChildLost, ImportTask, run_import
from roofline.imports.messages import ImportRequest
from roofline.model.outer_limits import ImportLimits
from roofline.pipeline import analyse_sources, open_sources
from roofline.presentation.op_details import op_details
from roofline.presentation.page import PageIdentity, build_page
from tests.fuzz.families import Upload

SECONDS = 5.0  # of a processor
MEMORY_BYTES = 2 << 30
LIMITS = UnpackLimits(max_bytes=64 << 20, max_files=100, max_ratio=300)
CHILD_LIMITS = ImportLimits(
    memory_bytes=MEMORY_BYTES,
    cpu_seconds=10,
    wall_seconds=300.0,
    max_unpacked_bytes=LIMITS.max_bytes,
    max_unpacked_files=LIMITS.max_files,
    max_expansion_ratio=LIMITS.max_ratio,
)
LONGEST_MESSAGE = 2_000
# Pages and exports are the same code for whatever was read: every so many inputs are enough.
DRAWN_EVERY = 8


class Hang(BaseException):
    """An input took longer than it may. Not an `Exception`: nothing on the way may catch it."""


def read(files: Upload, folder: Path, *, is_drawn: bool) -> str:
    """Imports one upload: `read`, or the code of a `RooflineError`; other exceptions are findings.

    Raises `Hang` after `SECONDS`. Nothing may appear in `folder` but what is written here.
    """
    sources = [SourceFile(folder / f"input-{at}", name) for at, (name, _) in enumerate(files)]
    for source, (_, content) in zip(sources, files, strict=True):
        source.path.write_bytes(content)
    try:
        with _hurried():
            _import(sources, folder / "unpacked", is_drawn=is_drawn)
    except RooflineError as error:
        _check_words(error)
        return error.code
    finally:
        _tidy(folder, sources)
    return "read"


def read_in_child(files: Upload, folder: Path) -> str:
    """As `read`, by the confined child that a server starts, with all that it writes.

    `AssertionError` where the child is killed, is slow, or has an error that no rule names.
    """
    paths = [folder / f"input-{at}" for at in range(len(files))]
    for path, (_, content) in zip(paths, files, strict=True):
        path.write_bytes(content)
    request = ImportRequest(
        profile_id="x",
        created_at="2026-01-01T00:00:00Z",
        files=[(n, str(p), len(c)) for (n, c), p in zip(files, paths, strict=True)],
        digests=None,
        folder=str(folder),
        results=str(folder / "results"),
        exports=str(folder / "exports"),
        limits=CHILD_LIMITS,
    )
    try:
        run_import(request, ImportTask(), lambda _progress: None, lambda _page: None)
    except (ChildLost, ImportStoppedError) as error:
        raise AssertionError(str(error)) from error
    except RooflineError as error:
        _check_words(error)
        return error.code
    finally:
        _empty(folder)
    return "read"


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _check_words(error: RooflineError) -> None:
    assert error.message
    assert error.remedy
    assert len(error.message) < LONGEST_MESSAGE, "a message repeats the file"
    assert _is_printable(error.message), "a message repeats control characters of the file"


def _is_printable(text: str) -> bool:
    return all(c.isprintable() or category(c) == "Zs" for c in text)


def _tidy(folder: Path, sources: Sequence[SourceFile]) -> None:
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    for source in sources:
        source.path.unlink()
    assert not list(folder.iterdir()), "something was written elsewhere"


def limit_memory() -> None:
    """Puts this process under the limit that a file may not exceed."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    held = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, resource.RLIM_INFINITY))


def _import(given: Sequence[SourceFile], scratch: Path, *, is_drawn: bool) -> None:
    sources, notes = open_sources(given, scratch=scratch, limits=LIMITS, progress=_quietly)
    analysis = analyse_sources(sources, notes=notes, progress=_quietly)
    if is_drawn:
        _draw(analysis)
        compat = analyse_sources(sources, xprof_compat=True, progress=_quietly)
        json.loads(render(compat, "xprof", infeed=True), parse_constant=_refuse)


def _draw(analysis: RooflineAnalysis) -> None:
    """Page, drawer, downloads and the terminal's text, each of which a strict reader must read."""
    identity = PageIdentity(id="x", created_at="2026-01-01T00:00:00Z", file_sizes={"input.pb": 1})
    page = build_page(analysis, answer_of(analysis), identity)
    found_in(json.loads(page))  # what lists of profiles say
    for document in (page, *op_details(analysis)):
        json.loads(document, parse_constant=_refuse)
    for form in ("json", "generic"):
        json.loads(render(analysis, form, infeed=True), parse_constant=_refuse)
    render(analysis, "csv", infeed=False).decode()
    text = render(analysis, "text", infeed=True).decode()
    assert _is_printable(text.replace("\n", "")), "control characters reach the terminal"


def _refuse(word: str) -> NoReturn:
    raise AssertionError(f"{word} is not JSON")


def _quietly(_phase: str, _fraction: float) -> None:
    """Progress that is not shown."""


@contextmanager
def _hurried() -> Iterator[None]:
    def late(_signal: int, _frame: FrameType | None) -> None:
        raise Hang

    # Processor time: on a busy machine everything takes longer without hanging.
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
