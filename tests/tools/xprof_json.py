"""Our answer in XProf's own form, as `roofline analyze --format xprof` prints it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.devices.resolve import resolve
from roofline.exports.xprof import to_xprof
from tests.profiles import imported


def our_tables(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The tables of `files`, the hosts of one profile in order."""
    profile = imported(*files, xprof_compat=True)
    analysis = analyse(
        profile, resolve(profile.device, catalogue=False), AnalysisOptions(xprof_compat=True)
    )
    tables: list[dict[str, Any]] = json.loads(to_xprof(analysis))
    return tables
