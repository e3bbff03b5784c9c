"""Files as `roofline` imports them, in one line of a test."""

from pathlib import Path
from typing import Any

from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.profile import Profile


def imported(*paths: Path, **options: Any) -> Profile:
    """The profile of files that belong together; `options` are those of the registry."""
    return import_profile([SourceFile(path) for path in paths], **options)
