"""Shapes and element types of an op, from the labels of an op table."""

import re

from roofline.model.profile import OpTable

_SEPARATOR = "; "
# An array, its layout with the memory space included: `bf16[8,128]{1,0:S(1)}`.
_ARRAY = re.compile(r"(?<!\w)([a-z]\w{0,15})\[([^\[\]]{0,400})\](\{[^{}]{0,200}\})?")
_NO_ELEMENTS = frozenset({"token", "opaque"})
# Memory space 2 of a TPU holds flags, not the op's data.
_FLAGS = "S(2)"


def shape_lists(table: OpTable, op: int) -> dict[str, list[str]] | None:
    """Shapes of operands and results in XLA's notation; `None` where neither is known."""
    operands, results = parts(table.operands[op]), parts(table.results[op])
    return {"operands": operands, "results": results} if operands or results else None


def element_types(table: OpTable, op: int) -> list[str]:
    """Element types of operands, then of results, each once."""
    found = _ARRAY.finditer(f"{table.operands[op]}{_SEPARATOR}{table.results[op]}")
    kinds = (one[1] for one in found if _FLAGS not in (one[3] or ""))
    return list(dict.fromkeys(kind for kind in kinds if kind not in _NO_ELEMENTS))


def first_array(label: str) -> tuple[str, ...]:
    """Element type and dimensions of the first array of a label: `("bf16", "8×128")`."""
    found = next((one for one in _ARRAY.finditer(label) if one[1] not in _NO_ELEMENTS), None)
    if found is None:
        return ()
    dimensions = found[2].replace(" ", "").replace(",", "×")
    return (found[1], dimensions) if dimensions else (found[1],)


def parts(label: str) -> list[str]:
    """The texts that a label of an op table joins."""
    return label.split(_SEPARATOR) if label else []
