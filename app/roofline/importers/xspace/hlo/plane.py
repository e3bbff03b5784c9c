"""The plane `/host:metadata`: compiled programs of a capture, each a serialized HloProto."""

import re
from collections.abc import Mapping
from functools import cached_property

from roofline.importers.xspace.planes import HLO_METADATA, EventKind, Plane, Space

_PROGRAM_ID = re.compile(r"\((\d{1,20})\)\Z")
_PROTO_STATS = ("Hlo Proto", "HLO Proto")


class HloPlane:
    """Serialized programs by program id."""

    def __init__(self, space: Space) -> None:
        self._plane = space.named(HLO_METADATA)

    def raw(self, program_id: int) -> bytes:
        """A program's HloProto; empty where the capture does not have it."""
        kind = self._kinds.get(program_id)
        return next((r for name in _PROTO_STATS if kind and (r := kind.stats.raw(name))), b"")

    @cached_property
    def _kinds(self) -> Mapping[int, EventKind]:
        if self._plane is None:
            return {}
        return {_program_id(self._plane, k): kind for k, kind in enumerate(self._plane.event_kinds)}


def _program_id(plane: Plane, index: int) -> int:
    """The number in parentheses after the name, else a stat, else the metadata's own id."""
    kind = plane.event_kinds[index]
    found = _PROGRAM_ID.search(kind.name)
    if found:
        return int(found[1])
    return kind.stats.int_or_uint("program_id") or plane.event_ids[index]
