"""A predicted step of a language model over a stored profile."""

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from roofline.library.comparing import StoredRun

if TYPE_CHECKING:
    from roofline.estimate.llm.step import Step


def predict_over(step: "Step", stored: StoredRun) -> dict[str, Any]:
    """The `coverage` and `over` of `roofline predict --over`."""
    # Loaded when somebody asks: most servers answer other requests first.
    from roofline.compare.run import run_from_json
    from roofline.exports.model_overlay import overlay, overlay_record

    run = replace(run_from_json(gzip.decompress(stored.packed)), label=stored.title)
    return overlay_record(overlay(step, run))
