"""The 21 worked calculator cases about language models, in the shared folder."""

import csv
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from roofline.estimate.llm.config import preset
from roofline.estimate.llm.memory import cache_bytes
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.request import PredictOptions
from tests.estimate.llm.cases import MODEL, load_of, needs_shared, step

CASES = 21


def _intensity(model: str, phase: str, batch: int, seq: int, flash: bool = True) -> float:
    lengths = {"context": seq} if phase == "decode" else {"seq": seq}
    options = PredictOptions(phase=phase, batch=batch, flash=flash, **lengths)  # type: ignore[arg-type]
    found = step(model, "h100-sxm", options)
    return found.total(lambda op: op.matrix) / found.total(lambda op: op.bytes)


def _gain(model: str, ctx: int, batch: int, peak: float, bw: float) -> float:
    """Of a part with these peaks alone: the case has none for vector work."""

    def time(size: int) -> float:
        ops = forward(preset(model), load_of("decode", size, ctx))
        return sum(op.calls * max(op.matrix / peak, op.bytes / bw) for op in ops)

    return batch * time(1) / time(batch)


def _cache(model: str, batch: int, ctx: int) -> float:
    return cache_bytes(preset(model), load_of("decode", batch, ctx))


FUNCTIONS: Mapping[str, tuple[str, Callable[..., float]]] = {
    "llm_intensity": ("ai", _intensity),
    "llm_params": ("total", lambda model: preset(model).parameters),
    "batch_gain": ("gain", _gain),
    "kv_cache": ("bytes", _cache),
}


@cache
def cases() -> list[dict[str, str]]:
    if not MODEL.is_dir():
        return []
    with (MODEL / "calculators.csv").open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["function"] in FUNCTIONS]


@needs_shared
def test_there_are_all_cases() -> None:
    assert len(cases()) == CASES


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case_id"])
def test_worked_case(case: dict[str, str]) -> None:
    key, function = FUNCTIONS[case["function"]]
    given: Mapping[str, Any] = json.loads(case["inputs_json"])
    found = function(**given)
    assert found == pytest.approx(json.loads(case["computed_json"])[key], rel=1e-9)
    stated = json.loads(case["expected_json"])[key]
    assert abs(found - stated) <= json.loads(case["tolerance_abs_json"])[key]
