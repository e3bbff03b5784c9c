"""Every error a user can cause, each with what to do next.

    RooflineError
    ├── UploadRejectedError      the upload itself: empty, too many files, bad archive
    │   └── UploadTooLargeError  more bytes than this server takes
    ├── UnknownFormatError       no importer recognises the file
    ├── CorruptProfileError      recognised, but damaged or contradicting itself
    ├── IncompleteProfileError   readable, but without what a roofline needs
    ├── ImportStoppedError       the import ran out of memory or time, or was cancelled
    ├── StorageFullError         the disk of the data folder is full
    ├── ProfileNotFoundError     no profile behind this address
    ├── NotReadyError            the profile is still being imported
    ├── NotAllowedError          a request from another site, or for another host name
    ├── BadViewError             the address asks for a view that cannot be shown
    └── SettingsError            the configuration cannot work

Core code knows no status codes: `web/errors.py` maps classes to statuses.
"""


class RooflineError(Exception):
    """What is wrong and where (`message`), and the next action (`remedy`), in the user's words."""

    code = "error"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and errors cross processes.
        return (_rebuild, (type(self), self.message, self.remedy))


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


class ProfileNotFoundError(RooflineError):
    """There is no profile with this id."""

    code = "profile-not-found"


class NotReadyError(RooflineError):
    """The profile exists, but its import or analysis has not finished."""

    code = "not-ready"


class NotAllowedError(RooflineError):
    """The request comes from another web site, or names a host this server does not serve."""

    code = "not-allowed"


class BadViewError(RooflineError):
    """The address names a view, device or operation that cannot be shown."""

    code = "bad-view"


class SettingsError(RooflineError):
    """The configuration cannot work."""

    code = "bad-settings"
