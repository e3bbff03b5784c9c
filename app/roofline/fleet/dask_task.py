"""The task of a worker of a Dask cluster: strings in, strings out; files and partials stay outside.

Functions of this module are sent by name; the worker has its own copy of this package, which must
be the same version. A worker reads in children without network and secrets, as every engine does.
"""

import json
import threading
from dataclasses import asdict, dataclass

from roofline.errors import ImportStoppedError, SettingsError
from roofline.fleet.choosing import open_kept
from roofline.fleet.kept import reading_version
from roofline.fleet.local import LocalEngine
from roofline.fleet.readers import Readers
from roofline.fleet.receipts import files_from, to_text
from roofline.sandbox.limits import ImportLimits


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
