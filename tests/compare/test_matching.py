"""Which operation is which: by path, shapes and work, never by time."""

import random
from dataclasses import replace

import numpy as np
import pytest

from roofline.compare.comparison import match_runs
from roofline.compare.matching import Matching
from roofline.compare.run import STEP, Run
from tests.compare.runs import Row, make_run

NAN = float("nan")


def _program(layers: int = 12) -> list[Row]:
    """Layers of one model: twins inside each, and copies without a path."""
    rows: list[Row] = []

    def add(stem: str, **fields: object) -> None:
        number = len(rows)
        row = Row(name=f"{stem}.{number}", time_us=5.0 + (number * 7919) % 97)
        rows.append(replace(row, **fields))  # type: ignore[arg-type]

    for layer in range(layers):
        scope = f"jit(step)/jvp(Block_{layer})"
        back = f"jit(step)/transpose(jvp(Block_{layer}))"
        for way in (scope, back):
            add("fusion", path=f"{way}/Attention/dot_general", operands="f32[64,64]", flop=4e6)
            add("fusion", path=f"{way}/Attention/dot_general", operands="f32[64,64]", flop=4e6)
            add("fusion", path=f"{way}/Mlp/dot_general", operands="f32[64,256]", flop=9e6)
            add("fusion", path=f"{way}/LayerNorm/reduce_sum", operands="f32[64,64]", flop=1e3)
            add("fusion", path=f"{way}/LayerNorm/mul", operands="f32[64,64]", flop=2e3)
        add("copy", operands="f32[64,64]", category="copy", flop=0.0, bytes=4e4 + layer * 100)
    return rows


def _match(a: list[Row], b: list[Row]) -> Matching:
    return match_runs(make_run(a), make_run(b), STEP)


def _pairs(found: Matching, a: list[Row], b: list[Row]) -> dict[str, tuple[str, int]]:
    """Name in A to name in B and the tier, of all matches of one and one."""
    return {
        a[one.a[0]].name: (b[one.b[0]].name, one.tier)
        for one in found.matches
        if len(one.a) == len(one.b) == 1
    }


def test_a_program_against_itself_is_all_tier_one_or_equal_work() -> None:
    rows = _program()
    found = _match(rows, rows)
    assert not found.only_a
    assert not found.only_b
    assert not found.groups
    assert {one.tier for one in found.matches} == {1, 6}
    assert all(one.a == one.b for one in found.matches)


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_renumbered_names_with_five_percent_dropped_match_no_time_wrongly(
    seed: int, is_shuffled: bool
) -> None:
    """Numbers shift as in a new build, or are dealt anew; dropped operations show as gone, or as
    one call less."""
    rng = random.Random(seed)
    a = _program()
    kept = [number for number in range(len(a)) if rng.random() >= 0.05]
    if is_shuffled:
        rng.shuffle(kept)
    shift = 0 if is_shuffled else rng.randint(1, 40)
    b = [
        replace(a[number], name=f"{a[number].name.partition('.')[0]}.{place + shift}")
        for place, number in enumerate(kept)
    ]
    was = dict(enumerate(kept))
    wrong_us = 0.0
    found = _match(a, b)
    for match in found.matches:
        wrong_us += sum(b[row].time_us for row in match.b if was[row] not in match.a)
    assert wrong_us == 0.0
    assert not found.only_b
    matched = sum(b[row].time_us for one in found.matches for row in one.b)
    assert matched == pytest.approx(sum(row.time_us for row in b))


def test_swapping_the_runs_swaps_the_matching() -> None:
    a, rng = _program(), random.Random(3)
    b = [replace(row, flop=row.flop * rng.choice([1, 1, 2])) for row in a if rng.random() > 0.1]
    there, back = _match(a, b), _match(b, a)
    assert set(there.swapped().matches) == set(back.matches)
    assert set(there.only_a) == set(back.only_b)


def _norm(name: str, leaf: str, shape: str = "f32[64,64]", **fields: object) -> Row:
    way = str(fields.pop("way", "jvp(Block_0)"))
    row = Row(name=name, path=f"jit(step)/{way}/{leaf}", operands=shape)
    return replace(row, **fields)  # type: ignore[arg-type]


def test_the_same_name_at_another_scope_is_not_a_pair() -> None:
    """A reduction of LayerNorm and a product elsewhere may both be called `fusion.8`."""
    a = [_norm("fusion.8", "LayerNorm/reduce_sum"), _norm("dot.1", "Mlp/dot_general")]
    b = [_norm("fusion.8", "Mlp/dot_general"), _norm("fusion.9", "RMSNorm/reduce_sum")]
    found = _match(a, b)
    assert _pairs(found, a, b) == {"dot.1": ("fusion.8", 2)}
    assert [(one.scope, one.a, one.b) for one in found.groups] == [("Block_0", (0,), (1,))]


def test_forward_backward_and_recomputed_operations_are_apart() -> None:
    a = [_norm("a", "Mlp/dot"), _norm("b", "Mlp/dot", way="transpose(jvp(Block_0))")]
    b = [
        _norm("a", "Mlp/dot", way="transpose(jvp(Block_0))"),
        _norm("b", "Mlp/dot", way="checkpoint/rematted_computation/jvp(Block_0)"),
    ]
    found = _match(a, b)
    assert _pairs(found, a, b) == {"b": ("a", 2)}
    assert found.only_a == (0,)
    assert found.only_b == (1,)


