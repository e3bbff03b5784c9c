"""The description of an op in a serialized program: path, shapes, producers, groups.

Shapes and groups are written as XLA's own printer writes them.
"""

from collections.abc import Sequence

from roofline.importers.shared.op_tables import SEPARATOR, Description
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import NO_ARRAY, TUPLE, group_size_of, type_name
from roofline.importers.xspace.planes import text


def description_of_proto(
    instruction: pb.Instruction, operands: Sequence[pb.Instruction], inner: pb.Instruction
) -> Description:
    """Reads the description; `inner` is the instruction that an `async-start` runs, or itself."""
    shape = instruction.shape
    results = shape.tuple_shapes if _is_tuple(shape) else [shape]
    return Description(
        framework_path=text(instruction.metadata.op_name),
        operands=SEPARATOR.join(shape_text(operand.shape) for operand in operands),
        results=SEPARATOR.join(map(shape_text, results)),
        operand_names=SEPARATOR.join(text(operand.name) for operand in operands),
        replica_groups=groups_text(inner),
        group_size=group_size_of(inner),
    )


def shape_text(shape: pb.Shape) -> str:
    """A shape as XLA prints it: `bf16[8,128]{1,0:T(8,128)S(1)}`."""
    if _is_tuple(shape):
        return f"({', '.join(map(shape_text, shape.tuple_shapes))})"
    kind = type_name(shape.element_type)
    if kind in NO_ARRAY:
        return f"{kind}[]"
    extents = ",".join(map(str, shape.dimensions))
    return f"{kind}[{extents}]{_layout_text(shape)}"


def _is_tuple(shape: pb.Shape) -> bool:
    return type_name(shape.element_type) == TUPLE


def _layout_text(shape: pb.Shape) -> str:
    layout = shape.layout
    tiles = "".join(f"({','.join(map(str, tile.dimensions))})" for tile in layout.tiles)
    space = f"S({layout.memory_space})" if layout.memory_space else ""
    placed = f"{'T' if tiles else ''}{tiles}{space}"
    order = ",".join(map(str, layout.minor_to_major))
    return f"{{{order}{':' if placed else ''}{placed}}}" if order or placed else ""


def groups_text(instruction: pb.Instruction) -> str:
    """Replica groups as XLA prints them: `{{0,1},{2,3}}` or `[4,2]<=[2,4]T(1,0)`."""
    devices = instruction.collective_device_list
    for iota in (instruction.iota_device_list, devices.iota_replica_groups):
        if iota.num_devices_per_group > 0:
            return _iota_text(iota)
    listed = devices.replica_groups or instruction.replica_groups
    groups = ",".join(f"{{{','.join(map(str, one.replica_ids))}}}" for one in listed)
    return f"{{{groups}}}" if groups else ""


def _iota_text(iota: pb.IotaReplicaGroups) -> str:
    shape = f"[{iota.num_replica_groups},{iota.num_devices_per_group}]"
    dims, order = (
        ",".join(map(str, numbers))
        for numbers in (iota.iota_reshape_dims, iota.iota_transpose_perm)
    )
    turned = f"T({order})" if len(iota.iota_transpose_perm) > 1 else ""
    return f"{shape}<=[{dims}]{turned}" if dims else shape
