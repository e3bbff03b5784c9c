"""Chains that could be one kernel, for people and their tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from roofline.advice.findings import Chain
from roofline.model.units import KILO
from roofline.presentation.quantities import amount, duration, intensity
from roofline.presentation.text_table import named, spaced, table

Record = dict[str, Any]

_NAME_WIDTH = 44


def chain_record(one: Chain, names: Sequence[str], places: Mapping[int, int]) -> Record:
    """A chain as JSON takes it: us, bytes, FLOPs per unit; intensity and rate at both ends."""
    return {
        "ops": [places[op] for op in one.ops if op in places],
        "op_names": [names[op] for op in one.ops],
        "what": one.what,
        "known_by": one.known_by,
        "calls": one.calls,
        "now_us": one.now_us,
        "after_us": one.after_us,
        "saving_us": one.saving_us,
        "bytes": {"now": one.bytes_now, "after": one.bytes_after},
        "flop": one.flop,
        "flop_estimated": one.is_flop_estimated,
        "flop_per_byte": {
            "now": _ratio(one.flop, one.bytes_now),
            "after": _ratio(one.flop, one.bytes_after),
        },
        "gflops": {
            "now": _ratio(one.flop, one.now_us * KILO),
            "after": _ratio(one.flop, one.after_us * KILO),
        },
        "limited_by": one.limited_by,
    }


def _ratio(value: float, by: float) -> float | None:
    return value / by if by > 0 else None


def chains_text(record: Mapping[str, Any], top: int) -> str:
    """The chains of an advice for a terminal, the largest saving first."""
    chains = record["fusions"]
    if not chains:
        return (
            "No chains are known that could be one kernel: the profile names no producers of "
            "operands,\nor no memory-bound operations hand tensors to each other.\n"
        )
    heads = ("Chain", "Ops", "Now", "Fused", "Saves", "Bytes", "Then", "FLOP/B", "Then", "Ends at")
    rows = [
        (
            named(one["what"], _NAME_WIDTH),
            str(len(one["op_names"])),
            duration(one["now_us"]),
            duration(one["after_us"]),
            duration(one["saving_us"]),
            amount(one["bytes"]["now"], "B"),
            amount(one["bytes"]["after"], "B"),
            intensity(one["flop_per_byte"]["now"]),
            intensity(one["flop_per_byte"]["after"]),
            one["limited_by"],
        )
        for one in chains[:top]
    ]
    return spaced(table(heads, rows, left={0, 9})) + "\n"
