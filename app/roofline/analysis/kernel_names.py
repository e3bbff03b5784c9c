"""Names of operations and kernels without what a compiler or an autotuner chose anew.

Numbers behind an XLA name, tile sizes, stages and hashes change from build to build. What says
which kernel it is stays: the functor of PyTorch's elementwise kernels, the configuration of
`cutlass::Kernel2` without its tiles, type and layout of `nvjet` and Tensile's `Cijk`.
"""

import re
from functools import lru_cache

_XLA_NUMBER = re.compile(r"(?:[._](?:\d+|remat\d*|clone|kd))+$")
_TILES = re.compile(r"_?(?:tilesize|tile|warpgroupsize|MT|MI|WG)?\d+x\d+(?:x\d+)*", re.IGNORECASE)
_STAGES = re.compile(r"_?(?:stages?_?\d+|\d+stages?)|_num_warps_\d+|_split_?k_?\d+", re.IGNORECASE)
# Eight hexadecimal digits or more, but no row of types (`bf16bf16`).
_HASH = re.compile(r"_(?!(?:bf16|f\d+|e\dm\d)+(?:_|$))(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}(?=_|$)")
_FUNCTOR = re.compile(r"\b\w*(?:[Ff]unctor|_kernel_cuda|_kernel_impl|_cuda_kernel|_scalar)\w*")
_LAMBDA_OF = re.compile(r"\b(?:(\w+)\([^()]*\)::\{?\(?lambda|(\w+)::\{lambda)")
CUTLASS = re.compile(
    r"(?:cutlass\w*::(?:Kernel2?|device_kernel)|ck_tile::kentry)<"
    r"\s*(?:\d+,\s*)*(?:[\w:]*enable_\w+<\s*)?([\w:]+)"
)
_TENSILE = re.compile(r"^(Cijk_\w+?)_(?:MT\d|SN_|UserArgs)")
LEADING = re.compile(
    r"^(?:(?:void|static|inline)\s+|__omp_offloading_[0-9a-f]+_[0-9a-f]+_+(?:QM)?)"
)
_OPERATOR = " ["  # an operator of PyTorch with its shapes: `aten::mm [64x64, 64x64] bf16`
_MANY_UNDERSCORES = re.compile(r"__+")


def is_numbered(name: str) -> bool:
    """True where a compiler numbered `name`: "fusion.17"."""
    return _XLA_NUMBER.search(name) is not None


@lru_cache(maxsize=65_536)
def stem(name: str) -> str:
    """The part of the operation's `name` that two builds share."""
    plain = LEADING.sub("", name.strip())
    if _OPERATOR in plain:
        return plain.partition(_OPERATOR)[0]
    tensile = _TENSILE.match(plain)
    if tensile:
        return tensile.group(1)
    kept = _kept(plain)
    bare = without_brackets(plain)
    bare = _HASH.sub("", _STAGES.sub("", _TILES.sub("", bare)))
    bare = _MANY_UNDERSCORES.sub("_", _XLA_NUMBER.sub("", bare)).strip("_ .:")
    return f"{bare or plain} {kept}".strip()


def _kept(name: str) -> str:
    """The part inside brackets that says which kernel it is; empty where there is none."""
    cutlass = CUTLASS.search(name)
    if cutlass:
        return _STAGES.sub("", _TILES.sub("", cutlass.group(1)))
    if "elementwise_kernel" not in name and "reduce_kernel" not in name:
        return ""
    inner = name[name.find("<") :]
    return " ".join(functors(inner))


def functors(arguments: str) -> list[str]:
    """The functors among the arguments of an elementwise kernel's template, each once."""
    found = list(dict.fromkeys(_FUNCTOR.findall(arguments)))
    return found or [a or b for a, b in _LAMBDA_OF.findall(arguments)]


def without_brackets(name: str) -> str:
    """`name` without balanced `<…>` and `(…)`; whole where they are not balanced."""
    kept, depth = [], 0
    for character in name.replace("(anonymous namespace)", ""):
        if character in "<(":
            depth += 1
        elif character in ">)":
            if depth == 0:
                return name
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept) if depth == 0 else name


_DIGITS = re.compile(r"(\d+)")


def natural_order(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key that sorts `fusion.9` before `fusion.12`."""
    return tuple((0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p)
