"""Plain data: tables in JSON files beside the modules that read them, and records like others."""

import json
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Aligned:
    """A record of columns with an entry per row each: as long as the first of them."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.__dataclass_fields__))))


Record = TypeVar("Record", bound=_Dataclass)


def read_beside(module: str, name: str) -> Any:
    """What the file `name` says, in the folder of a module, which gives its `__file__`."""
    return json.loads(Path(module).with_name(name).read_bytes())


def alike(kind: type[Record], source: object, /, **others: Any) -> Record:
    """A record of a dataclass: `others`, and every other field from `source`, where that has one of
    the same name."""
    given = {name: getattr(source, name, MISSING) for name in _names(kind) if name not in others}
    return kind(**{name: value for name, value in given.items() if value is not MISSING}, **others)


@cache
def _names(kind: type[Record]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
