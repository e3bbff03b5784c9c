"""Estimates over HTTP."""

import pytest

from tests.web.conftest import Client

MATMUL = {"op": "matmul", "shape": "64x4096x4096", "device": "h100-sxm"}


def test_an_op_is_estimated(client: Client) -> None:
    answer = client.request("POST", "/api/v1/estimate", json={**MATMUL, "weights": "int4:g128"})
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
        ({"op": "x" * 1000}, "cannot have"),
    ],
)
def test_what_cannot_be_estimated_is_said(
    client: Client, change: dict[str, object], said: str
) -> None:
    answer = client.request("POST", "/api/v1/estimate", json={**MATMUL, **change})
    assert answer.status_code in (400, 422)
    assert said in answer.text
