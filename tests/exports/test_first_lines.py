"""The first two lines of real profiles: the design's words, and where ours differ why.

The last are not in the design: what to do answers the reason for the latency.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from roofline.analysis.nearest_records import OpClass
from roofline.devices.choice import PeakChoice
from roofline.exports.answering import answer_of, answered
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from roofline.presentation.quantities import NARROW, SPACE
from roofline.presentation.sentences import Sentence, plain_text
from roofline.presentation.verdict import Lines, lines_of
from tests.shared_profiles import SHARED, needs_shared, shared

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"
TORCH, NCU, PROFILES = "samples/pytorch/", "samples/nsight_compute/", "profiles/"
_AHEAD = "Do first: launch ahead (CUDA graphs), up to −"


@dataclass(frozen=True)
class Said:
    """What the design says of these files; `ours` is the second line where it differs, `why`."""

    files: tuple[str, ...]
    headline: str
    do_first: str
    ours: str = ""
    why: str = ""


CASES = [
    Said(
        (f"{TORCH}h100_qwen_causal.json.gz",),
        "34.9 ms a step; 17.2 would do.",
        "Do first: fuse Qwen2RMSNorm, −5.7 ms.",
    ),
    Said(
        (f"{TORCH}mi300x_qwen_causal.json.gz",),
        "33.1 ms a step; 11.6 would do.",
        "Do first: fill the chip in 4 matmuls of MLP and Attention, −6.7 ms.",
    ),
    Said(
        (f"{TORCH}mi300x_sglang_capture.json.gz", f"{TORCH}mi300x_sglang_decode.json.gz"),
        "10.5 ms a decode step; 3.9 would do.",
        "Do first: use a faster paged attention kernel, −1.1 ms.",
    ),
    Said(
        (f"{TORCH}mi300x_vllm_graph_capture.json.gz", f"{TORCH}mi300x_vllm_graph_decode.json.gz"),
        "10.7 ms a decode step; 3.6 would do.",
        "Do first: fill the chip in the experts’ down projection, −3.0 ms.",
    ),
    Said(
        (f"{TORCH}b200_vllm_eager.json.gz",),
        "73.6 ms a prefill step, 62.0 of them waiting for the host; 7.1 would do.",
        f"{_AHEAD}62 ms.",
    ),
    Said(
        (f"{TORCH}nccl_message_sizes.json.gz",),
        "220 ms a step, 167 of them waiting for the host; 39 might do.",
        f"{_AHEAD}167 ms.",
    ),
    Said(
        (f"{TORCH}a100_no_shapes.json.gz",),
        "347 ms a step; the cost of 124 of them is not known.",
        f"{_AHEAD}142 ms.",
    ),
    Said(
        (f"{TORCH}sampled_rank-0.json.gz",),
        "611 ms a step. Choose the device to see what it could take.",
        "The device waits 181 ms for the host, 168 for other ranks. "
        "Nothing ran for 156 ms, and the file does not say why.",
    ),
    Said(
        (f"{TORCH}v100_kineto_2021_resnet.json.gz",),
        "147 ms a step. Choose the device to see what it could take.",
        "The device waits 42 ms for the host.",
    ),
    Said(
        (f"{TORCH}mtia_inference.json.gz",),
        "341 ms of the host were recorded, and nothing of the device.",
        "Record the device too.",
    ),
    Said(
        (f"{TORCH}a100_launches_without_kernels.json.gz",),
        "75.5 ms of the host were recorded, and nothing of the device.",
        "Record the device too: `activities=[CPU, CUDA]`.",
    ),
    Said(
        (f"{NCU}a40_2022.1_imma_indexspaces-74de19f.ncu-rep",),
        "9.43 ms of kernel time; 5.27 would do.",
        "Do first: feed the tensor cores in julia_bb_4477, −3.3 ms.",
    ),
    Said(
        (f"{NCU}a10g_2023.1_roofline_x512_esmm.ncu-rep",),
        "1.21 ms of kernel time; 0.32 would do.",
        "Do first: give one_, two_blocktiling and warptiling more blocks, −0.68 ms.",
        "Do first: give more blocks to two_blocktiling, vectorized_blocktiling and warptiling, "
        "−0.44 ms.",
        "one_blocktiling is bound by L1 (64.8 % busy), so more blocks are not advised for it; "
        "names come last, because “1 more” may be one of them",
    ),
    Said(
        ("samples/rocprof_compute/vcopy_MI200/pmc_perf.csv",),
        "52.3 µs of kernel time. Choose the device to see what it could take.",
        "",
    ),
    Said(
        (f"{PROFILES}tpu-v6e-inference/host_0.xplane.pb",),
        "78.8 s, 76.0 of them waiting for host transfers; 50.3 would do.",
        "Do first: copy in both directions at once, −28 s.",
    ),
    Said(
        (f"{PROFILES}tpu-v5p-training-golden/reference.json",),
        "97.7 ms a step; 51.4 would do, including all time of 2 operations with impossible "
        "numbers.",
        "Do first: update the caches in place (dynamic-update-slice.31, .32, .33), −13 ms.",
    ),
    Said(
        (f"{PROFILES}gpu-v100-tf-multiworker/host_0.xplane.pb",),
        "20.6 ms a step; the cost of 14.8 of them is not known.",
        "Keep the `/host:metadata` plane in the capture. The device waits 2.6 ms for the host. "
        "Nothing ran for 3.1 ms, and the file does not say why.",
    ),
    Said(
        (f"{PROFILES}amd-mi300x-conv-jax08/host_0.xplane.pb",),
        "98.5 ms, 94.7 of them waiting for the host; 1.7 would do.",
        "Do first: launch ahead, up to −95 ms.",
        "Do first: find what keeps the host from launching, up to −95 ms.",
        "Each kernel waits 3.9 ms: that is not a launch.",
    ),
    Said(
        (f"{NCU}default_scan_barriers.ncu-rep",),
        "337 µs of kernel time; 180 would do.",
        "Do first: wait less at barriers in kernel, −137 µs.",
    ),
    Said(
        (f"{NCU}a100_tail.ncu-rep",),
        "8.26 s of kernel time; 2.09 would do.",
        "Do first: fill the last wave of nodeByPoint, −5.2 s.",
    ),
    Said(
        (f"{NCU}a100_2020.3_fp64_divergent.ncu-rep",),
        "565 ms of kernel time; 167 would do.",
        "Do first: keep more warps resident in searchKernelCOSStree, −297 ms.",
    ),
]
# These two are of a processor, whose peaks are those that `roofline calibrate` measured.
_PROCESSOR = PeakChoice(gflops={None: 22.6}, gbs={MemoryLevel.DRAM: 9.6})


def text(sentence: Sentence) -> str:
    """A sentence with plain spaces."""
    return plain_text(sentence).replace(SPACE, " ").replace(NARROW, " ")


def lines(*files: str) -> Lines:
    analysis = shared(*files)
    return lines_of(analysis, answer_of(analysis))


@needs_shared
@pytest.mark.parametrize("case", CASES, ids=[case.files[0] for case in CASES])
def test_first_lines(case: Said) -> None:
    found = lines(*case.files)
    assert text(found.headline) == case.headline
    assert text(found.do_first) == (case.ours or case.do_first)
    assert bool(case.ours) == bool(case.why)


@needs_shared
def test_most_of_a_program_that_is_not_in_the_file_is_not_judged() -> None:
    analysis = shared(f"{TORCH}mi300x_vllm_graph_capture.json.gz")
    found = answered(analysis)
    said = text(lines_of(analysis, found.answer).headline)
    assert said == "57.8 ms, 1.6 % of the program: the file has no times of the rest."
    assert found.advice["headline"].replace(SPACE, " ").replace(NARROW, " ") == said
    assert (found.advice["findings"], found.advice["summary"]) == ([], "")
    assert found.answer.subject.parts.host_wait == 0, "other kernels may have run"


@needs_shared
@pytest.mark.parametrize(
    ("file", "headline", "do_first"),
    [
        (
            f"{PROFILES}jax-cpu-transformer/host_0.xplane.pb",
            "127 ms a step. Its numbers cannot all be right, so there is no goal.",
            "Do first: measure this machine's peaks, `roofline calibrate`.",
        ),
        (
            f"{TORCH}cpu_steps_flops_torch213.json.gz",
            # With the peaks of the design's machine: 0.54, and −1.4 ms.
            "4.56 ms a step; 0.60 might do.",
            "No operation comes near a roof. Do first: more threads for attention, −1.3 ms.",
        ),
    ],
)
def test_first_lines_of_processors(file: str, headline: str, do_first: str) -> None:
    analysis = analyse_files([SHARED / file], choice=_PROCESSOR)
    found = lines_of(analysis, answer_of(analysis))
    assert text(found.headline) == headline
    assert text(found.do_first) == do_first


@needs_shared
def test_replays_of_graphs_need_the_trace_of_the_capture() -> None:
    """Kernels of a graph have no shapes, whatever was recorded; the hint was `record_shapes`."""
    assert text(lines(f"{TORCH}mi300x_vllm_graph_decode.json.gz").do_first) == (
        "Upload the trace of the graphs’ capture together with this one."
    )


@needs_shared
def test_a_kernel_is_named_by_its_function_and_is_near_a_unit_that_it_keeps_busy() -> None:
    """The name has `<unnamed>` in its scope; issue slots are busy for 66 % of the time."""
    found = lines(f"{NCU}h800_random_numbers_and_failed_kernel.ncu-rep")
    assert text(found.do_first) == (
        "Do first: issue fewer instructions in distribution_elementwise_grid_stride_ke…, −43 µs."
    )


def test_a_device_is_not_asked_for_where_it_would_tell_nothing(tmp_path: Path) -> None:
    """Sums of times say no work, whatever the peaks: it said "choose the device"."""
    path = tmp_path / "kern_sum.csv"
    path.write_text(
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        '70.0,7000000,100,70000.0,70000,50000,90000,0.0,"gemm"\n'
        '30.0,3000000,100,30000.0,30000,20000,40000,0.0,"add"\n'
    )
    said = "10.0 ms of kernel time, 70 % of it in gemm; the cost is not known."
    assert said_of(path) == said_of(path, device="h100-sxm") == said
    analysis = analyse_files([path])
    assert (
        text(lines_of(analysis, answer_of(analysis)).do_first) == "Profile with `ncu --set full`."
    )


def test_a_device_is_not_asked_for_again_where_it_was_chosen(tmp_path: Path) -> None:
    """FLOPs without bytes have no place under any peaks."""
    path = tmp_path / "work.csv"
    path.write_text("kernel,time (us),GFLOP\ngemm,100,20\n")
    said = "100 µs of operation time; the cost is not known."
    assert said_of(path) == said_of(path, device="h100-sxm") == said


def test_a_device_is_not_asked_for_in_a_timeline_of_kernels_without_work(tmp_path: Path) -> None:
    """What rocprofv3 6.2 writes, without numbers of dispatches; named by OpenMP's compiler."""
    path = tmp_path / "1_kernel_trace.csv"
    path.write_text(
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
        '"Start_Timestamp","End_Timestamp"\n'
        '"KERNEL_DISPATCH",4,1,2,"__omp_offloading_32_2f3c6__QMnorm_modPnorm_l26",1,1000,81000\n'
        '"KERNEL_DISPATCH",4,1,4,"__omp_offloading_32_2f3c3__QMlap_modPlap_l23",2,90000,110000\n'
    )
    assert said_of(path) == (
        "109 µs, 73 % of it in norm_modPnorm_l26; the cost of 100 of them is not known."
    )


