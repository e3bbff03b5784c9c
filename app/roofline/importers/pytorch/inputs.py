"""The recorded arguments of an operator: shapes, types, strides and plain values.

A family of operators has formulas of them. For people, tensors are written in XLA's notation, which
all formats share: `bf16[64,128]{1,0}`.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from roofline.importers.shared.tables_text import json_of
from roofline.model.plain_data import read_beside

PACKED_FP4 = "fp4"

# C++ and PyTorch names of element types: our word for the precision, and bytes per element.
_FILE = read_beside(__file__, "types.json")
_TYPES: Mapping[str, tuple[str, int]] = {
    name: (word, size) for name, (word, size) in _FILE["written"].items()
}
_XLA_TYPES: Mapping[str, str] = _FILE["xla"]
_PLACES: Mapping[str, Mapping[str, Mapping[str, Any]]] = read_beside(__file__, "places.json")
Places = TypeVar("Places")


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def places_of(kind: type[Places], table: str) -> dict[str, Places]:
    """Where arguments stand, by operators' names: a table of `places.json`, in records of `kind`.

    Names that share a record stand in one key.
    """
    return {
        name: kind(**{key: tuple(at) if isinstance(at, list) else at for key, at in given.items()})
        for names, given in _PLACES[table].items()
        for name in names.split()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One input: its shape, and its strides where the trace has them."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    item_bytes: int | None

    @property
    def elements(self) -> int:
        """Distinct elements: a broadcast dimension (stride 0) holds one."""
        if len(self.strides) != len(self.shape):
            return math.prod(self.shape)
        pairs = zip(self.shape, self.strides, strict=True)
        return math.prod(min(size, 1) if stride == 0 else size for size, stride in pairs)

    @property
    def size_bytes(self) -> int | None:
        """Bytes of the distinct elements; `None` where the type is unknown."""
        return None if self.item_bytes is None else self.elements * self.item_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """An operator's arguments as recorded: a list of tensors per place, empty for other values.

    `values` are the texts of plain arguments, where the trace has them and a formula reads them.
    """

    operator: str
    tensors: tuple[tuple[Tensor, ...], ...]
    values: tuple[str, ...]

    def tensor(self, place: int) -> Tensor | None:
        """The tensor at an argument's place."""
        tensors = self.tensors[place] if place < len(self.tensors) else ()
        return tensors[0] if len(tensors) == 1 else None

    def value(self, place: int) -> str:
        """The text of a plain argument; empty where unknown."""
        return self.values[place] if place < len(self.values) else ""

    def number(self, place: int) -> int | None:
        """A plain argument that is a whole number; `None` for every other text."""
        parsed = json_of(self.value(place))
        return parsed if type(parsed) is int else None

    def flag(self, place: int) -> bool | None:
        """A plain argument that is true or false; `None` for every other text."""
        return {"true": True, "false": False}.get(self.value(place).strip().lower())

    def whole_numbers(self, place: int) -> list[int]:
        """A plain argument that is one number from 0 up or a list of them; empty if it is not."""
        parsed = json_of(self.value(place))
        parts = parsed if isinstance(parsed, list) else [parsed]
        numbers = [part for part in parts if type(part) is int and 0 <= part < 2**32]
        return numbers if len(numbers) == len(parts) else []

    @property
    def all_tensors(self) -> list[Tensor]:
        """Every tensor, lists flattened."""
        return [tensor for place in self.tensors for tensor in place]

    def sized(self, places: Sequence[int]) -> int | None:
        """Bytes of the tensors at these places together; `None` where one lacks or has no type."""
        return total_bytes(self.tensor(place) for place in places)


def total_bytes(tensors: Iterable[Tensor | None]) -> int | None:
    """Bytes of all `tensors` together; `None` where one lacks or has no type."""
    return known_sum(tensor.size_bytes if tensor is not None else None for tensor in tensors)


def known_sum(values: Iterable[int | None]) -> int | None:
    """The sum of `values`; `None` where one is not known."""
    every = [*values]
    known = [value for value in every if value is not None]
    return sum(known) if len(known) == len(every) else None


