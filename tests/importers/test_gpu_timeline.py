"""Timelines of GPU captures: what kernels are, over which link they move what, and their steps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.model.timeline import WHOLE_CAPTURE, Timeline, TransferOccurrences
from tests.profiles import imported
from tests.tools.gpu_captures import HOPPER, Event, gpu_plane, host_plane, metadata_plane
from tests.tools.small_profiles import space_bytes
from tests.tools.xspace_wire import PlaneBuilder

PROFILES = Path(__file__).resolve().parents[2].parent / "shared" / "profiles"
US = 1_000_000
F32 = 11
TUPLE = 13
SPELLS = ((10, 10), (70, 40))


def kernel(name: str, begin_us: float, us: float = 10, op: str = "", details: str = "") -> Event:
    stats: list[tuple[str, Any]] = [("hlo_op", op), ("program_id", 7)] if op else []
    if details:
        stats.append(("memcpy_details", details))
    return (name, int(begin_us * US), int(us * US), stats)


def f32(*dimensions: int) -> pb.Shape:
    layout = pb.Layout(minor_to_major=range(len(dimensions) - 1, -1, -1))
    return pb.Shape(element_type=F32, dimensions=dimensions, layout=layout)


def program(*collectives: pb.Instruction) -> bytes:
    """A program of one parameter of 400 bytes and `collectives` of it."""
    first = pb.Instruction(name=b"p", opcode=b"parameter", id=1, shape=f32(100))
    made = [first]
    for number, one in enumerate(collectives, 2):
        one.id = number
        one.operand_ids.append(1)
        made.append(one)
    entry = pb.Computation(name=b"main", id=1, root_id=len(made), instructions=made)
    module = pb.Module(name=b"m", computations=[entry], entry_computation_id=1)
    return pb.HloProto(hlo_module=module).SerializeToString()


def collective(opcode: str, *groups: Sequence[int], shape: pb.Shape | None = None) -> Any:
    return pb.Instruction(
        name=opcode.encode(),
        opcode=opcode.encode(),
        shape=f32(100) if shape is None else shape,
        replica_groups=[pb.ReplicaGroup(replica_ids=group) for group in groups],
    )


def read(
    tmp_path: Path, planes: Sequence[PlaneBuilder], hlo: bytes = b"", *, xprof_compat: bool = False
) -> Profile:
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes([*planes, metadata_plane({7: hlo} if hlo else {})]))
    return imported(path, xprof_compat=xprof_compat)


def timeline_of(profile: Profile) -> Timeline:
    assert profile.timeline is not None
    return profile.timeline


def times_us(timeline: Timeline, scope: int = WHOLE_CAPTURE, core: int = 0) -> dict[str, float]:
    """Parts of one core that are not zero, in us."""
    times, work = timeline.times, timeline.work
    (row,) = np.flatnonzero((times.core == core) & (times.scope == scope))
    mine = (work.core == core) & (work.scope == scope)
    parts = {
        "work": work.time_ps[mine].sum(),
        "host": times.host_ps[row],
        "infeed": times.infeed_outfeed_ps[row],
        "launch": times.launch_gaps_ps[row],
        "idle": times.idle_ps[row],
        **{str(link): column[row] for link, column in times.exposed_ps.items()},
    }
    found = {name: float(time) / US for name, time in parts.items() if time}
    assert sum(found.values()) == pytest.approx(times.total_ps[row] / US, rel=1e-12)
    return found


def seen(timeline: Timeline) -> TransferOccurrences:
    return timeline.transfers.occurrences


def test_copies_have_direction_and_size_of_their_details(tmp_path: Path) -> None:
    streams = [
        [kernel("gemm", 0, 10)],
        [
            kernel("MemcpyH2D", 5, 10, details="kind_src:pinned kind_dst:device size:4000 dest:0"),
            kernel("MemcpyH2D", 20, 10, details="size:6000 dest:0 async:1"),
            kernel("MemcpyD2H", 40, 10),
            kernel("MemcpyD2D", 60, 10, details="size:80"),
        ],
    ]
    timeline = timeline_of(read(tmp_path, [gpu_plane(streams)]))
    assert times_us(timeline) == {"work": 20, "host": 25, "launch": 25}
    assert timeline.transfers.kind == ("in", "out")
    assert set(timeline.transfers.link) == {MemoryLevel.HOST}
    assert seen(timeline).count.tolist() == [2, 1]
    np.testing.assert_array_equal(seen(timeline).wire_bytes, [10000, np.nan])
    assert (seen(timeline).exposed_ps / US).tolist() == [15, 10]


def test_copy_kernels_of_amd_are_work(tmp_path: Path) -> None:
    plane = gpu_plane([[kernel("__amd_rocclr_copyBuffer.kd", 0), kernel("Memset", 20)]])
    timeline = timeline_of(read(tmp_path, [plane]))
    assert times_us(timeline) == {"work": 20, "launch": 10}
    assert len(timeline.transfers) == 0


def test_collectives_have_payload_and_group_of_their_instruction(tmp_path: Path) -> None:
    gathered = pb.Shape(element_type=TUPLE, tuple_shapes=[f32(100), f32(200)])
    hlo = program(
        collective("all-reduce", [0, 1]), collective("all-gather-start", [0, 1], shape=gathered)
    )
    stream = [kernel("nccl_a", 0, op="all-reduce"), kernel("nccl_b", 20, op="all-gather-start")]
    planes = [gpu_plane([stream]), gpu_plane([], number=1)]
    timeline = timeline_of(read(tmp_path, planes, hlo))
    assert times_us(timeline) == {"nvlink": 20, "launch": 10}
    assert timeline.transfers.kind == ("all-reduce", "all-gather")
    assert timeline.transfers.group_size.tolist() == [2, 2]
    assert seen(timeline).payload_bytes.tolist() == [400, 800]
    assert seen(timeline).wire_bytes.tolist() == [400, 400]


def test_bytes_of_a_collective_of_several_kernels_count_once(tmp_path: Path) -> None:
    hlo = program(collective("all-reduce", [0]))
    stream = [
        kernel(name, at, op="all-reduce")
        for at, name in ((0, "prepare"), (10, "nccl"), (30, "prepare"), (40, "nccl"))
    ]
    timeline = timeline_of(read(tmp_path, [gpu_plane([stream])], hlo))
    assert seen(timeline).count.tolist() == [2]
    assert seen(timeline).payload_bytes.tolist() == [800]
    assert (seen(timeline).interval_ps / US).tolist() == [40]


def test_link_is_known_where_every_group_fits_on_the_host(tmp_path: Path) -> None:
    amd = {**HOPPER, "device_vendor": "AMD"}
    stream = [[kernel("nccl", 0, op="all-reduce")]]

    def link(hlo: bytes, **capabilities: Any) -> MemoryLevel | None:
        planes = [gpu_plane(stream, **capabilities), gpu_plane([], number=1)]
        (found,) = timeline_of(read(tmp_path, planes, hlo)).transfers.link
        return found

    near, apart = program(collective("all-reduce", [0, 1], [2, 3])), [[0, 2], [1, 3]]
    assert link(near) is MemoryLevel.NVLINK
    assert link(near, capabilities=amd) is MemoryLevel.XGMI
    assert link(program(collective("all-reduce", *apart))) is None
    assert link(program(collective("all-reduce"))) is None
    iota = collective("all-reduce")
    iota.iota_device_list.num_replica_groups, iota.iota_device_list.num_devices_per_group = 2, 2
    assert link(program(iota)) is None
    iota.iota_device_list.num_replica_groups = 1
    assert link(program(iota)) is MemoryLevel.NVLINK


def test_kernels_without_program_are_told_by_name(tmp_path: Path) -> None:
    stream = [kernel("ncclKernel_AllReduce_RING", 0), kernel("multimem_all_reduce_kernel", 20)]
    timeline = timeline_of(read(tmp_path, [gpu_plane([stream])]))
    assert times_us(timeline) == {"None": 20, "launch": 10}
    assert timeline.transfers.kind == ("all-reduce", "all-reduce")
    assert np.isnan(seen(timeline).wire_bytes).all()


def test_a_compiled_kernel_with_the_name_of_a_collective_is_work(tmp_path: Path) -> None:
    fusion = pb.Instruction(name=b"f", opcode=b"negate", shape=f32(100))
    stream = [kernel("input_reduce_scatter_fusion", 0, op="f")]
    timeline = timeline_of(read(tmp_path, [gpu_plane([stream])], program(fusion)))
    assert times_us(timeline) == {"work": 10}


def with_steps(plane: PlaneBuilder, *steps: tuple[str, int, int]) -> PlaneBuilder:
    line = plane.line(0xDEADBEEF, "Steps", 0)
    for name, begin_us, end_us in steps:
        meta = plane.event_meta(f"step {name}", name)
        plane.event(line, meta, begin_us * US, (end_us - begin_us) * US, [])
    return plane


def test_steps_are_those_of_the_steps_line(tmp_path: Path) -> None:
    stream = [kernel("gemm", 0, 10), kernel("gemm", 20, 10), kernel("gemm", 100, 30)]
    first = with_steps(gpu_plane([stream]), ("4", 0, 25), ("5", 95, 120))
    second = with_steps(gpu_plane([stream], number=1), ("5", 95, 130))
    timeline = timeline_of(read(tmp_path, [first, second]))
    assert timeline.steps == 2
    assert times_us(timeline, 0) == {"work": 15, "launch": 10}
    assert times_us(timeline, 1) == {"work": 20, "idle": 5}
    assert times_us(timeline, 1, core=1) == {"work": 30, "idle": 5}
    assert not (timeline.times.scope[timeline.times.core == 1] == 0).any()


def test_steps_that_share_time_are_none(tmp_path: Path) -> None:
    plane = with_steps(gpu_plane([[kernel("gemm", 0)]]), ("4", 0, 6), ("5", 5, 10))
    assert timeline_of(read(tmp_path, [plane])).steps == 0


def test_derived_lines_and_gpus_at_rest_are_no_part(tmp_path: Path) -> None:
    plane = gpu_plane([[kernel("gemm", 0)]])
    line = plane.line(77, "Something else", 0)
    plane.event(line, plane.event_meta("gemm", "gemm"), 500 * US, 10 * US, [])
    timeline = timeline_of(read(tmp_path, [plane, gpu_plane([], number=1)]))
    assert timeline.cores == ("/device:GPU:0",)
    assert times_us(timeline) == {"work": 10}


def test_gpus_that_ran_one_after_the_other_are_told(tmp_path: Path) -> None:
    """The capture is as long as its timeline, not as long as the GPU that ran for longest."""
    planes = [gpu_plane([[kernel("k", at, us)]], number=k) for k, (at, us) in enumerate(SPELLS)]
    profile = read(tmp_path, planes)
    assert profile.wall_time_ps == timeline_of(profile).span_ps == 100 * US
    assert profile.time_ps == 50 * US
    (note,) = (d.message for d in profile.diagnostics if d.code == "gpus-at-different-times")
    assert "this capture of 0.1 ms" in note
    assert "0.025 ms on average" in note
    together = read(tmp_path, [gpu_plane([[kernel("k", 0, 40)]], number=k) for k in range(2)])
    assert together.wall_time_ps == 40 * US
    assert "gpus-at-different-times" not in {d.code for d in together.diagnostics}


def test_comparison_mode_has_no_timeline(tmp_path: Path) -> None:
    assert read(tmp_path, [gpu_plane([[kernel("gemm", 0)]])], xprof_compat=True).timeline is None


def launched(name: str, begin_us: float, number: int, us: float = 10) -> Event:
    return (name, int(begin_us * US), int(us * US), [("correlation_id", number)])


def test_idle_time_that_waited_for_a_launch_is_the_hosts(tmp_path: Path) -> None:
    """Ends of idle stretches: launched late, launched in time, of unknown launch, and of two
    kernels of which one was launched in time."""
    kernels = [
        launched("gemm", 0, 1),
        launched("late", 110, 2),
        launched("early", 220, 3),
        launched("lost", 330, 9),
        launched("late too", 440, 5),
    ]
    other = [launched("early too", 440, 6)]
    calls = [(1, 0), (2, 60), (3, 100), (5, 400), (6, 300), (7, 0), (2**40, 0)]
    host = host_plane([launched("cuLaunchKernel", begin, number, 2) for number, begin in calls])
    timeline = timeline_of(read(tmp_path, [gpu_plane([kernels, other]), host]))
    assert timeline.times.idle_ps.tolist() == [400 * US]
    assert timeline.times.host_wait_ps.tolist() == [100 * US]


def test_ids_of_launches_may_be_any_number(tmp_path: Path) -> None:
    kernels = [launched("gemm", 0, 1), launched("late", 110, 2**50)]
    host = host_plane([launched("cuLaunchKernel", 60, 2**50)])
    timeline = timeline_of(read(tmp_path, [gpu_plane([kernels]), host]))
    assert timeline.times.host_wait_ps.tolist() == [100 * US]


def test_without_launches_nothing_is_said_of_them(tmp_path: Path) -> None:
    timeline = timeline_of(read(tmp_path, [gpu_plane([[kernel("gemm", 0), kernel("gemm", 500)]])]))
    assert not timeline.times.host_wait_ps.any()


@pytest.mark.skipif(not PROFILES.is_dir(), reason="needs the shared folder")
@pytest.mark.parametrize(
    ("name", "waiting_us"),
    # Sums over GPUs, found by a plain loop over events in order of time.
    [("amd-mi300x-conv-jax08", 801_796.313), ("gpu-v100-tf-multiworker", 586_994.224)],
)
def test_real_captures_tell_what_waited_for_launches(name: str, waiting_us: float) -> None:
    profile = imported(PROFILES / name / "host_0.xplane.pb")
    times = timeline_of(profile).times
    whole = times.scope == WHOLE_CAPTURE
    waited_ps = times.host_wait_ps + times.start_idle_ps  # an idle start waited for its launch
    assert waited_ps[whole].sum() / US == pytest.approx(waiting_us)
