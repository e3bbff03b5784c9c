"""How much of a program another profile ran, too: operations of equal name, shapes and category."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from roofline.analysis.kernel_names import stem

if TYPE_CHECKING:  # a server's process compares shares, and loads no NumPy for it
    from roofline.analysis.records import RooflineAnalysis
    from roofline.analysis.subjects.records import Subject

MOST_OPS = 256
"""Operations that are stored of a profile, the longest: 99 % of the time of most programs."""

LEAST_SAME = 0.3
"""The share from which a profile counts as the same program."""

_LAYOUT = re.compile(r"\{[^{}]*\}")


def op_shares(analysis: "RooflineAnalysis", subject: "Subject") -> dict[str, float]:
    """The share of the time of all operations of `subject`, waits left out, by operation.

    A key is a digest of name, shapes without layouts, and category. Numbers that a compiler appends
    to a name do not count where shapes are known.
    """
    table = analysis.profile.ops
    times_us = subject.ops.work_us[: len(table)]
    total_us = float(times_us.sum())
    shares: dict[str, float] = defaultdict(float)
    for op in (-times_us).argsort(kind="stable")[:MOST_OPS].tolist():
        if times_us[op] > 0:
            shapes = _LAYOUT.sub("", f"{table.operands[op]}\0{table.results[op]}")
            name = stem(table.name[op]) if shapes != "\0" else table.name[op]
            shares[_digest(f"{name}\0{shapes}\0{table.category[op]}")] += times_us[op] / total_us
    return {key: round(float(share), 6) for key, share in shares.items()}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def same_ratio(shares: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The share of the operations' time that both spend in the same operations, 0 to 1.

    Of an operation with different shares the smaller one counts: copies and sums without shapes
    are in every program, and take most of the time in few.
    """
    return min(1.0, sum(min(share, other.get(key, 0.0)) for key, share in shares.items()))
