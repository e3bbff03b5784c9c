"""Progress of a long import, shown where standard error is a terminal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from roofline.importers.source import Progress, silent
from roofline.model.units import MIB

# Smaller files are read before a bar could be seen.
_WORTH_WATCHING_BYTES = 100 * MIB
_PHASES = {"unpack": "Unpacking", "recognise": "Recognising", "read": "Reading events"}


@contextmanager
def progress_on_terminal(paths: Sequence[Path]) -> Iterator[Progress]:
    """Yields the function that an import calls with its phase and the fraction done."""
    large = sum(path.stat().st_size for path in paths if path.is_file()) >= _WORTH_WATCHING_BYTES
    if not large or not sys.stderr.isatty():
        yield silent
        return
    # rich takes a tenth of a second to import: not for pipes and scripts.
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("Reading", total=1.0)

        def show(phase: str, fraction: float) -> None:
            bars.update(task, description=_PHASES.get(phase, "Analysing"), completed=fraction)

        yield show