def test_kernels_without_times_have_a_busiest_unit(tmp_path: Path) -> None:
    """It said that each stood at its roof, and a chart showed it: no work was counted."""
    path = tmp_path / "kernels.csv"
    path.write_text(
        '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
        '"0","add","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","42.5"\n'
        '"0","add","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","78.3"\n'
    )
    analysis = analyse_files([path])
    found = lines_of(analysis, answer_of(analysis))
    assert [text(one) for one in (found.headline, found.do_first, found.standing)] == [
        "One kernel without a time.",
        "Collect `gpu__time_duration.sum` too.",
        "The busiest unit is DRAM in add, 78 % of the time.",
    ]


def test_where_only_one_side_was_counted_nothing_is_called_latency(tmp_path: Path) -> None:
    """A kernel that the vector unit hardly works for may well wait for the memory."""
    path = tmp_path / "1_counter_collection.csv"
    path.write_text(
        '"Dispatch_Id","Agent_Id","Kernel_Name","Counter_Name","Counter_Value",'
        '"Start_Timestamp","End_Timestamp"\n'
        '1,"Agent 1","rhs","VALUBusy",51.287701,1000,81000\n'
        '2,"Agent 1","update","VALUBusy",2.750964,90000,110000\n'
    )
    analysis = analyse_files([path])
    found = lines_of(analysis, answer_of(analysis))
    assert [text(one) for one in (found.headline, found.standing)] == [
        "100 µs of kernel time, 80 % of it in rhs; the cost is not known.",
        "Of the units that were counted, VALU works most: 42 % of the time.",
    ]
    assert not analysis.nearest.is_kind(OpClass.LATENCY).any()


