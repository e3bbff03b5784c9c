"""The environment of a PyTorch program: versions, and what Kineto recorded."""

from collections.abc import Mapping

from roofline.importers.pytorch.header import text, whole
from roofline.model.beside_ops import environment

# Records that cost time while they are made: a trace with stacks is slower than one without.
_RECORDED = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
_CUDA_MAJOR, _CUDA_MINOR = 1000, 10  # 12040 is 12.4
_HIP_MAJOR, _HIP_MINOR = 10_000_000, 100_000  # 60443483 is 6.4.43483


def read_environment(header: Mapping[str, object]) -> dict[str, str]:
    """Versions of the frameworks and drivers, the job's ranks, and what was recorded."""
    job = header.get("distributedInfo")
    job = job if isinstance(job, dict) else {}
    return environment(
        {
            "pytorch_version": text(header.get("pytorch_version")),
            "cuda_runtime_version": _cuda(header.get("cuda_runtime_version")),
            "cuda_driver_version": _cuda(header.get("cuda_driver_version")),
            "cupti_version": _plain(header.get("cupti_version")),
            "hip_runtime_version": _hip(header.get("hip_runtime_version")),
            "hip_driver_version": _hip(header.get("hip_driver_version")),
            "roctracer_version": _plain(header.get("roctracer_version")),
            "nccl_version": _plain(job.get("nccl_version")),
            "collective_backend": text(job.get("backend")),
            "world_size": _plain(job.get("world_size")),
            "recorded": ", ".join(name for name in _RECORDED if whole(header.get(name))),
        }
    )


def _plain(value: object) -> str:
    if isinstance(value, str | float):
        return text(str(value))
    number = whole(value)
    return str(number) if number else ""


def _cuda(value: object) -> str:
    number = whole(value)
    if not number or number < _CUDA_MAJOR:
        return _plain(value)
    return f"{number // _CUDA_MAJOR}.{number % _CUDA_MAJOR // _CUDA_MINOR}"


def _hip(value: object) -> str:
    number = whole(value)
    if not number or number < _HIP_MAJOR:
        return _plain(value)
    return f"{number // _HIP_MAJOR}.{number % _HIP_MAJOR // _HIP_MINOR}.{number % _HIP_MINOR}"
