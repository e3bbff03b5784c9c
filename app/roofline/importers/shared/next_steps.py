"""What a profile does not know of when, what and how busy, and the command that records it."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from roofline.importers.shared.join_kernels import longest
from roofline.model.categories import is_collective, is_container
from roofline.model.notes import noted, notes_beside
from roofline.model.op_columns import Bools
from roofline.model.profile import NextStep, OpTable, Profile

_WORTH_COUNTING = 0.1  # of the busy time: with less, no verdict changes
IS_AMD = re.compile(r"\bamd\b|instinct|radeon|\bMI\d", re.IGNORECASE)
"""Found in the names of AMD's parts."""

_COUNTED, _WARM = 5, 20  # launches that are counted, and those before them
_NCU = "ncu --set full -k 'regex:^({names})' --launch-skip {skip} -c {count} -o counters PROGRAM"
_ROCPROF = "rocprof-compute profile -n run {names} -- PROGRAM"
_TIMELINES = {
    "nsight_compute": ("Nsight Systems", "nsys profile --trace=cuda,nvtx -o report PROGRAM"),
    "rocprof_compute": ("rocprofv3", "rocprofv3 --sys-trace -- PROGRAM"),
}
# Formats that have no shapes of their own, and what else would tell the work.
_OTHERWISE = {
    "nsight_systems": "Or record shapes with"
    " torch.autograd.profiler.emit_nvtx(record_shapes=True).",
    "rocprofiler_sdk": "Or profile again with `rocprofv3 --pmc` and the counters of"
    " docs/formats.md.",
}
_NOTES = notes_beside(__file__)


def with_next_steps(profile: Profile) -> Profile:
    """`profile` with the commands that record what it lacks, if that could change its verdict."""
    steps = (*_work(profile), *_times(profile))
    counting = next((one for one in steps if one.kind == "what"), None)
    if counting is None or profile.format_id not in _OTHERWISE:
        return replace(profile, next_steps=steps)
    ops, unknown = profile.ops, _unknown(profile.ops)
    note = noted(
        _NOTES,
        "only-times",
        what="FLOPs" if ops.bytes_known[unknown].all() else "FLOPs and bytes",
        share=f"{100 * _share(ops, unknown):.3g} %",
        command=counting.command,
        otherwise=_OTHERWISE[profile.format_id],
    )
    return replace(profile, next_steps=steps, diagnostics=(note, *profile.diagnostics))


def _work(profile: Profile) -> Iterator[NextStep]:
    """The counters of a timeline's longest kernels of unknown work."""
    ops, kernels = profile.ops, profile.kernels
    unknown = _unknown(ops)
    if profile.timeline is None or kernels is None or _share(ops, unknown) < _WORTH_COUNTING:
        return
    unknown &= ~np.array([name.startswith("CUDA graph ") for name in ops.name], np.bool_)
    names = longest(kernels, unknown)
    is_amd = profile.format_id == "rocprofiler_sdk" or IS_AMD.search(profile.device.name)
    if is_amd:
        listed = " ".join(f'"{name}"' for name in names)
        command = _ROCPROF.format(names=f"--kernel {listed}" if names else "").replace("  ", " ")
    else:
        launches = int(unknown[kernels.op].sum()) // max(profile.device.core_count, 1)
        skip = max(min(_WARM, launches - _COUNTED), 0)
        command = _NCU.format(names="|".join(names) or "KERNEL", skip=skip, count=_COUNTED)
    yield NextStep(
        kind="what",
        command=command,
        adds=f"FLOPs, bytes and busy shares of {', '.join(names) or 'its kernels'}",
        tool="rocprof-compute" if is_amd else "Nsight Compute",
        of=next(iter(names.values()), ""),
    )


def _times(profile: Profile) -> Iterator[NextStep]:
    """The timeline of the program whose kernels were counted."""
    if profile.timeline is None and profile.format_id in _TIMELINES:
        tool, command = _TIMELINES[profile.format_id]
        adds = "the time of the whole program, copies, idle time"
        yield NextStep(kind="when", command=command, adds=adds, tool=tool)


def _unknown(ops: OpTable) -> Bools:
    """Operations that compute, of which FLOPs or bytes are not known."""
    computes = [not (is_container(one) or is_collective(one)) for one in ops.category]
    return ~(ops.flop_known & ops.bytes_known) & np.array(computes, np.bool_)


def _share(ops: OpTable, chosen: Bools) -> float:
    """Their part of the busy time."""
    whole = ~np.array([is_container(one) for one in ops.category], np.bool_)
    time_ps = ops.self_time_ps.astype(np.float64)
    return float(time_ps[chosen].sum() / max(time_ps[whole].sum(), 1.0))
