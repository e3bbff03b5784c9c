"""ProfileLibrary: add profiles, follow their import, read what was computed, remove them.

A profile is `Importing`, then `Ready` or `Failed`. A failed import leaves nothing on the disk; why
it failed is remembered for an hour. Results are a cache by version: when the code that computes
them has changed, the first reader waits for them to be computed again from the raw bytes.
"""

import fcntl
import hashlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from app.errors import (
    BadViewError,
    CorruptProfileError,
    ImportStoppedError,
    NotReadyError,
    ProfileNotFoundError,
    RooflineError,
    SettingsError,
    UploadRejectedError,
)
from app.jobs import (
    ImportRunner,
    ImportTask,
    Outcome,
    Progress,
    cancelled_error,
)
from app.orders import ImportLimits, WorkOrder
from app.samples import Sample, find_samples, sample_key
from app.storage.durable import make_directory
from app.storage.profiles import (
    Manifest,
    ProfileId,
    ProfileStore,
    StoredFile,
    Summary,
    new_profile_id,
)
from app.storage.results import PAGE, ResultFile
from app.storage.staging import COPY_BYTES, Staging, StagingArea

# Raise it when results change for another reason than the code of the packages below.
ANALYSIS_VERSION = 1
_COMPUTING_PACKAGES = ("model", "devices", "importers", "analysis", "presentation")
FAILURES_KEPT_S = 3600.0
CANCEL_WAIT_S = 10.0
TITLE_LENGTH = 200
ID_CHARACTERS_LOGGED = 6  # a whole id is a link, and links are secrets
_log = logging.getLogger("roofline.library")


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """A profile whose import, or whose analysis by newer code, is under way."""

    id: ProfileId
    title: str
    progress: Progress
    elapsed_s: float
    files: tuple[tuple[str, int], ...]  # name, size in bytes


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
    at: float = 0.0


State = Importing | Ready | Failed


