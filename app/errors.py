"""Every error a user can cause, each with what to do next.

    RooflineError
    ├── UploadRejectedError      the upload itself: empty, too large, bad archive
    ├── UnknownFormatError       no importer recognises the file
    ├── CorruptProfileError      recognised, but damaged or contradicting itself
    ├── IncompleteProfileError   readable, but without what a roofline needs
    ├── ImportStoppedError       the import ran out of memory or time, or was cancelled
    ├── ProfileNotFoundError     no profile behind this address
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
    """The upload is empty, too large, too many files, or an archive that cannot be unpacked."""

    code = "upload-rejected"


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


class ProfileNotFoundError(RooflineError):
    """There is no profile with this id."""

    code = "profile-not-found"


class BadViewError(RooflineError):
    """The address names a view, device or operation that cannot be shown."""

    code = "bad-view"


class SettingsError(RooflineError):
    """The configuration cannot work."""

    code = "bad-settings"
