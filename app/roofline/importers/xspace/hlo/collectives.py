"""The message of an HLO instruction between devices: kind, payload, and group."""

import re
from collections.abc import Sequence

from roofline.importers.shared.collectives import NAN, Collective
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.module import Instruction, named_group_size, run_by
from roofline.importers.xspace.hlo.reductions import results_of

KINDS = {
    "all-reduce-scatter": "reduce-scatter",
    "all-reduce": "all-reduce",
    "all-gather": "all-gather",
    "reduce-scatter": "reduce-scatter",
    "ragged-all-to-all": "all-to-all",
    "all-to-all": "all-to-all",
    "collective-permute": "collective-permute",
    "collective-broadcast": "broadcast",
    "send": "send",
    "recv": "recv",
}
"""The names, in transfers, of collectives' opcodes without `-start` and `-done`."""

_HALF = re.compile(r"-(start|done|update)\Z")


def collective_of(instruction: Instruction) -> Collective | None:
    """The collective that `instruction` runs; `None` for any other instruction."""
    inner = run_by(instruction)
    kind = KINDS.get(_HALF.sub("", inner.opcode))
    if kind is None:
        return None
    return Collective(kind, _payload(kind, inner), named_group_size(inner))


def fits_on_host(instruction: Instruction, n_devices: int) -> bool:
    """True where every group of a collective has its devices among the `n_devices` of one host.

    Hosts have devices with consecutive ids. Groups that are not listed must all fit.
    """
    proto = run_by(instruction).proto
    devices = proto.collective_device_list
    for iota in (proto.iota_device_list, devices.iota_replica_groups):
        if iota.num_devices_per_group > 0:
            return iota.num_devices_per_group * iota.num_replica_groups <= n_devices
    listed: Sequence[pb.ReplicaGroup] = devices.replica_groups or proto.replica_groups
    return named_group_size(run_by(instruction)) > 0 and all(
        len({k // n_devices for k in group.replica_ids}) <= 1 for group in listed
    )


def _payload(kind: str, instruction: Instruction) -> float:
    """Bytes of the operands, or of the result of an all-gather; unknown for a done op."""
    if instruction.opcode.endswith("-done"):
        return NAN
    moved = results_of(instruction) if kind == "all-gather" else [
        operand.shape for operand in instruction.operands
    ]  # fmt: skip
    return float(sum(shape.leaf_bytes for shape in moved)) or NAN