class ProfileLibrary:
    """The profiles of one data folder. Safe to call from any thread; one server per folder."""

    def __init__(
        self, root: Path, *, limits: ImportLimits, workers: int, samples_dir: Path
    ) -> None:
        self._root = root
        self._limits = limits
        self._samples_dir = samples_dir
        self._workers = workers
        self._store = ProfileStore(root, results_version())
        self._staging = Staging(root / "incoming")
        self._tasks: dict[str, ImportTask] = {}
        self._failures: dict[str, Failed] = {}
        self._opening: dict[str, ProfileId] = {}
        self._lock = threading.RLock()
        self._samples_lock = threading.Lock()
        self._claim: BinaryIO | None = None
        self._runner: ImportRunner | None = None

    def open(self) -> None:
        """Claims the data folder, sweeps what a crash left, and makes ready to import.

        A second call does nothing. Raises `SettingsError` if another server uses the folder or it
        cannot be written.
        """
        if self._claim is not None:
            return
        self._claim = _claim(self._root)
        self._staging.sweep()
        self._store.load()
        self._store.sweep()
        self._runner = ImportRunner(self._workers)
        self._runner.warm_up()

    def close(self) -> None:
        """Stops every import, removes what they staged, and gives the data folder back."""
        if self._runner is not None:
            self._runner.close()
        self._staging.sweep()
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    @property
    def damaged(self) -> tuple[Path, ...]:
        """Manifests that could not be read at `open`."""
        return self._store.damaged

    def stage(self) -> StagingArea:
        """An empty folder for the files of one upload; pass it to `add` or discard it."""
        return self._staging.new()

    def add(self, area: StagingArea, *, title: str = "", sample: str | None = None) -> ProfileId:
        """Starts to import the files received in `area`, which now belongs to the library."""
        if not area.files:
            area.discard()
            raise UploadRejectedError("There is no file to read.", remedy="Choose a profile file.")
        profile_id = new_profile_id()
        order = self._order(
            profile_id,
            title=_clean_title(title) or _title_of([file.name for file in area.files]),
            created_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            files=tuple((file.name, file.path, file.size_bytes) for file in area.files),
            area=area,
        )
        self._start(order, area, partial(self._commit, order, area, sample))
        return profile_id

    def state(self, profile_id: str) -> State:
        """How the profile stands now; `ProfileNotFoundError` when there is none."""
        with self._lock:
            task = self._tasks.get(profile_id)
            if task is not None:
                return _importing(task)
            if profile_id in self._failures:
                return self._failures[profile_id]
            manifest = self._store.get(profile_id)
            if manifest is None:
                raise _not_found()
            page = self._store.results.file(profile_id, PAGE)
            if page is not None:
                return Ready(manifest=manifest, page=page)
            return _importing(self._compute_again(manifest))

    def pending(self, profile_id: str) -> Future[None] | None:
        """Done when the import or computation under way ends; `None` when there is none."""
        task = self._tasks.get(profile_id)
        return task.future if task is not None else None

    def result(self, profile_id: str, name: str) -> ResultFile:
        """The result file `name`.

        Raises `NotReadyError` while it is being computed, and the error of a failed import.
        """
        state = self._ready(profile_id)
        found = self._store.results.file(profile_id, name)
        if found is None:
            raise self._compute_later(state.manifest)
        return found

    def op_details(self, profile_id: str, index: int) -> bytes:
        """What the page does not carry about one op, as JSON; `index` counts as in the page."""
        state = self._ready(profile_id)
        try:
            found = self._store.results.op(profile_id, index)
        except IndexError as error:
            raise BadViewError(
                f"The profile has no operation {index}.", remedy="Open the profile's page again."
            ) from error
        if found is None:
            raise self._compute_later(state.manifest)
        return found

    def sources(self, profile_id: str) -> tuple[tuple[StoredFile, Path], ...]:
        """The raw files of a profile and where they lie; `CorruptProfileError` if one is gone."""
        manifest = self.manifest(profile_id)
        found = tuple((file, self._store.blobs.path(file.sha256)) for file in manifest.files)
        for file, path in found:
            _check_blob(file, path)
        return found

    def manifest(self, profile_id: str) -> Manifest:
        """What is stored about a profile; raises like `state` if it is not stored."""
        manifest = self._store.get(profile_id)
        if manifest is not None:
            return manifest
        state = self.state(profile_id)
        raise _not_ready() if isinstance(state, Importing) else _fresh(state)

    def remove(self, profile_id: str) -> None:
        """Deletes a profile, cancels its import, or forgets its failure."""
        task = self._tasks.get(profile_id)
        if task is not None:
            task.cancel()
            if not task.future.cancelled():
                # It may commit at this very moment: only what has ended can be removed for good.
                wait([task.future], timeout=CANCEL_WAIT_S)
        known = self._failures.pop(profile_id, None) is not None
        removed = self._store.remove(profile_id)
        if task is None and not known and not removed:
            raise _not_found()

    def is_stored(self, profile_id: str) -> bool:
        """True once a profile was imported: what is missing then can be computed again."""
        return self._store.get(profile_id) is not None

    def recent(self, limit: int) -> tuple[Manifest, ...]:
        """The newest profiles, newest first."""
        return self._store.recent(limit)

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
            stored = self._store.sample(key)
            if stored is not None:
                return stored.id
            if self._opening.get(key) not in self._tasks:
                self._opening[key] = self._add_sample(sample, key)
            return self._opening[key]

    def _add_sample(self, sample: Sample, key: str) -> ProfileId:
        area = self.stage()
        for path in sample.files:
            with path.open("rb") as file:
                area.receive_all(path.name, iter(partial(file.read, COPY_BYTES), b""))
        return self.add(area, title=sample.title, sample=key)

    def _order(
        self,
        profile_id: ProfileId,
        *,
        title: str,
        created_at: str,
        files: tuple[tuple[str, Path, int], ...],
        area: StagingArea,
    ) -> WorkOrder:
        return WorkOrder(
            profile_id=profile_id,
            title=title,
            created_at=created_at,
            files=files,
            folder=area.root,
            results=area.results,
            limits=self._limits,
        )

    def _start(
        self, order: WorkOrder, area: StagingArea, commit: Callable[[Outcome], None]
    ) -> ImportTask:
        if self._runner is None:
            raise RuntimeError("the library is not open")
        with self._lock:
            self._forget_old_failures()
            task = self._runner.submit(order, partial(self._work, order, area, commit))
            self._tasks[order.profile_id] = task
        task.future.add_done_callback(partial(self._withdraw, order, area))
        return task

    def _work(
        self,
        order: WorkOrder,
        area: StagingArea,
        commit: Callable[[Outcome], None],
        run: Callable[[], Outcome],
    ) -> None:
        error: RooflineError | None = _fault()
        try:
            commit(run())
            error = None
        except RooflineError as found:
            error = found
        finally:
            self._end(order, area, error)

    def _withdraw(self, order: WorkOrder, area: StagingArea, future: "Future[None]") -> None:
        """Ends an import that was cancelled before it began."""
        if future.cancelled():
            self._end(order, area, cancelled_error())

    def _end(self, order: WorkOrder, area: StagingArea, error: RooflineError | None) -> None:
        area.discard()
        _log.info(
            "import of %s…: %s, %d bytes",
            order.profile_id[:ID_CHARACTERS_LOGGED],
            "ready" if error is None else error.code,
            sum(size for _, _, size in order.files),
        )
        with self._lock:
            self._tasks.pop(order.profile_id, None)
            if error is not None:
                self._failures[order.profile_id] = _failed(order, error)

    def _commit(
        self, order: WorkOrder, area: StagingArea, sample: str | None, found: Outcome
    ) -> None:
        manifest = Manifest(
            id=ProfileId(order.profile_id),
            title=order.title,
            created_at=order.created_at,
            format=str(found["format"]),
            files=tuple(
                StoredFile(name=file.name, size_bytes=file.size_bytes, sha256=file.sha256)
                for file in area.files
            ),
            summary=Summary(**found["summary"]),
            sample=sample,
        )
        self._store.commit(manifest, area.files, area.results)

    def _ready(self, profile_id: str) -> Ready:
        state = self.state(profile_id)
        if isinstance(state, Ready):
            return state
        raise _not_ready() if isinstance(state, Importing) else _fresh(state)

    def _compute_later(self, manifest: Manifest) -> NotReadyError:
        with self._lock:
            if manifest.id not in self._tasks:
                self._compute_again(manifest)
        return _not_ready()

    def _compute_again(self, manifest: Manifest) -> ImportTask:
        blobs = self.sources(manifest.id)
        area = self.stage()
        order = self._order(
            manifest.id,
            title=manifest.title,
            created_at=manifest.created_at,
            files=tuple((file.name, path, file.size_bytes) for file, path in blobs),
            area=area,
        )
        return self._start(
            order, area, lambda _found: self._replace_results(manifest.id, area.results)
        )

    def _replace_results(self, profile_id: ProfileId, results: Path) -> None:
        self._store.replace_results(profile_id, results)

    def _forget_old_failures(self) -> None:
        oldest = time.monotonic() - FAILURES_KEPT_S
        for profile_id, failed in list(self._failures.items()):
            if failed.at < oldest:
                del self._failures[profile_id]


