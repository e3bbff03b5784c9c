"""CSV files of rocprofv3: kernels, counters, copies without sizes, agents, calls."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers import rocprofiler_sdk
from roofline.importers.registry import identify, import_profile
from roofline.importers.source import SourceFile
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from tests.importers.kineto_profiles import codes
from tests.importers.test_nsight_systems import parts_us
from tests.profiles import imported
from tests.shared_profiles import SHARED, needs_shared

GEMM = '"void gemm<float, 4>(float*, ""x"")"'
KERNELS = f"""Kind,Agent_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,\
Start_Timestamp,\
End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,\
Grid_Size_X,Grid_Size_Y,Grid_Size_Z
KERNEL_DISPATCH,Agent 4,1,7,{GEMM},11,1000000,1100000,64,1,1,1024,4,1
KERNEL_DISPATCH,Agent 4,2,7,{GEMM},12,1300000,1400000,64,1,1,1024,4,1
"""
COUNTERS = f"""Correlation_Id,Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,\
Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp
1,1,4,77,4096,{GEMM},64,SQ_INSTS_VALU_FMA_F32,1000.000000,1000000,1200000
1,1,4,77,4096,{GEMM},64,SQ_INSTS_VALU_ADD_F32,0.0,1000000,1200000
2,2,4,77,4096,{GEMM},64,SQ_INSTS_VALU_FMA_F32,3e3,1300000,1500000
2,2,4,77,4096,{GEMM},64,SQ_INSTS_VALU_ADD_F32,0.0,1300000,1500000
"""
COPIES = """Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,\
Start_Timestamp,End_Timestamp
MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,Agent 0,Agent 4,9,900000,1000000
"""
AGENTS = """Node_Id,Agent_Type,Cu_Count,Max_Engine_Clk_Fcompute,Name,Product_Name
0,CPU,0,0,EPYC,EPYC
4,GPU,304,2100,gfx942,AMD Instinct MI300X
"""
CALLS = """Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp
HIP_RUNTIME_API,hipLaunchKernel,77,77,11,990000,991000
HIP_RUNTIME_API,hipLaunchKernel,77,77,12,1250000,1251000
"""


def profile(folder: Path, **files: str) -> Profile:
    sources = []
    for name, text in files.items():
        path = folder / f"1234_{name}.csv"
        path.write_text(text)
        sources.append(SourceFile(path))
    assert {identify(source) for source in sources} == {rocprofiler_sdk}
    return import_profile(sources)


def work(found: Profile) -> Mapping[str, int]:
    ops = found.ops
    return {
        "flop": int(ops.flop[0]),
        "time_ps": int(ops.time_ps[0]),
        "calls": int(ops.occurrences[0]),
    }


def test_the_files_of_one_process(tmp_path: Path) -> None:
    found = profile(
        tmp_path, kernel_trace=KERNELS, counter_collection=COUNTERS, memory_copy_trace=COPIES,
        agent_info=AGENTS, hip_api_trace=CALLS,
    )  # fmt: skip
    assert found.device.name == "AMD Instinct MI300X"
    assert found.ops.name[0] == 'void gemm<float, 4>(float*, "x")'
    assert work(found) == {"flop": 4_000 * 64 * 2, "time_ps": 200_000_000, "calls": 2}
    assert parts_us(found)["exposed_host_copies"] == 100
    assert parts_us(found)["idle"] == 200
    timeline = found.timeline
    assert timeline is not None
    assert np.isnan(timeline.transfers.occurrences.wire_bytes).all(), "its size is not in the file"
    assert MemoryLevel.HOST in timeline.transfers.link
    # Its counters were read in the same run: kernels waited for the profiler.
    assert not timeline.times.host_wait_ps.any()


def test_without_counters_the_host_is_waited_for(tmp_path: Path) -> None:
    found = profile(tmp_path, kernel_trace=KERNELS, agent_info=AGENTS, hip_api_trace=CALLS)
    assert found.timeline is not None
    assert found.timeline.times.host_wait_ps.tolist() == [200_000_000]


def test_ranges_of_roctx_are_groups(tmp_path: Path) -> None:
    """The path in which a kernel ran longest, of the launching thread: in a step, not beside it."""
    ranges = """MARKER_CORE_RANGE_API,step 1,77,77,5,900000,1300000
