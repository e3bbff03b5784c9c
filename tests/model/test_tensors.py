"""Sizes of tensors in XLA's notation."""

import pytest

from roofline.model.tensors import tensors_of


@pytest.mark.covers(182)
@pytest.mark.parametrize(
    ("dtype", "element_bytes"),
    [
        ("pred", 1),
        ("s4", 0.5),
        ("u8", 1),
        ("f8e4m3fn", 1),
        ("bf16", 2),
        ("f32", 4),
        ("f64", 8),
        ("c64", 8),
    ],
)
def test_an_element_has_the_bytes_of_its_type(dtype: str, element_bytes: float) -> None:
    (tensor,) = tensors_of(f"{dtype}[128,256]{{1,0}}")
    assert (tensor.element_bytes, tensor.bytes) == (element_bytes, element_bytes * 128 * 256)
