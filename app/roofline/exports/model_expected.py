"""The expected time of a step at the efficiency of its own run, op by op, without grading itself.

The efficiency of a class of products is predicted ÷ measured time of its members. Each is expected
at that of the other members of its class, so that no measurement predicts itself. Ops that only
their scope assigns are left out: what a framework does there is often not what the model counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Record = dict[str, Any]

SOURCE = "this run: each product at the efficiency of the others of its class"


def with_expected(ops: Sequence[Record]) -> list[Record]:
    """`ops` with `expected_us`; `None` where an op is alone in its class, or not a product."""
    return [{**one, "expected_us": _expected(one, ops)} for one in ops]


def _expected(one: Record, ops: Sequence[Record]) -> float | None:
    if one["by"] != "flops":
        return None
    others = [
        other
        for other in ops
        if other is not one
        and other["by"] == "flops"
        and other["class"] == one["class"]
        and other["ratio"]
    ]
    predicted = sum(float(other["predicted_us"]) for other in others)
    measured = sum(float(other["measured_us"]) for other in others)
    return float(one["predicted_us"]) * measured / predicted if predicted > 0 else None


def expected_record(ops: Sequence[Mapping[str, Any]]) -> Record:
    """Sums over ops with an expected time: expected, measured, and which share of them is told."""
    told = [one for one in ops if one["expected_us"] is not None and one["ratio"]]
    total = sum(one["measured_us"] for one in ops)
    measured = sum(one["measured_us"] for one in told)
    expected = sum(one["expected_us"] for one in told)
    return {
        "expected_us": expected if told else None,
        "measured_us": measured if told else None,
        "ratio": measured / expected if expected else None,
        "time_share": measured / total if total else None,
        "source": SOURCE,
    }
