"""The environment of a program, as its capture says: versions of software, and what was recorded.

A capture that does not say something has no entry for it.
"""

from collections.abc import Iterable, Mapping

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