MARKER_CORE_RANGE_API,forward,77,77,6,980000,1295000
MARKER_CORE_RANGE_API,elsewhere,77,78,7,900000,1300000
"""
    found = profile(
        tmp_path, kernel_trace=KERNELS, agent_info=AGENTS, marker_api_trace=CALLS + ranges
    )
    assert found.ops.framework_path[0] == "step/forward"
    assert found.timeline is not None, "a range launches nothing"
    assert found.timeline.times.host_wait_ps.tolist() == [200_000_000]


def test_ranges_of_roctx_that_repeat_as_steps_are_steps(tmp_path: Path) -> None:
    """Each from its first kernel to that of the next; times and work are those of its launches."""
    ranges = """MARKER_CORE_RANGE_API,step 1,77,77,5,900000,1100000
MARKER_CORE_RANGE_API,step 2,77,77,6,1200000,1290000
"""
    files = {"kernel_trace": KERNELS, "agent_info": AGENTS, "marker_api_trace": CALLS + ranges}
    found = profile(tmp_path, **files)
    steps = found.steps
    assert steps.begin_ps.tolist() == [1_000_000_000, 1_300_000_000]
    assert steps.time_ps.tolist() == steps.duration_ps.tolist() == [300_000_000, 100_000_000]
    assert steps.sums.time_ps.tolist() == [[100_000_000, 0], [100_000_000, 0]]
    assert found.timeline is not None and found.timeline.steps == 2
    late = ranges.replace("900000,1100000", "1110000,1120000")
    alone = profile(tmp_path, **(files | {"marker_api_trace": CALLS + late}))
    assert alone.steps.begin_ps.tolist() == [1_300_000_000], "a step that launched nothing is none"


def test_counters_alone_are_a_whole_profile(tmp_path: Path) -> None:
    found = profile(tmp_path, counter_collection=COUNTERS)
    assert work(found) == {"flop": 4_000 * 64 * 2, "time_ps": 400_000_000, "calls": 2}
    assert found.timeline is None, "kernels waited for their counters, not for the program"
    assert found.time_ps == 400_000_000


def test_kibibytes_that_the_profiler_added_up(tmp_path: Path) -> None:
    fetched = COUNTERS.replace("SQ_INSTS_VALU_FMA_F32", "FETCH_SIZE")
    found = profile(tmp_path, counter_collection=fetched)
    assert not found.ops.bytes_known.any(), "written bytes are not counted"
    both = fetched.replace("SQ_INSTS_VALU_ADD_F32,0.0", "WRITE_SIZE,500.5")
    found = profile(tmp_path, counter_collection=both)
    assert found.ops.traffic_bytes[MemoryLevel.HBM][0] == (1_000 + 3_000 + 2 * 500.5) * 1_024
    dead = re.sub(r"((FETCH|WRITE)_SIZE),[\d.]+", r"\1,0.0", both)
    unread = profile(tmp_path, counter_collection=dead)
    assert not unread.ops.bytes_known.any(), "RDNA 4 gives 0 for what it cannot count"


def test_a_run_with_counters_and_one_without_are_one_program(tmp_path: Path) -> None:
    times = tmp_path / "1_kernel_trace.csv"
    times.write_text(KERNELS)
    counted = tmp_path / "2_counter_collection.csv"
    counted.write_text(COUNTERS)
    found = imported(counted, times)
    assert work(found) == {"flop": 4_000 * 64 * 2, "time_ps": 200_000_000, "calls": 2}


def test_files_of_two_runs_under_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptProfileError, match="dispatch 1 is void gemm"):
        profile(
            tmp_path, kernel_trace=KERNELS, counter_collection=COUNTERS.replace("gemm", "other")
        )


SUMS = '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n'
KERNEL_SUMS = f"""{SUMS}{GEMM},2,200000,100000.000000,96.8,1,2,0.0
"__amd_rocclr_fillBufferAligned",1,6560,6560.000000,5.285e-04,6560,6560,0.00000000e+00
"""
COPY_SUMS = f"""{SUMS}MEMORY_COPY_HOST_TO_DEVICE,1,100000,100000.0,100.0,1,2,0.0
"""
CALL_SUMS = f"""{SUMS}hipMemcpy,2,583182462,291591231,99.8,1,2,3
__hipPushCallConfiguration,1,6640,6640,0.001,1,2,3
hsa_signal_wait_scacquire,1220,177633790,145601,53.9,1,2,3
KERNEL_DISPATCH,2002,930547761,5,90,1,2,3
"""


def test_sums_have_times_and_calls_of_each_kernel(tmp_path: Path) -> None:
    found = profile(
        tmp_path, kernel_stats=KERNEL_SUMS, memory_copy_stats=COPY_SUMS, hip_api_stats=CALL_SUMS,
        agent_info=AGENTS,
    )  # fmt: skip
    assert dict(zip(found.ops.name, found.ops.time_ps.tolist(), strict=True)) == {
        'void gemm<float, 4>(float*, "x")': 200_000_000,
        "__amd_rocclr_fillBufferAligned": 6_560_000,
        "MEMORY_COPY_HOST_TO_DEVICE": 100_000_000,
    }
    assert found.ops.occurrences.tolist() == [2, 1, 1]
    assert found.timeline is None
    assert (found.device.name, found.device.core_count) == ("AMD Instinct MI300X", 1)
    assert "work-summed" in codes(found)
    assert not any("nsys" in note.remedy for note in found.diagnostics)


def test_sums_of_rocprof_1(tmp_path: Path) -> None:
    text = SUMS.replace(',"MinNs","MaxNs","StdDev"', "")
    text += '"saxpy(int, float const*) [clone .kd]",1,4800,4800,100.0\n'
    found = profile(tmp_path, stats=text)
    assert found.ops.name == ("saxpy(int, float const*)",)
    assert found.op_time_ps == 4_800_000


def test_sums_of_calls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IncompleteProfileError, match="no time of a kernel") as told:
        profile(tmp_path, hip_api_stats=CALL_SUMS)
    assert "kernel_trace" in told.value.remedy


def test_sums_beside_a_trace_are_a_second_opinion(tmp_path: Path) -> None:
    sums = f"{SUMS}{GEMM},2,200000,100000.0,96.8,1,2,0.0\n"
    found = profile(tmp_path, kernel_trace=KERNELS, kernel_stats=sums, hip_api_stats=CALL_SUMS)
    assert [one.agrees for one in found.stated] == [True, True]
    assert work(found)["time_ps"] == 200_000_000
    other = profile(tmp_path, kernel_trace=KERNELS, kernel_stats=sums.replace(",2,", ",3,", 1))
    assert codes(other)["second-opinion"] == 1


def test_tables_of_another_clock_are_left_out(tmp_path: Path) -> None:
    days = "90000000000000"  # 25 hours, before the ns in the tables above
    files = {"kernel_trace": KERNELS, "agent_info": AGENTS}
    late = COPIES.replace("900000,1000000", f"{days},{days}90")
    calls = CALLS.replace(",990000,991000", f",{days},{days}7").replace(",1250000,", f",{days},")
    alone = profile(tmp_path, **files)
    found = profile(tmp_path, memory_copy_trace=late, hip_api_trace=calls, **files)
    assert codes(found)["clocks-apart"] == 3 and "clocks-apart" not in codes(alone)
    assert parts_us(found) == parts_us(alone)
    assert found.ops.name == alone.ops.name


def test_counters_of_another_clock_have_no_time(tmp_path: Path) -> None:
    third = f"3,3,4,77,4096,{GEMM},64,SQ_INSTS_VALU_FMA_F32,5,1600000,1700000\n"
    counters = re.sub(r"(\d{7}),(\d{7})$", r"9000000\1,9000000\2", COUNTERS + third, flags=re.M)
    found = profile(tmp_path, kernel_trace=KERNELS, counter_collection=counters)
    assert work(found) == {"flop": 4_000 * 64 * 2, "time_ps": 200_000_000, "calls": 3}
    assert codes(found)["time-unknown"] == 1


@needs_shared
def test_examples_of_the_documentation() -> None:
    folder = SHARED / "samples/rocpd/csv_docs"
    together = import_profile([SourceFile(path) for path in sorted(folder.iterdir())])
    assert together.wall_time_ps == 144_400_000 and codes(together)["clocks-apart"] == 9
    folder = SHARED / "samples/rocpd/csv_docs"
    found = imported(folder / "1234_counter_collection.csv")
    assert found.ops.occurrences.tolist() == [1, 1, 1, 1]
    assert not found.ops.flop_known.any() and "flop-not-counted" in codes(found)
    copies = imported(folder / "1234_memory_copy_trace.csv")
    assert not copies.ops.bytes_known.any()
