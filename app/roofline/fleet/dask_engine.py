"""The engine `dask`: batches of files as tasks of a cluster, of which anything may die.

The truth is in receipts and kept partials. A worker that dies costs its batch a repetition, in
which finished files are found; a lost scheduler costs a new connection. A batch that ended three
workers may only have waited beside the one that did: its files are given out again at the end, one
at a time with nothing beside them, and a file that does it then is unreadable.

A task takes strings and returns strings. Workers import this module by name, from a copy of this
package that must be of the same version.
"""

import json
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from roofline.errors import ImportStoppedError, SettingsError
from roofline.fleet.dask_connection import Cluster, connected
from roofline.fleet.engine import (
    Receipt,
    batches,
    files_from,
    receipts_from,
    to_text,
    unread,
)
from roofline.fleet.kept import open_kept, reading_version
from roofline.fleet.local import LocalEngine
from roofline.fleet.readers import Readers
from roofline.model.outer_limits import ImportLimits
from roofline.pods.folders import HostFile

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE_S = 300.0
"""How long a run waits for a scheduler that went away, or for a first worker."""
FIRST_S = 30.0
"""How long it waits for the scheduler at first, which may be started at the same time."""
_BETWEEN_TRIES_S = 0.5
_LOOK_S = 1.0
_ANSWER_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The common part of a run's batches: its id, the place of partials, limits, our version."""

    run: str
    place: str
    limits: ImportLimits
    version: str

    def to_text(self) -> str:
        """The order as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Order":
        """The order in `text`."""
        fields = json.loads(text)
        return cls(**{**fields, "limits": ImportLimits(**fields["limits"])})


_lock = threading.Lock()
_readers: dict[str, Readers] = {}
_ended: set[str] = set()


class DaskEngine:
    """Reads files with the workers of `cluster`, which keep partials at `place`."""

    def __init__(
        self, cluster: Cluster, place: str, limits: ImportLimits, *, patience_s: float = PATIENCE_S
    ) -> None:
        self._cluster, self._place, self._limits = cluster, place, limits
        self._patience_s = patience_s
        self._open = ExitStack()
        self._client: Client | None = None

    @property
    def client(self) -> "Client":
        """The connection, made with the first use."""
        if self._client is None:
            self._client = self._open.enter_context(connected(self._cluster))
        return self._client

    def submit(self, files: Sequence[HostFile]) -> "DaskSubmission":
        """See `Engine`."""
        order = Order(
            run=uuid.uuid4().hex,
            place=self._place,
            limits=self._limits,
            version=reading_version(),
        )
        return DaskSubmission(files, order, self, self._patience_s)

    @property
    def live_client(self) -> "Client | None":
        """The connection, where there is one and its scheduler answers."""
        client = self._client
        return client if client is not None and client.status == "running" else None

    def leave(self) -> None:
        """Leave a scheduler that went away; the next use asks anew where it is."""
        if self._client is not None and self.live_client is None:
            self.close()

    def close(self) -> None:
        """See `Engine`."""
        self._client = None
        with suppress(OSError, TimeoutError):
            self._open.close()


class _SchedulerLost(Exception):  # noqa: N818 - an event: the run goes on with the next scheduler
    """The scheduler went away with all tasks."""


class DaskSubmission:
    """Files under way on a cluster."""

    def __init__(
        self, files: Sequence[HostFile], order: Order, engine: DaskEngine, patience_s: float
    ) -> None:
        self._engine, self._order, self._patience_s = engine, order, patience_s
        self._left = dict(enumerate(files))
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._under_way: dict[Future[Any], list[int]] = {}
        self._suspects: deque[int] = deque()
        self._alone: set[int] = set()
        self._alive_at = time.monotonic()

    def receipts(self) -> Generator[Receipt, None, None]:
        """See `Submission`."""
        try:
            self._find_scheduler(FIRST_S)
            while self._left:
                try:
                    yield from self._round()
                except _SchedulerLost:
                    self._find_scheduler(self._patience_s)
        finally:
            self._end()

    def _round(self) -> Iterator[Receipt]:
        """Receipts of all files that are left, as long as the scheduler lives."""
        self._under_way.clear()
        self._suspects.clear()
        self._alive_at = time.monotonic()
        numbers = iter(list(self._left))
        for batch in batches(list(self._left.values())):
            self._give_out([next(numbers) for _ in batch])
        while self._under_way or self._suspects:
            if not self._under_way:
                number = self._suspects.popleft()
                self._alone.add(number)
                self._give_out([number])
            future = self._next_ended()
            if future is None:
                self._check_workers()
            elif (numbers_of := self._under_way.pop(future, None)) is not None:
                yield from self._receipts_of(future, numbers_of)

    def _give_out(self, numbers: list[int]) -> None:
        files = to_text([self._left[number] for number in numbers])
        try:
            future = self._engine.client.submit(
                read_batch,
                self._order.to_text(),
                files,
                key=f"{read_batch.__name__}-{uuid.uuid4().hex}",
                pure=False,
            )
        except (OSError, RuntimeError) as error:
            raise _SchedulerLost from error
        self._watch(future, numbers)

    def _watch(self, future: "Future[Any]", numbers: list[int]) -> None:
        self._under_way[future] = numbers
        future.add_done_callback(self._ended.put)

    def _next_ended(self) -> "Future[Any] | None":
        try:
            return self._ended.get(timeout=_LOOK_S)
        except queue.Empty:
            return None

    def _receipts_of(self, future: "Future[Any]", numbers: list[int]) -> Iterator[Receipt]:
        if future.status == "cancelled":
            raise _SchedulerLost
        try:
            receipts = receipts_from(_result(future))
        except TimeoutError:  # its worker died with the answer: the batch runs again
            self._watch(future, numbers)
            return
        except _WorkersKilled:
            receipts = self._killed(numbers)
            numbers = numbers[: len(receipts)]
        self._alive_at = time.monotonic()
        for number, receipt in zip(numbers, self._in_order(numbers, receipts), strict=True):
            del self._left[number]
            yield receipt

    def _in_order(self, numbers: list[int], receipts: Sequence[Receipt]) -> list[Receipt]:
        """The receipts in the order of `numbers`: a worker answers in its own."""
        by_address: dict[str, list[Receipt]] = {}
        for receipt in receipts:
            by_address.setdefault(receipt.address, []).append(receipt)
        return [by_address[self._left[number].address].pop() for number in numbers]

    def _killed(self, numbers: list[int]) -> list[Receipt]:
        """The receipt of a file that ends workers on its own; a batch is suspect."""
        if self._alone.issuperset(numbers):
            return [unread(self._left[numbers[0]], "Reading it ended several workers.")]
        self._suspects.extend(numbers)
        return []

    def _check_workers(self) -> None:
        """Raise where the scheduler is gone, or no worker was there for long."""
        client = self._engine.live_client
        if client is None or any(one.status == "cancelled" for one in self._under_way):
            raise _SchedulerLost
        is_waiting_long = time.monotonic() - self._alive_at > self._patience_s
        assert client.scheduler is not None
        try:
            known = client.sync(client.scheduler.identity, n_workers=1, callback_timeout=_ANSWER_S)
        except (OSError, TimeoutError, RuntimeError) as error:
            if is_waiting_long:
                raise _SchedulerLost from error
            return  # it has much to do; one that died ends the connection
        if known["workers"]:
            self._alive_at = time.monotonic()
        elif is_waiting_long:
            raise ImportStoppedError(
                f"The cluster had no worker for {self._patience_s:,.0f} s.",
                remedy="Start workers with the scheduler's address, then run the command again:"
                " hosts that were read are kept.",
            )

    def _find_scheduler(self, patience_s: float) -> None:
        """Connect; wait for the scheduler, or for the next one that its file names."""
        deadline = time.monotonic() + patience_s
        self._engine.leave()
        while True:
            try:
                self._engine.client  # noqa: B018 - connects
            except ImportStoppedError:
                if time.monotonic() > deadline:
                    raise
            else:
                return
            time.sleep(_BETWEEN_TRIES_S)

    def _end(self) -> None:
        """Kill what workers read for this run; batches that wait are refused."""
        client = self._engine.live_client
        if client is not None:
            with suppress(OSError, RuntimeError, TimeoutError):
                client.run(end_run, self._order.run, on_error="ignore", callback_timeout=_ANSWER_S)


class _WorkersKilled(Exception):  # noqa: N818 - an event
    """A batch ended as many workers as it may."""


def _result(future: "Future[Any]") -> str:
    """Raises `TimeoutError` where the answer was lost, and the `RooflineError` of a worker."""
    from distributed import KilledWorker

    try:
        return str(future.result(timeout=_ANSWER_S))
    except KilledWorker as error:
        raise _WorkersKilled from error
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"A worker of the cluster cannot load Roofline: {error}.",
            remedy="Install `roofline[fleet]`, the same version, on all machines of the cluster.",
        ) from error


def read_batch(order_text: str, files_text: str) -> str:
    """Receipts of the files of a batch, as JSON.

    Raises `SettingsError` where the worker has another version of this package, and
    `ImportStoppedError` once the run was ended.
    """
    order = Order.from_text(order_text)
    if order.version != reading_version():
        raise SettingsError(
            "A worker of the cluster has another version of Roofline.",
            remedy="Install the same version on all machines of the cluster.",
        )
    readers = _readers_of(order)
    engine = LocalEngine(open_kept(order.place), order.limits, readers=readers)
    return to_text(list(engine.submit(files_from(files_text)).receipts()))


def end_run(run: str) -> None:
    """End what this worker reads for a run; batches that arrive later are refused."""
    with _lock:
        _ended.add(run)
        found = _readers.pop(run, None)
    if found is not None:
        found.close()


def _readers_of(order: Order) -> Readers:
    with _lock:
        if order.run in _ended:
            raise ImportStoppedError("The run was cancelled.", remedy="Start it again.")
        if order.run not in _readers:
            _readers[order.run] = Readers(order.limits, at_once=_threads())
        return _readers[order.run]


def _threads() -> int:
    """How many batches this worker runs at once."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)
