"""Files of an upload that are imported without the others: found again by place and content.

An upload whose files are not one profile fails, and its groups can be imported later, each as a
profile of its own. A group is known by the uploaded files that hold it. Where an archive also holds
files of other groups, the digests of its own files tell them apart: names may be equal, and the
order may change with the code that unpacks.
"""

import hashlib
from collections.abc import Collection, Sequence

from roofline.errors import FileGroup, MixedUploadError
from roofline.importers.source import SourceFile


def located(error: MixedUploadError, sources: Sequence[SourceFile]) -> MixedUploadError:
    """`error` with the uploaded files of each group; its groups number `sources`."""
    return MixedUploadError(
        error.message,
        remedy=error.remedy,
        groups=[_located(group, sources) for group in error.groups],
        unreadable=error.unreadable,
    )


def chosen(
    sources: Sequence[SourceFile], digests: Collection[str] | None
) -> tuple[SourceFile, ...]:
    """The `sources` with these digests; all of them for `None`."""
    if digests is None:
        return tuple(sources)
    return tuple(source for source in sources if _digest(source) in digests)


def _located(group: FileGroup, sources: Sequence[SourceFile]) -> FileGroup:
    own = set(group.numbers)
    uploads = sorted({sources[number].upload for number in own})
    held = {number for number, source in enumerate(sources) if source.upload in uploads}
    digests = None
    if held != own:
        digests = tuple(_digest(sources[number]) for number in sorted(own))
    return group._replace(uploads=tuple(uploads), digests=digests)


def _digest(source: SourceFile) -> str:
    return hashlib.sha256(source.data).hexdigest()
