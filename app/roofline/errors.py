"""Every error a user can cause, each with what to do next.

    RooflineError
    ├── UploadRejectedError      the upload itself: empty, too many files, bad archive
    │   └── UploadTooLargeError  more bytes than this server takes
    ├── UnknownFormatError       no importer recognises the file
    ├── CorruptProfileError      recognised, but damaged or contradicting itself
    ├── IncompleteProfileError   readable, but without what a roofline needs
    ├── ImportStoppedError       the import ran out of memory or time, or was cancelled
    ├── StorageFullError         the disk of the data folder is full
    ├── StoreUnavailableError    database or blobs cannot be reached, or are damaged
    ├── ProfileNotFoundError     no profile behind this address
    ├── NotReadyError            the profile is still being imported
    ├── NotAllowedError          a request from another site, or by somebody who may not do it
    ├── NotSignedInError         who asks has not said who they are
    ├── TooManyRequestsError     more uploads, or wrong tokens, than one may send in a while
    ├── BadViewError             the address asks for a view that cannot be shown
    ├── BadEditError             a title, note or tag that cannot be kept
    └── SettingsError            the configuration cannot work

Core code knows no status codes: `web/errors.py` maps classes to statuses.
"""

from unicodedata import category

_LINE_BREAKS = dict.fromkeys(map(ord, "\t\n\r"), " ")


class RooflineError(Exception):
    """What is wrong and where (`message`), and the next action (`remedy`), in the user's words."""

    code = "error"

    def __init__(self, message: str, *, remedy: str) -> None:
        # Both repeat names and cells of strangers' files, which could steer a terminal.
        self.message = _printable(message)
        self.remedy = _printable(remedy)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and errors cross processes.
        return (_rebuild, (type(self), self.message, self.remedy))


def _printable(text: str) -> str:
    """`text` on one line, without control characters; other spaces than ASCII's stay."""
    line = text.translate(_LINE_BREAKS)
    return "".join(c if c.isprintable() or category(c) == "Zs" else "�" for c in line)


def _rebuild(kind: type[RooflineError], message: str, remedy: str) -> RooflineError:
    return kind(message, remedy=remedy)


class UploadRejectedError(RooflineError):
    """The upload is empty, too many files, or an archive that cannot be unpacked."""

    code = "upload-rejected"


class UploadTooLargeError(UploadRejectedError):
    """The upload, or what an archive unpacks to, is larger than this server takes."""

    code = "upload-too-large"


class UnknownFormatError(RooflineError):
    """No importer recognises the content."""

    code = "unknown-format"


class CorruptProfileError(RooflineError):
    """A recognised file is truncated, damaged or contradicts itself."""

    code = "corrupt-profile"


class IncompleteProfileError(RooflineError):
    """A readable file lacks what a roofline needs."""

    code = "incomplete-profile"


class ImportStoppedError(RooflineError):
    """An import exceeded its memory or time limit, or was cancelled."""

    code = "import-stopped"


class StorageFullError(RooflineError):
    """The data folder cannot take more bytes."""

    code = "storage-full"


class StoreUnavailableError(RooflineError):
    """The database or the blob store cannot be reached, is busy, or is damaged."""

    code = "store-unavailable"


class ProfileNotFoundError(RooflineError):
    """There is no profile with this id."""

    code = "profile-not-found"


class NotReadyError(RooflineError):
    """The profile exists, but its import or analysis has not finished."""

    code = "not-ready"


class NotAllowedError(RooflineError):
    """The request comes from another site, is for another host, or is not this person's to make."""

    code = "not-allowed"


class NotSignedInError(RooflineError):
    """The server wants to know who asks."""

    code = "not-signed-in"


class TooManyRequestsError(RooflineError):
    """One person or address did something costly too often; may be repeated in `retry_after_s`."""

    code = "too-many-requests"

    def __init__(self, message: str, *, remedy: str, retry_after_s: float = 60.0) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_s = retry_after_s


class BadViewError(RooflineError):
    """The address names a view, device or operation that cannot be shown."""

    code = "bad-view"


class BadEditError(RooflineError):
    """A title, note or list of tags that cannot be kept."""

    code = "bad-edit"


class SettingsError(RooflineError):
    """The configuration cannot work."""

    code = "bad-settings"


def describe(error: RooflineError) -> dict[str, str]:
    """`error` as a child sends it."""
    return {"code": error.code, "message": error.message, "remedy": error.remedy}


def error_from(fields: dict[str, str]) -> RooflineError:
    """The error a child described by `code`, `message` and `remedy`."""
    kinds = _subclasses(RooflineError)
    kind = next((kind for kind in kinds if kind.code == fields["code"]), RooflineError)
    return kind(fields["message"], remedy=fields["remedy"])


def _subclasses(kind: type[RooflineError]) -> list[type[RooflineError]]:
    return [kind, *(deeper for sub in kind.__subclasses__() for deeper in _subclasses(sub))]
