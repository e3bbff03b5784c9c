"""Attributions of random pairs: tests/golden/compare/attribution.json.

pytest holds `roofline.compare.attribution` to this file, `node --test` the browser's module. Write
it again with `python -m tests.tools.golden_attribution`.
"""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from roofline.compare.attribution import Costs, attribute

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "compare" / "attribution.json"
_CASES = 60


def _side(rnd: random.Random) -> dict[str, Any]:
    def work() -> list[float]:
        return [10 ** rnd.uniform(0, 6) if rnd.random() < 0.8 else 0.0 for _ in range(2)]

    def peaks() -> list[float]:
        return [10 ** rnd.uniform(1, 4) if rnd.random() < 0.9 else 0.0 for _ in range(2)]

    return {
        "calls": float(rnd.randint(1, 500)),
        "time_us": 10 ** rnd.uniform(-2, 6) if rnd.random() < 0.95 else 0.0,
        "flop": work(),
        "bytes": work(),
        "flop_peaks": peaks(),
        "bytes_peaks": peaks(),
        "is_known": rnd.random() < 0.9,
    }


def _costs(side: dict[str, Any]) -> Costs:
    return Costs(**{name: np.array([value]) for name, value in side.items()})


def cases() -> list[dict[str, Any]]:
    """Sides and their terms, always the same ones."""
    rnd = random.Random(13)
    found = []
    for number in range(_CASES):
        a, b = _side(rnd), _side(rnd)
        if number % 3 == 0:  # one program on one device: peaks stay
            b |= {"flop_peaks": a["flop_peaks"], "bytes_peaks": a["bytes_peaks"]}
        terms = attribute(_costs(a), _costs(b))
        named = {name: float(column[0]) for name, column in terms.items()}
        found.append({"a": a, "b": b, "terms": named})
    return found


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case) for case in cases())
    GOLDEN.write_text(f"[\n{lines}\n]\n")
