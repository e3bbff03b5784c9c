"""Rows of several cores or hosts become one row per op, whose labels complete each other."""

import numpy as np
import pytest

from roofline.importers.shared.op_tables import OpLabels, OpRows, OpTableBuilder, table_rows
from roofline.model.profile import LABELS, OpTable
from tests.builders import ops_from_table

DESCRIBED = OpLabels(
    name="dot.1",
    program_id=7,
    category="convolution",
    has_source=True,
    source_file="train.py",
    source_line=3,
    source_stack="train.py:3\n",
    long_name="%dot.1 = …",
    framework_path="jit(step)/dot_general",
    operands="bf16[8,128]{1,0:S(1)}; bf16[128,8]",
    results="f32[8,8]",
    operand_names="p.1; p.2",
    replica_groups="{{0,1}}",
    group_size=2,
)


def one_row() -> OpRows:
    column = np.ones(1, np.uint64)
    return OpRows(
        label=np.zeros(1, np.int64),
        occurrences=np.ones(1, np.int64),
        time_ps=column,
        flop=column,
        bytes_accessed=column,
        traffic_known=np.zeros(1, np.bool_),
        cost_known=np.ones(1, np.bool_),
    )


def merged(*labels: OpLabels) -> OpTable:
    builder = OpTableBuilder(())
    for label in labels:
        builder.add([label], one_row())
    return builder.build()


def test_a_table_without_descriptions_knows_none() -> None:
    table = ops_from_table("op | self_us\na | 1\nb | 2")
    assert table.framework_path == table.operands == table.results == ("", "")
    assert table.group_size.tolist() == [0, 0]
    assert table.select(np.array([1])).replica_groups == ("",)


@pytest.mark.parametrize("first", [OpLabels(name="dot.1", program_id=7), DESCRIBED])
def test_what_one_core_lacks_another_completes(first: OpLabels) -> None:
    table = merged(first, DESCRIBED)
    for name in LABELS:
        assert list(getattr(table, name)) == [getattr(DESCRIBED, name)]


def test_of_two_descriptions_the_first_counts() -> None:
    other = OpLabels(name="dot.1", program_id=7, framework_path="other", group_size=9)
    table = merged(DESCRIBED, other)
    assert table.framework_path == ("jit(step)/dot_general",)
    assert table.group_size.tolist() == [2]


def test_a_finished_table_keeps_its_labels_in_another() -> None:
    labels, rows = table_rows(merged(DESCRIBED))
    assert labels == [DESCRIBED]
    assert len(rows) == 1
