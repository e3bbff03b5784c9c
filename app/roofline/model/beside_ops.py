"""What a capture says beside its operations.

The environment of the program (versions of software, and what was recorded), steps of a server of
language models, and kernels that ran in graphs.

A capture that does not state a part of the environment has no entry for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.model.op_columns import OpColumns

LABELS: Mapping[str, str] = {
    "jax_version": "JAX",
    "jaxlib_version": "jaxlib",
    "backend_version": "Backend",
    "pytorch_version": "PyTorch",
    "cuda_version": "CUDA",
    "cuda_runtime_version": "CUDA runtime",
    "cuda_driver_version": "CUDA of the driver",
    "driver_version": "Driver",
    "cupti_version": "CUPTI",
    "rocm_version": "ROCm",
    "hip_runtime_version": "HIP runtime",
    "hip_driver_version": "HIP of the driver",
    "roctracer_version": "roctracer",
    "nccl_version": "NCCL",
    "collective_backend": "Collectives by",
    "world_size": "Ranks of the job",
    "compute_partition": "Compute partition",
    "memory_partition": "Memory partition",
    "firmware": "VBIOS",
    "kernel_version": "Linux",
    "profiler_version": "Profiler",
    "recorded": "Recorded",
}
"""Every key of an environment in the order in which it is shown, with its label."""

_LONGEST = 200


def environment(found: Mapping[str, str]) -> dict[str, str]:
    """`found` in order, without what says nothing; texts of a file become short and printable."""
    texts = {name: _printable(found.get(name, "")) for name in LABELS}
    return {name: text for name, text in texts.items() if text}


def merged(found: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The environments of several files as one; values that differ are listed."""
    values: dict[str, dict[str, None]] = {}
    for one in found:
        for name, text in one.items():
            values.setdefault(name, {})[text] = None
    return environment({name: ", ".join(texts) for name, texts in values.items()})


def _printable(text: str) -> str:
    shown = "".join(ch if ch.isprintable() else " " for ch in text)
    return " ".join(shown[:_LONGEST].encode("utf-8", "replace").decode().split())


I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

PHASES = ("prefill", "decode", "mixed")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingSteps:
    """One entry per step, in the order of the profile's steps; NaN is unknown.

    `sequences`, `prefill_tokens`, `decode_tokens` (new tokens) and `context_tokens` (tokens in the
    cache, the new ones included) are sums over the batch, as the server states them.

    Times are ps on the device. `span_ps` is from the first work of the step to its last, of the
    slowest core, `busy_ps` the part with work, `wait_ps` the idle time before it; both are means
    over the cores. Work before a long wait at a step's begin counts as before the step.

    Bytes are sums over all cores: `weight_bytes` of the model's weights (`weight_least` to
    `weight_most` where experts are chosen by data), `cache_bytes` of keys and values.

    `work` are times and work of single ops within steps: `work_step` is the step of each row,
    `work_op` its row in the op table.
    """

    phase: tuple[str, ...]
    sequences: F64
    prefill_tokens: F64
    decode_tokens: F64
    context_tokens: F64
    span_ps: F64
    busy_ps: F64
    wait_ps: F64
    weight_bytes: F64
    weight_least: F64
    weight_most: F64
    cache_bytes: F64
    work_step: I64
    work_op: I64
    work: OpColumns

    def __len__(self) -> int:
        return len(self.phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A capture that explains kernels: its file, its annotation ("" without one), their number."""

    file_name: str
    label: str
    kernels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnalignedKernel:
    """Kernels of one name without a launch in a capture."""

    name: str
    count: int
    time_ps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReplays:
    """Launches of graphs: the kernels that they ran, and those that have a launch in a capture.

    Times are ps of device time. `left` are the kernels without a launch, longest time first.
    """

    replays: int
    kernels: int
    aligned: int
    time_ps: int
    aligned_ps: int
    captures: tuple[Capture, ...]
    left: tuple[UnalignedKernel, ...]
