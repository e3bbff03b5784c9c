"""The document of a run whose hosts still arrive: its values without verdicts, as on its page."""

from collections.abc import Mapping
from typing import Any

from roofline.exports.run_headline import answer_of
from roofline.exports.run_page import Arriving
from roofline.pods.report import NoVerdict
from roofline.presentation.sentences import plain_text

Record = dict[str, Any]


def so_far(document: Mapping[str, Any], arriving: Arriving) -> Record:
    """`document` without what later hosts may change: verdicts, and what they cost.

    Its `verdict` says how many hosts have been read.
    """
    answer = answer_of(document, arriving)
    return {
        **document,
        "verdict": f"{plain_text(answer.headline)}. {plain_text(answer.lead)}",
        "no_verdict": NoVerdict.ARRIVING.value,
        "outliers": [],
        "gains": [],
        "stragglers_cost_ratio": None,
        "late_host": None,
        "hosts": [_unjudged(one) for one in document["hosts"]],
    }


def _unjudged(host: Mapping[str, Any]) -> Record:
    chips = [{**chip, "is_slow": False} for chip in host["chips"]]
    known: Record = {"verdict": None, "score": None, "slow_steps": 0, "deviations": []}
    return {**host, **known, "chips": chips}
