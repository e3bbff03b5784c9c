"""Captures without an accelerator that we can place on a roofline: no ops, and a reason why."""

import numpy as np

from roofline.importers.shared.op_tables import OpTableBuilder
from roofline.importers.xspace.planes import Space
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import OpColumns
from roofline.model.profile import Diagnostic, Host, Profile, Severity, StepTable

_LEVELS = (MemoryLevel.HBM,)


def read_without_device(space: Space) -> Profile:
    """A profile without ops; its diagnostic says what the capture holds instead."""
    none = np.zeros(0, np.uint64)
    return Profile(
        device=ReportedDevice(kind=DeviceKind.CPU, name="", core_count=0, bandwidth_gbs={}),
        hosts=(Host(file_name=space.file_name, hostname=space.hostname, core_count=0),),
        ops=OpTableBuilder(_LEVELS).build(),
        time_ps=0,
        op_time_ps=0,
        normalised_op_time_ps=0,
        wall_time_ps=None,
        steps=StepTable(
            label=(),
            begin_ps=none,
            end_ps=none,
            duration_ps=none,
            time_ps=none,
            sums=OpColumns.zeros((0, 2), _LEVELS),
        ),
        has_average=False,
        captured_at_ns=space.captured_at_ns,
        program_names={},
        diagnostics=(_why_empty(space),),
    )


def _why_empty(space: Space) -> Diagnostic:
    names = ", ".join(sorted({plane.name for plane in space.planes if plane.name})[:6])
    return Diagnostic(
        severity=Severity.WARNING,
        code="no-device",
        message=f"This capture holds no TPU or GPU plane, only: {names or 'nothing'}. "
        "The program ran on the CPU, or the device tracer was off.",
        remedy="Check jax.devices() in the program; capture on the accelerator's own host.",
    )
