"""The operations of a finding as a title names them: up to three names, else kind and module."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from roofline.analysis.kernel_names import without_brackets
from roofline.analysis.records import RooflineAnalysis
from roofline.presentation.quantities import count

_MOST = 3
_LEAST_SHARE = 0.01
"""An operation with less of a finding's time is counted, not named."""

_WIDTH = 40
_MODULE = re.compile(r"[A-Z]\w*$")
_INNER = re.compile(r"\w*(Linear|Embedding|GraphModule|Sequential|ModuleList)$")
_NOUNS = {
    "matmul": ("matmul", "matmuls"),
    "convolution": ("convolution", "convolutions"),
    "copy": ("copy", "copies"),
    "reduction": ("reduction", "reductions"),
    "sort": ("sort", "sorts"),
    "attention": ("attention", "attentions"),
    "normalisation": ("normalisation", "normalisations"),
    "loop fusion": ("loop fusion", "loop fusions"),
    "convolution fusion": ("convolution fusion", "convolution fusions"),
    "custom fusion": ("custom fusion", "custom fusions"),
}
_PARTS = {
    "experts down": "the experts’ down projection",
    "experts gate and up": "the experts’ gate and up projection",
}
_SHARED_END = re.compile(r"([A-Za-z]+_)([A-Za-z]+)")


def names_of(analysis: RooflineAnalysis, ops: Sequence[int]) -> tuple[str, str]:
    """The operations in words, the largest first, and the same as a list without "and"."""
    table = analysis.profile.ops
    if not ops:
        return "", ""
    times = {op: float(table.self_time_ps[op]) for op in ops}
    least = _LEAST_SHARE * sum(times.values())
    main = [op for op in ops if times[op] >= least]
    names = list(dict.fromkeys(_PARTS.get(_part(table.name[op]), "") for op in main))
    if names and all(names) and len(names) <= _MOST:
        return _joined(names), ", ".join(names)
    modules = list(dict.fromkeys(filter(None, (_module(table.framework_path[op]) for op in main))))
    if modules and (len(main) > _MOST or any("::" in table.name[op] for op in main)):
        text = _by_module(_nouns(analysis, main), len(main), modules)
        return text, text
    short = list(dict.fromkeys(_short(table.name[op]) for op in main))
    names = _elided(sorted(short[:_MOST], key=_naturally))
    text = _joined(names, len(short) - _MOST)
    return text, text if len(short) > _MOST else ", ".join(names)


def _part(name: str) -> str:
    """The part of an operator that a name says: `vllm::moe_forward experts down [...]`."""
    return name.partition(" ")[2].partition(" [")[0]


def _module(path: str) -> str:
    """The innermost module of a program that calls an operator, but for layers of one product."""
    names = [one for one in path.split("/") if _MODULE.match(one) and not _INNER.match(one)]
    return names[-1] if names else ""


def _nouns(analysis: RooflineAnalysis, ops: Sequence[int]) -> tuple[str, str]:
    kinds = {analysis.profile.ops.category[op] for op in ops}
    kind = kinds.pop() if len(kinds) == 1 else ""
    word = kind + " " if kind and kind != "other" else ""
    return _NOUNS.get(kind, (f"{word}operation", f"{word}operations"))


def _by_module(nouns: tuple[str, str], ops: int, modules: list[str]) -> str:
    """ "the MLP matmul", "4 matmuls of MLP and Attention": modules without what they all share."""
    shown = _without_common(modules)
    if ops == 1:
        return f"the {shown[0]} {nouns[0]}"
    return f"{count(ops)} {nouns[1]} of {_joined(shown[:_MOST], len(shown) - _MOST)}"


def _without_common(modules: list[str]) -> list[str]:
    """Modules without the word that all begin with: MLP and Attention of Qwen2."""
    words = [re.findall(r"[A-Z][a-z]*\d*(?=[A-Z])|.+$", one) for one in modules]
    first = {one[0] for one in words}
    if len(modules) > 1 and len(first) == 1 and all(len(one) > 1 for one in words):
        return ["".join(one[1:]) for one in words]
    return modules


@lru_cache(maxsize=8192)  # views under other peaks name the same operations
def _short(name: str) -> str:
    """A name without its shapes, arguments and namespaces."""
    bare = without_brackets(name.removeprefix("void ").partition(" [")[0])
    own = bare.rpartition("::")[2].strip() or name
    return own if len(own) <= _WIDTH else f"{own[: _WIDTH - 1]}…"


def _naturally(name: str) -> tuple[str, float]:
    base, _, number = name.rpartition(".")
    return (base, float(number)) if base and number.isdecimal() else (name, -1.0)


def _elided(names: list[str]) -> list[str]:
    """Names without what the one before (".31") or the one behind ("one_") says already."""
    found = names[:1]
    for before, name in pairwise(names):
        base, _, number = name.rpartition(".")
        same = base and number.isdecimal() and before.rpartition(".")[0] == base
        found.append(f".{number}" if same else name)
    for place, (name, behind) in enumerate(pairwise(names)):
        ends = [_SHARED_END.fullmatch(one) for one in (name, behind)]
        if ends[0] and ends[1] and ends[0][2] == ends[1][2]:
            found[place] = ends[0][1]
    return found


def _joined(names: Sequence[str], more: int = 0) -> str:
    if more > 0:
        return f"{', '.join(names)} and {count(more)} more"
    if len(names) < 2:
        return ", ".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
