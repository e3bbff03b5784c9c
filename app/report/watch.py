"""Progress of a long import on the terminal, for whoever watches; nothing is shown otherwise."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.importers.registry import Progress
from app.importers.source import SourceFile

# Smaller files are read before a bar could be seen.
_WORTH_WATCHING_BYTES = 100 * 2**20
_PHASES = {"unpack": "Unpacking", "recognise": "Recognising", "read": "Reading events"}


@contextmanager
def progress_on_terminal(sources: Sequence[SourceFile]) -> Iterator[Progress]:
    """Yields what an import reports its phases to."""
    large = sum(source.size_bytes for source in sources) >= _WORTH_WATCHING_BYTES
    if not large or not sys.stderr.isatty():
        yield _silent
        return
    # rich takes a tenth of a second to import: not for pipes and scripts.
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("Reading", total=1.0)

        def show(phase: str, fraction: float) -> None:
            bars.update(task, description=_PHASES.get(phase, "Analysing"), completed=fraction)

        yield show


def _silent(_phase: str, _fraction: float) -> None:
    pass
