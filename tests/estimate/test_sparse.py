"""Weights pruned to 2 of 4: only by choice, named in the peak, of products with weights alone."""

import pytest

from roofline.devices.choice import known_part
from roofline.devices.table import Query, rows_of
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.on_device import COMPUTE, estimate
from roofline.estimate.ops import Options


def step(*, sparse: bool) -> Step:
    given = PredictOptions(batch=8, context=2048, sparse=sparse)
    return step_of(preset("llama-3-8b"), workload(given), known_part("h100-sxm"))


@pytest.mark.parametrize(
    ("dtype", "left"), [("bf16", 0.5 + 2 / 32), ("fp8", 0.625), ("int8", 0.625)]
)
def test_a_product_has_twice_the_rate_and_fewer_bytes(dtype: str, left: float) -> None:
    """Half of the values, and two bits of index for each: 0.5625 of 16-bit weights."""
    dense, sparse = (
        estimate("matmul", "64x4096x4096", "h100-sxm", Options(dtype=dtype, sparse=one))
        for one in (False, True)
    )
    assert sparse.peaks[COMPUTE].value == 2 * (dense.peaks[COMPUTE].value or 0)
    assert sparse.peaks[COMPUTE].label == f"{dense.peaks[COMPUTE].label}, sparse 2:4"
    assert "sparse" not in dense.peaks[COMPUTE].label
    assert sparse.work.tensors["b"] == left * dense.work.tensors["b"]
    assert sparse.work.tensors["a"] == dense.work.tensors["a"]


def test_a_step_prunes_the_weights_of_its_layers_alone() -> None:
    dense, sparse = ({t.op.name: t.op for t in step(sparse=one).ops} for one in (False, True))
    for name in ("qkv_proj", "o_proj", "down_proj"):
        assert sparse[name].weights == 0.5625 * dense[name].weights
    for name in ("attention", "lm_head", "embed", "attn_norm"):
        assert sparse[name] == dense[name]
    peaks = step(sparse=True).peaks
    assert peaks[COMPUTE].label.endswith("sparse 2:4")
    assert not peaks["compute_activations"].label.endswith("sparse 2:4")


@pytest.mark.parametrize(
    ("op", "shape", "device", "said"),
    [
        ("attention", "1x8x64x128", "h100-sxm", "Only products with weights"),
        ("softmax", "64x64", "h100-sxm", "Only products with weights"),
        ("matmul", "64x64x64", "tpu-v5e", "no rate of sparse products in bf16"),
        ("matmul", "64x64x64", "t4", "no rate of sparse products in bf16"),
    ],
)
def test_what_cannot_be_sparse_is_said(op: str, shape: str, device: str, said: str) -> None:
    with pytest.raises(BadViewError, match=said):
        estimate(op, shape, device, Options(sparse=True))


def test_the_table_says_sparse_in_its_heads_and_has_none_for_others() -> None:
    """1,979 TFLOP/s of an H100, and the ridge moves with it; Trainium2 has 3.84 by its sheet."""
    cells = {
        row.part.id: [cell.value for cell in row.cells]
        for row in rows_of(Query(columns=("bf16", "ridge"), is_sparse=True))
    }
    assert cells["h100-sxm"] == [pytest.approx(1978.8), pytest.approx(2 * 989.4 / 3.35)]
    assert cells["trainium2"][0] == pytest.approx(3.84 * 667)
    assert cells["tpu-v5e"] == [None, None]
