"""ProfileReader: how a profile stands, and what was computed of it.

A profile is `Importing`, then `Ready` or `Failed`; why it failed is remembered for a week. Results
are a cache by version: when the code that computes them has changed, the first reader waits for
them to be computed again from the raw files.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass
from typing import TypeVar

from roofline.errors import BadViewError, NotReadyError, ProfileNotFoundError, RooflineError
from roofline.imports.messages import Progress, progress_at
from roofline.library.instance import Instance
from roofline.library.ranges import StoredTimes
from roofline.model.plain_data import alike
from roofline.storage.notes import PointNote
from roofline.storage.queries import ProfileQueries
from roofline.storage.records import (
    CANCELLED,
    EVERYBODY,
    FAILED,
    QUEUED,
    RUNNING,
    Job,
    Listing,
    Manifest,
    Pending,
    ProfileId,
    RawFile,
    StoredFile,
    Trashed,
    Visibility,
    WaitsFor,
)
from roofline.storage.results import (
    ADVICE,
    HOSTS,
    PAGE,
    PIECES,
    RANGES,
    DamagedResultError,
    ResultFile,
)
from roofline.storage.visibility import ALL_SEEING, Viewer, may_see

# An analysis that failed is tried again when somebody looks after this time.
RETRY_AFTER_S = 3600.0
T = TypeVar("T")
_log = logging.getLogger("roofline.store")


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """A profile whose import, or whose analysis by newer code, is under way.

    `waits_for` says what it cannot begin without, and `needs_bytes` how much of a disk.
    """

    id: ProfileId
    title: str
    progress: Progress
    elapsed_s: float
    files: tuple[StoredFile, ...]
    uploader: str | None
    visibility: Visibility
    waits_for: WaitsFor | None = None
    needs_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A profile that can be read, with the results that its page needs."""

    manifest: Manifest
    page: ResultFile
    advice: ResultFile | None
    pieces: Mapping[bool, ResultFile | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A profile that could not be imported, and why.

    `can_retry` is true where the files are kept and are not what was wrong.
    """

    id: ProfileId
    title: str
    error: RooflineError
    files: tuple[StoredFile, ...]
    uploader: str | None
    visibility: Visibility
    can_retry: bool


State = Importing | Ready | Failed


class ProfileReader:
    """Reads the profiles of `instance` for one viewer, to whom hidden ones do not exist.

    Every method may block; call it from any thread.
    """

    def __init__(self, instance: Instance, viewer: Viewer = ALL_SEEING) -> None:
        self._instance = instance
        self._viewer = viewer
        self._queries = instance.store.queries
        self._notes = instance.store.notes
        self._jobs = instance.store.jobs
        self._results = instance.store.results
        self._shared_results = instance.store.shared_results
        self._raw = instance.store.raw
        self._new_area = instance.staging.new
        self._waiting = instance.waiting
        self._task = instance.runs.task
        self._deliver = instance.deliver

    def seen_by(self, viewer: Viewer) -> "ProfileReader":
        """The same for another viewer."""
        return ProfileReader(self._instance, viewer)

    def is_for_everybody(self, profile_id: str) -> bool:
        """True if everybody here sees the profile, so that what was read may be kept for others."""
        found = self._queries.ownership(profile_id)
        return found is not None and found.visibility == EVERYBODY

    def state(self, profile_id: str) -> State:
        """How the profile stands now; `ProfileNotFoundError` when there is none to be seen.

        So does every other method.
        """
        self._check(profile_id)
        found = self._queries.get(profile_id)
        if found is None:
            raise not_found()
        if isinstance(found, Pending):
            return self._importing(found) if found.error is None else _failed(found, found.error)
        page, advice, *pieces = self._shown(profile_id)
        if page is not None:
            by_right = dict(zip(PIECES, pieces, strict=True))
            return Ready(manifest=found, page=page, advice=advice, pieces=by_right)
        return self._computing_again(found)

    def pending(self, profile_id: str) -> "Future[None] | None":
        """Done when the import or analysis under way ends; `None` when there is none."""
        self._check(profile_id)
        return self._waiting.future(profile_id)

    def page_pending(self, profile_id: str) -> "Future[None] | None":
        """Done when the page can be shown or nothing is under way; `None` when it is so now."""
        self._check(profile_id)
        future = self._waiting.future(profile_id, of_page=True)
        # Looked up after the future is known: a page that comes from now on ends it.
        if future is None or isinstance(self.state(profile_id), Ready):
            return None
        return future

    def is_stored(self, profile_id: str) -> bool:
        """True once a profile was imported: missing results can then be computed again."""
        self._check(profile_id)
        return self._queries.is_ready(profile_id)

    def manifest(self, profile_id: str) -> Manifest:
        """The manifest of a ready profile; raises like `result` if it is not ready."""
        self._check(profile_id)
        found = self._queries.get(profile_id)
        if isinstance(found, Manifest):
            return found
        raise self._unavailable(profile_id)

    def result(self, profile_id: str, name: str) -> ResultFile:
        """The result file `name`.

        Raises `NotReadyError` while it is being computed, and the error of a failed import.
        """
        self._check(profile_id)
        has_results = self._has_results(profile_id)
        found = self._results.file(profile_id, name) if has_results else None
        if found is None:
            raise self._unavailable(profile_id)
        return found

    def packed(self, profile_id: str, name: str) -> tuple[ResultFile, bytes]:
        """The result file `name` and its content, gzip; raises like `result`.

        Damaged results are found elsewhere, or computed again.
        """

        def read() -> tuple[ResultFile, bytes]:
            found = self.result(profile_id, name)
            return found, found.packed()

        return self._healed(profile_id, read)

    def times(self, profile_id: str, *, by_host: bool = False) -> StoredTimes:
        """The times behind parts of the profile, or of its hosts; raises like `result`."""
        manifest = self.manifest(profile_id)
        name = HOSTS if by_host else RANGES
        return StoredTimes(
            id=profile_id,
            etag=self.result(profile_id, name).etag,
            created_at=manifest.created_at,
            file_sizes={file.name: file.size_bytes for file in manifest.files},
            read=lambda: self.packed(profile_id, name)[1],
        )

    def op_details(self, profile_id: str, index: int) -> bytes:
        """Details of one op beyond the page's, as JSON; `index` counts as in the page."""
        self._check(profile_id)

        def read() -> bytes | None:
            has_results = self._has_results(profile_id)
            return self._results.op(profile_id, index) if has_results else None

        try:
            found = self._healed(profile_id, read)
        except IndexError as error:
            raise BadViewError(
                f"The profile has no operation {index}.", remedy="Open the profile's page again."
            ) from error
        if found is None:
            raise self._unavailable(profile_id)
        return found

    def notes(self, profile_id: str) -> list[PointNote]:
        """People's notes on points of the profile, the oldest first."""
        found = self._queries.ownership(profile_id)
        if found is None or not may_see(self._viewer, profile_id, found):
            raise not_found()
        return self._notes.of(profile_id)

    def sources(self, profile_id: str) -> tuple[RawFile, ...]:
        """The raw files of a profile; `CorruptProfileError` if one is gone."""
        return tuple(self._raw.raw_file(file) for file in self.manifest(profile_id).files)

    def _check(self, profile_id: str) -> None:
        """Raises `ProfileNotFoundError` for a profile that the viewer does not see."""
        if self._viewer.sees_all:
            return
        found = self._queries.ownership(profile_id)
        if found is None or not may_see(self._viewer, profile_id, found):
            raise not_found()

    def _healed(self, profile_id: str, read: Callable[[], T]) -> T:
        """`read()`, after results that it found damaged were removed, and found elsewhere."""
        for _ in range(2):
            try:
                return read()
            except DamagedResultError as error:
                _log.warning("a result is damaged (%s); it is computed again", error)
                self._results.remove(profile_id)
        raise self._unavailable(profile_id)

    def _shown(self, profile_id: str) -> Sequence[ResultFile | None]:
        names = PAGE, ADVICE, *PIECES.values()
        found = tuple(self._results.files(profile_id, *names))
        if found[0] is None and self._shared_results.obtain(profile_id, self._new_area):
            return tuple(self._results.files(profile_id, *names))
        return found

    def _has_results(self, profile_id: str) -> bool:
        """True if the results of a ready profile may be read, from elsewhere if need be."""
        return self._queries.is_ready(profile_id) and self._shared_results.obtain(
            profile_id, self._new_area
        )

    def _importing(self, found: Manifest | Pending, job: Job | None = None) -> Importing:
        task = self._task(found.id)
        job = job or self._jobs.newest(found.id)
        started_at = time.time() if job is None else job.created_at
        waits_for = None if job is None else job.waits_for
        progress = progress_at("queued", 0.0)
        if job is not None and waits_for is None:
            progress = progress_at(job.phase, job.fraction)
        return alike(
            Importing,
            found,
            progress=task.progress if task is not None else progress,
            elapsed_s=max(0.0, time.time() - started_at),
            waits_for=waits_for,
            needs_bytes=job.needs_bytes if job is not None and waits_for == "disk" else None,
        )

    def _computing_again(self, found: Manifest) -> Importing | Failed:
        """A ready profile without results: starts to compute them, unless that failed lately."""
        job = self._jobs.newest(found.id)
        if job is not None and job.version == self._results.version:
            if job.state in (QUEUED, RUNNING):
                return self._importing(found, job)
            if job.state in (FAILED, CANCELLED) and job.error is not None and _is_recent(job):
                return _failed(found, job.error)
        job_id = self._jobs.add(found.id, "analyse", self._results.version)
        if job_id is not None:
            self._deliver(job_id)
        return self._importing(found)

    def _unavailable(self, profile_id: str) -> RooflineError:
        """Why a result cannot be read now; starts to compute results that are gone."""
        state = self.state(profile_id)
        if isinstance(state, Ready):  # the page is there, but something beside it is not
            state = self._computing_again(state.manifest)
        # One that is raised twice would grow its traceback.
        return copy(state.error) if isinstance(state, Failed) else _not_ready()


def not_found() -> ProfileNotFoundError:
    """The error for an id that no profile has."""
    return ProfileNotFoundError(
        "There is no profile at this address.",
        remedy="Check the link; the profile may have been deleted, or have expired.",
    )


def _is_recent(job: Job) -> bool:
    return job.finished_at is not None and job.finished_at > time.time() - RETRY_AFTER_S


def _failed(found: Manifest | Pending, error: RooflineError) -> Failed:
    holds_files = isinstance(found, Manifest) or found.holds_files
    return alike(Failed, found, error=error, can_retry=holds_files and not error.is_about_files)


def _not_ready() -> NotReadyError:
    return NotReadyError(
        "The profile is still being imported.", remedy="Ask again in a few seconds."
    )


class ProfileLists:
    """The lists of `queries` for one viewer. Every method may block; call it from any thread."""

    def __init__(self, queries: ProfileQueries, viewer: Viewer) -> None:
        self._queries = queries
        self._viewer = viewer

    @property
    def viewer(self) -> Viewer:
        """The person whose lists these are."""
        return self._viewer

    def search(
        self,
        text: str = "",
        *,
        tag: str = "",
        device: str = "",
        offset: int = 0,
        limit: int = 50,
        sort: str = "",
    ) -> Listing:
        """See `ProfileQueries.search`."""
        return self._queries.search(
            text,
            tag=tag,
            device=device,
            offset=offset,
            limit=limit,
            sort=sort,
            viewer=self._viewer,
        )

    def failed_uploads(self, limit: int | None) -> tuple[Failed, ...]:
        """The viewer's own uploads that failed and whose files are kept, the newest first.

        Those without an owner are administrators'.
        """
        if not self._viewer.owner and not self._viewer.sees_all:
            return ()
        found = self._queries.failed_uploads(self._viewer.owner, limit)
        return tuple(_failed(one, one.error) for one in found if one.error is not None)

    def op_shares(self, profile_id: str, limit: int) -> dict[str, dict[str, float]]:
        """See `ProfileQueries.op_shares`."""
        return self._queries.op_shares(profile_id, limit, self._viewer)

    def frequent_tags(self, limit: int) -> tuple[tuple[str, int], ...]:
        """The tags that the most of these profiles have, and how many have each."""
        return self._queries.frequent_tags(limit, self._viewer)

    def trashed(self) -> tuple[Trashed, ...]:
        """The profiles that the viewer may take out of the trash, the newest first."""
        if self._viewer.sees_all:
            return self._queries.trashed(None)
        return self._queries.trashed(self._viewer.owner) if self._viewer.owner else ()
