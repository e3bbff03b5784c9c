"""The cost of one execution of an operator: the formulas of all families, by the operator's name.

FLOPs: matrix products, convolutions and attention, as `torch.utils.flop_counter` counts them, and
the same of the libraries that serve language models; 0 for operators that only move data. Bytes:
these, and operators known to move each tensor once. All others have no formula: what they compute
and what they read of their arguments is unknown.
"""

from roofline.importers.pytorch import (
    attention,
    bytes_moved,
    convolutions,
    experts,
    inductor,
    libraries,
    products,
)
from roofline.importers.pytorch.families import (
    Family,
    Ragged,
    first_precision,
    known_as,
    recorded_as,
)
from roofline.importers.pytorch.inputs import Inputs

_ARITHMETIC = (products.FAMILY, convolutions.FAMILY, attention.FAMILY)
_FAMILIES = (*_ARITHMETIC, experts.FAMILY, libraries.FAMILY, bytes_moved.FAMILY)
_BY_NAME = {name: family for family in _FAMILIES for name in family.names}

# Operators, as traces spell them, whose formulas read plain arguments.
READING_VALUES = frozenset(
    recorded_as(name) for family in _FAMILIES for name in family.reads_values
)


# In a capture, sizes of what is allocated tell of operators that name a layer only.
READING_IN_CAPTURES = READING_VALUES | {"aten::empty"}


def _family(operator: str) -> Family | None:
    if inductor.only_moves(operator):
        return inductor.FAMILY
    return _BY_NAME.get(known_as(operator))


def counts(operator: str) -> bool:
    """True if `operator` is one of those that compute most, for which there are formulas."""
    return _family(operator) in _ARITHMETIC


def flops(inputs: Inputs) -> int | None:
    """FLOPs of one execution; `None` without a formula, or without what it needs."""
    family = _family(inputs.operator)
    return family.flops(inputs) if family else None


def moved(inputs: Inputs) -> int | None:
    """Bytes of one execution; `None` without a formula, or without what it needs."""
    family = _family(inputs.operator)
    return family.moved(inputs) if family else None


def weights(inputs: Inputs) -> int | None:
    """Of the bytes of one execution, those of the model's weights; `None` where none are known."""
    family = _family(inputs.operator)
    return family.weights(inputs) if family else None


def cached(inputs: Inputs) -> int | None:
    """Of the bytes of one execution, those of a key-value cache; `None` where none are known."""
    family = _family(inputs.operator)
    return family.cached(inputs) if family else None


def ragged(inputs: Inputs) -> Ragged | None:
    """The cost of attention per pair and per key; `None` for all others."""
    family = _family(inputs.operator)
    return family.ragged(inputs) if family else None


def precision(inputs: Inputs) -> str:
    """Element type in which the operator works; empty if unknown."""
    family = _family(inputs.operator)
    return (family.precision(inputs) if family else "") or first_precision(inputs)
