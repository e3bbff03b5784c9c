"""One HLO instruction as text: its opcode, shapes with memory spaces, operands and groups.

`%name = SHAPE opcode(OPERANDS), attributes`; a shape may be a tuple. Only what transfers need is
read, and text of another form gives what can be told from it. Format: HLO's own printer.
"""

import math
import re
from dataclasses import dataclass

HOST_SPACE = 5
"""Memory space `S(5)`: host memory. 0 is the device's own, 2 holds sync flags."""

_SYNC_SPACE = 2
_SHAPE = re.compile(
    r"(?P<type>[a-z]\w{0,15})\[(?P<dims>[\d,<= ]{0,400})\](?P<layout>\{[^{}]{0,200}\})?"
)
_SPACE = re.compile(r"S\((\d{1,3})\)")
_OPERAND = re.compile(r"%([^\s,(){}]+)")
_HEAD = re.compile(r"\s([a-z][\w\-]{0,60})\(")
_BITS = re.compile(r"\D*?(\d+)")
_SPECIAL_BITS = {"pred": 8, "token": 0, "opaque": 0, "c64": 64, "c128": 128}
_GROUP_LISTS = re.compile(r"replica_groups=\{(\{[^{}]*\}(?:,\{[^{}]*\})*)?\}")
_GROUP_IOTA = re.compile(r"replica_groups=\[([\d,]{1,100})\]<=\[")
_GROUP_MESH = re.compile(r"replica_groups=mesh\[([^\]]{0,300})\]\s*\{([^}]{0,200})\}")
_MESH_AXIS = re.compile(r"'([^']+)'\s*=\s*(\d{1,9})")
# Text beyond this is not read: names and shapes of real programs are shorter.
MAX_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Shape:
    """An array: element type, size in bytes without padding, and its memory space."""

    dtype: str
    size_bytes: int
    space: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What the text of an instruction says. `group_size` is 0 where it names no group."""

    opcode: str
    results: tuple[Shape, ...]
    operands: tuple[Shape, ...]
    operand_names: tuple[str, ...]
    group_size: int
    is_host_transfer: bool


def parse_instruction(text: str) -> Instruction | None:
    """The instruction in `text`; `None` where it is not one."""
    name, equals, rest = text[:MAX_TEXT].partition(" = ")
    head = _HEAD.search(_without_shapes(rest)) if equals and name else None
    if head is None:
        return None
    begin, end = _operand_span(rest, head.end())
    operands, attributes = rest[begin:end], rest[end:]
    return Instruction(
        opcode=head[1],
        results=_shapes(rest[: head.start()]),
        operands=_shapes(operands),
        operand_names=tuple(_OPERAND.findall(operands)),
        group_size=_group_size(attributes),
        is_host_transfer="is_host_transfer=true" in attributes,
    )


def _without_shapes(text: str) -> str:
    """`text` of the same length, in which no tuple of shapes can be taken for operands."""
    depth, kept = 0, []
    for sign in text:
        depth += sign in "{[("
        kept.append(sign if depth == 0 or (depth == 1 and sign == "(") else ".")
        depth -= sign in "}])"
    return "".join(kept)


def _operand_span(text: str, begin: int) -> tuple[int, int]:
    """From behind the opening bracket to before the closing one."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return begin, at
    return begin, len(text)


def _shapes(text: str) -> tuple[Shape, ...]:
    return tuple(_shape(found) for found in _SHAPE.finditer(text))


def _shape(found: re.Match[str]) -> Shape:
    numbers = [int(digits) for digits in re.findall(r"\d+", found["dims"])]
    space = _SPACE.search(found["layout"] or "")
    bits = math.prod(numbers) * _bits(found["type"])
    return Shape(found["type"], -(-bits // 8), int(space[1]) if space else 0)


def _bits(dtype: str) -> int:
    if dtype in _SPECIAL_BITS:
        return _SPECIAL_BITS[dtype]
    found = _BITS.match(dtype)
    return int(found[1]) if found else 0


def _group_size(attributes: str) -> int:
    """Ranks of one group, in any of the four notations; 0 where all ranks or none are meant."""
    if (iota := _GROUP_IOTA.search(attributes)) is not None:
        return int(iota[1].split(",")[-1] or 0)
    if (mesh := _GROUP_MESH.search(attributes)) is not None:
        sizes = dict(_MESH_AXIS.findall(mesh[1]))
        axes = re.findall(r"'([^']+)'", mesh[2])
        return math.prod(int(sizes.get(axis, 0)) for axis in axes) if axes else 0
    if (lists := _GROUP_LISTS.search(attributes)) is not None and lists[1]:
        first = lists[1].split("}")[0]
        return len(re.findall(r"\d+", first))
    return 0


def host_direction(instruction: Instruction) -> str | None:
    """ "in" or "out" for a copy between host and device memory, `None` for any other op."""
    results = [shape.space for shape in instruction.results if shape.space != _SYNC_SPACE]
    operands = [shape.space for shape in instruction.operands if shape.space != _SYNC_SPACE]
    if not results or not operands:
        return None
    destination, source = results[0], operands[0]
    if (destination == HOST_SPACE) == (source == HOST_SPACE):
        return None
    return "out" if destination == HOST_SPACE else "in"
