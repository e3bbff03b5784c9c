"""What collectives of a trace move, where their kernels do not say it."""

from pathlib import Path

import numpy as np
import pytest

from roofline.importers.pytorch.collectives import called_collective
from roofline.importers.pytorch.inputs import read_inputs
from roofline.importers.shared.kernel_names import Collective
from roofline.model.profile import Profile
from tests.importers.kineto_profiles import needs_shared, profile_of, shared_profile
from tests.tools.make_kineto_traces import KinetoTrace

NAN = float("nan")
KERNEL = "ncclKernel_SendRecv_RING_SIMPLE"  # runs several collectives
Moved = dict[str, tuple[float, float, int]]


def moved(profile: Profile) -> Moved:
    """Payload, wire bytes and group by kind; copies left out."""
    assert profile.timeline is not None
    found = profile.timeline.transfers
    seen = found.occurrences
    return {
        kind: (
            float(seen.payload_bytes[seen.transfer == k].sum()),
            float(seen.wire_bytes[seen.transfer == k].sum()),
            int(found.group_size[k]),
        )
        for k, kind in enumerate(found.kind)
        if kind not in {"in", "out"}
    }


def assert_moved(found: Moved, **expected: tuple[float, float, int]) -> None:
    wanted = {kind.replace("_", "-"): numbers for kind, numbers in expected.items()}
    assert list(found) == list(wanted)
    np.testing.assert_array_equal([*found.values()], [*wanted.values()])


def test_operators_around_a_launch_say_what_it_moves(tmp_path: Path) -> None:
    """The output comes first; of an all-gather it also tells the ranks."""
    trace = KinetoTrace()
    floats = [((4, 256), "float"), ((256,), "float")]
    trace.call("record_param_comms", [], (KERNEL, 50), outer="c10d::_allgather_base_")
    trace.events[0]["args"].update({"Input Dims": [[4, 256], [256]], "Input type": ["float"] * 2})
    trace.call("c10d::alltoall_base_", [floats[0], floats[0]], (KERNEL, 50))
    trace.call("c10d::_reduce_scatter_base_", [floats[1], floats[0]], (KERNEL, 50))
    assert_moved(
        moved(profile_of(tmp_path, trace)),
        all_gather=(4096, 3072, 4),
        all_to_all=(4096, NAN, 0),
        reduce_scatter=(4096, 3072, 4),
    )


def annotated(name: str, dims: list[list[int]], dtype: str) -> KinetoTrace:
    """An operator of lists of tensors, and torch's annotation around the launch."""
    trace = KinetoTrace()
    begin = trace.host_us
    trace.call("c10d::allreduce_", [((), "TensorList")], (KERNEL, 50))
    trace.event(
        "user_annotation", name, begin + 1, 5,
        args={"Input Dims": dims, "Input type": [dtype]},
    )  # fmt: skip
    return trace


def test_annotations_say_what_operators_of_lists_do_not(tmp_path: Path) -> None:
    trace = annotated("nccl:all_reduce", [[1000]], "c10::BFloat16")
    assert_moved(moved(profile_of(tmp_path, trace)), all_reduce=(2000, NAN, 0))


def test_an_annotation_elsewhere_says_nothing(tmp_path: Path) -> None:
    trace = annotated("nccl:all_reduce", [[1000]], "float")
    trace.events[-1]["tid"] = 4711
    assert_moved(moved(profile_of(tmp_path, trace)), all_reduce=(NAN, NAN, 0))


def test_arguments_of_the_call_say_the_group(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call("record_param_comms", [], (KERNEL, 50), outer="c10d::allreduce_")
    call = next(one for one in trace.events if one["name"] == "record_param_comms")
    call["args"] |= {"Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100}
    call["args"] |= {"dtype": "Float", "Group size": 2}
    assert_moved(moved(profile_of(tmp_path, trace)), all_reduce=(400, 400, 2))


def test_a_kernel_in_no_call_of_a_collective_is_told_by_its_name(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call("aten::mm", [((2, 2), "float")], (KERNEL, 50), ("ncclKernel_AllGather_RING", 50))
    assert_moved(
        moved(profile_of(tmp_path, trace)), collective=(NAN, NAN, 0), all_gather=(NAN, NAN, 0)
    )


@pytest.mark.parametrize(
    ("name", "dims", "expected"),
    [
        ("nccl:_all_gather_base", [[10]], Collective("all-gather")),
        ("nccl:all_to_all", [[10]], Collective("all-to-all", 40.0)),
        ("c10d::_allgather_base_", [[10], [4]], Collective("all-gather", 40.0)),
        ("c10d::_allgather_base_", [[], []], Collective("all-gather")),
        ("symm_mem::multimem_all_reduce_", [[10], [], []], Collective("all-reduce", 40.0)),
        ("c10d::barrier", [], Collective("collective")),
    ],
)
def test_calls_are_read(name: str, dims: list[list[int]], expected: Collective) -> None:
    types = ["float" if shape else "Scalar" for shape in dims]
    inputs = read_inputs(name, dims=dims, types=types, strides=None, values=None)
    found = called_collective(name, inputs.tensors)
    assert str(found) == str(expected)


@needs_shared
def test_real_kernels_of_one_name_are_three_collectives(tmp_path: Path) -> None:
    """An all-gather of 16 MiB by 64 ranks has a result of 1 GiB."""
    gathered = 2.0 * 1024**3
    assert_moved(
        moved(shared_profile("sampled_rank-0", tmp_path)),
        all_to_all=(850_250_752, NAN, 0),
        all_reduce=(314_195_708, NAN, 0),
        all_gather=(gathered, gathered * 63 / 64, 64),
    )


@needs_shared
def test_reductions_in_the_switch_have_the_payload_of_their_operator(tmp_path: Path) -> None:
    found = moved(shared_profile("b200_vllm_eager", tmp_path))
    np.testing.assert_array_equal(found["all-reduce"], (385_661_952, NAN, 0))
