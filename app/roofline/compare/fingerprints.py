"""Which measured op is which op of a model: by FLOPs per call, by scope, by operands.

Compilers count the FLOPs of a product exactly, so an op of the model and a measured one whose
FLOPs per call agree within 2 % are candidates, if both belong to the same pass. Of several
candidates the words of the scope decide, then the elements of the operands. What stays equal is
one class, which is compared as a sum. A product that is left, and whose own name is in the scope,
may have a quarter more FLOPs: programs pad. Ops that are not products belong to a group when their
scope names it: norms, the rest of attention, of the MLP.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.compare.matching import Group, Match, Matching
from roofline.compare.run import Run
from roofline.model.categories import is_container

NEAR = 0.02
"""How far FLOPs per call may be apart, as a share."""

PADDED = 1.25
"""How many times the FLOPs of the model a padded product may have."""

BY_FLOPS, BY_SCOPE = 1, 2
"""Tiers: FLOPs per call agree; only the scope does."""

_ATTENTION, _MLP, _HEAD, _NORM, _EMBED = "attention", "mlp", "head", "norm", "embed"
# The first family whose words a part of the path has; later parts of a path count more.
_FAMILIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (_NORM, re.compile(r"norm")),
    (_ATTENTION, re.compile(r"rotary|rope|attn|attention|kv_cache|cache")),
    (_EMBED, re.compile(r"embed")),
    (_HEAD, re.compile(r"lm_?head|logits|unembed")),
    (_MLP, re.compile(r"mlp|ffn|feed_?forward|moe|expert|silu|gelu|swiglu")),
)
_OWN_WORDS: Mapping[str, re.Pattern[str]] = {
    "q": re.compile(r"\bq_proj|query|\bwq\b"),
    "k": re.compile(r"\bk_proj|\bkey|\bwk\b"),
    "v": re.compile(r"\bv_proj|\bvalue|\bwv\b"),
    "qkv": re.compile(r"qkv"),
    "o": re.compile(r"\bo_proj|out_proj|\bwo\b"),
    "gate": re.compile(r"gate"),
    "up": re.compile(r"\bup|_up|\bw3\b"),
    "down": re.compile(r"down|\bw2\b"),
    "router": re.compile(r"router"),
}
_BACKWARD = re.compile(r"transpose\(|backward|\bbwd\b")
_AGAIN = re.compile(r"remat|checkpoint|\brecompute\b")
_AHEAD, _BACK, _ANEW = "forward", "backward", "recomputed"
_DIMENSIONS = re.compile(r"\[([\d,]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One op of the model, or a part of one, as a row of its run.

    `flop` are those of a product per call, 0 for other ops; `inputs` the elements that it reads, 0
    where they are not told. `name` has its direction in front: `fwd.`, `bwd.`, `recompute.`.
    """

    name: str
    flop: float
    inputs: float
    is_attention: bool

    @property
    def kind(self) -> str:
        """The name without its direction and what follows a space."""
        return self.name.rpartition(".")[2].partition(" ")[0]


def assign_by_flops(rows: Sequence[ModelRow], measured: Run, unit: str) -> Matching:
    """Every row of the model and every op of `measured` once, in the order model, measured.

    Containers count in their parts, and ops without a time in `unit` are left out.
    """
    shown = [
        op
        for op in range(len(measured))
        if measured.units[unit].calls[op] > 0 and not is_container(measured.text("category")[op])
    ]
    has_directions = Fingerprints(measured, unit).has_directions
    seen = {op: _Seen.of(measured, op, has_directions=has_directions) for op in shown}
    matches = _by_flops(rows, seen, measured)
    matches += _padded(rows, seen, measured, matches)
    taken_a = {row for one in matches for row in one.a}
    taken_b = {op for one in matches for op in one.b}
    left_a = [row for row in range(len(rows)) if row not in taken_a]
    left_b = [op for op in shown if op not in taken_b]
    others = {op: seen[op] for op in left_b if not is_product(measured, op)}
    groups = _by_scope(rows, left_a, others)
    grouped_a = {row for one in groups for row in one.a}
    grouped_b = {op for one in groups for op in one.b}
    return Matching(
        matches=tuple(matches),
        groups=tuple(groups),
        only_a=tuple(row for row in left_a if row not in grouped_a),
        only_b=tuple(op for op in left_b if op not in grouped_b),
    )


