"""The engine `local`: threads of this process, each with a child that reads."""

import queue
import threading
from collections.abc import Iterator, Sequence

from roofline.errors import ImportStoppedError, RooflineError
from roofline.fleet.engine import FleetProgress
from roofline.fleet.kept import KeptPartials
from roofline.fleet.mapping import is_remote, map_file
from roofline.fleet.readers import Readers
from roofline.fleet.receipts import HostFile, Receipt
from roofline.sandbox.limits import ImportLimits

# Objects that are fetched while others are read: their bytes lie on the disk.
_AHEAD = 8


class LocalEngine:
    """Reads `workers` files at the same time, with `readers` of its own if none are given."""

    def __init__(
        self,
        kept: KeptPartials,
        limits: ImportLimits,
        *,
        workers: int = 1,
        readers: Readers | None = None,
    ) -> None:
        self._kept = kept
        self._readers = readers or Readers(limits, at_once=workers)
        self._workers = workers

    def submit(self, files: Sequence[HostFile]) -> "LocalSubmission":
        """See `Engine`."""
        return LocalSubmission(files, self._kept, self._readers, self._workers)

    def close(self) -> None:
        """See `Engine`."""
        self._readers.close()


class LocalSubmission:
    """Files under way in threads of this process."""

    def __init__(
        self, files: Sequence[HostFile], kept: KeptPartials, readers: Readers, workers: int
    ) -> None:
        self._kept, self._readers = kept, readers
        self._due: queue.SimpleQueue[HostFile] = queue.SimpleQueue()
        for file in files:
            self._due.put(file)
        self._total, self._done = len(files), 0
        self._ready: queue.SimpleQueue[Receipt | BaseException] = queue.SimpleQueue()
        ahead = _AHEAD if any(map(is_remote, files)) else 0
        for _ in range(min(workers + ahead, len(files))):
            threading.Thread(target=self._work, daemon=True).start()

    def receipts(self) -> Iterator[Receipt]:
        """See `Submission`."""
        while self._done < self._total:
            found = self._ready.get()
            if isinstance(found, BaseException):
                raise found
            self._done += 1
            yield found

    def progress(self) -> FleetProgress:
        """See `Submission`."""
        return FleetProgress(done=self._done, total=self._total)

    def cancel(self) -> None:
        """See `Submission`. The engine cannot be used any more."""
        self._readers.close()
        self._ready.put(
            ImportStoppedError(
                "The run was cancelled.", remedy="Start again: hosts that were read are kept."
            )
        )

    def _work(self) -> None:
        while True:
            try:
                file = self._due.get_nowait()
            except queue.Empty:
                return
            try:
                self._ready.put(map_file(file, self._kept, self._readers))
            except (RooflineError, OSError, ValueError) as error:
                self._ready.put(error)
                return
