"""Profiles whose faults are known: the first line says what is wrong, and how sure it is."""

from dataclasses import dataclass

import pytest

from roofline.api.agents import answers
from roofline.api.agents.reading import Reading
from roofline.api.profiles import open_profile
from tests.shared_profiles import SHARED, needs_shared

NO_WORK = "the cost of "
NO_DEVICE = "Choose the device to see what it could take."
HOST_ONLY = "and nothing of the device. Record the device too"
NO_COUNTERS = "how much of it is useful work was not counted."


@dataclass(frozen=True)
class Fault:
    """What the first line says of a file of the shared folder."""

    file: str
    certain: str
    said: str


FAULTS = [
    # Nothing of the device was recorded.
    Fault("samples/minimal/cpu_only_gpu.json", "unknown", HOST_ONLY),
    Fault("samples/pytorch/a100_launches_without_kernels.json.gz", "unknown", HOST_ONLY),
    Fault("samples/pytorch/mtia_inference.json.gz", "unknown", HOST_ONLY),
    # Operators without shapes, kernels of graphs without operators, times without counters.
    Fault("samples/minimal/partial_total.json", "unknown", "Record shapes: `record_shapes=True`."),
    Fault("samples/pytorch/a100_no_shapes.json.gz", "unknown", NO_WORK),
    Fault("samples/pytorch/b200_vllm_eager.json.gz", "unknown", "cost of 6.5 ms is not known."),
    Fault("samples/pytorch/nccl_message_sizes.json.gz", "unknown", "cost of 39 ms is not known."),
    Fault("samples/pytorch/mi300x_vllm_graph_decode.json.gz", "unknown", NO_WORK),
    Fault("samples/pytorch/mi300x_sglang_decode.json.gz", "unknown", NO_WORK),
    Fault("samples/pytorch/mi300x_vllm_graph_capture.json.gz", "unknown", "the rest is not in the"),
    Fault("samples/pytorch/trace_diff_v100.json.gz", "unknown", NO_WORK),
    Fault("samples/pytorch/trace_diff_a100.json.gz", "unknown", "(59 % known)"),
    Fault("samples/nsight_systems/rtx3090_tensorrt_nvtx_2023.1.sqlite.gz", "unknown", NO_WORK),
    Fault("samples/rocpd/mi300x_bmm64_results.db.gz", "unknown", NO_WORK),
    Fault("samples/rocpd/mi300x_ck_bmm_rocm7.1_results.db.gz", "unknown", NO_WORK),
    Fault("profiles/gpu-v100-tf-multiworker", "unknown", NO_WORK),
    Fault("samples/nsight_systems/minimal_graphs_gpu_metrics.sqlite", "measured", NO_COUNTERS),
    Fault("samples/nsight_compute/a40_5kernels_raw_auto_by2022.3.csv", "measured", NO_COUNTERS),
    # The device is not in the file.
    Fault("samples/pytorch/v100_kineto_2021_resnet.json.gz", "unknown", NO_DEVICE),
    Fault("samples/xprof_export/a100_hlo_stats.csv", "unknown", NO_DEVICE),
    Fault("samples/nsight_systems/h100x2_alltoall_2026.2.sqlite.gz", "unknown", NO_DEVICE),
    # Numbers that cannot be.
    Fault("cases/s07_v3_no_breakdown", "in doubt", "Its numbers cannot all be right"),
    Fault("cases/s09_a100_training", "in doubt", "4 operations with impossible numbers"),
    Fault("profiles/tpu-v5p-training-golden", "in doubt", "2 operations with impossible numbers"),
]


@needs_shared
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.file.rpartition("/")[2])
def test_the_first_line_says_what_is_wrong(fault: Fault) -> None:
    reading = Reading(open_profile(SHARED / fault.file), fault.file)
    first = answers.summary(reading).splitlines()[0]
    assert fault.said in first
    assert first.endswith(f"(certain: {fault.certain})")
