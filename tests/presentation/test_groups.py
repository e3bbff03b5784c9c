"""Ops summed up as a tree: sums, unknown work, phases, and layers slower than their sisters."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.exports.groups import groups_text, groups_to_csv
from roofline.exports.render import render_groups
from roofline.pipeline import analyse_files
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.grouping import all_keys, module_of, op_keys
from roofline.presentation.grouping_choice import DIMENSIONS, Grouping, read_grouping
from roofline.presentation.groups import (
    Group,
    Groups,
    groups_of,
    listed,
    merged,
    name_of,
    roof_text,
    usual_grouping,
)
from roofline.presentation.layers import layers_of, line_of
from roofline.presentation.page import groups_data
from roofline.presentation.page_ops import page_groups
from roofline.presentation.quantities import DASH, NARROW, SPACE
from roofline.presentation.sentences import plain_text
from roofline.presentation.shown import listed_ops
from tests.builders import ABSENT, analysed
from tests.shared_profiles import needs_shared, shared

REAL = (
    "samples/pytorch/h100_qwen_causal.json.gz",
    "samples/pytorch/nccl_message_sizes.json.gz",
    "profiles/jax-cpu-transformer/host_0.xplane.pb",
    "profiles/tpu-v5p-training-golden/reference.json",
)

SLOW = "3 layers, 100 to 130 µs each, 48 % of the time: layer_2 takes 1.25 times the median."
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


def grouped(analysis: RooflineAnalysis, text: str) -> Groups:
    return groups_of(analysis, choose(analysis), read_grouping(text))


def named(groups: tuple[Group, ...]) -> dict[str, Group]:
    return {one.path[-1]: one for one in groups}


@pytest.mark.parametrize("by", DIMENSIONS)
def test_rows_and_waits_add_up_to_the_time(analysis: RooflineAnalysis, by: str) -> None:
    subject, found = choose(analysis), grouped(analysis, by)
    rows = sum(one.time_us for one in found.rows)
    assert rows + sum(found.waits.values()) + found.unnamed_us == pytest.approx(subject.time_us)
    parts = subject.parts
    assert sum(one.needed_us for one in found.rows) == pytest.approx(parts.needed)
    assert sum(one.to_gain_us for one in found.rows) == pytest.approx(parts.to_gain)
    assert sum(one.unknown_us for one in found.rows) == pytest.approx(parts.unknown)
    assert parts.unknown > 0
    for one in found.rows:
        four = one.needed_us + one.to_gain_us + one.unknown_us + one.impossible_us
        assert four == pytest.approx(one.time_us)
        if one.children:
            assert one.time_us == pytest.approx(sum(c.time_us for c in one.children))


@needs_shared
@pytest.mark.parametrize("file", REAL)
def test_lists_of_real_profiles_add_up(file: str) -> None:
    analysis = shared(file)
    subject = choose(analysis)
    data = groups_data(analysis, subject)
    assert data["lists"]
    for one in data["lists"]:
        total = sum(row["time_us"] for row in one["rows"]) + sum(data["waits"].values())
        assert total + data["unnamed_us"] == pytest.approx(subject.time_us, rel=1e-5)
        shown = one["rows"][: one["shown"]]
        rest = [one["more"]] if one["more"] else []
        listed_us = sum(row["time_us"] for row in [*shown, *rest])
        assert listed_us == pytest.approx(sum(row["time_us"] for row in one["rows"]), rel=1e-5)


def test_unknown_work_stays_unknown(analysis: RooflineAnalysis) -> None:
    head = named(named(grouped(analysis, "layer").rows)["net"].children)["head"]
    assert head.time_us == pytest.approx(240)
    assert head.unknown_us == pytest.approx(40)
    assert head.known_ratio == pytest.approx(200 / 240)
    assert roof_text(head).endswith("*")
    custom = named(grouped(analysis, "category").rows)["custom"]
    assert (custom.roof_ratio, custom.known_ratio) == (None, 0.0)
    assert roof_text(custom) == "–"


def test_a_group_of_all_work_has_the_share_of_the_subject(analysis: RooflineAnalysis) -> None:
    rows = grouped(analysis, "category").rows
    assert merged(rows).roof_ratio == pytest.approx(choose(analysis).roof_ratio)


@pytest.mark.covers(11)
def test_modules_are_layers_without_numbers(analysis: RooflineAnalysis) -> None:
    net = named(grouped(analysis, "module").rows)["net"]
    assert named(net.children)["layer"].time_us == pytest.approx(334)
    assert module_of(("Block_3", "Dense_0", "0", "mlp")) == ("Block", "Dense", "mlp")


def test_a_group_of_most_work_gives_way_to_those_in_it(analysis: RooflineAnalysis) -> None:
    shown = [name_of(one.path, "layer") for one in listed(grouped(analysis, "layer"))]
    assert shown == ["head", "layer_2", "layer_1", "layer_0", "adamw", "without a layer"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("net/layer_{k}/mlp/dot", "module"), ("net/layer_{k}/dot", "layer"), ("", "category")],
)
def test_the_usual_grouping(path: str, expected: str) -> None:
    rows = "".join(f"a.{k} | fusion | 10 | 1e6 | 1e5 | {path.format(k=k)}\n" for k in range(9))
    analysis = analysed(HEAD + rows)
    assert usual_grouping(choose(analysis), all_keys(analysis)) == expected


def test_few_operations_are_their_own_list() -> None:
    analysis = analysed(HEAD + "a | fusion | 10 | 1e6 | 1e5 |\n")
    assert usual_grouping(choose(analysis), all_keys(analysis)) is None


def line(analysis: RooflineAnalysis) -> str:
    (layers,) = layers_of(analysis, choose(analysis))
    return plain_text(line_of(layers)).replace(NARROW, " ").replace(SPACE, " ")


def test_a_layer_slower_than_its_equals() -> None:
    made = analysed(LAYERS)
    assert line(made) == SLOW.replace("48", "54")
    (layers,) = layers_of(made, choose(made))
    assert [one.name for one in layers.instances] == ["layer_0", "layer_1", "layer_2"]
    even = analysed(LAYERS.replace("| 130 ", "| 119 "))
    assert line(even) == "3 layers, 100 to 119 µs each, 53 % of the time: none stands out."


@pytest.mark.parametrize(
    ("old", "new"),
    [("130     | 1e6 ", "130     | 3e6 "), ("| 1e6      | 1e5 ", f"| {ABSENT}      | {ABSENT} ")],
)
def test_layers_of_other_or_unknown_work_are_not_compared(old: str, new: str) -> None:
    other = LAYERS.replace(old, new)
    assert other != LAYERS
    assert line(analysed(other)) == "3 layers, 100 to 130 µs each, 54 % of the time."


def test_directions_are_apart() -> None:
    rows = "".join(
        f"f.{k} | fusion | 10 | 1e6 | 1e5 | jit(f)/jvp(net)/layer_{k}/dot\n"
        f"b.{k} | fusion | 20 | 2e6 | 1e5 | jit(f)/transpose(jvp(net))/layer_{k}/dot\n"
        for k in range(3)
    )
    analysis = analysed(HEAD + rows)
    found = layers_of(analysis, choose(analysis))
    assert [(one.direction, len(one.instances)) for one in found] == [
        ("backward", 3), ("forward", 3),
    ]  # fmt: skip


def test_the_depth_ends_the_tree(analysis: RooflineAnalysis) -> None:
    assert all(not one.children for one in grouped(analysis, "layer:1").rows)
    deep = named(named(grouped(analysis, "layer").rows)["net"].children)["layer_0"]
    assert [one.path for one in deep.children] == [("net", "layer_0", "mlp")]


@needs_shared
@pytest.mark.parametrize(
    ("names", "lines"),
    [
        # One line of the user's around all of a library's model: then the library's lines.
        (REAL[:1], ("modeling_qwen2.py", "line 218")),
        (REAL[2:3], ("train.py", "line 17")),
    ],
)
def test_a_source_is_the_users_line_where_it_tells(
    names: tuple[str, ...], lines: tuple[str, ...]
) -> None:
    found = grouped(shared(*names), "source").rows[0]
    assert (found.path[-1].rpartition("/")[2], found.children[0].path[-1]) == lines


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
    document: Any = json.loads(render_groups(analysis, "json", Grouping("layer", 2), infeed=True))
    groups = document["groups"]
    assert (groups["by"], groups["depth"]) == ("layer", 2)
    assert groups["time_us"] == document["subject"]["time_us"]
    net = groups["tree"][0]
    assert (net["name"], net["time_us"]) == ("net", pytest.approx(574))
    assert {one["name"] for one in net["groups"]} == {"layer_0", "layer_1", "layer_2", "head"}
    assert net["groups"][0]["ops"] == ["back.1", "call.1"]
    (layers,) = groups["layers"]
    assert layers["slowest"] == "layer_2"


def test_csv_has_a_row_per_group_and_no_formula() -> None:
    table = HEAD + "a | =1+1 | 1 | 1 | 1 | x\nb | fusion | 1 | 1 | 1 | x\n"
    made = analysed(table)
    text = groups_to_csv(made, choose(made), Grouping("category")).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["group"] for row in rows} == {"'=1+1", "fusion"}
    assert rows[0]["level"] == "1" and float(rows[0]["time_us"]) == 1


def test_text_adds_up(analysis: RooflineAnalysis) -> None:
    said = groups_text(analysis, choose(analysis), Grouping("category"))
    assert said.startswith("By category, of ")
    assert "* of the part whose cost is known" not in said  # no category is known in part
    assert SLOW in said


def test_the_page_has_the_groups_of_each_listed_op(analysis: RooflineAnalysis) -> None:
    listed = listed_ops(analysis)
    sent = page_groups(analysis, listed)
    names = [[sent["names"][place] for place in places] for places in sent["layer"]]
    keys = op_keys(analysis, "layer")
    assert names == [list(keys[op]) for op in listed.tolist()]
    assert ["net", "layer_2", "mlp"] in names
    assert sent["containers"] == []


@pytest.mark.parametrize("text", ["layers", "layer:0", "layer:", "layer:x", "layer:²", ""])
def test_no_such_grouping(text: str) -> None:
    with pytest.raises(ValueError, match="is n"):
        read_grouping(text)


def test_layers_have_an_earlier_name() -> None:
    assert read_grouping("path:3") == Grouping("layer", 3)


def test_a_gain_that_prints_as_zero_has_no_sign() -> None:
    scale = Scale.of(34_900.0)
    assert [scale.gain(us) for us in (2_400.0, 40.0, 0.0)] == ["−2.4", "0.0", "0.0"]


def test_waits_between_kernels_measured_one_by_one_are_not_known() -> None:
    found = analyse_files([Path("sample_profiles/nsight_compute/a100-kernels.ncu-rep")])
    subject = choose(found)
    assert subject.idle_ratio == 0
    assert {one["waiting"] for one in groups_data(found, subject)["lists"]} <= {DASH}
