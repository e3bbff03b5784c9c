"""What a program ran with, from the files of each format: versions, ranks, what was recorded."""

from pathlib import Path

import pytest

from roofline.importers.pytorch.header import read_environment, read_header
from roofline.model.environment import environment, merged
from roofline.pipeline import analyse_files
from tests.compare.captures import capture_path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"


def _environment(path: Path) -> dict[str, str]:
    return dict(analyse_files([path]).profile.environment)


def test_jax_says_its_versions_and_backend() -> None:
    assert _environment(capture_path("layernorm")) == {
        "jax_version": "0.10.2",
        "jaxlib_version": "0.10.2",
        "backend_version": "cpu",
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            "samples/pytorch/h100_qwen_causal.json.gz",
            {
                "cuda_runtime_version": "12.4",
                "cuda_driver_version": "12.9",
                "cupti_version": "22",
                "recorded": "record_shapes, profile_memory, with_stack, with_flops, with_modules",
            },
        ),
        (
            "samples/nsight_compute/2023.3_forward_strings.ncu-rep",
            {
                "cuda_version": "12.4",
                "driver_version": "550.54.15",
                "profiler_version": "2023.3.0.0",
            },
        ),
        ("profiles/tpu-v6e-inference/host_0.xplane.pb", {}),
    ],
)
def test_real_files_say_what_they_ran_with(name: str, found: dict[str, str]) -> None:
    if not (SHARED / name).is_file():
        pytest.skip("needs the shared library of profiles")
    assert _environment(SHARED / name) == found


def test_versions_of_cuda_and_hip_are_written_as_people_do() -> None:
    header: dict[str, object] = {
        "cuda_runtime_version": 12040,
        "cuda_driver_version": 0,
        "hip_runtime_version": 60443483,
        "hip_driver_version": "6.2\n",
        "with_stack": 0,
        "roctracer_version": 4.1,
        "distributedInfo": {"world_size": 8, "nccl_version": "2.27.5", "backend": "nccl"},
    }
    assert read_environment(header) == {
        "cuda_runtime_version": "12.4",
        "hip_runtime_version": "6.4.43483",
        "hip_driver_version": "6.2",
        "roctracer_version": "4.1",
        "nccl_version": "2.27.5",
        "collective_backend": "nccl",
        "world_size": "8",
    }
    assert read_environment({"distributedInfo": [], "pytorch_version": 3}) == {}


def test_a_cut_trace_still_says_its_versions() -> None:
    before = b'{"cuda_runtime_version": 12040, "pytorch_version": "2.6.0", "bad": {"traceEvents": ['
    found = read_environment(read_header(before, b"]"))
    assert found == {"pytorch_version": "2.6.0", "cuda_runtime_version": "12.4"}


def test_files_that_differ_are_both_listed_and_texts_of_strangers_are_short() -> None:
    one, other = {"jax_version": "0.9"}, {"jax_version": "0.10", "driver_version": "5"}
    assert merged([one, other, one]) == {"jax_version": "0.9, 0.10", "driver_version": "5"}
    assert environment({"jax_version": "a\x00b" + "x" * 999, "other": "1"}) == {
        "jax_version": "a b" + "x" * 197
    }
