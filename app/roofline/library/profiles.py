"""ProfileLibrary: add profiles, follow their import, read what was computed, remove them.

A profile is `Importing`, then `Ready` or `Failed`; why it failed is remembered for a week. Results
are a cache by version: when the code that computes them has changed, the first reader waits for
them to be computed again from the raw files.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from roofline.errors import (
    BadViewError,
    NotReadyError,
    ProfileNotFoundError,
    RooflineError,
    UploadRejectedError,
)
from roofline.imports.children import Progress, cancelled_error, progress_at
from roofline.imports.job_run import ImportReport
from roofline.imports.messages import ImportLimits
from roofline.imports.waiting import Waiting
from roofline.library import labels
from roofline.library.instance import Instance, InstanceOptions
from roofline.library.results_version import results_version
from roofline.library.samples import Sample, find_samples, sample_key
from roofline.storage.durable import COPY_BYTES
from roofline.storage.profiles import Manifest, ProfileId, StoredFile, new_profile_id
from roofline.storage.records import (
    CANCELLED,
    FAILED,
    QUEUED,
    RUNNING,
    Facets,
    Job,
    Listing,
    NewProfile,
    Ownership,
    Pending,
    RawFile,
    StoreStats,
    timestamp,
)
from roofline.storage.results import PAGE, ResultFile
from roofline.storage.staging import StagedFile, StagingArea

# An analysis that failed is tried again when somebody looks after this time.
RETRY_AFTER_S = 3600.0
CANCEL_WAIT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """A profile whose import, or whose analysis by newer code, is under way."""

    id: ProfileId
    title: str
    progress: Progress
    elapsed_s: float
    files: tuple[tuple[str, int], ...]  # name, size in bytes
    uploader: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A profile that can be read; `page` is the result the page needs."""

    manifest: Manifest
    page: ResultFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A profile that could not be imported, and why."""

    id: ProfileId
    title: str
    error: RooflineError
    files: tuple[tuple[str, int], ...]  # name, size in bytes
    uploader: str | None


State = Importing | Ready | Failed


class ProfileLibrary:
    """The profiles of one instance. Every method may block; call it from any thread."""

    def __init__(
        self,
        root: Path,
        *,
        limits: ImportLimits,
        samples_dir: Path,
        options: InstanceOptions | None = None,
    ) -> None:
        self._samples_dir = samples_dir
        self._options = options or InstanceOptions()
        self._instance = Instance(
            root, results_version(), limits=limits, options=self._options, on_end=self._ended
        )
        self._store = self._instance.store
        self._waiting = Waiting(self._store.jobs)
        self._samples_lock = threading.Lock()
        self.on_import_end: Callable[[ImportReport], None] | None = None

    def open(self) -> None:
        """Claims the data folder, brings the database up to date, goes on with what is due.

        A second call does nothing. Raises `SettingsError` if another server uses the folder, it
        cannot be written, or the database is of a newer version.
        """
        self._instance.open()
        self._waiting.open(poll=self._instance.is_shared)

    def close(self) -> None:
        """Stops every import, to go on with at the next start, and frees the data folder."""
        self._waiting.close()
        self._instance.close()

    @property
    def damaged(self) -> tuple[Path, ...]:
        """Manifests of an older release that could not be read at `open`."""
        return self._instance.damaged

    def key_for(self, purpose: str) -> bytes:
        """A secret for one purpose: the same in every server of this instance, for ever."""
        return self._instance.key_for(purpose)

    def check_room(self, size_bytes: int) -> None:
        """Raises `StorageFullError` when an upload of that size would fill the disk."""
        self._instance.check_room(size_bytes)

    @property
    def is_shared(self) -> bool:
        """True when other processes may change profiles, too."""
        return self._instance.is_shared

    def on_change(self, hear: Callable[[str], None]) -> None:
        """Calls `hear` with the id of each ready profile that this process changed or removed.

        From any thread, after the change counts for readers and before whoever made it knows.
        """
        self._store.on_change = hear

    def stage(self) -> StagingArea:
        """An empty folder for the files of one upload; pass it to `add` or discard it."""
        return self._instance.staging.new()

    def add(
        self,
        area: StagingArea,
        *,
        title: str = "",
        note: str = "",
        tags: Sequence[str] = (),
        uploader: str | None = None,
        delete_token_hash: str | None = None,
        sample: str | None = None,
    ) -> ProfileId:
        """Stores the files received in `area`, which is gone then, and starts their import.

        When this returns, the profile survives a crash.
        """
        try:
            if not area.files:
                raise UploadRejectedError("There is no file to read.", remedy="Choose a profile.")
            new = NewProfile(
                id=new_profile_id(),
                title=labels.title(title) or labels.title_of([f.name for f in area.files]),
                created_at=timestamp(),
                files=tuple(_stored(file) for file in area.files),
                sample=sample,
                note=labels.note(note),
                tags=labels.tags(tags),
                uploader=uploader,
                expires_at=self._expiry(),
                delete_token_hash=delete_token_hash,
            )
            job_id = self._store.add(new, area.files)
        finally:
            area.discard()
        self._instance.deliver(job_id)
        return new.id

    def state(self, profile_id: str) -> State:
        """How the profile stands now; `ProfileNotFoundError` when there is none."""
        found = self._store.get(profile_id)
        if found is None:
            raise _not_found()
        if isinstance(found, Pending):
            if found.error is not None:
                return _failed(found, found.uploader, found.error)
            return self._importing(found)
        page = self._page(profile_id)
        if page is not None:
            return Ready(manifest=found, page=page)
        return self._computing_again(found)

    def pending(self, profile_id: str) -> "Future[None] | None":
        """Done when the import or analysis under way ends; `None` when there is none."""
        return self._waiting.future(profile_id)

    def result(self, profile_id: str, name: str) -> ResultFile:
        """The result file `name`.

        Raises `NotReadyError` while it is being computed, and the error of a failed import.
        """
        found = self._store.results.file(profile_id, name) if self._is_ready(profile_id) else None
        if found is None:
            raise self._unavailable(profile_id)
        return found

    def op_details(self, profile_id: str, index: int) -> bytes:
        """What the page does not carry about one op, as JSON; `index` counts as in the page."""
        ready = self._is_ready(profile_id)
        try:
            found = self._store.results.op(profile_id, index) if ready else None
        except IndexError as error:
            raise BadViewError(
                f"The profile has no operation {index}.", remedy="Open the profile's page again."
            ) from error
        if found is None:
            raise self._unavailable(profile_id)
        return found

    def sources(self, profile_id: str) -> tuple[RawFile, ...]:
        """The raw files of a profile; `CorruptProfileError` if one is gone."""
        return tuple(self._store.raw.raw_file(file) for file in self.manifest(profile_id).files)

    def manifest(self, profile_id: str) -> Manifest:
        """What is stored about a ready profile; raises like `state` if it is not ready."""
        found = self._store.get(profile_id)
        if isinstance(found, Manifest):
            return found
        raise self._unavailable(profile_id)

    def ownership(self, profile_id: str) -> Ownership:
        """Who may change a profile, whatever its state; `ProfileNotFoundError`."""
        found = self._store.ownership(profile_id)
        if found is None:
            raise _not_found()
        return found

    def edit(
        self,
        profile_id: str,
        *,
        title: str | None = None,
        note: str | None = None,
        tags: Sequence[str] | None = None,
        pinned: bool | None = None,
    ) -> Manifest:
        """Changes what is given. Raises `BadEditError`, and like `manifest`."""
        self.manifest(profile_id)
        values: dict[str, object] = {}
        if title is not None:
            values["title"] = labels.new_title(title)
        if note is not None:
            values["note"] = labels.note(note)
        if pinned is not None:
            values["pinned"] = pinned
        cleaned = None if tags is None else labels.tags(tags)
        if not self._store.edit(profile_id, tags=cleaned, **values):
            raise _not_found()
        return self.manifest(profile_id)

    def cancel(self, profile_id: str) -> None:
        """Stops an import: it has failed then. Does nothing when none is under way."""
        if self._store.cancel(profile_id, cancelled_error()):
            self._instance.desk.kill(profile_id, cancelled_error(), wait_s=CANCEL_WAIT_S)
            if not self._store.is_ready(profile_id):
                self._store.drop_files(profile_id)
        self._waiting.done(profile_id)

    def remove(self, profile_id: str) -> None:
        """Deletes a profile, cancels its import, or forgets its failure."""
        digests = self._store.remove(profile_id)
        if digests is None:
            raise _not_found()
        self._instance.desk.kill(profile_id, cancelled_error(), wait_s=CANCEL_WAIT_S)
        self._store.drop(profile_id, digests)
        self._waiting.done(profile_id)

    def is_stored(self, profile_id: str) -> bool:
        """True once a profile was imported: what is missing then can be computed again."""
        return self._store.is_ready(profile_id)

    def recent(self, limit: int) -> tuple[Manifest, ...]:
        """The newest profiles, newest first."""
        return self._store.recent(limit)

    def search(
        self,
        text: str = "",
        *,
        tag: str = "",
        device: str = "",
        uploader: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> Listing:
        """Profiles with every word of `text`, pinned first, then newest.

        Words are looked for in title, note, tags, device, uploader and file names.
        """
        return self._store.search(
            text, tag=tag, device=device, uploader=uploader, offset=offset, limit=limit
        )

    def facets(self) -> Facets:
        """Devices, tags and uploaders to filter by."""
        return self._store.facets()

    def stats(self) -> StoreStats:
        """Sizes of the store and of its queue."""
        return self._store.stats()

    def check(self) -> None:
        """Returns when profiles can be stored and read; otherwise raises why not."""
        self._instance.check()

    def samples(self) -> tuple[Sample, ...]:
        """The bundled profiles."""
        return find_samples(self._samples_dir)

    def open_sample(self, name: str) -> ProfileId:
        """The profile of a bundled sample, imported when it is opened for the first time."""
        sample = next((sample for sample in self.samples() if sample.name == name), None)
        if sample is None:
            raise ProfileNotFoundError(
                "There is no sample of this name.", remedy="Choose one on the home page."
            )
        key = sample_key(sample)
        with self._samples_lock:
            return self._store.sample(key) or self._add_sample(sample, key)

    def _add_sample(self, sample: Sample, key: str) -> ProfileId:
        area = self.stage()
        for path in sample.files:
            with path.open("rb") as file:
                area.receive_all(path.name, iter(partial(file.read, COPY_BYTES), b""))
        return self.add(area, title=sample.title, sample=key)

    def _ended(self, profile_id: str, report: ImportReport) -> None:
        self._waiting.done(profile_id)
        if self.on_import_end is not None:
            self.on_import_end(report)

    def _expiry(self) -> str | None:
        days = self._options.retention_days
        return None if days is None else timestamp(timedelta(days=days))

    def _page(self, profile_id: str) -> ResultFile | None:
        page = self._store.results.file(profile_id, PAGE)
        if page is None and self._store.obtain_results(profile_id, self.stage):
            page = self._store.results.file(profile_id, PAGE)
        return page

    def _is_ready(self, profile_id: str) -> bool:
        """True if the results of a ready profile may be read, from elsewhere if need be."""
        return self._store.is_ready(profile_id) and self._store.obtain_results(
            profile_id, self.stage
        )

    def _importing(self, found: Manifest | Pending, job: Job | None = None) -> Importing:
        task = self._instance.desk.task(found.id)
        job = job or self._store.jobs.newest(found.id)
        started_at = time.time() if job is None else job.created_at
        progress = progress_at(job.phase, job.fraction) if job else progress_at("queued", 0.0)
        return Importing(
            id=found.id,
            title=found.title,
            progress=task.progress if task is not None else progress,
            elapsed_s=max(0.0, time.time() - started_at),
            files=_names(found.files),
            uploader=found.uploader,
        )

    def _computing_again(self, found: Manifest) -> Importing | Failed:
        """A ready profile without results: starts to compute them, unless that failed lately."""
        job = self._store.jobs.newest(found.id)
        if job is not None and job.version == self._store.results.version:
            if job.state in (QUEUED, RUNNING):
                return self._importing(found, job)
            if job.state in (FAILED, CANCELLED) and job.error is not None and _is_recent(job):
                return _failed(found, found.uploader, job.error)
        job_id = self._store.jobs.add(found.id, "analyse", self._store.results.version)
        if job_id is not None:
            self._instance.deliver(job_id)
        return self._importing(found)

    def _unavailable(self, profile_id: str) -> RooflineError:
        """Why a result cannot be read now; starts to compute results that are gone."""
        state = self.state(profile_id)
        if isinstance(state, Failed):
            return copy(state.error)  # one raised twice would grow its traceback
        if isinstance(state, Ready):  # the page is there, but something beside it is not
            state = self._computing_again(state.manifest)
        return copy(state.error) if isinstance(state, Failed) else _not_ready()


def _is_recent(job: Job) -> bool:
    return job.finished_at is not None and job.finished_at > time.time() - RETRY_AFTER_S


def _stored(file: StagedFile) -> StoredFile:
    return StoredFile(
        name=file.name,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        stored_bytes=file.stored_bytes,
    )


def _names(files: Sequence[StoredFile]) -> tuple[tuple[str, int], ...]:
    return tuple((file.name, file.size_bytes) for file in files)


def _failed(found: Manifest | Pending, uploader: str | None, error: RooflineError) -> Failed:
    return Failed(
        id=found.id,
        title=found.title,
        error=error,
        files=_names(found.files),
        uploader=uploader,
    )


def _not_ready() -> NotReadyError:
    return NotReadyError(
        "The profile is still being imported.", remedy="Ask again in a few seconds."
    )


def _not_found() -> ProfileNotFoundError:
    return ProfileNotFoundError(
        "There is no profile at this address.",
        remedy="Check the link; the profile may have been deleted, or have expired.",
    )
