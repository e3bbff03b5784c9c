"""Ops of a model and measured ones: FLOPs first, then scope and operands."""

from roofline.compare.fingerprints import BY_FLOPS, BY_SCOPE, ModelRow, assign_by_flops
from roofline.compare.run import STEP, Run
from tests.compare.runs import Row, make_run

LAYER = "Layer/Attention/Linear/mm"
MLP = "Layer/MLP/Linear/mm"


def row(name: str, flop: float, inputs: float = 0.0, *, is_attention: bool = False) -> ModelRow:
    return ModelRow(name=name, flop=flop, inputs=inputs, is_attention=is_attention)


def run(*ops: tuple[str, str, float, str, str]) -> Run:
    """Ops of a capture: name, path, FLOPs, category, operands; each runs once in 1 us."""
    rows = [
        Row(name=name, path=path, flop=flop, category=kind, operands=operands, time_us=1.0)
        for name, path, flop, kind, operands in ops
    ]
    return make_run(rows)


def test_flops_within_two_percent_are_a_pair_and_beyond_are_none() -> None:
    measured = run(
        ("near", LAYER, 101.0, "matmul", ""),
        ("far", LAYER, 203.0 * 1.03, "matmul", ""),
    )
    found = assign_by_flops([row("o_proj", 100.0), row("qkv_proj", 203.0)], measured, STEP)
    assert [(one.a, one.b, one.tier) for one in found.matches] == [((0,), (0,), BY_FLOPS)]
    assert (found.only_a, found.only_b) == ((1,), (1,))


def test_equal_flops_are_told_apart_by_scope_then_by_words_then_by_operands() -> None:
    rows = [
        row("o_proj", 64.0),
        row("gate", 64.0, 8),
        row("up", 64.0, 8),
        row("down_proj", 64.0, 16),
    ]
    measured = run(
        ("a", LAYER, 64.0, "matmul", ""),
        ("b", "Layer/MLP/up_proj/mm", 64.0, "matmul", ""),
        ("c", "Layer/MLP/gate_proj/mm", 64.0, "matmul", ""),
        ("d", MLP, 64.0, "matmul", "bf16[2,8]{1,0}; bf16[8,4]{1,0}"),
    )
    found = assign_by_flops(rows, measured, STEP)
    assert {(one.a, one.b) for one in found.matches} == {
        ((0,), (0,)),
        ((2,), (1,)),
        ((1,), (2,)),
        ((3,), (3,)),
    }


def test_what_stays_equal_is_one_class() -> None:
    rows = [row("q_proj", 64.0), row("k_proj", 64.0), row("o_proj", 64.0)]
    measured = run(("a", LAYER, 64.0, "matmul", ""), ("b", LAYER, 64.0, "matmul", ""))
    (only,) = assign_by_flops(rows, measured, STEP).matches
    assert (only.a, only.b) == ((0, 1, 2), (0, 1))


def test_attention_is_never_a_product_with_weights() -> None:
    rows = [row("o_proj", 64.0), row("attention", 64.0, is_attention=True)]
    measured = run(
        ("flash", "Layer/Attention", 64.0, "attention", ""), ("mm", "", 64.0, "matmul", "")
    )
    found = assign_by_flops(rows, measured, STEP)
    assert {(one.a, one.b) for one in found.matches} == {((1,), (0,)), ((0,), (1,))}


def test_directions_keep_forward_and_backward_apart() -> None:
    rows = [
        row("fwd.o_proj", 64.0),
        row("bwd.o_proj (inputs)", 64.0),
        row("bwd.o_proj (weights)", 64.0),
    ]
    measured = run(
        ("a", "jit(step)/jvp()/dot_general", 64.0, "dot", ""),
        ("b", "jit(step)/transpose(jvp())/dot_general", 64.0, "dot", ""),
    )
    found = assign_by_flops(rows, measured, STEP)
    assert {(one.a, one.b) for one in found.matches} == {((0,), (0,)), ((1, 2), (1,))}


def test_a_padded_product_is_found_by_its_name() -> None:
    rows = [row("expert_gate_up", 200.0), row("expert_down", 100.0)]
    measured = run(
        ("moe experts gate and up", "", 218.0, "mixture of experts", ""),
        ("moe experts down", "", 109.0, "mixture of experts", ""),
        ("moe experts down", "", 126.0, "mixture of experts", ""),
    )
    found = assign_by_flops(rows, measured, STEP)
    assert {(one.a, one.b, one.tier) for one in found.matches} == {
        ((0,), (0,), BY_SCOPE),
        ((1,), (1,), BY_SCOPE),
    }
    assert found.only_b == (2,)


def test_other_ops_are_grouped_by_the_innermost_scope() -> None:
    rows = [row("attn_norm", 0), row("attn_residual", 0), row("rope", 0), row("mlp_act", 0)]
    measured = run(
        ("mul", "Layer/RMSNorm/mul", 0.0, "elementwise", ""),
        ("add", "Model/DecoderLayer/add", 0.0, "elementwise", ""),
        ("cat", "Layer/Attention/cat", 0.0, "copy", ""),
        ("silu", "Layer/MLP/silu", 0.0, "elementwise", ""),
        ("mm", "Layer/MLP/mm", 7.0, "matmul", ""),
        ("sort", "Sampler/sort", 0.0, "sort", ""),
    )
    found = assign_by_flops(rows, measured, STEP)
    assert {(one.scope, one.a, one.b) for one in found.groups} == {
        ("norm", (0, 1), (0, 1)),
        ("attention", (2,), (2,)),
        ("mlp", (3,), (3,)),
    }
    assert found.only_b == (4, 5)
