"""The steps of a language-model server for people's own tools: by phase and batch, and each."""

import math
from dataclasses import asdict
from typing import Any

from roofline.analysis.knowledge import KNOWN_SHARE
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.serving_records import ServingColumns
from roofline.exports.serving_model import curve, served_model

_STEPS = 1_000

Record = dict[str, Any]


def serving_record(analysis: RooflineAnalysis) -> Record | None:
    """The document's part; `None` without a server's steps.

    `model` is there if sizes tell it, with a `curve` over batch and context; `groups` are by phase
    and batch, `steps` the first 1,000.
    """
    found = analysis.serving
    if found is None:
        return None
    steps, columns = found.steps, found.columns
    count = min(len(steps), _STEPS)
    model = served_model(analysis)
    return {
        "model": asdict(model) if model else None,
        "curve": [asdict(point) for point in curve(analysis)],
        "groups": [asdict(group) for group in found.groups],
        "step_count": len(steps),
        "steps": [
            {
                "label": analysis.profile.steps.label[k],
                "phase": steps.phase[k],
                "sequences": _known(steps.sequences[k]),
                "prefill_tokens": _known(steps.prefill_tokens[k]),
                "decode_tokens": _known(steps.decode_tokens[k]),
                "context_tokens": _known(steps.context_tokens[k]),
                "time_us": float(columns.time_us[k]),
                "busy_us": float(columns.busy_us[k]),
                "wait_us": float(columns.wait_us[k]),
                "known_ratio": float(columns.known_ratio[k]),
                **_work(columns, k),
            }
            for k in range(count)
        ],
    }


def _work(columns: ServingColumns, step: int) -> Record:
    """Work of a step; unknown where that of most of its time is."""
    is_known = columns.known_ratio[step] >= KNOWN_SHARE
    found = {
        "bound_us": columns.bound_us,
        "flop": columns.flop,
        "bytes": columns.moved_bytes,
    }
    return {name: float(column[step]) if is_known else None for name, column in found.items()}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
