"""Ops summed up as a tree: sums, unknown work, phases, and layers slower than their sisters."""

import csv
import io
import json
from typing import Any

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.groups import groups_record, groups_text, groups_to_csv
from roofline.exports.render import render_groups
from roofline.presentation.grouping import op_keys
from roofline.presentation.grouping_choice import DIMENSIONS, Grouping, read_grouping
from roofline.presentation.groups import Group, group_ops
from roofline.presentation.page_ops import page_groups
from roofline.presentation.shown import listed_ops
from tests.builders import ABSENT, analysed

LAYERS = f"""
op     | category | self_us | flop     | hbm_bytes | path                                  | source
mm.1   | fusion   | 100     | 1e6      | 1e5       | jit(f)/jvp(net)/layer_0/mlp/dot       | m.py:3
mm.2   | fusion   | 104     | 1e6      | 1e5       | jit(f)/jvp(net)/layer_1/mlp/dot       | m.py:3
mm.3   | fusion   | 130     | 1e6      | 1e5       | jit(f)/jvp(net)/layer_2/mlp/dot       | m.py:3
back.1 | fusion   | 200     | 2e6      | 1e5       | jit(f)/transpose(jvp(net))/head/dot   | m.py:9
call.1 | custom   | 40      | {ABSENT} | {ABSENT}  | jit(f)/jvp(net)/head/kernel           | m.py
adam.1 | fusion   | 30      | 10       | 1e5       | jit(f)/adamw/mul                      |
copy.1 | copy     | 20      | 0        | 1e5       |                                       |
"""


@pytest.fixture(scope="module")
def analysis() -> RooflineAnalysis:
    return analysed(LAYERS, idle_us=76)


def grouped(analysis: RooflineAnalysis, text: str) -> tuple[Group, ...]:
    return group_ops(analysis, analysis.with_infeed, read_grouping(text))


def named(groups: tuple[Group, ...]) -> dict[str, Group]:
    return {one.name: one for one in groups}


@pytest.mark.parametrize("by", DIMENSIONS)
def test_sums_equal_those_of_the_ops(analysis: RooflineAnalysis, by: str) -> None:
    groups = grouped(analysis, by)
    assert sum(one.self_time_us for one in groups) == pytest.approx(700)
    assert sum(one.share_ratio or 0 for one in groups) == pytest.approx(1)
    assert sum(one.flop or 0 for one in groups) == pytest.approx(5e6 + 10)
    assert sum(one.bytes or 0 for one in groups) == pytest.approx(6e5)
    assert sorted(op for one in groups for op in one.ops) == list(range(8))
    for one in groups:
        if one.children:
            assert one.self_time_us == pytest.approx(sum(c.self_time_us for c in one.children))


def test_unknown_work_stays_unknown(analysis: RooflineAnalysis) -> None:
    net = named(grouped(analysis, "path"))["net"]
    head = named(net.children)["head"]
    assert head.flop == 2e6
    assert head.flop_known_ratio == pytest.approx(200 / 240)
    custom = named(grouped(analysis, "category"))["custom"]
    assert (custom.flop, custom.bytes, custom.roofline_efficiency_ratio) == (None, None, None)
    assert custom.saving_per_core_us is None
    assert named(grouped(analysis, "category"))["IDLE"].flop is None


def test_a_layer_slower_than_its_sisters(analysis: RooflineAnalysis) -> None:
    net = named(grouped(analysis, "path:2"))["net"]
    layers = named(net.children)
    assert layers["layer_2"].slower_ratio == pytest.approx(130 / 104)
    assert layers["layer_2"].sisters == 3
    assert [name for name, one in layers.items() if one.is_slower] == ["layer_2"]
    assert layers["head"].slower_ratio is None
    said = groups_text(analysis, analysis.with_infeed, Grouping("path"))
    assert "net/layer_2 is slower than its 2 sisters: 1.25 times the median" in said


def test_layers_with_other_work_are_no_sisters() -> None:
    other = LAYERS.replace("130     | 1e6 ", "130     | 3e6 ")
    assert other != LAYERS
    net = named(grouped(analysed(other), "path:2"))["net"]
    assert all(one.slower_ratio is None for one in net.children)


