"""`roofline analyze --engine local`: the hosts of one run against each other."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roofline.pods.partial import Partial

ENGINES = ("local",)
FORMATS = ("text", "json")


def analyse_run(places: Sequence[str], output_format: str) -> bytes:
    """The report of the run whose hosts' files are at `places`: paths, folders, addresses."""
    from roofline.errors import UploadRejectedError
    from roofline.exports.run_report import render_run
    from roofline.pods.fetching import read_sources, sources_of
    from roofline.pods.partial import Partial
    from roofline.pods.reduce import reduce_run
    from roofline.pods.spool import spool

    if output_format not in FORMATS:
        raise UploadRejectedError(
            f"A run of many hosts cannot be written as {output_format}.",
            remedy=f"Choose one of these formats: {', '.join(FORMATS)}.",
        )
    with spool() as kept:
        unreadable = []
        for one in read_sources(sources_of(places)):
            if isinstance(one, Partial):
                kept.add(one)
            else:
                unreadable.append(one)
        partials = kept.partials()
        _note_repeated(partials)
        return render_run(reduce_run(partials, unreadable, release=kept.release), output_format)


def _note_repeated(partials: "Sequence[Partial]") -> None:
    """Say how many files count once: the report itself does not depend on them."""
    repeated = len(partials) - len({one.header.file_digest for one in partials})
    if repeated:
        sys.stderr.write(f"roofline: equal files count once; left out: {repeated}.\n")