@pytest.mark.parametrize(
    ("changes", "tier"),
    [
        ({}, 1),
        ({"name": "fusion.99"}, 2),
        ({"program": "jit_other"}, 2),
        ({"operands": "f32[128,64]"}, 3),
        ({"operands": "f32[128,64]", "results": "f32[128]"}, 4),
        ({"path": "jit(step)/jvp(Block_0)/Mlp/logistic"}, 5),
    ],
)
def test_tiers_from_the_same_name_to_a_renamed_leaf(changes: dict[str, str], tier: int) -> None:
    a = [_norm("fusion.1", "Mlp/tanh", results="f32[64]")]
    b = [replace(a[0], **changes)]  # type: ignore[arg-type]
    assert [one.tier for one in _match(a, b).matches] == [tier]


@pytest.mark.parametrize(
    ("changes", "tier"),
    [
        ({}, 6),
        ({"bytes": 2e4}, 7),
        ({"bytes": 2e4, "operands": "f32[128]"}, 8),
    ],
)
def test_tiers_without_a_path(changes: dict[str, object], tier: int) -> None:
    a = [Row(name="copy.1", operands="f32[64]")]
    b = [replace(a[0], name="copy.7", **changes)]  # type: ignore[arg-type]
    assert [one.tier for one in _match(a, b).matches] == [tier]


def test_without_a_path_another_category_is_not_a_pair() -> None:
    a, b = [Row(name="ynn_fusion.8", category="reduce")], [Row(name="ynn_fusion.8", category="dot")]
    assert _match(a, b).only_a == (0,)


def test_time_is_never_a_feature() -> None:
    """Two operations that swapped their times are still themselves."""
    a = [Row(name="x.1", flop=1e6, time_us=10.0), Row(name="x.2", flop=2e6, time_us=90.0)]
    b = [Row(name="x.5", flop=1e6, time_us=90.0), Row(name="x.6", flop=2e6, time_us=10.0)]
    assert _pairs(_match(a, b), a, b) == {"x.1": ("x.5", 6), "x.2": ("x.6", 6)}


def test_beyond_four_times_in_all_three_a_pair_is_refused() -> None:
    one = Row(name="x.1", calls=1.0, flop=1e6, bytes=1e4)
    far = replace(one, name="x.2", calls=5.0, flop=5e6, bytes=5e4)
    assert _match([one], [far]).only_a == (0,)
    assert _match([one], [replace(far, calls=4.0)]).matches
    assert _match([one], [replace(far, bytes=1e4)]).matches


def test_equal_twins_are_one_class_with_the_right_sum() -> None:
    twins = [_norm(f"fusion.{k}", "Mlp/dot", time_us=float(k)) for k in range(3)]
    fewer = [replace(twins[k], name=f"fusion.{k + 10}") for k in (0, 2)]
    (one,) = _match(twins, fewer).matches
    assert (len(one.a), len(one.b)) == (3, 2)


def test_twins_whose_names_stayed_are_single_pairs() -> None:
    twins = [_norm(f"fusion.{k}", "Mlp/dot") for k in range(3)]
    halved = [replace(row, bytes=row.bytes / 2) for row in twins]
    found = _match(twins, halved)
    assert _pairs(found, twins, halved) == {row.name: (row.name, 1) for row in twins}


def test_a_split_fusion_is_a_group_under_its_scope() -> None:
    a = [_norm("fusion.1", "Mlp/add", category="loop fusion"), _norm("dot.1", "Mlp/dot")]
    b = [
        _norm("fusion.2", "Mlp/mul", category="loop fusion", shape="f32[8]"),
        _norm("copy.1", "Mlp/copy", category="copy"),
        _norm("dot.1", "Mlp/dot"),
    ]
    found = _match(a, b)
    assert [(one.scope, one.a, one.b) for one in found.groups] == [("Block_0/Mlp", (0,), (0, 1))]


def test_without_scopes_leftovers_are_listed_and_not_grouped() -> None:
    a = [Row(name="f.1", path="jit(step)/add", operands="f32[8]", category="x")]
    b = [Row(name="g.1", path="jit(step)/mul", operands="f32[9]", category="x")]
    found = _match(a, b)
    assert (found.only_a, found.only_b, found.groups) == ((0,), (0,), ())


def test_kernels_of_another_vendor_are_grouped_by_category() -> None:
    a = make_run([Row(name="sm90_gemm", category="matmul")], device="H100")
    b = make_run([Row(name="Cijk_Ailk", category="matmul")], device="MI300X")
    (group,) = match_runs(a, b, STEP).groups
    assert group.scope == "matmul"


def _large(count: int) -> Run:
    rng = np.random.default_rng(5)
    rows = [
        Row(name=f"fusion.{k}", path="jit(f)/Mlp/dot", operands="f32[8]", flop=float(flop))
        for k, flop in enumerate(rng.integers(1_000, 4_000, count).tolist())
    ]
    return make_run(rows)


def test_a_key_with_very_many_operations_is_aligned_by_work() -> None:
    a, b = _large(300), _large(280)
    found = match_runs(a, b, STEP)
    assert sum(len(one.b) for one in found.matches) + len(found.only_b) == 280


def test_operations_of_unknown_work_match_by_name() -> None:
    a = [Row(name="k.1", flop=NAN, bytes=NAN)]
    assert [one.tier for one in _match(a, [replace(a[0], name="k.2")]).matches] == [6]
