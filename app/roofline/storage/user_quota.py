"""The quota of one person: bytes and profiles. The trash does not count; restoring does."""

from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, func, select

from roofline.errors import OverQuotaError
from roofline.model.units import bytes_text
from roofline.storage.records import TRASHED, NewProfile
from roofline.storage.statements import HOLDS_FILES
from roofline.storage.tables import file, profile, run, run_host


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaWords:
    """How a refusal names the person whose quota it is, and what it advises."""

    has: str
    files: str
    remedy: str


OF_UPLOADS = QuotaWords(
    has="You have",
    files="Your files",
    remedy="Delete some of them, or ask the operator of the server for more.",
)
# An administrator, too, restores the profiles of others.
OF_RESTORING = QuotaWords(
    has="The uploader has",
    files="The uploader's files",
    remedy="Delete some of them first, or ask the operator of the server for more. This profile"
    " stays in the trash until then, or until its time there is over.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserQuota:
    """The quota of one person; `None` for any amount. Bytes are of the files as uploaded.

    Uploads without a person count together, as those of one.
    """

    size_bytes: int | None = None
    profiles: int | None = None

    def key(self, uploader: str | None) -> str:
        """A digest of the person, to be locked while the quota is checked and used."""
        return sha256((uploader or "").encode()).hexdigest()

    def check(
        self, connection: Connection, new: NewProfile, *, words: QuotaWords | None = None
    ) -> None:
        """Raises `OverQuotaError` if the uploader may not keep `new`, too. Samples always may."""
        words = words or OF_UPLOADS
        if new.sample is not None or (self.size_bytes is None and self.profiles is None):
            return
        added_bytes = sum(one.size_bytes for one in new.files)
        self._check(connection, new.uploader, added_bytes, words, is_new=True)

    def check_run(
        self, connection: Connection, uploader: str | None, added_bytes: int, *, is_new: bool
    ) -> None:
        """The same for a run, which counts as a profile, and for hosts that are pushed to it."""
        if self.size_bytes is not None or self.profiles is not None:
            self._check(connection, uploader, added_bytes, OF_UPLOADS, is_new=is_new)

    def _check(
        self,
        connection: Connection,
        uploader: str | None,
        added_bytes: int,
        words: QuotaWords,
        *,
        is_new: bool,
    ) -> None:
        count, size_bytes = _kept(connection, uploader or "")
        plural = "" if count == 1 else "s"
        if is_new and self.profiles is not None and count >= self.profiles:
            raise OverQuotaError(
                f"{words.has} {count} profile{plural} on this server, and one person may have"
                f" {self.profiles}.",
                remedy=words.remedy,
            )
        if self.size_bytes is not None and size_bytes + added_bytes > self.size_bytes:
            raise OverQuotaError(
                f"{words.files} on this server have {bytes_text(size_bytes)}, and one person may"
                f" have {bytes_text(self.size_bytes)}: too little is left for"
                f" {bytes_text(added_bytes)}.",
                remedy=words.remedy,
            )


def _kept(connection: Connection, uploader: str) -> tuple[int, int]:
    """Profiles and runs of a person, and bytes of their files; without those in the trash."""
    is_theirs = func.coalesce(profile.c.uploader, "") == uploader
    kept = (is_theirs, profile.c.state != TRASHED, HOLDS_FILES)
    of_run = (func.coalesce(run.c.uploader, "") == uploader, run.c.trashed_at.is_(None))
    numbers = [
        select(func.count()).select_from(profile).where(*kept),
        select(func.count()).select_from(run).where(*of_run),
        select(func.coalesce(func.sum(file.c.size_bytes), 0)).join(profile).where(*kept),
        select(func.coalesce(func.sum(run_host.c.size_bytes), 0))
        .join(run)
        .where(*of_run, run_host.c.is_kept.is_(True)),
    ]
    profiles, runs, files, pushed = (int(connection.execute(one).scalar_one()) for one in numbers)
    return profiles + runs, files + pushed
