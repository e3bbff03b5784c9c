"""Every error a user can cause, each with what to do next.

    RooflineError
    ├── UploadRejectedError      the upload itself: empty, too many files, bad archive
    │   ├── UploadTooLargeError  more bytes than this server takes
    │   ├── DamagedUploadError   other bytes than its client meant to send
    │   └── MixedUploadError     files of several profiles, or some that cannot be read
    ├── UnknownFormatError       no importer recognises the file
    ├── CorruptProfileError      recognised, but damaged or contradicting itself
    │   └── DamagedCopyError     the copy that this server keeps of a file is damaged
    ├── IncompleteProfileError   readable, but without what a roofline needs
    ├── ImportStoppedError       the import ran out of memory or time, or was cancelled
    ├── StorageFullError         the disk of the data folder is full
    ├── OverQuotaError           the person has as much on the server as one may have
    ├── StoreUnavailableError    database or blobs cannot be reached, or are damaged
    ├── ProfileNotFoundError     no profile behind this address
    ├── FindingNotFoundError     no such finding in the advice of a profile
    ├── NoteNotFoundError        no such note on a point of a profile
    ├── NotReadyError            the profile is still being imported
    ├── NotAllowedError          a request from another site, or by a user without the right
    ├── NotSignedInError         the request names no user, or not with the right token
    ├── TooManyRequestsError     more uploads, or wrong tokens, than one may send in a while
    ├── BadViewError             the address asks for a view that cannot be shown
    ├── BadEditError             a title, note or tag that cannot be kept
    ├── CaptureFailedError       a program that could not be captured
    ├── ExtraMissingError        a part of Roofline that is not installed
    └── SettingsError            the configuration cannot work

Core code knows no status codes: `web/errors.py` maps classes to statuses.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from unicodedata import category

_LINE_BREAKS = dict.fromkeys(map(ord, "\t\n\r"), " ")


class RooflineError(Exception):
    """What is wrong and where (`message`), and the next action (`remedy`), in the user's words."""

    code = "error"
    # True for an error that says what is wrong with the files: the same files end with it again.
    is_about_files = False

    def __init__(self, message: str, *, remedy: str) -> None:
        # Both repeat names and cells of untrusted files, which could steer a terminal.
        self.message = _printable(message)
        self.remedy = _printable(remedy)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and errors cross processes.
        return (_rebuild, (type(self), self.message, self.remedy, self.details))

    @property
    def details(self) -> dict[str, Any]:
        """What the message says, as data for a program; empty where there is no more to say."""
        return {}

    @classmethod
    def from_details(
        cls, message: str, remedy: str, _details: Mapping[str, Any]
    ) -> "RooflineError":
        """The error with these texts and what `details` of it said."""
        return cls(message, remedy=remedy)


def _rebuild(
    kind: type[RooflineError], message: str, remedy: str, details: Mapping[str, Any]
) -> RooflineError:
    return kind.from_details(message, remedy, details)


def _printable(text: str) -> str:
    """`text` on one line, without control characters; other spaces than ASCII's stay."""
    line = text.translate(_LINE_BREAKS)
    return "".join(c if c.isprintable() or category(c) == "Zs" else "�" for c in line)


class UploadRejectedError(RooflineError):
    """The upload is empty, too many files, or an archive that cannot be unpacked."""

    code = "upload-rejected"
    is_about_files = True


class UploadTooLargeError(UploadRejectedError):
    """The upload, or what an archive unpacks to, is larger than this server takes."""

    code = "upload-too-large"


class DamagedUploadError(UploadRejectedError):
    """The bytes of a file are not those whose digest its client gave."""

    code = "upload-damaged"


# Named tuples, because the command line starts with this module, and dataclasses are 8 ms of it.
class FileGroup(NamedTuple):
    """Files of one upload that make one profile together.

    `label` is their device ("TPU v6e", "Tesla V100 SXM2") or, where the files were not read, their
    format. `files` are the names of the files, `numbers` their places among the upload's files
    after archives were unpacked, from 0: two files may have the same name.

    A server that keeps the upload adds how to find the files again: `uploads` are the places of the
    uploaded files that hold them, `digests` the SHA-256 of each where an archive holds files of
    other groups, too.
    """

    label: str
    files: tuple[str, ...]
    numbers: tuple[int, ...]
    uploads: tuple[int, ...] = ()
    digests: tuple[str, ...] | None = None


class UnreadableFile(NamedTuple):
    """A file of an upload that cannot be read: its name and place, and its own error."""

    name: str
    number: int
    code: str
    message: str
    remedy: str