def test_layers_of_unknown_work_are_no_sisters() -> None:
    unknown = LAYERS.replace("| 1e6      | 1e5 ", f"| {ABSENT}      | {ABSENT} ")
    assert unknown != LAYERS
    net = named(grouped(analysed(unknown), "path:2"))["net"]
    assert all(one.slower_ratio is None for one in net.children)


def test_the_depth_ends_the_tree(analysis: RooflineAnalysis) -> None:
    assert all(not one.children for one in grouped(analysis, "path:1"))
    deep = named(named(grouped(analysis, "path"))["net"].children)["layer_0"]
    assert [one.path for one in deep.children] == [("net", "layer_0", "mlp")]


def phases_of(table: str) -> list[str]:
    return ["/".join(key) for key in op_keys(analysed(table), "phase")]


def test_phases_of_a_training_step(analysis: RooflineAnalysis) -> None:
    found = ["/".join(key) for key in op_keys(analysis, "phase")]
    expected = ["forward", "forward", "forward", "backward", "forward", "optimizer", "", "IDLE"]
    assert found == expected


HEAD = "op | category | self_us | flop | hbm_bytes | path\n"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("a | fusion | 1 | 1 | 1 | jit(f)/rematted_computation/dot", "recomputed"),
        ("a | matmul | 1 | 1 | 1 | Model/Linear/aten::mm", "forward"),
        ("a | matmul | 1 | 1 | 1 | backward/aten::mm", "backward"),
        ("a | copy   | 1 | 1 | 1 | Optimizer.step#SGD.step/aten::add", "optimizer"),
        ("a | matmul | 1 | 1 | 1 | Model/AdamsBlock/aten::mm", "forward"),
    ],
)
def test_phase_by_path(rows: str, expected: str) -> None:
    assert phases_of(HEAD + rows)[0] == expected


def test_a_phase_that_nothing_marks_is_not_known() -> None:
    """One backward op shows that there is a backward pass; its products have no sign of it."""
    rows = (
        "a | matmul | 1 | 1 | 1 | aten::mm\n"
        "b | attention | 1 | 1 | 1 | aten::_scaled_dot_product_flash_attention_backward\n"
    )
    assert phases_of(HEAD + rows)[:2] == ["", "backward"]


def test_an_op_outside_the_derivative_is_other() -> None:
    rows = "a | fusion | 1 | 1 | 1 | jit(f)/jvp(net)/dot\nb | fusion | 1 | 1 | 1 | jit(f)/mul\n"
    assert phases_of(HEAD + rows)[:2] == ["forward", "other"]


def test_json_has_the_tree(analysis: RooflineAnalysis) -> None:
    document: Any = json.loads(render_groups(analysis, "json", Grouping("path", 2), infeed=True))
    groups = document["groups"]
    assert (groups["by"], groups["depth"]) == ("path", 2)
    net = groups["tree"][0]
    assert net["name"] == "net"
    assert {one["name"] for one in net["groups"]} == {"layer_0", "layer_1", "layer_2", "head"}
    assert net["groups"][0]["ops"] == ["back.1", "call.1"]
    record = groups_record(analysis, analysis.with_infeed, Grouping("path", 2))
    assert record["tree"][0]["self_time_us"] == pytest.approx(574)


def test_csv_has_a_row_per_group_and_no_formula() -> None:
    table = HEAD + "a | =1+1 | 1 | 1 | 1 | x\nb | fusion | 1 | 1 | 1 | x\n"
    made = analysed(table)
    text = groups_to_csv(made, made.with_infeed, Grouping("category")).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["group"] for row in rows} == {"'=1+1", "fusion"}
    assert rows[0]["level"] == "1" and float(rows[0]["self_time_us"]) == 1


def test_the_page_has_the_groups_of_each_listed_op(analysis: RooflineAnalysis) -> None:
    listed = listed_ops(analysis)
    sent = page_groups(analysis, listed)
    names = [[sent["names"][place] for place in places] for places in sent["path"]]
    keys = op_keys(analysis, "path")
    assert names == [list(keys[op]) for op in listed.tolist()]
    assert ["net", "layer_2", "mlp"] in names
    assert sent["containers"] == []


@pytest.mark.parametrize("text", ["layer", "path:0", "path:", "path:x", "path:²", ""])
def test_no_such_grouping(text: str) -> None:
    with pytest.raises(ValueError, match="is n"):
        read_grouping(text)
