"""A program that a link between devices holds back more than any unit or memory is bound by it."""

import json
from pathlib import Path

import pytest

from roofline.exports.answering import answer_of
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import lines_of


def standing_of(folder: Path, link: str, gigabytes: float) -> str:
    """Of 34.4 TFLOP in a second on 100 TFLOP/s, with so many GB over a link of 45 GB/s."""
    path = folder / "product.json"
    document = {
        "schema": "roofline-generic/1",
        "device": {"name": "made up", "count": 1},
        "roofs": {
            "compute": [{"precision": "bf16", "value": 100, "unit": "TFLOP/s"}],
            "memory": [
                {"level": "hbm", "value": 2, "unit": "TB/s"},
                {"level": link, "value": 45, "unit": "GB/s"},
            ],
        },
        "kernels": [
            {
                "name": "product",
                "time": {"value": 1000, "unit": "ms"},
                "flops": 34.4e12,
                "bytes": {"hbm": 4e9, link: gigabytes * 1e9},
            }
        ],
    }
    path.write_text(json.dumps(document), "utf-8")
    analysis = analyse_files([path])
    standing = plain_text(lines_of(analysis, answer_of(analysis)).standing)
    return standing.replace("\u202f", " ")


@pytest.mark.parametrize(
    ("link", "gigabytes", "expected"),
    [
        ("ici", 33.55, "At 75 % of the roof, all ICI-bound."),
        ("nvlink", 33.55, "At 75 % of the roof, all NVLink-bound."),
        ("ici", 9.0, "At 34 % of the roof, all compute-bound."),
        # Both directions of the host link count together: that sum has no single peak.
        ("host", 33.55, "At 34 % of the roof, all compute-bound."),
    ],
)
def test_the_busiest_link_binds_the_program(
    tmp_path: Path, link: str, gigabytes: float, expected: str
) -> None:
    assert standing_of(tmp_path, link, gigabytes) == expected