class Fingerprints:
    """FLOPs per call, calls and direction of the ops of a run, to ask for those that fit."""

    def __init__(self, measured: Run, unit: str) -> None:
        self._flop = measured.flop
        self._calls = measured.units[unit].calls
        texts = [
            f"{path}/{name}".lower()
            for path, name in zip(measured.text("path"), measured.text("name"), strict=True)
        ]
        self._directions = np.array([_direction(text) for text in texts])

    def calls_near(self, name: str, flop: float) -> float:
        """Calls of ops with these FLOPs per call, and in the direction of the op `name`."""
        near = np.abs(self._flop - flop) <= NEAR * flop
        if self.has_directions:
            near &= self._directions == direction_of(name)
        return float(self._calls[near].sum())

    @property
    def has_directions(self) -> bool:
        """True where the run tells its backward pass from the forward one."""
        return bool((self._directions != _AHEAD).any())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The features of a measured op."""

    text: str
    families: tuple[str, ...]
    category: str
    elements: frozenset[int]
    direction: str

    @classmethod
    def of(cls, run: Run, op: int, *, has_directions: bool) -> "_Seen":
        path, name = run.text("path")[op].lower(), run.text("name")[op].lower()
        parts = [*path.split("/"), name.partition(" [")[0]]
        found = [_family(part) for part in parts]
        return cls(
            text=f"{path}/{name}",
            families=tuple(one for one in found if one),
            category=run.text("category")[op],
            elements=frozenset(_elements(run.text("operands")[op])),
            direction=_direction(f"{path}/{name}") if has_directions else "",
        )

    @property
    def family(self) -> str:
        """The family that the innermost part of the scope names; empty where none does."""
        return self.families[-1] if self.families else ""


def _family(part: str) -> str:
    return next((name for name, words in _FAMILIES if words.search(part)), "")


def _elements(shapes: str) -> Iterable[int]:
    for dimensions in _DIMENSIONS.findall(shapes):
        total = 1
        for size in dimensions.split(","):
            total *= int(size) if size else 1
        yield total


# ------------------------------------------------------------------------------------------- FLOPs


def _by_flops(rows: Sequence[ModelRow], seen: Mapping[int, _Seen], measured: Run) -> list[Match]:
    """Classes of rows and ops: each op goes to the rows that fit it best."""
    flop = np.array([row.flop for row in rows], np.float64)
    chosen: dict[int, tuple[int, ...]] = {}
    for op, about in seen.items():
        counted = float(measured.flop[op])
        if not counted > 0:
            continue
        near = np.flatnonzero((flop > 0) & (np.abs(counted - flop) <= NEAR * flop)).tolist()
        fitting = [row for row in near if _may_be(rows[row], about)]
        scores = {row: _score(rows[row], about) for row in fitting}
        best = max(scores.values(), default=None)
        if best is not None:
            chosen[op] = tuple(row for row, score in scores.items() if score == best)
    return [Match(a=a, b=b, tier=BY_FLOPS) for a, b in _joined(chosen)]


def _padded(
    rows: Sequence[ModelRow], seen: Mapping[int, _Seen], measured: Run, matches: Sequence[Match]
) -> list[Match]:
    """Products that are left, each with the one row that its scope names and that has fewer FLOPs.

    The scope has to name the op itself: "experts down" is the down product of experts.
    """
    taken_a = {row for one in matches for row in one.a}
    taken_b = {op for one in matches for op in one.b}
    chosen: dict[int, tuple[int, ...]] = {}
    for op, about in seen.items():
        counted = float(measured.flop[op])
        named = [
            number
            for number, row in enumerate(rows)
            if number not in taken_a
            and row.flop
            and 1 <= counted / row.flop <= PADDED
            and family_of(row.name) in about.families
            and _has_own_word(row, about)
            and _may_be(row, about)
        ]
        if op not in taken_b and len(named) == 1:
            chosen[op] = (named[0],)
    return [Match(a=a, b=b, tier=BY_SCOPE) for a, b in _joined(chosen)]


def is_product(run: Run, op: int) -> bool:
    """True where an op is known to work on a matrix unit."""
    return any(
        name.startswith("matrix") and float(column[op]) > 0 for name, column in run.work.items()
    )


def _may_be(row: ModelRow, about: _Seen) -> bool:
    """False where the category says attention and the row does not, or the other way round.

    The same holds for the direction, where the run tells directions apart.
    """
    if about.direction and about.direction != direction_of(row.name):
        return False
    if about.category in ("attention", "matmul"):
        return row.is_attention is (about.category == "attention")
    return True


def _score(row: ModelRow, about: _Seen) -> tuple[int, int, int]:
    """How well an op fits: family, words of its own, operands."""
    family = family_of(row.name)
    inside = int(family in about.families) - int(
        bool(about.families) and family not in about.families
    )
    own = int(_has_own_word(row, about))
    shape = int(row.inputs > 0 and round(row.inputs) in about.elements)
    return inside, own, shape


def _has_own_word(row: ModelRow, about: _Seen) -> bool:
    words = _OWN_WORDS.get(row.kind.removesuffix("_proj").rpartition("_")[2])
    return words is not None and words.search(about.text) is not None


def _direction(text: str) -> str:
    """The pass that the scope of a measured op names."""
    if _AGAIN.search(text) and not _BACKWARD.search(text):
        return _ANEW
    return _BACK if _BACKWARD.search(text) else _AHEAD


def direction_of(name: str) -> str:
    """The pass that an op of the model belongs to."""
    return {"bwd": _BACK, "recompute": _ANEW}.get(name.partition(".")[0], _AHEAD)


def family_of(name: str) -> str:
    """The part of the model that the op `name` belongs to."""
    kind = name.rpartition(".")[2].partition(" ")[0]
    if "norm" in kind or kind.endswith("residual"):
        return _NORM
    if kind == "embed":
        return _EMBED
    if kind == "lm_head":
        return _HEAD
    words = ("gate", "up", "down", "mlp", "expert", "shared", "router", "moe")
    return _MLP if any(word in kind for word in words) else _ATTENTION


def _joined(chosen: Mapping[int, tuple[int, ...]]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Rows and ops that share a choice, together: they cannot be told apart."""
    classes: list[tuple[set[int], set[int]]] = []
    for op, rows in chosen.items():
        own: tuple[set[int], set[int]] = (set(rows), {op})
        apart = []
        for one in classes:
            if one[0] & own[0]:
                own[0].update(one[0])
                own[1].update(one[1])
            else:
                apart.append(one)
        classes = [*apart, own]
    return [(tuple(sorted(rows)), tuple(sorted(ops))) for rows, ops in classes]


# ------------------------------------------------------------------------------------------- scope


def _by_scope(
    rows: Sequence[ModelRow], left: Sequence[int], seen: Mapping[int, _Seen]
) -> list[Group]:
    """Ops that are not products, by the family that their scope names last."""
    of_model: dict[str, list[int]] = defaultdict(list)
    of_run: dict[str, list[int]] = defaultdict(list)
    for row in left:
        if not rows[row].flop:
            of_model[family_of(rows[row].name)].append(row)
    for op, about in seen.items():
        family = about.family or (_NORM if _is_residual(about) else "")
        if about.category not in ("attention", "matmul") and family:
            of_run[family].append(op)
    return [
        Group(scope=family, a=tuple(of_model[family]), b=tuple(of_run[family]))
        for family in of_model
        if of_run.get(family)
    ]


def _is_residual(about: _Seen) -> bool:
    """A sum directly in a layer: norms have the residuals of the model beside them."""
    parts = about.text.split("/")
    return len(parts) > 1 and "add" in parts[-1] and "layer" in about.text
