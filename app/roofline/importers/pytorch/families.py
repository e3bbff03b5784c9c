"""What a family of operators is to the formulas: its names, and what one execution costs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Inputs

_ATEN = "aten::"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Operators with formulas of one kind, by their names as `known_as` gives them.

    `flops` and `moved` are per execution, `None` where what was recorded does not tell.
    `precision` is the element type of the work, empty if unknown. `reads_values` names those whose
    formulas need plain arguments (strides, masks, sizes).
    """

    names: Collection[str]
    flops: Callable[[Inputs], int | None]
    moved: Callable[[Inputs], int | None]
    precision: Callable[[Inputs], str]
    reads_values: Collection[str] = ()


def known_as(operator: str) -> str:
    """The name under which formulas know `operator`: `aten::mm` is "mm", others keep theirs.

    An operator of another library is never taken for PyTorch's of the same name.
    """
    if operator.startswith(_ATEN):
        return operator.removeprefix(_ATEN)
    return operator if "::" in operator else ""


def recorded_as(name: str) -> str:
    """The operator's name in traces, from the name under which formulas know it."""
    return name if "::" in name else _ATEN + name


def first_precision(inputs: Inputs) -> str:
    """The element type of the first tensor that has a known one; empty if none has."""
    return next((tensor.dtype for tensor in inputs.all_tensors if tensor.dtype), "")
