"""The engines of the process that reads runs, started with the first file that needs them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from roofline.fleet.choosing import EngineChoice, start_engine
from roofline.fleet.engine import Engine
from roofline.fleet.receipts import HostFile, Receipt
from roofline.imports.run_engine import RunEngine
from roofline.sandbox.limits import ImportLimits


class RunReaders:
    """Reads files with the engine of `options`, as `run_process` sends them.

    Files that were pushed lie on this machine: they are read here, whatever the engine is.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._place = str(options["place"])
        self._limits = ImportLimits(**options["limits"])
        self._workers = max(1, int(options["workers"]))
        self._wanted = RunEngine(**options["engine"])
        self._engines: dict[str, Engine] = {}
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Ends what was started."""
        self._ending.close()

    def receipts(self, files: Sequence[HostFile]) -> Iterator[Receipt]:
        """A receipt for each file. Raises what the engine raises."""
        pushed = [one for one in files if one.is_named]
        listed = [one for one in files if not one.is_named]
        # Files of this machine are read while the cluster reads.
        here = self._engine("local").submit(pushed) if pushed else None
        if listed:
            yield from self._engine(self._wanted.name).submit(listed).receipts()
        if here is not None:
            yield from here.receipts()

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            wanted = self._wanted
            choice = EngineChoice(engine="local", workers=self._workers)
            if name != "local":
                choice = EngineChoice(engine=name, scheduler=wanted.scheduler)
            files = (wanted.authority, wanted.certificate, wanted.key)
            engine = start_engine(
                choice,
                self._place,
                self._limits,
                tuple(None if one is None else Path(one) for one in files),
            )
            self._ending.callback(engine.close)
            self._engines[name] = engine
        return self._engines[name]