class MixedUploadError(UploadRejectedError):
    """Some of the files can be read, but all of them together are not one profile.

    `groups` are the files that belong together, in the order of the upload; each group can be
    imported as a profile of its own. `unreadable` are files that cannot be read at all, while the
    groups can be imported without them. With one group and an unreadable file the choice is to go
    on without that file; with several groups it is to make several profiles.
    """

    code = "mixed-upload"

    def __init__(
        self,
        message: str,
        *,
        remedy: str,
        groups: Sequence[FileGroup] = (),
        unreadable: Sequence[UnreadableFile] = (),
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.groups = tuple(
            one._replace(label=_printable(one.label), files=tuple(map(_printable, one.files)))
            for one in groups
        )
        self.unreadable = tuple(one._replace(name=_printable(one.name)) for one in unreadable)

    @property
    def details(self) -> dict[str, Any]:
        """`groups` and `unreadable`, as JSON takes them, without fields that say nothing."""
        return {
            "groups": [_listed(one._asdict()) for one in self.groups],
            "unreadable": [one._asdict() for one in self.unreadable],
        }

    @classmethod
    def from_details(cls, message: str, remedy: str, details: Mapping[str, Any]) -> "RooflineError":
        """The error with these texts, groups and unreadable files."""
        return cls(
            message,
            remedy=remedy,
            groups=[_group(one) for one in details.get("groups", ())],
            unreadable=[UnreadableFile(**one) for one in details.get("unreadable", ())],
        )


def _listed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`fields` with lists for tuples, without empty ones."""
    filled = {name: value for name, value in fields.items() if value not in (None, ())}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in filled.items()}


def _group(fields: Mapping[str, Any]) -> FileGroup:
    """The group that `_listed` wrote."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return FileGroup(**values)


class UnknownFormatError(RooflineError):
    """No importer recognises the content."""

    code = "unknown-format"
    is_about_files = True


class CorruptProfileError(RooflineError):
    """A recognised file is truncated, damaged or contradicts itself."""

    code = "corrupt-profile"
    is_about_files = True


class DamagedCopyError(CorruptProfileError):
    """The server's own copy of an uploaded file is missing or damaged."""

    code = "damaged-copy"
    is_about_files = False


class IncompleteProfileError(RooflineError):
    """A readable file lacks what a roofline needs."""

    code = "incomplete-profile"
    is_about_files = True


class ImportStoppedError(RooflineError):
    """An import exceeded its memory or time limit, or was cancelled."""

    code = "import-stopped"


class StorageFullError(RooflineError):
    """The data folder cannot take more bytes."""

    code = "storage-full"


class OverQuotaError(RooflineError):
    """The uploader has as many profiles or bytes on the server as one person may have."""

    code = "over-quota"


class StoreUnavailableError(RooflineError):
    """The database or the blob store cannot be reached, is busy, or is damaged."""

    code = "store-unavailable"


class ProfileNotFoundError(RooflineError):
    """There is no profile with this id."""

    code = "profile-not-found"


class FindingNotFoundError(RooflineError):
    """The advice of a profile has no such finding, or nothing was decided of it."""

    code = "finding-not-found"


class NoteNotFoundError(RooflineError):
    """A profile has no such note on one of its points."""

    code = "note-not-found"


class NotReadyError(RooflineError):
    """The profile exists, but its import or analysis has not finished."""

    code = "not-ready"


class NotAllowedError(RooflineError):
    """The request comes from another site, is for another host, or is not this person's to make."""

    code = "not-allowed"


class NotSignedInError(RooflineError):
    """The server wants to know who asks."""

    code = "not-signed-in"


class LogInRefusedError(RooflineError):
    """A log-in by a sign-in provider that is not right, or of a person without access."""

    code = "log-in-refused"


class ProviderUnavailableError(RooflineError):
    """The sign-in provider does not answer, or not as it should."""

    code = "provider-unavailable"


class TooManyRequestsError(RooflineError):
    """One person or address did something costly too often; may be repeated in `retry_after_s`."""

    code = "too-many-requests"

    def __init__(self, message: str, *, remedy: str, retry_after_s: float = 60.0) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_s = retry_after_s


class ServerBusyError(TooManyRequestsError):
    """The server computes as much as it can; may be repeated in `retry_after_s`."""

    code = "server-busy"


class BadViewError(RooflineError):
    """The address names a view, device or operation that cannot be shown."""

    code = "bad-view"


class NoSuchRangeError(RooflineError):
    """The profile has no such part, or its clock did not differ: a view that it cannot give."""

    code = "no-such-range"


class BadEditError(RooflineError):
    """A title, note or list of tags that cannot be kept."""

    code = "bad-edit"


class CaptureFailedError(RooflineError):
    """A running program could not be captured."""

    code = "capture-failed"


class ExtraMissingError(RooflineError):
    """A part of Roofline whose libraries are not installed: an extra, in the words of pip."""

    code = "extra-missing"

    @classmethod
    def of(cls, extra: str, what: str = "") -> "ExtraMissingError":
        """The error for the extra of this name, which brings `what`."""
        remedy = f'`pip install "roofline[{extra}]"`'
        return cls(f"The {what or extra} is not installed.", remedy=remedy)


class SettingsError(RooflineError):
    """The configuration cannot work."""

    code = "bad-settings"


def describe(error: RooflineError) -> dict[str, Any]:
    """`error` as a child sends it: `code`, `message`, `remedy`, and `details` where it has any."""
    said = {"code": error.code, "message": error.message, "remedy": error.remedy}
    return {**said, "details": error.details} if error.details else said


def error_from(fields: Mapping[str, Any]) -> RooflineError:
    """The error that a child described."""
    kinds = _subclasses(RooflineError)
    kind = next((kind for kind in kinds if kind.code == fields["code"]), RooflineError)
    return kind.from_details(fields["message"], fields["remedy"], fields.get("details") or {})


def _subclasses(kind: type[RooflineError]) -> list[type[RooflineError]]:
    return [kind, *(deeper for sub in kind.__subclasses__() for deeper in _subclasses(sub))]
