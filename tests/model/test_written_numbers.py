"""Numbers as people paste them."""

import pytest

from roofline.model.units import plain_number


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("512", "512"),
        ("1,024", "1024"),
        ("1,048,576", "1048576"),
        ("2,5", "2.5"),
        ("0,125", "0.125"),
        ("1.555,2", "1555.2"),
        ("1,555.2", "1555.2"),
        ("12 000", "12000"),
        ("1\u202f638", "1638"),
        ("1'638", "1638"),
        ("2.5e-6", "2.5e-6"),
        ("2,5e-6", "2.5e-6"),
        ("1.2.3,4,5", "123.4.5"),
        ("x", "x"),
    ],
)
def test_commas_points_and_spaces(text: str, plain: str) -> None:
    assert plain_number(text) == plain
