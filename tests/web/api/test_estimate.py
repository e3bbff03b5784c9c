"""Estimates over HTTP."""

from typing import get_args

import pytest

from roofline.estimate.ops import OPS
from roofline.web.api.estimate import Op
from tests.web.conftest import Client

MATMUL = {"op": "matmul", "shape": "64x4096x4096", "device": "h100-sxm"}


def test_each_op_can_be_asked_for() -> None:
    assert set(get_args(Op)) == set(OPS)


def test_an_op_is_estimated(reader: Client) -> None:
    answer = reader.request("POST", "/api/v1/estimate", json={**MATMUL, "weights": "int4:g128"})
    assert answer.status_code == 200
    found = answer.json()
    assert found["flops"] == 2 * 64 * 4096 * 4096
    assert found["tensors"]["b"] == 4096 * 4096 * 0.53125
    assert found["bound"] == "memory"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shape": "64x4096"}, "MxKxN"),
        ({"shape": None}, "shape"),
        ({"device": "h1000"}, "no device"),
        ({"colour": "red"}, "not an option"),
        ({"ranks": "many"}, "ranks"),
        ({"window": -1}, "cannot have"),
        ({"op": "x" * 1000}, "op"),
    ],
)
def test_what_cannot_be_estimated_is_said(
    reader: Client, change: dict[str, object], said: str
) -> None:
    answer = reader.request("POST", "/api/v1/estimate", json={**MATMUL, **change})
    assert answer.status_code in (400, 422)
    assert said in answer.text
