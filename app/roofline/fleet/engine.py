"""The duties of every engine: reads files side by side, and can be stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from roofline.fleet.receipts import HostFile, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetProgress:
    """How many of the files have a receipt."""

    done: int
    total: int


class Submission(Protocol):
    """Files under way."""

    def receipts(self) -> Iterator[Receipt]:
        """One receipt for each file, in the order in which they are done; waits for them.

        Raises `ImportStoppedError` after `cancel`, and where the engine cannot go on.
        """

    def progress(self) -> FleetProgress:
        """How far it is."""

    def cancel(self) -> None:
        """Stop, from any thread, and kill the children that read. Kept partials stay."""


class Engine(Protocol):
    """Reads the files of runs. What it starts lasts until it is closed."""

    def submit(self, files: Sequence[HostFile]) -> Submission:
        """Begin to read `files`."""

    def close(self) -> None:
        """End everything that the engine started."""
