"""The work of the host in a trace without device work: operators by the time they spent themselves.

On a CPU that is the time to compute. Where an accelerator computed, it is the time to launch that,
and `RowNumbers.forget_costs` drops what the operators cost. Any of these tells that it did: calls
of a GPU's runtime, events of a device's memory or of another accelerator, operators or a backend
that only accelerators have. Devices that the trace lists are those of the machine, used or not.
"""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from roofline.importers.pytorch.attribution import distinct_steps
from roofline.importers.pytorch.header import device_properties, text
from roofline.importers.pytorch.inputs import shapes_label
from roofline.importers.pytorch.nesting import busy_times, innermost, nest, self_times
from roofline.importers.pytorch.rows import (
    Costs,
    FileWork,
    InstanceSums,
    RowNumbers,
    Sums,
    added_up,
    any_at,
    multiplied,
)
from roofline.importers.pytorch.scopes import note_paths, scopes_of
from roofline.importers.pytorch.serving import step_at
from roofline.importers.pytorch.trace import Trace
from roofline.importers.pytorch.words import operator_category
from roofline.model.op_columns import I32, I64, U64, Bools

_ACCELERATORS = re.compile(r"mtia|xpu|hpu|npu|privateuse|neuron", re.IGNORECASE)
# `cudnn_is_acceptable` is a question that recurrent layers ask on every device.
_DEVICE_OPERATORS = re.compile(
    r"::record_stream\Z|::_?(?:cudnn|miopen)_(?!is_acceptable\Z)|\b(?:nccl|rccl)[:_]"
)
_DEVICE_BACKENDS = re.compile(r"nccl|rccl", re.IGNORECASE)
_UNNAMED = "an accelerator"


def accelerator_behind(trace: Trace) -> str:
    """The accelerator for which the host launched work, in words; empty if no file names one."""
    seen = _seen(trace)
    return (listed_device(trace) or seen) if seen else ""


def listed_device(trace: Trace) -> str:
    """A device of the machine, in words; empty if the trace lists none."""
    listed = device_properties(trace.header)
    named = (name for device in listed if (name := text(device.get("name"))))
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
        _DEVICE_OPERATORS.search(signature.operator) for signature in trace.signatures
    )


_NONE = np.zeros(0, np.int64)
# The category of operators whose names say nothing; on the CPU there is no kernel to ask.
_NO_KERNEL = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counted:
    """Operators whose FLOPs count and those whose bytes do, and what they cost by signature."""

    flop: Bools
    moved: Bools
    costs: Costs


def cpu_work(trace: Trace, numbers: RowNumbers) -> FileWork:
    """The work of all threads of `trace`."""
    operators = trace.operators
    begin, duration = operators["begin"], operators["duration"]
    steps = distinct_steps(trace.steps)
    parent, _, order = nest(
        begin=begin,
        duration=duration,
        thread=operators["thread"],
        point_ns=_NONE,
        point_thread=_NONE,
    )
    signature = operators["signature"].astype(np.int64)
    n_signatures = len(trace.signatures)
    counted = _counted(order, parent, signature, Costs.of(trace.signatures))
    scope = step_at(begin, steps)
    row = np.array([_row(trace, k, numbers) for k in range(n_signatures)], np.int64)
    all_threads = np.zeros(len(begin), np.int64)
    lasted = np.array([step.end_ns - step.begin_ns for step in steps], np.int64)
    numbers.note_gaps(
        flop=row[signature[counted.costs.flop[signature] < 0]],
        moved_bytes=row[signature[counted.costs.moved_bytes[signature] < 0]],
    )
    scopes, self_ns = scopes_of(trace, parent), self_times(duration, parent)
    note_paths(
        trace,
        scopes,
        numbers,
        row=row[signature],
        operator=np.arange(len(begin)),
        time_ns=self_ns,
    )
    flop, moved = np.flatnonzero(counted.flop), np.flatnonzero(counted.moved)
    return FileWork(
        sums=_sums(trace, row[signature], scope, len(numbers.rows), parent, counted),
        steps=steps,
        step_core_ns=lasted,
        busy_ns=busy_times(all_threads, begin, duration, 1),
        span_ns=np.array([(begin + duration).max() - begin.min()]),
        begin_ns=int(begin.min()),
        end_ns=int((begin + duration).max()),
        notes=_notes(trace, signature),
        flop_slack=float(counted.costs.slack[signature[counted.flop]].sum()),
        instances=InstanceSums.of(
            scopes.layers,
            layer=scopes.layer.astype(np.int64),
            scope=scope,
            time_ns=self_ns,
            flop=(flop, signature[flop], counted.costs.flop),
            moved=(moved, signature[moved], counted.costs.moved_bytes),
            file_name=trace.file_name,
        ),
    )


def _counted(order: I32, parent: I32, signature: I64, costs: Costs) -> _Counted:
    """The innermost operators with a cost, so that no work counts twice."""
    flop, moved = costs.flop[signature], costs.moved_bytes[signature]
    is_product = costs.is_product[signature]
    # A product counts although it holds vector work, which is another one's.
    arithmetic = innermost(order, parent, is_product)
    arithmetic |= innermost(order, parent, flop > 0) & ~is_product
    moving = (arithmetic | innermost(order, parent, moved >= 0)) & (moved >= 0)
    return _Counted(flop=arithmetic | (moving & (flop == 0)), moved=moving, costs=costs)


def _row(trace: Trace, signature: int, numbers: RowNumbers) -> int:
    call = trace.signatures[signature]
    category = operator_category(call.operator, _NO_KERNEL)
    return numbers.of(
        call.label,
        category,
        operator=call.operator,
        dtype=call.dtype,
        is_vector=call.is_vector,
        operands=shapes_label(call.inputs),
    )


def _sums(trace: Trace, row: I64, scope: I64, width: int, parent: I32, counted: _Counted) -> Sums:
    """FLOPs and bytes of those operators that count, times of all."""
    operators, name = trace.operators, trace.file_name
    signature = operators["signature"].astype(np.int64)
    keys, at = np.unique((scope + 1) * width + row, return_inverse=True)

    def cost(of: Bools, each: I64) -> U64:
        return multiplied(at[of], signature[of], each, len(keys), name)

    return Sums(
        scope=keys // width - 1,
        row=keys % width,
        occurrences=np.bincount(at, minlength=len(keys)),
        time_ns=added_up(at, operators["duration"], len(keys), name),
        self_ns=added_up(at, self_times(operators["duration"], parent), len(keys), name),
        flop=cost(counted.flop, counted.costs.flop),
        moved_bytes=cost(counted.moved, counted.costs.moved_bytes),
        flop_known=any_at(at[counted.flop], len(keys)),
        bytes_known=any_at(at[counted.moved], len(keys)),
    )


def _notes(trace: Trace, signature: I64) -> Counter[str]:
    with_shapes = np.array([s.has_shapes for s in trace.signatures], np.bool_)
    n_with = int(with_shapes[signature].sum())
    maskless = np.array([s.is_mask_unknown for s in trace.signatures], np.bool_)
    return Counter(
        {
            "with-shapes": n_with,
            "without-shapes": len(signature) - n_with,
            "mask-unknown": int(maskless[signature].sum()),
        }
    )
