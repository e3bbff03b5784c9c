"""Words and lists of a language-model server's steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.serving import batch_name, step_label
from roofline.analysis.serving_records import ServingGroup
from roofline.analysis.subjects.records import Subject
from roofline.model.plain_data import read_beside
from roofline.model.units import GIGA
from roofline.presentation.rounding import rounded
from roofline.presentation.sentences import Number, Sentence, say

_CLEARLY = 1.01  # largest to least bytes of weights: only then there is a range


FIGURES: Sequence[Mapping[str, str]] = read_beside(__file__, "serving.json")


def serving_data(analysis: RooflineAnalysis) -> dict[str, Any] | None:
    """The card of the page: a column per phase and batch, a row per figure; `None` without steps.

    Figures that no phase has are left out.
    """
    if analysis.serving is None:
        return None
    groups = [asdict(group) for group in analysis.serving.groups]
    figures = (
        {**figure, "values": [_shown(group[figure["id"]]) for group in groups]}
        for figure in FIGURES
    )
    return {
        "phases": [
            {"id": f"serving:{_address(group)}", "label": step_label(batch_text(group))}
            for group in analysis.serving.groups
        ],
        "figures": [one for one in figures if any(value is not None for value in one["values"])],
        "note": weights_range(analysis.serving.groups),
    }


def _shown(value: Any) -> Any:
    return rounded(value) if isinstance(value, float) else value


def batch_text(group: ServingGroup) -> str:
    """ "decode, 32 sequences"."""
    size = np.nan if group.sequences is None else group.sequences
    return batch_name(group.phase, np.array([size]))


def weights_range(groups: tuple[ServingGroup, ...]) -> str:
    """A sentence on the range of the weights, where experts are chosen by data."""
    one = max(groups, key=lambda group: group.steps, default=None)
    if one is None or not one.weight_bytes_most or one.weight_bytes_least is None:
        return ""
    least, most = one.weight_bytes_least / GIGA, one.weight_bytes_most / GIGA
    if most <= _CLEARLY * least:
        return ""
    return (
        "Which experts were touched is not in the trace: the weights of a step are between"
        f" {least:.3g} and {most:.3g} GB ({batch_text(one)})."
    )


def group_of(analysis: RooflineAnalysis, subject: Subject) -> ServingGroup | None:
    """The steps of a server that the subject is of; `None` for another subject."""
    groups = analysis.serving.groups if analysis.serving is not None else ()
    return next((group for group in groups if f"serving:{_address(group)}" == subject.of), None)


def serving_sentences(analysis: RooflineAnalysis, subject: Subject) -> Sentence:
    """What a server's users see of the subject's steps: tokens a second, and time per token."""
    one = group_of(analysis, subject)
    if one is None or one.tokens_per_s is None or one.time_per_token_us is None:
        return []
    return say(
        "serving_rate",
        rate=Number(one.tokens_per_s, "count"),
        each=Number(one.time_per_token_us, "time_us"),
    )


def _address(group: ServingGroup) -> str:
    return group.phase if group.sequences is None else f"{group.phase}.{group.sequences:.0f}"
