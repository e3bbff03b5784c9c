"""Op tables added up: the ops of several cores or hosts become one row per (program, name).

Labels are completed with the description by the op's compiler or framework: path, shapes,
producers, groups.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofline.importers.shared.hlo_text import Instruction, parse_instruction, parts_of_tuple
from roofline.model.categories import UNKNOWN_CATEGORY
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I64, SCHEMA, OpColumns, added
from roofline.model.profile import LABELS, OpTable


@dataclass(frozen=True, slots=True, kw_only=True)
class OpLabels:
    """Names and descriptions of an op, the same for all its rows: the labels of an `OpTable`."""

    name: str
    program_id: int = 0
    category: str = ""
    has_source: bool = False
    source_file: str = ""
    source_line: int = -1
    source_stack: str = ""
    long_name: str = ""
    framework_path: str = ""
    operands: str = ""
    results: str = ""
    operand_names: str = ""
    replica_groups: str = ""
    group_size: int = 0
    slow_why: str = ""
    slow_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpRows(OpColumns):
    """Times and work of ops; `label` is an index into the labels given beside."""

    label: I64


class OpTableBuilder:
    """Collects rows from cores or hosts and merges those of one (program, name)."""

    def __init__(self, levels: Sequence[MemoryLevel]) -> None:
        self._levels = tuple(levels)
        self._index: dict[tuple[int, str], int] = {}
        self._labels: list[OpLabels] = []
        self._rows: list[tuple[I64, OpRows]] = []
        # Cores ask for the numbers of the same labels again and again.
        self._numbered: dict[int, tuple[Sequence[OpLabels], I64]] = {}

    def add(self, labels: Sequence[OpLabels], rows: OpRows) -> None:
        """Add rows."""
        self._rows.append((self.numbers(labels)[rows.label], rows))

    def numbers(self, labels: Sequence[OpLabels]) -> I64:
        """Op number of each label in the table to come; unseen labels get the next ones.

        A list that was given before must have the same labels as then.
        """
        known = self._numbered.get(id(labels))
        if known is None or len(known[1]) != len(labels):
            numbers = np.array([self._number(label) for label in labels], np.int64)
            known = self._numbered[id(labels)] = (labels, numbers)
        return known[1]

    def _number(self, label: OpLabels) -> int:
        key = (label.program_id, label.name)
        number = self._index.setdefault(key, len(self._labels))
        if number == len(self._labels):
            self._labels.append(label)
        elif self._labels[number] != label:  # cores have the same ops
            self._labels[number] = described(self._labels[number], label)
        return number

    def describe(self, completed: Callable[[OpLabels], OpLabels]) -> None:
        """Complete the labels of all ops added so far, each once; names must stay."""
        self._labels = [completed(label) for label in self._labels]

    @property
    def categories(self) -> tuple[str, ...]:
        """Category per op number; an empty one is called unknown, as in XProf."""
        return tuple(label.category or UNKNOWN_CATEGORY for label in self._labels)

    def build(self) -> OpTable:
        """The table of all rows added so far."""
        names = {name: [getattr(label, name) for label in self._labels] for name in LABELS}
        numbers = added(self._rows, len(self._labels))
        units = tuple(numbers.unit_flop)
        return OpTable.of(
            {**names, "category": self.categories}, numbers.split(self._levels, units)
        )


_SOURCE = ("has_source", "source_file", "source_line", "source_stack")
# Every other label of an op: of several descriptions of it the first that is not empty counts.
_COMPLETED = tuple(name for name in LABELS if name not in (*_SOURCE, "name", "program_id"))


def table_rows(table: OpTable) -> tuple[list[OpLabels], OpRows]:
    """A finished table as input for another builder."""
    columns = [np.asarray(getattr(table, name), object).tolist() for name in LABELS]
    rows = (dict(zip(LABELS, values, strict=True)) for values in zip(*columns, strict=True))
    numbers = {name: getattr(table, name) for name in SCHEMA}
    return [_label_of(row) for row in rows], OpRows(label=np.arange(len(table)), **numbers)


def _label_of(row: Mapping[str, Any]) -> OpLabels:
    category = "" if row["category"] == UNKNOWN_CATEGORY else row["category"]
    has_source = bool(row["source_file"] or row["source_stack"])
    return OpLabels(**{**row, "category": category}, has_source=has_source)


SEPARATOR = "; "


def described(known: OpLabels, other: OpLabels) -> OpLabels:
    """`known` with what `other` knows and they do not: of each the first that is not empty."""
    missing = {
        name: getattr(other, name)
        for name in _COMPLETED
        if getattr(other, name) and not getattr(known, name)
    }
    if other.has_source and not known.has_source:
        missing.update({name: getattr(other, name) for name in _SOURCE})
    return replace(known, **missing) if missing else known


def described_by_text(labels: OpLabels) -> OpLabels:
    """`labels` with what their own long name says, where that is an instruction of HLO."""
    instruction = parse_instruction(labels.long_name)
    return labels if instruction is None else described(labels, description_of_text(instruction))


def description_of_text(instruction: Instruction) -> OpLabels:
    """The description in the text of an instruction, as labels of an op without a name."""
    return OpLabels(
        name="",
        framework_path=instruction.framework_path,
        operands=SEPARATOR.join(instruction.operand_texts),
        results=SEPARATOR.join(instruction.result_texts),
        operand_names=SEPARATOR.join(instruction.operand_names),
        replica_groups=instruction.replica_groups,
        group_size=instruction.group_size,
    )


def shapes_label(shape: str) -> str:
    """The shape of a result in XLA's notation as a label: the shapes of a tuple each by itself."""
    return SEPARATOR.join(parts_of_tuple(shape))


def path_of_tf_op(tf_op: str) -> str:
    """The name in XLA's `name:type`; the type is empty unless the framework is TensorFlow."""
    name, colon, _ = tf_op.rpartition(":")
    return name if colon else tf_op
