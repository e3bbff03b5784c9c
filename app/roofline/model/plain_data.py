"""Plain data: tables in JSON files beside the modules that read them, and records like others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Aligned:
    """A record of columns with an entry per row each: as long as the first of them."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.__dataclass_fields__))))

    def taken(self, rows: Any) -> Self:
        """These rows, in this order; of columns by key, those of each."""
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return type(self)(
            **{
                name: {key: one[rows] for key, one in column.items()}
                if isinstance(column, Mapping)
                else column[rows]
                for name, column in columns.items()
            }
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of `parts`, one after the other."""
        import numpy as np  # loads slowly

        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


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


def taken(source: object, /, *names: str) -> dict[str, Any]:
    """The attributes of these names, as a document has them."""
    return {name: getattr(source, name) for name in names}