def said_of(path: Path, device: str | None = None) -> str:
    """The headline of a file, under the peaks of a device."""
    analysis = analyse_files([path], choice=PeakChoice(part_id=device))
    return text(lines_of(analysis, answer_of(analysis)).headline)


def sample(name: str) -> Lines:
    """The first lines of a bundled sample."""
    analysis = analyse_files([SAMPLES / name])
    return lines_of(analysis, answer_of(analysis))


def test_a_unit_that_binds_some_kernels_is_not_said_to_be_busy_on_average() -> None:
    """Its mean over all kernels was 44 %, below the 66 % of L1/TEX, which binds fewer of them: 4.71
    of 8.18 ms are one kernel that keeps the FMA pipe busy for 76 % of its time."""
    said = text(sample("nsight_compute/a100-kernels.ncu-rep").standing)
    assert "mostly FMA-bound. FMA pipe (fp32) binds 58 % of the time, L1/TEX 27 %. " in said


def test_shares_beside_idle_time_are_of_the_busy_time() -> None:
    said = text(sample("nsight_systems/a100-graphs.sqlite").standing)
    assert said.startswith("Tensor pipe binds 80 % of the busy time, HBM 20 %.")


def test_samples_that_show_no_unit_at_work_tell_no_cost(tmp_path: Path) -> None:
    """Another unit, of which no samples were taken, may have been full: nothing is to gain."""
    file = tmp_path / "zero.sqlite"
    file.write_bytes((SAMPLES / "nsight_systems/a100-graphs.sqlite").read_bytes())
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE GPU_METRICS SET value = 0")
    analysis = analyse_files([file])
    found = lines_of(analysis, answer_of(analysis))
    assert text(found.headline) == (
        "6.01 ms, 67 % of it in CUDA graph 5; the cost of 5.00 of them is not known."
    )
