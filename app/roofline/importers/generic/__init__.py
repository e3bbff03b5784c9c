"""Bring your own numbers: kernels and roofs as CSV or JSON, spelt in many ways.

Format: docs/generic-format.md (JSON schema `roofline-generic/1`); also read: CSV of kernels as the
HPCL plotter takes them, `roofline.json` of the Empirical Roofline Toolkit as roofs.
Lost: nothing that a person wrote; columns without a known meaning are kept with the launch.
"""

from collections.abc import Sequence

from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "generic"
LABEL = "Generic table"
READS = "generic CSV or JSON (see docs/generic-format.md)"


def recognises(source: SourceFile) -> bool:
    """True for a table or document with a name and two quantities of kernels, or with roofs."""
    from roofline.importers.generic import reader  # loads slowly

    return reader.recognises(source)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in files of kernels, and of roofs for them."""
    from roofline.importers.generic import reader  # loads slowly

    return reader.read(sources, progress=progress)
