"""Real profiles of others beside the checkout, as `roofline analyze` reads them."""

from functools import lru_cache
from pathlib import Path

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.pipeline import analyse_files
from tests.conftest import ROOT

SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


@lru_cache(maxsize=128)
def analysed(*paths: Path) -> RooflineAnalysis:
    """The analysis of these files on their own device."""
    return analyse_files(paths)


def shared(*names: str) -> RooflineAnalysis:
    """The analysis of files by their names in the shared folder."""
    return analysed(*(SHARED / name for name in names))
