"""The description of an op by its compiler or framework: path, shapes, producers, groups."""

from dataclasses import dataclass, replace

from roofline.importers.shared.hlo_text import Instruction, parse_instruction, parts_of_tuple
from roofline.importers.shared.op_tables import OpLabels

SEPARATOR = "; "


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Labels of an op table, each empty (0) where unknown."""

    framework_path: str = ""
    operands: str = ""
    results: str = ""
    operand_names: str = ""
    replica_groups: str = ""
    group_size: int = 0


def described(labels: OpLabels, found: Description) -> OpLabels:
    """`labels` with what `found` knows and they do not."""
    missing = {
        name: getattr(found, name)
        for name in Description.__slots__
        if getattr(found, name) and not getattr(labels, name)
    }
    return replace(labels, **missing) if missing else labels


def described_by_text(labels: OpLabels) -> OpLabels:
    """`labels` with what their own long name says, where that is an instruction of HLO."""
    found = parse_instruction(labels.long_name)
    return labels if found is None else described(labels, description_of_text(found))


def description_of_text(found: Instruction) -> Description:
    """The description in the text of an instruction."""
    return Description(
        framework_path=found.framework_path,
        operands=SEPARATOR.join(found.operand_texts),
        results=SEPARATOR.join(found.result_texts),
        operand_names=SEPARATOR.join(found.operand_names),
        replica_groups=found.replica_groups,
        group_size=found.group_size,
    )


def shapes_label(shape: str) -> str:
    """The shape of a result in XLA's notation as a label: the shapes of a tuple each by itself."""
    return SEPARATOR.join(parts_of_tuple(shape))


def path_of_tf_op(tf_op: str) -> str:
    """The name in XLA's `name:type`; the type is empty unless the framework is TensorFlow."""
    name, colon, _ = tf_op.rpartition(":")
    return name if colon else tf_op
