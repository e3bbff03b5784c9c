"""One HLO instruction as text: its opcode, shapes with memory spaces, operands and groups.

`%name = SHAPE opcode(OPERANDS), attributes`; a shape may be a tuple. Text of another form gives
what can be told from it. Format: HLO's own printer.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

HOST_SPACE = 5
"""Memory space `S(5)`: host memory. 0 is the device's own, 2 holds sync flags."""

_SYNC_SPACE = 2
_SHAPE = re.compile(
    r"(?P<type>[a-z]\w{0,15})\[(?P<dims>[\d,<= ]{0,400})\](?P<layout>\{[^{}]{0,200}\})?"
)
_SPACE = re.compile(r"S\((\d{1,3})\)")
_OPERAND = re.compile(r"%([^\s,(){}]+)")
_OPCODE = re.compile(r"([a-z][\w\-]{0,60})\(")
_BRACKETS = re.compile(r"[(){}\[\]]")
_BRACKETS_OR_SPACE = re.compile(r"[(){}\[\]]|\s")
_BRACKETS_OR_COMMA = re.compile(r"[(){}\[\],]")
_COMMENT = re.compile(r"/\*[^*]{0,40}\*/")
_BITS = re.compile(r"\D*?(\d+)")
_SPECIAL_BITS = {"pred": 8, "token": 0, "opaque": 0, "c64": 64, "c128": 128}
_GROUP_LISTS = re.compile(r"replica_groups=\{(\{[^{}]*\}(?:,\{[^{}]*\})*)?\}")
_GROUP_IOTA = re.compile(r"replica_groups=\[([\d,]{1,100})\]<=\[")
_GROUP_MESH = re.compile(r"replica_groups=mesh\[([^\]]{0,300})\]\s*\{([^}]{0,200})\}")
_MESH_AXIS = re.compile(r"'([^']+)'\s*=\s*(\d{1,9})")
_GROUPS = re.compile(
    r"replica_groups=(\{(?:\{[^{}]*\}(?:,\{[^{}]*\})*)?\}"
    r"|\[[\d,]{1,100}\]<=\[[\d,]{1,100}\](?:T\([\d,]{1,100}\))?"
    r"|mesh\[[^\]]{0,300}\]\s*\{[^}]{0,200}\})"
)
_PATH = re.compile(r'op_name="((?:[^"\\]|\\.){1,4000})"')
_ESCAPED = re.compile(r"\\(.)")
_FUSION_KIND = re.compile(r"\bkind=(k[A-Z]\w{0,20})")
_PRECISION = re.compile(r"operand_precision=\{([a-z_,]{1,100})\}")
# Text beyond this is not read: names and shapes of real programs are shorter.
MAX_TEXT = 200_000


class Shape(NamedTuple):
    """An array: element type, size in bytes without padding, memory space, number of dimensions."""

    dtype: str
    size_bytes: int
    space: int
    rank: int


class Instruction(NamedTuple):
    """The content of an instruction's text. `group_size` is 0 where it names no group.

    `result_texts` has the shapes of the result, each of a tuple's; `operand_texts` one shape per
    operand, which may be a tuple. `precision` is that of a product's operands, "" for the default;
    `fusion_kind` is "" for what is not a fusion.
    """

    opcode: str
    results: tuple[Shape, ...]
    operands: tuple[Shape, ...]
    operand_names: tuple[str, ...]
    group_size: int
    is_host_transfer: bool
    result_texts: tuple[str, ...]
    operand_texts: tuple[str, ...]
    replica_groups: str
    framework_path: str
    precision: str
    fusion_kind: str


def parse_instruction(text: str) -> Instruction | None:
    """The instruction in `text`; `None` where it is not one."""
    name, equals, rest = text[:MAX_TEXT].partition(" = ")
    head = _head(rest) if equals and name else None
    if head is None:
        return None
    begin, end = head.end(), _closing(rest, head.end())
    results, operands, attributes = rest[: head.start()].strip(), rest[begin:end], rest[end:]
    groups = _GROUPS.search(attributes)
    return Instruction(
        opcode=head[1],
        results=_shapes(results),
        operands=_shapes(operands),
        operand_names=tuple(_OPERAND.findall(operands)),
        group_size=_group_size(attributes),
        is_host_transfer="is_host_transfer=true" in attributes,
        result_texts=tuple(parts_of_tuple(results)),
        operand_texts=tuple(shape for shape in map(_shape_of, _split(operands)) if shape),
        replica_groups=groups[1] if groups is not None else "",
        framework_path=_framework_path(attributes),
        precision=_precision(attributes),
        fusion_kind=kind[1] if (kind := _FUSION_KIND.search(attributes)) is not None else "",
    )


def _head(text: str) -> re.Match[str] | None:
    """The opcode and its opening bracket, behind the shapes of the result."""
    depth = 0
    for bracket in _BRACKETS_OR_SPACE.finditer(text):
        sign = bracket[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0 and (head := _OPCODE.match(text, bracket.end())) is not None:
            return head
    return None


def _closing(text: str, begin: int) -> int:
    """Where the bracket that was opened before `begin` is closed."""
    depth = 1
    for bracket in _BRACKETS.finditer(text, begin):
        depth += 1 if bracket[0] in "([{" else -1
        if depth == 0:
            return bracket.start()
    return len(text)


def _split(text: str) -> Iterator[str]:
    """The parts between commas outside of brackets, without the printer's comments."""
    text, depth, begin = _COMMENT.sub("", text), 0, 0
    for sign_match in _BRACKETS_OR_COMMA.finditer(text):
        sign = sign_match[0]
        if sign != ",":
            depth += 1 if sign in "([{" else -1
        elif depth == 0:
            yield text[begin : sign_match.start()].strip()
            begin = sign_match.end()
    yield text[begin:].strip()


def parts_of_tuple(shape: str) -> Iterator[str]:
    """The shapes of a tuple, or the one shape in `shape`."""
    inner = shape[1:-1] if shape.startswith("(") and shape.endswith(")") else shape
    return (part for part in _split(inner) if part)


def _shape_of(operand: str) -> str:
    """The shape in front of an operand's name; empty where the text has names alone."""
    shape = operand.rpartition("%")[0].strip() if "%" in operand else operand
    return shape if "[" in shape or shape.startswith("(") else ""


def _framework_path(attributes: str) -> str:
    match = _PATH.search(attributes)
    return _ESCAPED.sub(r"\1", match[1]) if match is not None else ""


def _precision(attributes: str) -> str:
    """The highest precision that a product asks for: "high", "highest", or ""."""
    match = _PRECISION.search(attributes)
    words = match[1].split(",") if match is not None else []
    return next((word for word in ("highest", "high") if word in words), "")


def _shapes(text: str) -> tuple[Shape, ...]:
    return tuple(_shape(match) for match in _SHAPE.finditer(text))


def _shape(match: re.Match[str]) -> Shape:
    numbers = [int(digits) for digits in re.findall(r"\d+", match["dims"])]
    space = _SPACE.search(match["layout"] or "")
    bits = math.prod(numbers) * _bits(match["type"])
    place = int(space[1]) if space else 0
    return Shape(match["type"], -(-bits // 8), place, len(numbers))


def _bits(dtype: str) -> int:
    if dtype in _SPECIAL_BITS:
        return _SPECIAL_BITS[dtype]
    match = _BITS.match(dtype)
    return int(match[1]) if match else 0


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
