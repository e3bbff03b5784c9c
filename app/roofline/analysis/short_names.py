"""Names of operations as a table or a chart can show them: short, the rest in chips beside them.

Templates of C++ lose their namespaces, parameters and most arguments: the functor and the element
types stay. PyTorch's operators lose their shapes, and Triton's kernels the words of their template.
The whole name stays the name: it is searched, copied and exported. What two builds call alike is
another question (`kernel_names.stem`).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from roofline.analysis.kernel_names import CUTLASS, LEADING, functors

ELLIPSIS = "…"
_LEAST_CHIP = 8  # letters; less says nothing
_END_SHARE = 0.4  # of a cut name: what tells siblings apart is at the end
_OPERATOR = re.compile(r"^(?P<name>\S+) \[(?P<shapes>[^\[\]]*)\]\s*(?P<rest>.*)$")
_TRITON = re.compile(r"^triton_(?P<kind>poi|red|per|tem|for|mm)_fused_(?P<ops>\w+)$")
_TRITON_KINDS = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "tem": "template",
    "for": "foreach",
    "mm": "matmul",
}
_TENSILE = re.compile(r"^(Cijk_\w+?)_(?:UserArgs_)?(MT\d+x\d+x\d+)_")
_ANONYMOUS = "(anonymous namespace)::"
_MANGLED = re.compile(r"^_ZN?")
_IDENTIFIER = re.compile(r"(\d+)(?=[A-Za-z_])")
# Literals, substitutions and parameters of a mangled name, whose digits are not lengths.
_NOT_NAMES = re.compile(r"L[a-z]\d+E|DF16[b_]|S[0-9A-Z]*_|T\d*_")
_ELEMENT_TYPES = re.compile(
    r"\b(?:c10::BFloat16|__(?:nv|hip)_bfloat16|Eigen::bfloat16|c10::Half|Eigen::half|__half|half"
    r"|_Float16|std::bfloat16_t"
    r"|c10::Float8_e4m3fn(?:uz)?|c10::Float8_e5m2|float|double)\b|(?<=<)bool\b"
)
_SHORT_TYPES = {"float": "f32", "double": "f64", "bool": "bool", "_Float16": "f16"}
_MANGLED_TYPES = (("DF16b", "bf16"), ("DF16_", "f16"), ("bfloat16", "bf16"), ("6__half", "f16"))
# Expressions of Eigen, whose kernels have one name.
_EIGEN = re.compile(
    r"\b(scalar_\w+_op|greater\w*|less\w*|Tensor(?!Evaluator|Assign|Map|Cwise)[A-Z]\w*Op)\b"
)
_OPERATION = re.compile(r"\b(\w+)Ops\b")
_FUNCTOR_WORDS = re.compile(
    r"^CUDAFunctor(?:OnSelf)?_|_?[Ff]unctor$|_kernel(?:_cuda|_impl)?$|_scalar_kernel_impl$"
)
_NOT_FUNCTORS = frozenset({"const", "operator"})


class ShortName(NamedTuple):
    """The shown part of a name, and words for the parts that were left out."""

    text: str
    chips: tuple[str, ...] = ()


@lru_cache(maxsize=65_536)
def short_name(name: str) -> ShortName:
    """The short form of `name`: never empty, and the name itself where it is short already."""
    plain = LEADING.sub("", name.strip())
    for form in _FORMS:
        found = form(plain)
        if found and found.text:
            return found
    return ShortName(plain.removesuffix(".kd") or name)


def distinct(names: Sequence[str]) -> list[ShortName]:
    """The short form of each name; different names never look the same.

    Kernels of one template are numbered, for chips are left out where they have no room; operators
    are told apart by their shapes.
    """
    found = [short_name(name) for name in names]
    keys = [
        (one.text, one.chips if _OPERATOR.match(name) else ())
        for name, one in zip(names, found, strict=True)
    ]
    owners: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
    for name, key in zip(names, keys, strict=True):
        owners.setdefault(key, {}).setdefault(name, len(owners[key]) + 1)
    return [
        one if len(owners[key]) == 1 else ShortName(f"{one.text} #{owners[key][name]}", one.chips)
        for name, one, key in zip(names, found, keys, strict=True)
    ]


def common_prefix(texts: Iterable[str]) -> str:
    """Scopes or folders that all of at least two different texts begin with, with their end."""
    several = set(texts)
    if len(several) < 2:
        return ""
    first, last = min(several), max(several)
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    end = max(first.rfind("/", 0, same) + 1, first.rfind("::", 0, same) + 2)
    return first[:end] if end > 1 else ""


def middle_cut(text: str, width: int) -> str:
    """`text` in at most `width` characters; the middle is left out, for the end tells more."""
    if len(text) <= width:
        return text
    end = int((width - 1) * _END_SHARE)
    return f"{text[: width - 1 - end]}{ELLIPSIS}{text[len(text) - end :]}"


def fitted(name: ShortName, width: int) -> str:
    """Name and chips in at most `width` characters; the last chip may lose its middle."""
    text = middle_cut(name.text, width)
    for chip in name.chips:
        room = width - len(text) - 1
        if room < min(len(chip), _LEAST_CHIP):
            break
        text = f"{text} {middle_cut(chip, room)}"
    return text


def _operator(name: str) -> ShortName | None:
    """An operator of PyTorch with the shapes that it was called with."""
    found = _OPERATOR.match(name)
    if not found:
        return None
    shapes = found["shapes"].replace("x", "×")
    return ShortName(
        found["name"], tuple(part for part in (*found["rest"].split(), shapes) if part)
    )


def _triton(name: str) -> ShortName | None:
    """A kernel that Inductor wrote: its kind and the operators that it fuses."""
    found = _TRITON.match(name)
    return found and ShortName(found["ops"].strip("_"), (f"triton {_TRITON_KINDS[found['kind']]}",))


def _tensile(name: str) -> ShortName | None:
    """A product of Tensile: its layout and types, and its tile."""
    found = _TENSILE.match(name)
    return found and ShortName(found[1], (found[2],))


def _mangled(name: str) -> ShortName | None:
    """A C++ name that the profiler did not demangle: the innermost name and its first argument."""
    start = _MANGLED.match(name)
    if not start:
        return None
    scopes, at = list[str](), start.end()
    while (length := _IDENTIFIER.match(name, at)) and int(length[1]):
        at = length.end() + int(length[1])
        scopes.append(name[length.end() : at])
    if not scopes or at > len(name):
        return None
    arguments = name[at:]
    types = [short for mangled, short in _MANGLED_TYPES if mangled in arguments][:1]
    inner = _first_class(arguments) if arguments.startswith("I") else ""
    return ShortName(f"{scopes[-1]}<{inner}>" if inner else scopes[-1], tuple(types))


def _first_class(arguments: str) -> str:
    """The class that is the first mangled template argument but for numbers; empty without one."""
    rest = _NOT_NAMES.sub("", arguments[1:].replace("NS_", "N"))
    found = re.match(r"N(\d+)", rest)
    return rest[found.end() : found.end() + int(found[1])] if found else ""


def _cutlass(name: str) -> ShortName | None:
    found = CUTLASS.search(name)
    return found and ShortName(found[1].rpartition("::")[2])


def _template(name: str) -> ShortName | None:
    """A demangled C++ function: without namespaces and parameters; of the arguments the functor."""
    if "<" not in name and "(" not in name:
        return None
    plain = name.replace(_ANONYMOUS, "")
    end, last, opened = _outer(plain)
    base, arguments = plain[last : opened or end], plain[opened:end] if opened else ""
    is_cut = arguments.count("<") > arguments.count(">")  # profilers store so many characters
    is_whole = is_cut or not arguments or arguments.endswith(">")
    if not is_whole or not re.fullmatch(r"[\w~$. ]+", base):
        return None
    told = _told(arguments)
    types = list(dict.fromkeys(map(_short_type, _ELEMENT_TYPES.findall(arguments))))[:2]
    chips = (", ".join(types),) if types else ()
    return ShortName(f"{base.strip()}<{told}>" if told else base.strip(), chips)


def _outer(name: str) -> tuple[int, int, int]:
    """Where the parameters begin, the innermost name, and its template arguments (0: none)."""
    depth, last, opened = 0, 0, 0
    for k, character in enumerate(name):
        if character == "<":
            opened = opened or (k if depth == 0 else 0)
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0 and character == "(":
            return k, last, opened
        elif depth == 0 and character == ":":
            last, opened = k + 1, 0
    return len(name), last, opened


def _told(arguments: str) -> str:
    """The words that tell kernels of one template apart, for the libraries that are known."""
    found = _OPERATION.findall(arguments) or functors(arguments) or _EIGEN.findall(arguments)
    told = next((one for one in reversed(found) if one not in _NOT_FUNCTORS), "")
    return _FUNCTOR_WORDS.sub("", told) or told


def _short_type(name: str) -> str:
    if "loat8" in name:
        return "f8"
    return _SHORT_TYPES.get(name) or ("bf16" if "loat16" in name else "f16")


_FORMS: tuple[Callable[[str], ShortName | None], ...] = (
    _operator,
    _triton,
    _tensile,
    _mangled,
    _cutlass,
    _template,
)
