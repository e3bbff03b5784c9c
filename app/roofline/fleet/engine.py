"""The files of a run, their receipts, and the duties of every engine that reads them.

Files and receipts travel between engines and their workers as JSON: strings and numbers only. A
task of a cluster costs some milliseconds, so files go to workers in batches of two seconds.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from roofline.model.units import GIB
from roofline.pods.folders import HostFile
from roofline.pods.report import Unreadable
from roofline.settings import Settings

LEAST_CPU_S = 2.0
# Measured on captures of 4 to 300 MB; `bench/README.md` has the present figures.
_EACH_CPU_S = 0.14
_PER_BYTE_CPU_S = 5.9 / GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """How one file was read: `digest` is the SHA-256 of its content.

    `partials` are the keys under which the partials of the file are kept, one for each host in it.
    `was_kept` is true where they were found and not computed. `cpu_seconds` is processor time.
    """

    address: str
    digest: str
    partials: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    cpu_seconds: float
    was_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """An engine by its name, as strings and numbers: it is sent to other processes.

    `workers` is how many files are read at the same time; `None` leaves it to the engine.
    `scheduler` or `scheduler_file` name a Dask cluster that the user runs. `authority`,
    `certificate` and `key` are paths of PEM files for TLS.
    """

    engine: str = "local"
    workers: int | None = None
    scheduler: str | None = None
    scheduler_file: str | None = None
    authority: str | None = None
    certificate: str | None = None
    key: str | None = None

    def certified(self, settings: Settings) -> "EngineChoice":
        """The same with the certificates of the settings."""
        files = (settings.dask_ca, settings.dask_cert, settings.dask_key)
        authority, certificate, key = (
            None if one is None else str(one.absolute()) for one in files
        )
        return replace(self, authority=authority, certificate=certificate, key=key)


class Submission(Protocol):
    """Files under way."""

    def receipts(self) -> Generator[Receipt, None, None]:
        """One receipt for each file, in the order in which they are done; waits for them.

        Closing it ends what is still read; kept partials stay. Raises `ImportStoppedError` where
        the engine is closed or cannot go on.
        """


class Engine(Protocol):
    """Reads the files of runs. What it starts lasts until it is closed."""

    def submit(self, files: Sequence[HostFile]) -> Submission:
        """Begin to read `files`."""

    def close(self) -> None:
        """End everything that the engine started."""


def unread(file: HostFile, reason: str, *, cpu_seconds: float = 0.0, digest: str = "") -> Receipt:
    """The receipt of a file that could not be read."""
    return Receipt(
        address=file.address,
        digest=digest or file.digest,
        partials=(),
        unreadable=(Unreadable(name=file.name, digest=digest or file.digest, reason=reason),),
        cpu_seconds=cpu_seconds,
        was_kept=False,
    )


def to_text(values: "list[HostFile] | list[Receipt]") -> str:
    """Files or receipts as JSON."""
    return json.dumps([asdict(one) for one in values])


def files_from(text: str) -> list[HostFile]:
    """The files in `text`."""
    return [HostFile(**one) for one in json.loads(text)]


def receipts_from(text: str) -> list[Receipt]:
    """The receipts in `text`."""
    return [
        Receipt(
            **{
                **fields,
                "partials": tuple(fields["partials"]),
                "unreadable": tuple(Unreadable(**one) for one in fields["unreadable"]),
            }
        )
        for fields in json.loads(text)
    ]


def expected_cpu_seconds(file: HostFile) -> float:
    """The processor time of reading a file, about."""
    return _EACH_CPU_S + _PER_BYTE_CPU_S * file.size_bytes


def batches(files: Sequence[HostFile]) -> Iterator[list[HostFile]]:
    """The files in order, in batches that take two seconds or more each, except the last."""
    batch: list[HostFile] = []
    due = 0.0
    for file in files:
        batch.append(file)
        due += expected_cpu_seconds(file)
        if due >= LEAST_CPU_S:
            yield batch
            batch, due = [], 0.0
    if batch:
        yield batch
