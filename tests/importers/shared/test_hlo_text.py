"""One instruction of HLO as text: what it says of shapes, producers, groups and its origin."""

import pytest

from roofline.importers.shared.hlo_text import MAX_TEXT, Instruction, parse_instruction


def parsed(text: str) -> Instruction:
    found = parse_instruction(text)
    assert found is not None
    return found


def test_a_tuple_of_results_is_several_and_a_tuple_of_operands_is_one() -> None:
    start = parsed(
        "%copy-start.1 = (f32[5]{0:T(8,128)S(5)}, /*index=1*/f32[5]{0:T(8,128)}, u32[]{:S(2)}) "
        "copy-start(f32[5]{0:T(8,128)} %add.2)"
    )
    assert start.result_texts == ("f32[5]{0:T(8,128)S(5)}", "f32[5]{0:T(8,128)}", "u32[]{:S(2)}")
    assert (start.operand_texts, start.operand_names) == (("f32[5]{0:T(8,128)}",), ("add.2",))
    done = parsed("%copy-done.1 = f32[5] copy-done((f32[5], f32[5], u32[]) %copy-start.1)")
    assert done.operand_texts == ("(f32[5], f32[5], u32[])",)
    assert [shape.dtype for shape in done.operands] == ["f32", "f32", "u32"]


def test_operands_without_shapes_have_names() -> None:
    add = parsed("%add.1 = f32[] add(%x.1, %y)")
    assert (add.operand_texts, add.operand_names) == ((), ("x.1", "y"))


@pytest.mark.parametrize(
    ("groups", "size"),
    [
        ("{{0,1},{2,3}}", 2),
        ("{}", 0),
        ("[4,2]<=[2,4]T(1,0)", 2),
        ("[1,8]<=[8]", 8),
        ("mesh['x'=2,'y'=4] {'y'}", 4),
    ],
)
def test_replica_groups_are_kept_in_their_own_notation(groups: str, size: int) -> None:
    found = parsed(f"%g = f32[2] all-reduce(f32[2] %x), replica_groups={groups}, to_apply=%add")
    assert (found.replica_groups, found.group_size) == (groups, size)


def test_metadata_and_precision_are_read() -> None:
    dot = parsed(
        "%d = f32[2,2] dot(f32[2,2] %a, f32[2,2] %b), operand_precision={default,highest}, "
        r'metadata={op_name="jit(f)/a\"b/dot_general" source_line=3}'
    )
    assert (dot.framework_path, dot.precision) == ('jit(f)/a"b/dot_general', "highest")


@pytest.mark.parametrize("text", ["", "fusion.1", "%call.1 = 80", "x = f32[2]", " = f32[] add()"])
def test_other_text_is_not_an_instruction(text: str) -> None:
    assert parse_instruction(text) is None


@pytest.mark.parametrize("sign", ["(", "{", ",", "f32[", 'op_name="', "/*", "replica_groups={{0"])
def test_a_long_text_of_one_sign_is_read_to_its_limit(sign: str) -> None:
    found = parsed(f"%x = f32[2] foo({sign * MAX_TEXT}")
    assert (found.opcode, found.result_texts) == ("foo", ("f32[2]",))
