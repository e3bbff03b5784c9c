"""Templates of what counters say beside a verdict. `sentences` fills them."""

from collections.abc import Mapping

VERDICT_SENTENCES: Mapping[str, str] = {
    "verdict_busy": "{Unit} {are} busy {busy} of the time{useful}.",
    "verdict_useful": ", {useful} with useful work",
    "verdict_latency": "Latency: {why}; the busiest unit, {unit}, works {busy} of the time.",
    "verdict_slack": "Latency: {why}; no unit is busy for more than {busy} of the time.",
}
