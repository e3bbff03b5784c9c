"""RunLibrary: what people do with runs of many hosts: import, push, close, delete, open a host."""

import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from roofline.errors import (
    BadEditError,
    NotReadyError,
    ProfileNotFoundError,
    UploadRejectedError,
)
from roofline.imports.run_process import RunProcess
from roofline.library import labels
from roofline.library.instance import Instance
from roofline.library.profiles import ProfileLibrary
from roofline.library.run_places import RunFound, RunPlaces, RunWatch
from roofline.storage.durable import COPY_BYTES
from roofline.storage.records import (
    Ownership,
    ProfileId,
    Visibility,
    new_profile_id,
    timestamp,
)
from roofline.storage.run_records import NewRun, Run, RunHost, RunsListed, TrashedRun
from roofline.storage.runs import stored_file
from roofline.storage.staging import StagingArea
from roofline.storage.visibility import Viewer, may_see

MOST_HOSTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWish:
    """A person's words on a new run; `address` is `None` where its hosts are pushed."""

    address: str | None = None
    join_s: float | None = None
    hosts: int | None = None
    title: str = ""
    visibility: Visibility | None = None


class RunLibrary:
    """The runs of `instance`. Every method may block; call it from any thread."""

    def __init__(self, instance: Instance, profiles: ProfileLibrary, places: RunPlaces) -> None:
        settings = instance.settings
        self._instance = instance
        self._runs = instance.store.runs
        self._profiles = profiles
        self.places = places
        self.watch = RunWatch(
            places.prefixes,
            every_s=settings.watch,
            rule=settings.watch_rule,
            start_process=instance.run_keeper.new_process,
            add=self.add_by_rule,
            address_of=self.places.allowed,
        )

    def add(self, wish: RunWish, *, uploader: str | None, delete_token_hash: str) -> str:
        """Stores a run, whose hosts are read from now on; its id.

        Raises `NotAllowedError` for an address that this server may not read, `BadEditError` for a
        title that is too long.
        """
        if wish.hosts is not None and not 0 < wish.hosts <= MOST_HOSTS:
            raise BadEditError(
                f"A run cannot have {wish.hosts:,} hosts.", remedy=f"Give 1 to {MOST_HOSTS:,}."
            )
        new = self._new(wish, uploader, delete_token_hash)
        self._runs.add(new)
        self._instance.run_keeper.look()
        return new.id

    def add_by_rule(self, place: str) -> None:
        """Imports a run that the watch found, unless it was imported before."""
        if self._runs.add_once(self._new(RunWish(address=place), None, None)):
            self._instance.run_keeper.look()

    def _new(self, wish: RunWish, uploader: str | None, delete_token_hash: str | None) -> NewRun:
        return NewRun(
            id=new_profile_id(),
            title=labels.given_title(wish.title) or _title_of(wish.address),
            created_at=timestamp(),
            address=None if wish.address is None else self.places.allowed(wish.address),
            join_s=wish.join_s,
            expected_hosts=wish.hosts,
            uploader=uploader,
            visibility=self._profiles.visibility(wish.visibility, uploader),
            delete_token_hash=delete_token_hash,
        )

    def found(self, viewer: Viewer) -> tuple[RunFound, ...]:
        """What the watch found and may be imported, without runs that `viewer` sees already."""
        found = [one for one in self.watch.found if one.address is not None]
        if not found:
            return ()
        known = self._runs.imported({str(one.address) for one in found}, viewer)
        return tuple(one for one in found if one.address not in known)

    def get(self, run_id: str, viewer: Viewer) -> Run:
        """A run that `viewer` sees; `ProfileNotFoundError` where there is none."""
        found, owned = self._runs.get(run_id), self._runs.ownership(run_id)
        if found is None or owned is None or not may_see(viewer, run_id, owned):
            raise no_run()
        return found

    def ownership(self, run_id: str, *, in_trash: bool = False) -> Ownership:
        """The owner of a run; `ProfileNotFoundError` where there is none."""
        owned = self._runs.ownership(run_id, in_trash=in_trash)
        if owned is None:
            raise no_run()
        return owned

    def listed(
        self, viewer: Viewer, *, text: str = "", offset: int = 0, limit: int = 50
    ) -> RunsListed:
        """Runs that `viewer` sees with every word of `text`, the newest first."""
        return self._runs.listed(viewer, text=text, offset=offset, limit=limit)

    def in_trash(self, viewer: Viewer) -> tuple[TrashedRun, ...]:
        """The runs that `viewer` may take out of the trash, the newest first."""
        if viewer.sees_all:
            return self._runs.in_trash(None)
        return self._runs.in_trash(viewer.owner) if viewer.owner else ()

    def hosts(
        self, run: Run, viewer: Viewer, *, offset: int = 0, limit: int | None = None
    ) -> tuple[RunHost, ...]:
        """The files of a run in the order of reading, without profiles hidden from `viewer`."""
        found = self._runs.hosts(run.id, offset=offset, limit=limit)
        return tuple(
            one if self._sees_profile(viewer, one) else replace(one, profile_id=None)
            for one in found
        )

    def _sees_profile(self, viewer: Viewer, host: RunHost) -> bool:
        """Whether `host` was opened as a profile that `viewer` may know of."""
        if host.profile_id is None:
            return False
        owned = self._instance.store.queries.ownership(host.profile_id)
        return owned is not None and may_see(viewer, host.profile_id, owned)

    def push(self, run_id: str, area: StagingArea) -> int:
        """Adds the files received in `area`, which is gone then; how many were new.

        When this returns, they survive a crash.
        """
        try:
            if not area.files:
                raise UploadRejectedError("There is no file to read.", remedy="Choose a file.")
            added = self._runs.push(run_id, area.files)
        finally:
            area.discard()
        if added is None:
            raise no_run()
        self._instance.run_keeper.look()
        return added

    def close(self, run_id: str) -> None:
        """Has a run end with the hosts that came until now."""
        self._runs.expect(run_id, 0)
        self._instance.run_keeper.look()

    def delete(self, run_id: str) -> None:
        """Ends a run that is being read, and puts it into the trash, or removes it."""
        self._runs.end(run_id)
        if not self._runs.trash(run_id):
            raise no_run()
        self._instance.run_keeper.stop_reading(run_id)
        if not self._instance.store.trash_kept:
            self._instance.run_keeper.remove(run_id)

    def restore(self, run_id: str) -> None:
        """Takes a run out of the trash; `ProfileNotFoundError` when it is not there."""
        if not self._runs.restore(run_id):
            raise no_run()

    def purge(self, run_id: str) -> None:
        """Deletes a run that is in the trash for good; `ProfileNotFoundError` when it is not."""
        self.ownership(run_id, in_trash=True)
        self._instance.run_keeper.remove(run_id)

    def document(self, run: Run) -> bytes | None:
        """The document of a run, as JSON; `None` before the first hosts were read."""
        if run.document is None:
            return None
        try:
            return b"".join(self._instance.store.blobs.open(run.document))
        except FileNotFoundError:
            return None

    def op_hosts(self, run: Run, op: str) -> bytes:
        """The times of one operation on each host of a run, as JSON."""
        receipts = self._runs.receipts(run.id)
        with tempfile.TemporaryDirectory(prefix="roofline-") as folder, self._process() as process:
            target = Path(folder) / "answer"
            process.write_op(receipts, op, target)
            return target.read_bytes()

    def file_of(self, run: Run, digest: str) -> str:
        """The id of the file with the capture of this SHA-256.

        Files that are packed, and partials, are looked into. `ProfileNotFoundError` where none is.
        """
        found = self._runs.with_content(run.id, digest)
        if not found and (other := self._file_with(run, digest)) is not None:
            found = self._runs.with_content(run.id, other)
        if not found:
            raise ProfileNotFoundError(
                "The file of this host is not part of the run any more.",
                remedy="Import the run again.",
            )
        return found[0].identity

    def _file_with(self, run: Run, digest: str) -> str | None:
        with self._process() as process:
            return process.file_with(self._runs.receipts(run.id), digest)

    def _process(self) -> "closing[RunProcess]":
        return closing(self._instance.run_keeper.new_process())

    def host_profile(self, run: Run, identity: str, viewer: Viewer) -> ProfileId:
        """The profile of one host's file, imported when it is asked for first.

        A profile that its uploader hid from `viewer` is left alone, and another one is made.

        `NotReadyError` where only the partial of the host was pushed.
        """
        host = self._runs.host(run.id, identity)
        if host is None:
            raise ProfileNotFoundError(
                "There is no such host in this run.", remedy="Choose a host of its list."
            )
        queries = self._instance.store.queries
        if self._sees_profile(viewer, host) and queries.get(host.profile_id or "") is not None:
            return ProfileId(host.profile_id or "")
        if host.name.endswith(_PARTIAL):
            raise NotReadyError(
                "Only the partial of this host was sent, which has no page of its own.",
                remedy="Send the whole file with `roofline push`.",
            )
        area = self._profiles.stage()
        try:
            self._receive(area, host)
            profile_id = self._profiles.add(
                area,
                title=f"{run.title}: {host.name}"[: labels.TITLE_LENGTH],
                uploader=viewer.owner or None,
                visibility=run.visibility,
            )
        finally:
            area.discard()
        self._runs.set_profile(run.id, identity, profile_id)
        return profile_id

    def _receive(self, area: StagingArea, host: RunHost) -> None:
        if host.is_kept:
            area.receive_all(host.name, self._instance.store.raw.chunks(stored_file(host)))
            return
        listed = {
            "address": host.address,
            "version": host.version,
            "size_bytes": host.size_bytes,
            "modified_at": 0.0,
        }
        self._instance.check_room(host.size_bytes)
        target = area.root / "fetched"
        with self._process() as process:
            process.fetch(listed, target)
        with target.open("rb") as file:
            area.receive_all(host.name, iter(lambda: file.read(COPY_BYTES), b""))
        target.unlink()


# As `pods.packed` has it, which loads NumPy.
_PARTIAL = ".partial"


def no_run() -> ProfileNotFoundError:
    """The error for a run that is not there, or that may not be seen."""
    return ProfileNotFoundError(
        "There is no such run.", remedy="Check the link; the run may have been deleted."
    )


def _title_of(address: str | None) -> str:
    """The last folder of an address, or what else a run may be called."""
    if address is None:
        return "run"
    parts = [part for part in address.partition("?")[0].split("/") if part]
    return labels.title(parts[-1] if parts else "") or "run"
