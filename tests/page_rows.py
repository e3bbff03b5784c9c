"""Program points of page data as objects, as the browser unpacks them."""

from typing import Any


def program_points(view: dict[str, Any]) -> list[dict[str, Any]]:
    """One object per program point of a view of the page data."""
    program = view["program"]
    rows = range(program["count"])
    return [{name: column[row] for name, column in program["columns"].items()} for row in rows]
