"""Every sentence and number format as the server writes it: tests/golden/words/words.json.

pytest holds the server to this file, `node --test` the browser. After a change of words, write it
again with `python -m tests.tools.golden_words`, and read the difference. The same command writes
the tables of rules in docs/advice.md.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from roofline.advice.cures import CURES
from roofline.advice.rule import Form
from roofline.advice.rules import RULES
from roofline.presentation.quantities import (
    amount,
    intensity,
    peak_bandwidth,
    peak_rate,
    percent,
    quantity,
    share,
    significant,
    stated,
)
from roofline.presentation.sentences import (
    SENTENCES,
    Filling,
    Number,
    Segment,
    fill,
    parts,
    plain_text,
)
from tests.tools import advice_document

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "words" / "words.json"

# Halves, both sides of every change of unit or digits, and the ends of the range.
_NUMBERS: tuple[float, ...]
_NUMBERS = (0, 1e-9, 1.234e-5, 0.000123, 0.00999, 0.0995, 0.125, 0.25, 0.9994, 0.9996, 1, 1.005)
_NUMBERS += (9.994, 9.995, 9.996, 12.5, 99.94, 99.95, 99.96, 999.4, 999.5, 999.6, 1000, 1234.5)
_NUMBERS += (9995, 10_234, 10_236, 999_600, 1e6, 1.5e7, 123_456_789, 2.5e12)
_RATIOS: tuple[float, ...]
_RATIOS = (0, 1e-9, 0.0004, 0.0005, 0.00051, 0.001, 0.00949, 0.0994, 0.0995, 0.0996, 0.1, 0.125)
_RATIOS += (0.345, 0.5, 0.9949, 0.995, 0.997, 0.9994, 0.9996, 0.99994, 0.999995, 1, 1.0001, 1.005)
_RATIOS += (1.5, 3.275, 9.994, 9.996, 10, 12.7, 25.5, 278, 1_924_471.3)
_UNITS = ("count", "bytes", "time_us", "gflops", "gibs", "gbs", "flop_per_byte", "number")

_LARGE = (1.5e13, 999.4e12, 999.6e12, 5e15, 5e18, 1.2e21)
# Every exported function of static/js/text/format.js that no unit leads to, with the server's.
_WRITERS: dict[str, Callable[[float], str]] = {
    "flops": lambda value: amount(value, "FLOP"),
    "decimalBytes": lambda value: amount(value, "B"),
    "peakRate": peak_rate,
    "peakBandwidth": peak_bandwidth,
    "stated": stated,
    "significant": significant,
    "intensity": intensity,
    "share": share,
}

_BOUND = Segment(kind="bound", text="bound by VMEM write", token="--roof-vmem-write")
_OTHER = Number(0.353, "ratio")
# What fills the slots of an example, by the slot's name; shares that have no line are all alike.
_EXAMPLES: dict[str, Filling] = {
    "share": Number(0.353, "ratio"),
    "ratio": Number(1.25, "number"),
    "sisters": Number(31, "count"),
    "would": "would",
    "may": "is",
    "title": "fuse Qwen2RMSNorm",
    "unknown": "124",
    "parts": "16.7 at its roofs + 18.2 to gain",
    "waits": "The device waits 338 ms for the host, 168 for other ranks",
    "flop": Number(0.136, "ratio"),
    "efficiency": Number(0.0287, "ratio"),
    "rest": Number(0.061, "ratio"),
    "length": Number(463_295.4, "time_us"),
    "t_min": Number(2_710.0, "time_us"),
    "t_max": Number(3_660.0, "time_us"),
    "above": Number(0.42, "time_us"),
    "floor": Number(54_200.0, "time_us"),
    "most": Number(25.5, "ratio"),
    "many": Number(295, "count"),
    "small": Number(16, "count"),
    "large": Number(295, "count"),
    "longer": Number(1.25, "number"),
    "link_us": Number(180.0, "time_us"),
    "work_us": Number(72.0, "time_us"),
    "call_us": Number(3.2, "time_us"),
    "saving": Number(67_300.0, "time_us"),
    "own": Number(940.2, "time_us"),
    "total": Number(488_448.7, "time_us"),
    "count": Number(2, "count"),
    "points": Number(3, "count"),
    "every": Number(1200, "count"),
    "peak": Number(1525.49, "gibs"),
    "bound": _BOUND,
    "what": "HBM bandwidth",
    "level": "HBM",
    "roof": "HBM",
    "unit": "Matrix int8",
    "are": "is",
    "useful": Number(0.12, "ratio"),
    "core": "TensorCore",
    "why": "Check the units.",
    "device": "H100 SXM5 80GB",
    "name": "HBM",
    "ridge": Number(560.4, "flop_per_byte"),
    "intensity": Number(0.0628, "flop_per_byte"),
    "read": Number(1_021, "count"),
    "hosts": Number(1_024, "count"),
    "fewest": Number(4, "count"),
    "host": "host-0713",
    "names": "host-0003, host-0009",
    "chips": "/device:TPU:2",
    "slow": Number(6, "count"),
    "steps": Number(20, "count"),
    "sign": "+",
    "change": Number(1812.5, "time_us"),
    "after": Number(2612.5, "time_us"),
    "per": "a step",
    "first": "A step",
    "second": "a capture",
    "term": "Slower units:",
    "between": " (TF32 tensor cores → fp32)",
    "old": Number(3, "count"),
    "new": Number(3, "count"),
    "low": "94 %",
    "high": "97 %",
    "chance": Number(0.05, "ratio"),
    "time": Number(10_450.3, "time_us"),
    "least": Number(3_856.0, "time_us"),
    "rate": Number(3_062.1, "count"),
    "each": Number(10_450.3, "time_us"),
    "busy": Number(0.81, "ratio"),
    "wait": Number(463_295.4, "time_us"),
    "calls": Number(288, "count"),
    "work": "51.6 GFLOP",
    "load": "batch 8 at 2,048 tokens",
    "memory": "18.2 GB",
    "capacity": "84.9 GB",
    "least_batch": "295",
    "per_dollar": "2.24 M",
    "known": Number(0.583, "ratio"),
    "moved": "74.5 MB",
    "size": "487",
    "before": Number(0.7, "ratio"),
    "old_share": Number(0.62, "ratio"),
    "new_share": Number(0.41, "ratio"),
    "below": Number(0.012, "ratio"),
    "predicted": "−1.81 ms",
    "measured": "−1.62 ms",
    "hit": Number(0.895, "number"),
    "counted": Number(0.52, "ratio"),
    "expected": Number(0.5, "ratio"),
    "old_rows": Number(241, "count"),
    "new_rows": Number(120.5, "count"),
    "exposed_a": Number(1_200.0, "time_us"),
    "exposed_b": Number(5_400.0, "time_us"),
    "at_roof_a": Number(3_100.0, "time_us"),
    "at_roof_b": Number(1_600.0, "time_us"),
    "size_of": Number(8_756, "count"),
    "precision": "fp8",
    "list": "copy.31, .32",
    "ceiling": "L1/TEX",
    "use": Number(0.26, "ratio"),
    "reason": "64 blocks for 80 SMs.",
    "how": "record shapes",
    "condition": "half of the bytes went",
    "since": ", since fusing removes work",
    "ops": Number(2, "count"),
    "command": "roofline compare host_0.xplane.pb AFTER",
}


def _number(filling: Filling) -> Any:
    if isinstance(filling, Number):
        return {"value": filling.value, "unit": filling.unit}
    return filling


def templates() -> dict[str, str]:
    """Every sentence by its id: those of rules are `advice_`, rule, form, and the part of it;
    cures `cure_`, rule, form and stack."""
    of_rules = {
        f"advice_{rule.id}{form and '_'}{form}{end}": template
        for rule in RULES.values()
        for form, texts in {"": Form(rule.title, rule.why), **rule.forms}.items()
        for end, template in zip(("", "_why"), texts, strict=True)
        if template
    }
    cures = {
        "_".join(filter(None, ("cure", *key.split(), stack))): cure.text
        for key, of in CURES.items()
        for stack, cure in of.items()
    }
    assumed = {f"advice_assumed_{name}": rule.condition for name, rule in RULES.items()}
    return {
        **SENTENCES,
        **of_rules,
        **cures,
        **{name: text for name, text in assumed.items() if text},
    }


def _example(name: str, changed: dict[str, Filling] | None = None) -> dict[str, Any]:
    template = templates()[name]
    slots = {match.lower() for match in re.findall(r"\{(\w+)", template)}
    fillings = {slot: _EXAMPLES.get(slot, _OTHER) for slot in sorted(slots)} | (changed or {})
    segments = fill(template, fillings)
    return {
        "sentence": name,
        "fillings": {slot: _number(filling) for slot, filling in fillings.items()},
        "segments": segments,
        "text": plain_text(segments),
    }


def document() -> dict[str, Any]:
    """What the file must hold."""
    one: dict[str, Filling] = {"count": Number(1, "count")}
    sentences = templates()
    counted = [name for name, template in sentences.items() if "{count|" in template]
    return {
        "numbers": [
            *([value, unit, quantity(value, unit)] for unit in _UNITS for value in _NUMBERS),
            *([value, "ratio", quantity(value, "ratio")] for value in _RATIOS),
        ],
        "percents": [
            [value, digits, percent(value, digits)] for digits in (0, 1) for value in _RATIOS
        ],
        "writers": {
            name: [[value, write(value)] for value in (*_NUMBERS, *_LARGE) if value]
            for name, write in _WRITERS.items()
        },
        "templates": {name: list(parts(template)) for name, template in sentences.items()},
        "examples": [*map(_example, sentences), *(_example(name, one) for name in counted)],
    }


def written() -> str:
    """The file's text."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(written(), "utf-8")
    advice_document.DOCUMENT.write_text(advice_document.written(), "utf-8")
