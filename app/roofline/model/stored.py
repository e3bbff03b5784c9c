"""A profile and its device as bytes, and back: to analyse parts of it later, without the file.

The form is a header in JSON and the arrays behind it. Only classes of this package's model are
written and read: bytes from elsewhere can make no other object.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.model import (
    ceilings,
    compute,
    device,
    memory,
    profile,
    serving,
    time_bins,
    timeline,
)

_MODULES = (ceilings, compute, device, memory, profile, serving, time_bins, timeline)
_LENGTH_BYTES = 8


def _classes(modules: tuple[ModuleType, ...]) -> dict[str, Any]:
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum))
    }


_CLASSES = _classes(_MODULES)


def stored(value: Any) -> bytes:
    """`value`, made of the model's classes, as bytes; raises `TypeError` for anything else."""
    arrays: list[NDArray[Any]] = []
    header = json.dumps(_plain(value, arrays)).encode()
    forms = json.dumps([[one.dtype.str, list(one.shape)] for one in arrays]).encode()
    lengths = [len(part).to_bytes(_LENGTH_BYTES, "little") for part in (header, forms)]
    columns = [np.ascontiguousarray(one).tobytes() for one in arrays]
    return b"".join([*lengths, header, forms, *columns])


def restored(content: bytes) -> Any:
    """The profile that `stored` wrote."""
    at = 2 * _LENGTH_BYTES
    ends = [int.from_bytes(content[k : k + _LENGTH_BYTES], "little") for k in (0, _LENGTH_BYTES)]
    header = json.loads(content[at : at + ends[0]])
    forms = json.loads(content[at + ends[0] : at + sum(ends)])
    arrays: list[NDArray[Any]] = []
    at += sum(ends)
    for dtype, shape in forms:
        count = int(np.prod(shape, dtype=np.int64))
        column = np.frombuffer(content, dtype, count, at).reshape(shape)
        arrays.append(column)
        at += column.nbytes
    return _object(header, arrays)


def _plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """`value` as JSON has it; objects become lists of their kind and what they hold."""
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.value]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return ["array", len(arrays) - 1]
    if isinstance(value, tuple | list):
        return ["tuple", *(_plain(one, arrays) for one in value)]
    if isinstance(value, Mapping):
        return ["map", *([_plain(k, arrays), _plain(v, arrays)] for k, v in value.items())]
    if _CLASSES.get(type(value).__name__) is type(value):
        held = {
            one.name: _plain(getattr(value, one.name), arrays)
            for one in fields(value)
            if not one.metadata.get("not_stored")
        }
        return ["object", type(value).__name__, held]
    raise TypeError(f"{type(value).__name__} is not a part of the model.")


def _object(plain: Any, arrays: list[NDArray[Any]]) -> Any:
    if not isinstance(plain, list):
        return plain
    kind, *held = plain
    if kind == "array":
        return arrays[held[0]]
    if kind == "enum":
        return _CLASSES[held[0]](held[1])
    if kind == "object":
        values = {name: _object(value, arrays) for name, value in held[1].items()}
        return _CLASSES[held[0]](**values)
    if kind == "map":
        return {_object(key, arrays): _object(value, arrays) for key, value in held}
    return tuple(_object(one, arrays) for one in held)
