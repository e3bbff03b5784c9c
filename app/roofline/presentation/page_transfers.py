"""Transfers over links, for the page data: what the columns of ops do not say. As columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.presentation.rounding import numbers


def transfers(analysis: RooflineAnalysis, place: Mapping[int, int]) -> dict[str, list[Any]]:
    """One entry per kind of transfer, by the op that waits for it; `place` is each op's index."""
    rows = [row for row in analysis.transfers.rows if row.waits in place]
    return {
        "op": [place[row.waits] for row in rows],
        "start": [place.get(row.op) if row.done >= 0 else None for row in rows],
        "kind": [row.kind for row in rows],
        "link": [row.link and row.link.value for row in rows],
        "group_size": [row.group_size for row in rows],
        "bytes": numbers(np.array([row.bytes for row in rows], np.float64)),
        "time_us": numbers(np.array([row.time_us for row in rows])),
        "exposed_us": numbers(np.array([row.exposed_us for row in rows])),
        "achieved_gbs": numbers(np.array([row.achieved_gbs for row in rows], np.float64)),
        "is_least": [row.is_lower_bound for row in rows],
    }