def broadcast_shape(tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """The shape that all of one or more tensors broadcast to."""
    rank = max(len(tensor.shape) for tensor in tensors)
    padded = [(1,) * (rank - len(tensor.shape)) + tensor.shape for tensor in tensors]
    return tuple(max(sizes) for sizes in zip(*padded, strict=True))


def read_inputs(
    operator: str, *, dims: object, types: object, strides: object, values: object
) -> Inputs:
    """The arguments as the trace's JSON spells them; damaged ones are left out."""
    dims_list, types_list = _list(dims), _list(types)
    strides_list = _list(strides)
    places = []
    for k, shape in enumerate(dims_list):
        spelled = types_list[k] if k < len(types_list) else None
        layout = strides_list[k] if k < len(strides_list) else None
        places.append(tuple(_tensors(shape, spelled, layout)))
    texts = tuple(value if isinstance(value, str) else "" for value in _list(values))
    return Inputs(operator=operator, tensors=tuple(places), values=texts)


def _tensors(shape: object, spelled: object, layout: object) -> list[Tensor]:
    """The tensors at one place: none for plain values, several for a list of tensors."""
    if not isinstance(shape, list):
        return []
    if any(isinstance(part, list) for part in shape):
        inner = _list(layout)
        tensors = [
            _tensor(part, "", inner[k] if k < len(inner) else None) for k, part in enumerate(shape)
        ]
    else:
        tensors = [_tensor(shape, spelled if isinstance(spelled, str) else "", layout)]
    return [tensor for tensor in tensors if tensor is not None]


def _tensor(shape: object, spelled: str, layout: object) -> Tensor | None:
    sizes = _sizes(shape)
    dtype, item_bytes = element_of(spelled)
    # Places without a shape are tensors only if their type says so: scalars, lists, devices.
    if sizes is None or (not sizes and item_bytes is None):
        return None
    return Tensor(shape=sizes, strides=_sizes(layout) or (), dtype=dtype, item_bytes=item_bytes)


def element_of(name: str) -> tuple[str, int | None]:
    """The word for an element type as C++ spells it, and its bytes; `None` where unknown."""
    lowered = name.lower().removeprefix("c10::")
    if "float8" in lowered:
        return "fp8", 1
    return _TYPES.get(lowered, ("", None))


def _sizes(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 32:
        return None
    sizes = tuple(part for part in value if type(part) is int and 0 <= part < 2**48)
    return sizes if len(sizes) == len(value) else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


_ATEN = "aten::"
# SGLang's profiler wraps plain functions: file, function and line are in one name.
_WRAPPED = re.compile(
    r"sglang_profiler::\w*?_(paged_attention_ragged|mla_decode_fwd|fused_moe)_\d+\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ragged:
    """The cost of attention where the lengths of its sequences are data: sums over them are needed.

    `queries` is how many rows of queries there are, `flop_per_pair` is per pair of a query and a
    key that the mask keeps, `bytes_per_key` per key and value in the cache, `other_bytes` are
    queries and results. `window` is how many keys a query sees at most, its own position included;
    `None` is all. `sees_all` is true without a causal mask.
    """

    queries: int
    flop_per_pair: int
    bytes_per_key: int
    other_bytes: int
    window: int | None = None
    sees_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Operators with formulas of one kind, by their names as `known_as` gives them.

    `flops` and `moved` are per execution, `None` where what was recorded does not tell.
    `precision` is the element type of the work, empty if unknown. `reads_values` names those whose
    formulas need plain arguments (strides, masks, sizes). Of the bytes, `weights` are the model's
    own and `cached` those of a key-value cache; `ragged` is for attention to sequences of unknown
    lengths. `slack` is how many more the FLOPs may be, and is there for the work of vector units.
    """

    names: Collection[str]
    flops: Callable[[Inputs], int | None]
    moved: Callable[[Inputs], int | None]
    precision: Callable[[Inputs], str]
    reads_values: Collection[str] = ()
    weights: Callable[[Inputs], int | None] = lambda _inputs: None
    cached: Callable[[Inputs], int | None] = lambda _inputs: None
    ragged: Callable[[Inputs], Ragged | None] = lambda _inputs: None
    slack: Callable[[Inputs], int] | None = None


def known_as(operator: str) -> str:
    """The name under which formulas know `operator`: `aten::mm` is "mm", others keep theirs.

    An operator of another library is never taken for PyTorch's of the same name.
    """
    if operator.startswith(_ATEN):
        return operator.removeprefix(_ATEN)
    if wrapped := _WRAPPED.match(operator):
        return f"aiter::{wrapped.group(1)}"
    return operator if "::" in operator else ""


def recorded_as(name: str) -> str:
    """The operator's name in traces, from the name under which formulas know it."""
    return name if "::" in name else _ATEN + name


def first_precision(inputs: Inputs) -> str:
    """The element type of the first tensor that has a known one; empty if none has."""
    return next((tensor.dtype for tensor in inputs.all_tensors if tensor.dtype), "")


_SEPARATOR = "; "
_MOST_IN_LIST = 8


def shapes_label(inputs: Inputs | None) -> str:
    """The tensors of a call; a list of them is one in brackets. Empty where none was recorded."""
    places = inputs.tensors if inputs is not None else ()
    return _SEPARATOR.join(_place(place) for place in places if place)


def _place(tensors: Sequence[Tensor]) -> str:
    if len(tensors) == 1:
        return shape_text(tensors[0])
    more = ["…"] if len(tensors) > _MOST_IN_LIST else []
    return f"({', '.join([*map(shape_text, tensors[:_MOST_IN_LIST]), *more])})"


def shape_text(tensor: Tensor) -> str:
    """Type, extents, and the order of dimensions from the fastest; strides where these have gaps.

    Without recorded strides there is no layout.
    """
    kind = _XLA_TYPES.get(tensor.dtype, tensor.dtype)
    extents = ",".join(map(str, tensor.shape))
    return f"{kind}[{extents}]{_layout(tensor)}"


def _layout(tensor: Tensor) -> str:
    shape, strides = tensor.shape, tensor.strides
    if not shape or len(strides) != len(shape):
        return ""
    order = sorted(range(len(shape)), key=lambda k: (strides[k], -k))
    reached = 1
    for k in order:
        if shape[k] != 1 and strides[k] != reached:
            return f"{{strides={','.join(map(str, strides))}}}"
        reached *= shape[k]
    return f"{{{','.join(map(str, order))}}}"
