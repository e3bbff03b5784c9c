"""Whether a trace without kernels is a CPU's, or the host's side of a program on an accelerator.

The host's side holds the time to launch work, not to compute it. Any of these tells it: calls of a
GPU's runtime, events of a device's memory or of another accelerator, operators or a backend that
only accelerators have. Devices that the trace lists are those of the machine, used or not.
"""

import re

from roofline.importers.pytorch.header import device_properties, text
from roofline.importers.pytorch.trace import Trace

_ACCELERATORS = re.compile(r"mtia|xpu|hpu|npu|privateuse|neuron", re.IGNORECASE)
# `cudnn_is_acceptable` is a question that recurrent layers ask on every device.
_DEVICE_OPERATORS = re.compile(
    r"::record_stream\Z|::_?(?:cudnn|miopen)_(?!is_acceptable\Z)|\b(?:nccl|rccl)[:_]"
)
_DEVICE_BACKENDS = re.compile(r"nccl|rccl", re.IGNORECASE)
_UNNAMED = "an accelerator"


def accelerator_behind(trace: Trace) -> str:
    """The accelerator for which the host launched work, in words; empty if no file names one."""
    found = _seen(trace)
    return (listed_device(trace) or found) if found else ""


def listed_device(trace: Trace) -> str:
    """A device of the machine, in words; empty if the trace lists none."""
    listed = device_properties(trace.header)
    named = (name for one in listed if (name := text(one.get("name"))))
    return next(named, "a GPU" if listed else "")


def _seen(trace: Trace) -> str:
    """The accelerator that the events tell of, in words; empty if they are those of a CPU."""
    if trace.apis:
        return "an AMD GPU" if trace.is_hip else "a GPU"
    other = next((name for name in trace.other_categories if _ACCELERATORS.search(name)), "")
    if other:
        return f"{_UNNAMED} ({other})"
    return _UNNAMED if trace.uses_device_memory or _uses_device(trace) else ""


def _uses_device(trace: Trace) -> bool:
    info = trace.header.get("distributedInfo")
    backend = text(info.get("backend")) if isinstance(info, dict) else ""
    return bool(_DEVICE_BACKENDS.search(backend)) or any(
        _DEVICE_OPERATORS.search(one.operator) for one in trace.signatures
    )
