"""The program of `run_process`: requests as JSON lines come in, answers as JSON lines go out.

It ends when its input does.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from roofline.children.sandbox import ImportLimits, give_way
from roofline.errors import (
    CorruptProfileError,
    RooflineError,
    UploadRejectedError,
    describe,
)
from roofline.exports.run_report import op_record, render_run
from roofline.fleet.choosing import (
    EngineChoice,
    file_with,
    op_of_receipts,
    reduce_receipts,
    start_engine,
)
from roofline.fleet.engine import Engine, HostFile, Receipt, receipts_from
from roofline.fleet.kept import KeptPartials, drop_unneeded_names, open_kept
from roofline.imports.run_process import RunEngine
from roofline.pods.fetching import fetch_folder, fetch_steady
from roofline.pods.folders import is_folder, name_of, path_of
from roofline.pods.listing import list_run, runs_below
from roofline.process_environment import hide_secrets_of_libraries
from roofline.storage import buckets

Request = dict[str, Any]


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


def main() -> None:
    """Answers requests until there are no more."""
    give_way()  # its children, too
    hide_secrets_of_libraries()  # from the children that read strangers' files
    pipe = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but answers goes to the pipe
    lines = iter(sys.stdin.buffer)
    options = json.loads(next(lines))
    kept = open_kept(options["place"])
    with RunReaders(options) as readers:
        for line in lines:
            for answer in _guarded(json.loads(line), readers, kept):
                pipe.write(json.dumps(answer).encode() + b"\n")
                pipe.flush()


def _guarded(request: Request, readers: RunReaders, kept: KeptPartials) -> Iterator[Request]:
    try:
        yield from _answers(request, readers, kept)
    except RooflineError as error:
        yield {"error": describe(error)}
    except ValueError as error:  # a partial that is not kept any more
        missing = CorruptProfileError(str(error), remedy="The hosts are read again.")
        yield {"error": describe(missing)}


def _answers(request: Request, readers: RunReaders, kept: KeptPartials) -> Iterator[Request]:
    match request["do"]:
        case "list":
            found = list_run(request["address"], join_s=request["join_s"])
            yield {"files": [_file(one) for one in found.files], "note": found.note}
        case "find":
            yield {"runs": [asdict(one) for one in runs_below(request["prefix"])]}
        case "read":
            files = [HostFile(**one) for one in request["files"]]
            for receipt in readers.receipts(files):
                yield asdict(receipt)
            yield {"end": True}
        case "write":
            report = reduce_receipts(_receipts(request), kept)
            Path(request["target"]).write_bytes(render_run(report, "json"))
            yield {"written": True}
        case "op":
            found_op = op_of_receipts(_receipts(request), kept, request["op"])
            Path(request["target"]).write_bytes(op_record(found_op))
            yield {"written": True}
        case "drop names":
            dropped = drop_unneeded_names(request["place"], grace_s=request["grace_s"])
            yield {"dropped": dropped}
        case "file":
            yield {"digest": file_with(_receipts(request), kept, request["digest"])}
        case _:
            _fetch(buckets.Listed(**request["file"]), Path(request["target"]))
            yield {"written": True}


def _fetch(listed: buckets.Listed, target: Path) -> None:
    if is_folder(listed.address):
        fetch_folder(listed.address, target)
        return
    if buckets.is_address(listed.address):
        fetch_steady(listed, target)
        return
    try:
        shutil.copyfile(listed.address, target)
    except OSError as error:
        raise UploadRejectedError(
            f"{listed.name} cannot be read: {(error.strerror or str(error)).lower()}.",
            remedy="It may have been moved since; import the run again.",
        ) from error


def _file(one: buckets.Listed) -> Request:
    return {**asdict(one), "identity": one.identity, "name": name_of(path_of(one.address))}


def _receipts(request: Request) -> list[Any]:
    return receipts_from(f"[{','.join(request['receipts'])}]")


if __name__ == "__main__":
    main()
