"""The program of `run_process`: lists runs, reads their hosts and writes what is said of them."""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roofline.children.messages import PROGRESS, Body, Say, serve
from roofline.children.sandbox import give_way, within
from roofline.errors import CorruptProfileError, UploadRejectedError
from roofline.exports.run_report import op_record, render_run
from roofline.fleet.choosing import (
    file_with,
    op_of_receipts,
    reduce_receipts,
    start_engine,
)
from roofline.fleet.engine import Engine, EngineChoice, Receipt, receipts_from
from roofline.fleet.kept import drop_unneeded_names, open_kept
from roofline.imports.run_process import FEWER_FILES
from roofline.model.outer_limits import ImportLimits, OuterLimits
from roofline.model.units import GIB
from roofline.pods.fetching import fetch_folder, fetch_steady
from roofline.pods.folders import HostFile, is_folder, members_of, name_of, path_of
from roofline.pods.listing import list_run, runs_below
from roofline.process_environment import hide_secrets_of_libraries
from roofline.storage import buckets


class RunProgram:
    """Does what `run_process` asks; its engines are started with the first file that needs them.

    `options` are those of `RunProcess`. Files that were pushed lie on this machine: they are read
    here, whatever the engine is.
    """

    def __init__(self, options: Body) -> None:
        self._place = str(options["place"])
        self._kept = open_kept(self._place)
        self._limits = ImportLimits(**options["limits"])
        self._workers = max(1, int(options["workers"]))
        self._wanted = EngineChoice(**options["engine"])
        self._engines: dict[str, Engine] = {}
        self._ending = ExitStack()

    def close(self) -> None:
        """Ends what was started."""
        self._ending.close()

    def answer(self, body: Body, say: Say) -> Body:
        """The answer to a request; a receipt for each file is `progress`.

        Raises `CorruptProfileError` where a partial is not kept any more.
        """
        try:
            return self._answer(body, say)
        except ValueError as error:
            raise CorruptProfileError(str(error), remedy="The hosts are read again.") from error

    def _answer(self, body: Body, say: Say) -> Body:
        match body["do"]:
            case "list" | "find":
                return _listed(body)
            case "read":
                for receipt in self._read([HostFile(**one) for one in body["files"]]):
                    say(PROGRESS, asdict(receipt))
            case "write":
                report = reduce_receipts(_receipts(body), self._kept)
                Path(body["target"]).write_bytes(render_run(report, "json"))
            case "op":
                found_op = op_of_receipts(_receipts(body), self._kept, body["op"])
                Path(body["target"]).write_bytes(op_record(found_op))
            case "drop names":
                return {"dropped": drop_unneeded_names(self._place, grace_s=body["grace_s"])}
            case "file":
                return {"digest": file_with(_receipts(body), self._kept, body["digest"])}
            case _:
                _fetch(buckets.Listed(**body["file"]), Path(body["target"]))
        return {}

    def _read(self, files: Sequence[HostFile]) -> Iterator[Receipt]:
        """A receipt for each file. Raises what the engine raises."""
        pushed = [one for one in files if one.is_named]
        listed = [one for one in files if not one.is_named]
        # Files of this machine are read while the cluster reads.
        here = self._engine("local").submit(pushed) if pushed else None
        if listed:
            yield from self._engine(self._wanted.engine).submit(listed).receipts()
        if here is not None:
            yield from here.receipts()

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            here = EngineChoice(workers=self._workers)
            choice = here if name == "local" else self._wanted
            engine = start_engine(choice, self._place, self._limits)
            self._ending.callback(engine.close)
            self._engines[name] = engine
        return self._engines[name]


def main() -> None:
    """Answers requests until there are no more."""
    give_way()  # its children, too
    hide_secrets_of_libraries()  # from the children that read strangers' files
    with closing(RunProgram(json.loads(sys.argv[1]))) as program:
        serve(program.answer)


def _listed(body: Body) -> Body:
    """The files of a run, or the runs below a prefix, within the limits of a listing."""
    limits = OuterLimits(**body["limits"])
    try:
        with within(limits):
            if body["do"] == "find":
                return {"runs": [asdict(one) for one in runs_below(body["prefix"])]}
            found = list_run(body["address"], join_s=body["join_s"])
            folders = [Path(one).resolve() for one in body["folders"]]
            files = [_file(one) for one in found.files if _is_inside(one.address, folders)]
            if not files:
                raise UploadRejectedError(
                    "All files there are links that lead to other places.", remedy="Copy them."
                )
            return {"files": files, "note": found.note}
    except MemoryError:
        over = f"more than {limits.memory_bytes / GIB:,.3g} GiB of memory"
    except TimeoutError:
        over = f"more than {limits.cpu_seconds:,} s of processor time"
    raise UploadRejectedError(f"Listing this place takes {over}.", remedy=FEWER_FILES)


def _is_inside(address: str, folders: Sequence[Path]) -> bool:
    """True for objects of a bucket, and for files and whole folders that are below `folders`."""
    if buckets.is_address(address):
        return True
    files = [one.address for one in members_of(address)] if is_folder(address) else [address]
    paths = [Path(one).resolve() for one in files]
    return all(any(path.is_relative_to(one) for one in folders) for path in paths)


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


def _file(one: buckets.Listed) -> Body:
    return {**asdict(one), "identity": one.identity, "name": name_of(path_of(one.address))}


def _receipts(body: Body) -> list[Any]:
    return receipts_from(f"[{','.join(body['receipts'])}]")


if __name__ == "__main__":
    main()
