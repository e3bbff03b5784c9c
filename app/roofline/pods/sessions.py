"""Sessions of JAX's and TensorFlow's profiler: `LOG_DIR/plugins/profile/SESSION/HOST.xplane.pb`."""

import re
from collections.abc import Sequence

from roofline.errors import UploadRejectedError

_SESSION = re.compile(r"(?:.*/)?plugins/profile/(?P<session>[^/]+)/(?P<host>[^/]+)\.xplane\.pb")
_SHOWN = 5


def session_of(path: str) -> str | None:
    """The session that the file at a path, or with a key, belongs to; `None` for other files."""
    found = _SESSION.fullmatch(path)
    return None if found is None else found["session"]


def check_one_session(paths: Sequence[str]) -> None:
    """Raises `UploadRejectedError` where files are of several sessions."""
    names = sorted({name for path in paths if (name := session_of(path)) is not None})
    if len(names) > 1:
        raise UploadRejectedError(
            f"There are {len(names)} sessions: {some_of(names)}.",
            remedy="Name one of them, or put sessions of one capture together with --join 120s.",
        )


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
