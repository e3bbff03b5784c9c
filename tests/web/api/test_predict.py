"""Predictions over HTTP."""

import json

import pytest

from roofline.devices.choice import known_part
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import step_of
from tests.estimate.llm.test_hugging_face import LLAMA
from tests.web.conftest import Client

DECODE = {
    "model": "llama-3-8b",
    "phase": "decode",
    "batch": 8,
    "context": 2048,
    "device": "h100-sxm",
}


def test_a_step_is_predicted(reader: Client) -> None:
    answer = reader.request("POST", "/api/v1/predict", json=DECODE)
    assert answer.status_code == 200
    found = answer.json()
    assert found["step_us"]["serial"] == pytest.approx(5146, abs=1)
    assert found["coverage"] is None


def test_a_config_stands_in_for_a_preset(reader: Client) -> None:
    given = {**DECODE, "model": None, "config": LLAMA, "weights": "int8", "tp": 2}
    found = reader.request("POST", "/api/v1/predict", json=given).json()
    assert found["parameters"] == 8_030_261_248


def test_a_step_lies_over_a_stored_profile(reader: Client) -> None:
    step = step_of(
        preset("llama-3-8b"),
        workload(PredictOptions(batch=8, context=2048)),
        known_part("h100-sxm"),
    )
    kernels = json.dumps(generic_document(step, "llama-3-8b")).encode()
    profile = reader.upload(kernels, names=("model.json",)).json()["id"]
    found = reader.request("POST", "/api/v1/predict", json={**DECODE, "over": profile}).json()
    assert found["coverage"]["flops"] == pytest.approx(1)
    assert found["over"]["products"]["ratio"] == pytest.approx(1, rel=1e-6)
    answer = reader.request("POST", "/api/v1/predict", json={**DECODE, "over": "0" * len(profile)})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "llama-9"}, "is not a model"),
        ({"model": None}, "needs one model"),
        ({"config": LLAMA}, "needs one model"),
        ({"model": None, "config": {"model_type": "x"}}, "model_type"),
        ({"device": "h1000"}, "no device"),
        ({"colour": "red"}, "not an option"),
        ({"tp": "many"}, "tp"),
        ({"cached": -1}, "cannot have"),
        ({"context": None}, "--context"),
        ({"weights": "x" * 1000}, "cannot have"),
    ],
)
def test_what_cannot_be_predicted_is_said(
    reader: Client, change: dict[str, object], said: str
) -> None:
    answer = reader.request("POST", "/api/v1/predict", json={**DECODE, **change})
    assert answer.status_code in (400, 422)
    assert said in answer.text
