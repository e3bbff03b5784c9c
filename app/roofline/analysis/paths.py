"""Framework paths in a form that two runs share: wrappers off, direction kept.

`jit(step)/transpose(jvp(Block_0))/Attention_0/dot_general` is the backward pass of
`Block_0/Attention_0/dot_general`. `transpose`, `jvp`, `vmap` and `jit` are how JAX reached an
operation; a change of them alone leaves the operation what it was, except that backward and
recomputed operations are apart.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

FORWARD, BACKWARD, RECOMPUTED = "forward", "backward", "recomputed"

_WRAPPER = re.compile(r"([A-Za-z_]\w*)\((.*)\)$", re.DOTALL)
_TRANSPARENT = frozenset({"jvp", "vmap", "transpose", "custom_jvp", "custom_vjp", "linearize"})
_REMAT = frozenset({"checkpoint", "remat", "remat2"})
_CALLS = frozenset({"jit", "pjit", "xla_call", "core_call", "pmap"})
_DROPPED = _REMAT | {
    "rematted_computation",
    "closed_call",
    "core_call",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
}
_PARAMETERS = re.compile(r"\[.*\]$", re.DOTALL)


class OpPath(NamedTuple):
    """Where an operation stands in the program.

    `scope` are the names around it; `modules` the same without the functions that were compiled
    apart (`jit(gelu)`); `leaf` is the operation's own name.
    """

    scope: tuple[str, ...]
    modules: tuple[str, ...]
    leaf: str
    direction: str


@lru_cache(maxsize=65_536)
def op_path(text: str) -> OpPath | None:
    """The path that `text` (an XLA `op_name`, a PyTorch module path) says; `None` for none."""
    parts = list(_components(text, is_root=True))
    if not parts:
        return None
    names = [name for name, _ in parts]
    return OpPath(
        scope=tuple(names[:-1]),
        modules=tuple(name for name, is_call in parts[:-1] if not is_call),
        leaf=names[-1],
        direction=_direction(text),
    )


def _direction(text: str) -> str:
    if "rematted_computation" in text:
        return RECOMPUTED
    return BACKWARD if "transpose(" in text else FORWARD


def _components(text: str, *, is_root: bool = False) -> Iterator[tuple[str, bool]]:
    """The names of `text` from the outside, and whether each is a function compiled apart."""
    for number, part in enumerate(_split(text)):
        name = _PARAMETERS.sub("", part.strip())
        found = _WRAPPER.match(name)
        if found is None:
            if name and name not in _DROPPED:
                yield name, False
            continue
        wrapper, inner = found.groups()
        if wrapper in _TRANSPARENT or wrapper in _REMAT:
            yield from _components(inner)
        elif wrapper in _CALLS:
            # The outermost ones are the program, which is compared by its own name.
            if not (is_root and number == 0) and inner != "main":
                yield from ((one, True) for one, _ in _components(inner))
        else:
            yield name, False


def _split(text: str) -> list[str]:
    """`text` at the slashes that stand outside parentheses and brackets."""
    if "(" not in text and "[" not in text:
        return text.split("/")
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth = max(0, depth - 1)
        elif character == "/" and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
