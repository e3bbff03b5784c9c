"""ProfileLibrary: what people do with profiles: add, open a sample, edit, cancel, delete."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from roofline.errors import (
    BadEditError,
    FileGroup,
    MixedUploadError,
    ProfileNotFoundError,
    UploadRejectedError,
)
from roofline.imports.children import cancelled_error
from roofline.library import labels
from roofline.library.instance import Instance
from roofline.library.reader import Failed, ProfileReader, not_found
from roofline.library.samples import Sample, find_samples, sample_key
from roofline.model.outer_limits import END_S
from roofline.model.plain_data import alike
from roofline.presentation import titles
from roofline.storage import trash
from roofline.storage.durable import COPY_BYTES
from roofline.storage.records import (
    EVERYBODY,
    LINK,
    OWNER,
    Manifest,
    NewProfile,
    Ownership,
    ProfileId,
    StoredFile,
    Visibility,
    new_profile_id,
    timestamp,
)
from roofline.storage.staging import StagingArea


class ProfileLibrary:
    """Changes the profiles of `instance`. Every method may block; call it from any thread."""

    def __init__(self, instance: Instance, reader: ProfileReader, samples_dir: Path) -> None:
        self._samples_dir = samples_dir
        self._reader = reader
        self._staging = instance.staging
        self._store = instance.store
        self._runs = instance.runs
        self._waiting = instance.waiting
        self._deliver = instance.deliver
        self._retention_days = instance.settings.retention_days
        self._usual_visibility = instance.settings.visibility
        self._samples_lock = threading.Lock()

    def stage(self) -> StagingArea:
        """An empty folder for the files of one upload; pass it to `add` or discard it."""
        return self._staging.new()

    def add(
        self,
        area: StagingArea,
        *,
        title: str = "",
        folder: str = "",
        note: str = "",
        tags: Sequence[str] = (),
        uploader: str | None = None,
        delete_token_hash: str | None = None,
        sample: str | None = None,
        visibility: Visibility | None = None,
        profile_id: ProfileId | None = None,
        joined: ProfileId | None = None,
    ) -> ProfileId:
        """Stores the files received in `area`, which is gone then, and starts their import.

        The files of the profile `joined` are of the same program and belong to the new profile,
        too, whose visibility is not wider than that of `joined`.

        Files that were stored with the same `profile_id` before are not stored again; other files
        with it are an `UploadRejectedError`.

        Without `title` it is called after its files or their `folder`, else after what the capture
        says. When this returns, the profile survives a crash. Without `visibility` it has the
        server's.
        """
        try:
            if not area.files:
                raise UploadRejectedError("There is no file to read.", remedy="Choose a profile.")
            other = self._joined(joined)
            sent = tuple(alike(StoredFile, file) for file in area.files)
            files = (*_without(other.files if other else (), sent), *sent)
            given = labels.title(title) or titles.title_of_folder(folder)
            new = NewProfile(
                id=profile_id or new_profile_id(),
                title=given or titles.title_of_files([f.name for f in files]),
                title_is_of_files=not given,
                created_at=timestamp(),
                files=files,
                sample=sample,
                note=labels.note(note),
                tags=labels.tags(tags),
                uploader=uploader,
                expires_at=self._expiry(),
                delete_token_hash=delete_token_hash,
                visibility=self.visibility(_at_most(visibility, other), uploader),
            )
            job_id = self._store.add(new, area.files)
        finally:
            area.discard()
        if job_id is not None:
            self._deliver(job_id)
        return new.id

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
            return self._store.queries.by_sample(key) or self._add_sample(sample, key)

    def ownership(self, profile_id: str) -> Ownership:
        """The owner of a profile, in any state; `ProfileNotFoundError` when there is none."""
        found = self._store.queries.ownership(profile_id)
        if found is None:
            raise not_found()
        return found

    def edit(
        self,
        profile_id: str,
        *,
        title: str | None = None,
        note: str | None = None,
        tags: Sequence[str] | None = None,
        pinned: bool | None = None,
        visibility: Visibility | None = None,
    ) -> Manifest:
        """Changes what is given. Raises `BadEditError`, and like `ProfileReader.manifest`."""
        self._reader.manifest(profile_id)
        values: dict[str, object] = {}
        if title is not None:
            values |= {"title": labels.new_title(title), "title_is_of_files": False}
        if note is not None:
            values["note"] = labels.note(note)
        if pinned is not None:
            values["pinned"] = pinned
        if visibility is not None:
            values["visibility"] = visibility
        cleaned = None if tags is None else labels.tags(tags)
        if not self._store.edit(profile_id, tags=cleaned, **values):
            raise not_found()
        return self._reader.manifest(profile_id)

    def split(
        self, profile_id: str, groups: Sequence[int] | None, new_token_hash: Callable[[], str]
    ) -> tuple[ProfileId, ...]:
        """Makes a profile of each group of an upload that failed because it holds several.

        Of `groups`, by their number in the error, or of all; files that belong to no such group go.
        The uploaded profile is gone then. `new_token_hash` gives the hash of a secret for each new
        profile. Raises `BadEditError` where there is nothing to split.
        """
        found = self._groups(profile_id, groups)
        ids: list[ProfileId] = []

        def parts(upload: NewProfile) -> list[NewProfile]:
            made = [self._part(upload, group, new_token_hash()) for group in found]
            ids.extend(part.id for part in made)
            return made

        job_ids = self._store.split(profile_id, parts)
        if not job_ids:
            raise not_found()
        self._waiting.done(profile_id)
        for job_id in job_ids:
            self._deliver(job_id)
        return tuple(ids)

    def retry(self, profile_id: str) -> None:
        """Imports the kept files of a failed upload again, whatever it failed with.

        Does nothing where nothing failed, or the files are gone. `ProfileNotFoundError` when there
        is no such profile.
        """
        if isinstance(self._reader.state(profile_id), Failed):
            job_id = self._store.retry(profile_id, self._expiry())
            if job_id is not None:
                self._deliver(job_id)

    def cancel(self, profile_id: str) -> None:
        """Stops an import: it has failed then. Does nothing when none is under way."""
        if self._store.cancel(profile_id, cancelled_error()):
            self._runs.kill(profile_id, cancelled_error(), wait_s=END_S)
            if not self._store.queries.is_ready(profile_id):
                self._store.drop_files(profile_id)
        self._waiting.done(profile_id)

    def delete(self, profile_id: str) -> None:
        """Puts a profile into the trash, in any state; removes it where there is no trash."""
        if not self._store.trash_kept:
            self.remove(profile_id)
            return
        if not self._store.put_into_trash(profile_id, "deleted"):
            raise not_found()
        self._runs.kill(profile_id, cancelled_error(), wait_s=END_S)
        self._waiting.done(profile_id)

    def restore(self, profile_id: str) -> None:
        """Takes a profile out of the trash; an import that was cancelled starts again.

        `ProfileNotFoundError` when it is not there, `OverQuotaError` when its uploader has no room.
        """
        was_there, job_id = self._store.take_out_of_trash(profile_id, self._expiry())
        if not was_there:
            raise not_found()
        if job_id is not None:
            self._deliver(job_id)

    def purge(self, profile_id: str) -> None:
        """Removes a profile that is in the trash; `ProfileNotFoundError` when it is not there."""
        with self._store.database.read() as connection:
            is_there = trash.is_there(connection, profile_id)
        if not is_there:
            raise not_found()
        self.remove(profile_id)

    def remove(self, profile_id: str) -> None:
        """Deletes a profile for good, cancels its import, or forgets its failure."""
        digests = self._store.remove(profile_id)
        if digests is None:
            raise not_found()
        self._runs.kill(profile_id, cancelled_error(), wait_s=END_S)
        self._store.drop(profile_id, digests)
        self._waiting.done(profile_id)

    def _joined(self, profile_id: ProfileId | None) -> NewProfile | None:
        if profile_id is None:
            return None
        found = self._store.upload_of(profile_id)
        if found is None:
            raise not_found()
        return found

    def _groups(self, profile_id: str, numbers: Sequence[int] | None) -> tuple[FileGroup, ...]:
        state = self._reader.state(profile_id)
        error = state.error if isinstance(state, Failed) else None
        if not isinstance(error, MixedUploadError) or not _can_be_split(error):
            raise BadEditError(
                "This profile cannot be split: its import did not find several profiles in it.",
                remedy="Open its page.",
            )
        count = len(error.groups)
        wanted = range(count) if numbers is None else sorted(set(numbers))
        if not wanted or not all(0 <= number < count for number in wanted):
            raise BadEditError(
                f"The upload has {count} groups of files, numbered from 0.",
                remedy="Take the numbers from the error's details, or leave them out for all.",
            )
        return tuple(error.groups[number] for number in wanted)

    def _part(self, upload: NewProfile, group: FileGroup, token_hash: str) -> NewProfile:
        names = [file.name for file in upload.files]
        own_title = upload.title != titles.title_of_files(names)
        return replace(
            upload,
            id=new_profile_id(),
            title=labels.title(f"{upload.title}, {group.label}")
            if own_title
            else titles.title_of_files(group.files),
            title_is_of_files=not own_title,
            created_at=timestamp(),
            files=tuple(replace(upload.files[at], host=None) for at in group.uploads),
            sample=None,
            expires_at=self._expiry(),
            delete_token_hash=token_hash,
            digests=group.digests if group.digests is not None else upload.digests,
        )

    def _add_sample(self, sample: Sample, key: str) -> ProfileId:
        area = self.stage()
        for path in sample.files:
            with path.open("rb") as file:
                area.receive_all(path.name, iter(partial(file.read, COPY_BYTES), b""))
        return self.add(area, title=sample.title, sample=key)

    def visibility(self, wanted: Visibility | None, uploader: str | None) -> Visibility:
        """That of a new profile or run; one without an owner could never be shown again."""
        if uploader is not None:
            return wanted or self._usual_visibility
        if wanted not in (None, EVERYBODY):
            raise BadEditError(
                "This upload has no owner, so it must be visible to everybody here.",
                remedy="Log in, or upload with a token of your own.",
            )
        return EVERYBODY

    def _expiry(self) -> str | None:
        days = self._retention_days
        return None if days is None else timestamp(timedelta(days=days))


def _without(files: Sequence[StoredFile], sent: Sequence[StoredFile]) -> Iterator[StoredFile]:
    """`files` that were not sent again, of whatever host they were."""
    digests = {file.sha256 for file in sent}
    return (replace(file, host=None) for file in files if file.sha256 not in digests)


def _at_most(wanted: Visibility | None, other: NewProfile | None) -> Visibility | None:
    """The narrower of two visibilities: what was wanted, and that of the joined profile."""
    if other is None or other.visibility == EVERYBODY:
        return wanted
    return OWNER if OWNER in (wanted, other.visibility) else LINK


def _can_be_split(error: MixedUploadError) -> bool:
    """False for errors of a release that did not keep the files."""
    return bool(error.groups) and all(group.uploads for group in error.groups)
