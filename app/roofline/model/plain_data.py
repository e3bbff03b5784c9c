"""Plain data: tables in JSON files beside the modules that read them, and records like others."""

import json
from dataclasses import Field, fields
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
    names = (
        one.name for one in fields(kind) if one.name not in others and hasattr(source, one.name)
    )
    return kind(**{name: getattr(source, name) for name in names}, **others)
