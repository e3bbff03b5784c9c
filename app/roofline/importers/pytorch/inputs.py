"""The recorded arguments of an operator: shapes, types, strides and plain values."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PACKED_FP4 = "fp4"

# C++ and PyTorch names of element types: our word for the precision, and bytes per element.
_TYPES = {
    "float": ("fp32", 4),
    "double": ("fp64", 8),
    "c10::half": ("fp16", 2),
    "half": ("fp16", 2),
    "c10::bfloat16": ("bf16", 2),
    "bfloat16": ("bf16", 2),
    "long": ("int64", 8),
    "long int": ("int64", 8),
    "long long": ("int64", 8),
    "int": ("int32", 4),
    "short": ("int16", 2),
    "short int": ("int16", 2),
    "signed char": ("int8", 1),
    "char": ("int8", 1),
    "unsigned char": ("uint8", 1),
    "bool": ("bool", 1),
    "c10::complex<float>": ("complex64", 8),
    "c10::complex<double>": ("complex128", 16),
    "c10::complex<c10::half>": ("complex32", 4),
    "c10::qint8": ("int8", 1),
    "c10::quint8": ("uint8", 1),
    "c10::qint32": ("int32", 4),
    "unsigned short": ("uint16", 2),
    "unsigned int": ("uint32", 4),
    "unsigned long": ("uint64", 8),
    "c10::float4_e2m1fn_x2": (PACKED_FP4, 1),  # two numbers in each byte
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
        found = self.tensors[place] if place < len(self.tensors) else ()
        return found[0] if len(found) == 1 else None

    def value(self, place: int) -> str:
        """The text of a plain argument; empty where unknown."""
        return self.values[place] if place < len(self.values) else ""

    def number(self, place: int) -> int | None:
        """A plain argument that is a whole number; `None` for every other text."""
        found = _parsed(self.value(place))
        return found if type(found) is int else None

    def flag(self, place: int) -> bool | None:
        """A plain argument that is true or false; `None` for every other text."""
        return {"true": True, "false": False}.get(self.value(place).strip().lower())

    def whole_numbers(self, place: int) -> list[int]:
        """A plain argument that is one number from 0 up or a list of them; empty if it is not."""
        found = _parsed(self.value(place))
        parts = found if isinstance(found, list) else [found]
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
    sizes = [tensor.size_bytes if tensor is not None else None for tensor in tensors]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


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
        found = [
            _tensor(part, "", inner[k] if k < len(inner) else None) for k, part in enumerate(shape)
        ]
    else:
        found = [_tensor(shape, spelled if isinstance(spelled, str) else "", layout)]
    return [tensor for tensor in found if tensor is not None]


def _tensor(shape: object, spelled: str, layout: object) -> Tensor | None:
    sizes = _sizes(shape)
    dtype, item_bytes = _element(spelled)
    # Places without a shape are tensors only if their type says so: scalars, lists, devices.
    if sizes is None or (not sizes and item_bytes is None):
        return None
    return Tensor(shape=sizes, strides=_sizes(layout) or (), dtype=dtype, item_bytes=item_bytes)


def _element(name: str) -> tuple[str, int | None]:
    lowered = name.lower()
    if "float8" in lowered:
        return "fp8", 1
    return _TYPES.get(lowered, ("", None))


def _sizes(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 32:
        return None
    sizes = tuple(part for part in value if type(part) is int and 0 <= part < 2**48)
    return sizes if len(sizes) == len(value) else None


def _parsed(text: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