def results_version() -> str:
    """Changes whenever results could: with the constant, or with any code that computes them.

    A constant alone was rejected: who forgets to raise it serves wrong pages for ever.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for name in _COMPUTING_PACKAGES:
        for path in sorted((package / name).rglob("*")):
            if path.suffix in {".py", ".toml"}:
                digest.update(path.read_bytes())
    return f"v{ANALYSIS_VERSION}-{digest.hexdigest()[:12]}"


def _claim(root: Path) -> BinaryIO:
    try:
        for name in ("", "blobs", "profiles", "derived", "incoming"):
            make_directory(root / name)
        claim = (root / "lock").open("wb")
    except OSError as error:
        raise SettingsError(
            f"The data folder {root} cannot be used: {os.strerror(error.errno or 0).lower()}.",
            remedy="Choose another with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    try:
        # Freed by the system when this process ends, however it ends.
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        claim.close()
        raise SettingsError(
            f"Another server uses the data folder {root}.",
            remedy="Stop it, or choose another folder with --data-dir or ROOFLINE_DATA_DIR.",
        ) from error
    return claim


def _check_blob(file: StoredFile, path: Path) -> None:
    if not path.is_file() or path.stat().st_size != file.size_bytes:
        raise CorruptProfileError(
            f"The stored copy of {file.name} is missing or damaged.",
            remedy="Delete this profile and upload the file again.",
        )


def _importing(task: ImportTask) -> Importing:
    order = task.order
    return Importing(
        id=ProfileId(order.profile_id),
        title=order.title,
        progress=task.progress,
        elapsed_s=time.monotonic() - task.started_at,
        files=tuple((name, size) for name, _, size in order.files),
    )


def _failed(order: WorkOrder, error: RooflineError) -> Failed:
    return Failed(
        id=ProfileId(order.profile_id),
        title=order.title,
        error=error,
        files=tuple((name, size) for name, _, size in order.files),
        at=time.monotonic(),
    )


def _fresh(state: Ready | Failed) -> RooflineError:
    """The error of a failed import as a new object: one raised twice would grow its traceback."""
    return copy(state.error) if isinstance(state, Failed) else _not_found()


def _fault() -> ImportStoppedError:
    return ImportStoppedError(
        "The import ended by a fault of the server.",
        remedy="The server's log says why. Please report it together with the file.",
    )


def _not_ready() -> NotReadyError:
    return NotReadyError(
        "The profile is still being imported.", remedy="Ask again in a few seconds."
    )


def _not_found() -> ProfileNotFoundError:
    return ProfileNotFoundError(
        "There is no profile at this address.",
        remedy="Check the link; the profile may have been deleted, or its import failed.",
    )


def _clean_title(title: str) -> str:
    return "".join(ch for ch in title if ch.isprintable()).strip()[:TITLE_LENGTH]


def _title_of(names: Sequence[str]) -> str:
    """A title from file names: the first without its extensions, and how many more there are."""
    stem = re.sub(r"(\.(xplane|pb|gz|zip|tar|tgz|json|csv|trace))+$", "", names[0], flags=re.I)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return _clean_title((stem or names[0])[: TITLE_LENGTH - len(more)] + more) or "profile"
