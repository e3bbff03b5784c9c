"""Lays out `devices/catalogue.json`: a line for each source, architecture and figure.

    python -m tests.tools.catalogue

A test fails where the file is laid out otherwise; nothing else about a new device needs an edit.
"""

import json
from typing import Any

from roofline.source_closure import PACKAGE_FOLDER

CATALOGUE = PACKAGE_FOLDER / "devices" / "catalogue.json"


def laid_out(text: str) -> str:
    """The catalogue in its layout; the order of keys and parts stays as it is."""
    rooms = json.loads(text)
    body = [
        f'"{name}": [\n{_joined(map(_part, room))}\n]'
        if isinstance(room, list)
        else f'"{name}": {_lines(room)}'
        for name, room in rooms.items()
    ]
    return "{\n" + _joined(body) + "\n}\n"


def _part(part: dict[str, Any]) -> str:
    rows = (f"  {_json(key)}: {_figures(value)}" for key, value in part.items())
    return "{\n" + _joined(rows) + "\n}"


def _figures(value: Any) -> str:
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return _json(value)
    return "[\n" + _joined(f"    {_json(row)}" for row in value) + "\n  ]"


def _lines(room: dict[str, Any]) -> str:
    return "{\n" + _joined(f"  {_json(key)}: {_json(value)}" for key, value in room.items()) + "\n}"


def _joined(rows: Any) -> str:
    return ",\n".join(rows)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    CATALOGUE.write_text(laid_out(CATALOGUE.read_text("utf-8")), "utf-8")
