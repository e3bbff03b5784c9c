"""Any text in JSON."""

import json

from roofline.presentation.json_text import to_json


def test_numbers_that_json_lacks_are_null() -> None:
    assert to_json({"a": float("nan"), "b": [float("inf")]}) == b'{"a":null,"b":[null]}'


def test_half_characters_are_replaced_wherever_they_are() -> None:
    document = {"\ud800": ["\udfff", ("x\ud800",), 1, None, True], "ok": "é"}
    expected = {"?": ["?", ["x?"], 1, None, True], "ok": "é"}
    assert json.loads(to_json(document)) == expected
