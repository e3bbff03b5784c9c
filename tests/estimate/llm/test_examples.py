"""Ops of six models in eight cases against worked rows of the shared folder."""

import csv
from functools import cache

import pytest

from roofline.estimate.llm.config import presets
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.rank import ModelOp
from tests.estimate.llm.cases import MODEL, load_of, needs_shared

ROWS = 720
Case = tuple[str, str, int, int]


@cache
def rows() -> dict[Case, list[dict[str, str]]]:
    found: dict[Case, list[dict[str, str]]] = {}
    if not MODEL.is_dir():
        return found
    with (MODEL / "llm_examples.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            case = (row["model"], row["phase"], int(row["batch"]), int(row["seq"]))
            found.setdefault(case, []).append(row)
    return found


def numbers(op: ModelOp) -> dict[str, float]:
    return {
        "count": op.calls,
        "flops_matrix": op.matrix,
        "flops_vector": op.vector,
        "bytes_weights": op.weights,
        "bytes_activations": op.activations,
        "bytes_kv": op.kv,
    }


@needs_shared
def test_there_are_all_rows() -> None:
    assert sum(map(len, rows().values())) == ROWS


@pytest.mark.parametrize("case", list(rows()), ids=str)
def test_ops_have_the_worked_numbers(case: Case) -> None:
    name, phase, batch, seq = case
    ops = {op.name: op for op in forward(presets()[name], load_of(phase, batch, seq))}
    expected = rows()[case]
    assert [row["op"] for row in expected if row["op"] != "TOTAL"] == list(ops)
    for row in expected:
        if row["op"] == "TOTAL":
            for key in ("flops_matrix", "flops_vector", "bytes_weights", "bytes_kv"):
                total = sum(op.calls * numbers(op)[key] for op in ops.values())
                assert total == pytest.approx(float(row[key]), rel=1e-9), key
        else:
            for key, value in numbers(ops[row["op"]]).items():
                assert value == pytest.approx(float(row[key]), rel=1e-9), (row["op"], key)


@needs_shared
def test_presets_have_the_published_number_of_parameters() -> None:
    with (MODEL / "model_configs.csv").open(encoding="utf-8", newline="") as lines:
        stated = {
            row["preset"]: int(row["value"])
            for row in csv.DictReader(lines)
            if row["field"] == "params_total"
        }
    assert {name: model.parameters for name, model in presets().items()} == stated


@needs_shared
def test_presets_have_the_published_number_of_active_parameters() -> None:
    with (MODEL / "model_configs.csv").open(encoding="utf-8", newline="") as lines:
        stated = {
            row["preset"]: int(row["value"])
            for row in csv.DictReader(lines)
            if row["field"] == "params_active"
        }
    assert len(stated) == 7
    for name, active in stated.items():
        model = presets()[name]
        idle = model.experts - model.active_experts
        unused = model.expert_layers * idle * model.one_expert_parameters
        table = 0 if model.tied else model.vocabulary * model.hidden
        stands = model.parameters - unused - table
        assert stands + model.vocabulary * model.hidden == active
