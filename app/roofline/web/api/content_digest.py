"""`X-Content-SHA256`: what a client says of a file's bytes, so that damage on the way is noticed.

A bit that flips in a capture gives other numbers far more often than an error.
"""

import hmac
import re
from collections.abc import Sequence

from roofline.errors import DamagedUploadError, UploadRejectedError
from roofline.storage.staging import StagedFile

DIGEST_HEADER = "x-content-sha256"
_SHA256 = re.compile(rb"[0-9a-f]{64}")


def expected_digest(given: Sequence[bytes]) -> str | None:
    """The digest of these headers, in lower case; `None` where there is none.

    Raises `UploadRejectedError` for two of them, and for what is not a SHA-256.
    """
    if not given:
        return None
    text = given[0].strip().lower()
    if len(given) > 1 or not _SHA256.fullmatch(text):
        raise UploadRejectedError(
            "X-Content-SHA256 is not one SHA-256 of 64 hexadecimal digits.",
            remedy="Send what `sha256sum FILE` prints, or leave the header out.",
        )
    return text.decode()


def check_digest(file: StagedFile, expected: str) -> None:
    """Raises `DamagedUploadError` unless the bytes that came are those that were meant."""
    if not hmac.compare_digest(file.sha256, expected):
        raise DamagedUploadError(
            f"{file.name} was damaged on its way, or its digest is of another file: its SHA-256"
            f" should be {expected}, and that of the {file.size_bytes:,} bytes that came is"
            f" {file.sha256}.",
            remedy="Upload it again. Nothing of this upload was stored.",
        )
