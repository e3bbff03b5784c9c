"""The table of a subject on parts of the catalogue, with prices."""

import pytest

from roofline.devices.table import read_prices
from roofline.errors import BadViewError
from roofline.exports.on_parts import dollars_per_million, parts_text


def test_prices_are_read_and_refused() -> None:
    assert read_prices("h100-sxm=2.5, mi300x=2") == {"h100-sxm": 2.5, "mi300x": 2.0}
    for text in ("h100-sxm", "h100-sxm=free", "h100-sxm=-1"):
        with pytest.raises(BadViewError, match="is not a price"):
            read_prices(text)


def test_the_table_has_a_row_for_each_part_and_each_note_once() -> None:
    here = {"name": "H100", "texts": ["20 ms", "", "HBM", "94 %"], "time_us": 2e4, "notes": []}
    t4 = {**here, "id": "t4", "name": "T4", "time_us": 3.6e4, "notes": ["Less memory."]}
    l4 = {**t4, "id": "l4", "name": "L4", "time_us": None}
    text = parts_text({"here": here, "devices": [t4], "usual": [l4]}, {"t4": 1.0, "l4": 1.0})
    assert dollars_per_million(3.6e4, 1.0) == 10
    rows = text.splitlines()
    assert rows[0].split()[0] == "Part" and "$ per million" in rows[0]
    assert [row.split()[-1] for row in rows[1:4]] == ["–", "10.0", "–"]
    assert text.count("T4, L4: Less memory.") == 1
