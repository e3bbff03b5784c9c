"""Profiles whose faults are known: the first line says what is wrong, and how sure it is."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from roofline.api.agents import answers
from roofline.api.agents.reading import Reading
from roofline.api.profiles import open_profile
from roofline.capture.hook import record_hook
from roofline.model.notes import RECORDING
from tests.conftest import SAMPLES
from tests.shared_profiles import SHARED, needs_shared

NO_WORK = "the cost of "
NO_DEVICE = "Choose the device to see what it could take."
HOST_ONLY = "and nothing of the device. Record the device too"
NO_COUNTERS = "how much of it is useful work was not counted."

TRACE = SAMPLES / "pytorch" / "h100-training.json"
COLD = [
    ({"verdict": "cold", "longest": 2.6}, "Cold: the longest step took 2.6 times the median"),
    ({"verdict": "cold", "longest": None}, "Cold: the program compiled in the window"),
]
NOT_COLD: list[object] = [
    {"verdict": "ok", "slowdown": 1e400},
    ["cold"],
    "cold",
    None,
    {"longest": 9},
]


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
    Fault(
        "samples/pytorch/mi300x_vllm_graph_capture.json.gz",
        "unknown",
        "the file has no times of the rest",
    ),
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


def said(path: Path) -> list[str]:
    return answers.summary(Reading(open_profile(path), path.name)).splitlines()


def as_trace(folder: Path, facts: object) -> Path:
    path = folder / "run.json"
    document = json.loads(TRACE.read_text("utf-8"))
    path.write_text(json.dumps(document | {record_hook.RECORDING: facts}), "utf-8")
    return path


def as_xspace(folder: Path, facts: object) -> Path:
    path = folder / "run.xplane.pb"
    sample = (SAMPLES / "xspace" / "v6e-training.xplane.pb").read_bytes()
    warning = record_hook._warning(f"{record_hook.RECORDING} {json.dumps(facts)}")
    path.write_bytes(sample + record_hook._warning("another warning") + warning)
    return path


@pytest.mark.parametrize("written", [as_trace, as_xspace])
@pytest.mark.parametrize(("facts", "words"), COLD)
def test_a_recording_that_was_cold_says_it_first(
    written: Callable[[Path, object], Path], facts: object, words: str, tmp_path: Path
) -> None:
    first, _, doubt, *_ = said(written(tmp_path, facts))
    assert first.endswith("(certain: in doubt, cold)")
    assert doubt.startswith(f"doubt: {words}")


@pytest.mark.parametrize("written", [as_trace, as_xspace])
@pytest.mark.parametrize("facts", NOT_COLD, ids=str)
def test_other_facts_of_a_recording_are_no_doubt(
    written: Callable[[Path, object], Path], facts: object, tmp_path: Path
) -> None:
    assert record_hook.RECORDING == RECORDING
    assert said(written(tmp_path, facts))[0].endswith("(certain: modelled)")
