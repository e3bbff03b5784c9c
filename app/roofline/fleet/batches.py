"""Files to batches: a task of a cluster costs some milliseconds, so each reads for two seconds."""

from collections.abc import Iterator, Sequence

from roofline.fleet.receipts import HostFile
from roofline.model.units import GIB

LEAST_CPU_S = 2.0
# Measured on captures of 4 to 300 MB; `bench/README.md` has the present figures.
_EACH_CPU_S = 0.14
_PER_BYTE_CPU_S = 5.9 / GIB


def expected_cpu_seconds(file: HostFile) -> float:
    """The processor time of reading a file, about."""
    return _EACH_CPU_S + _PER_BYTE_CPU_S * file.size_bytes


def batches(files: Sequence[HostFile]) -> Iterator[list[HostFile]]:
    """The files in order, in batches that take two seconds or more each, but for the last."""
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
