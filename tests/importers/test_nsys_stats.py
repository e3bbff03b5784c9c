"""Tables of `nsys stats`: the same times as the export, sums, everything around a table, damage."""

import csv
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.subjects.options import Option, options
from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.registry import IMPORTERS
from roofline.importers.source import SourceFile
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.pipeline import analyse_files
from tests.importers.test_nsight_systems import TWO_RANKS, parts_us
from tests.profiles import imported

COLUMNS = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
    "DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
)
KERNELS = """\
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
75.0,99385786,32,3105805.8,3041179.0,2987340,3777790,216832.4,flash_attention_prefill_f16
20.0,"26,500,000",4,6625000.0,1.0,1,2,3,"void reduce<float, 4>(float *, int)"
5.0,6600000,1,6600000,1.0,1,2,3,"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"
"""
COPIES = """\
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
100.0,661398,2,330699,330699,1,2,3,[CUDA memcpy Host-to-Device]
"""
RULED = """\
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)    Name
 --------  ---------------  ---------  --------  ----------------------
     79.0       26,500,000          4  6,625,000  void reduce<float>(int)
     21.0        7,000,000          1  7,000,000  gemm_f16

 ** CUDA API Summary (cuda_api_sum):

 Time (%)  Total Time (ns)  Num Calls  Avg (ns)        Name
 --------  ---------------  ---------  --------  ----------------
     99.0    9,026,500,000          4  6,625,000  cudaLaunchKernel
"""


def read(tmp_path: Path, *texts: str | bytes) -> Profile:
    paths = [tmp_path / f"report_{k}.csv" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        claims = [one.FORMAT_ID for one in IMPORTERS if one.recognises(SourceFile(path))]
        assert claims == ["nsight_systems"]
    return imported(*paths)


def subject_of(*paths: Path) -> Option:
    """What the page opens with."""
    return options(analyse_files(list(paths)))[0]


def codes(profile: Profile) -> set[str]:
    return {note.code for note in profile.diagnostics}


def listed(export: Path) -> str:
    """`cuda_gpu_trace` of an export, made from its tables as `nsys` does."""
    ways = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 10: "Peer-to-Peer"}
    memories = {0: "Pageable", 1: "Pinned", 2: "Device"}
    rows: list[list[object]] = []
    with closing(sqlite3.connect(export)) as database:
        names = dict(database.execute("SELECT id, value FROM StringIds"))
        gpus = {
            (pid, cuda): f"NVIDIA A100-SXM4-80GB ({gpu})"
            for pid, cuda, gpu in database.execute(
                "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE"
            )
        }
        event = "start, end, correlationId, (globalPid >> 24) & 0xFFFFFF, deviceId"
        for start, end, correlation, pid, device, *more in database.execute(
            f"SELECT {event}, gridX, gridY, gridZ, blockX, blockY, blockZ, demangledName"
            " FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ):
            cells = [start, end - start, correlation, *more[:6], 32, 0, 0, "", "", "", ""]
            rows.append([*cells, gpus[pid, device], 1, "", 7, names[more[6]]])
        for start, end, correlation, pid, device, size, kind, of, to in database.execute(
            f"SELECT {event}, bytes, copyKind, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"
        ):
            cells = [start, end - start, correlation, *[""] * 9, f"{size / 1e6:.3f}", ""]
            cells += [memories.get(of, ""), memories.get(to, ""), gpus[pid, device], 1, "", 7]
            rows.append([*cells, f"[CUDA memcpy {ways[kind]}]"])
    rows.sort(key=lambda row: int(str(row[0])))
    path = export.parent / "listed.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS.split(","))
        writer.writerows(rows)
    return path.read_text()


def test_a_list_of_work_has_the_times_of_the_export(tmp_path: Path) -> None:
    export = tmp_path / "export.sqlite"
    export.write_bytes(TWO_RANKS.read_bytes())
    of_export = imported(export)
    preamble = "Processing [export.sqlite] with [cuda_gpu_trace.py]... \n"
    of_list = read(tmp_path, preamble + listed(export) + "\n")
    parts = parts_us(of_list)
    assert parts == pytest.approx(parts_us(of_export), rel=1e-9)
    assert parts["idle"] > 0
    assert of_list.device.name == of_export.device.name
    assert of_list.device.core_count == of_export.device.core_count == 2
    assert of_list.op_time_ps == of_export.op_time_ps
    assert "work-listed" in codes(of_list)
    assert "without-launch" not in codes(of_list)
    assert not any("environment" in limit for limit in of_list.limits)


def test_a_list_in_json_is_the_same(tmp_path: Path) -> None:
    export = tmp_path / "export.sqlite"
    export.write_bytes(TWO_RANKS.read_bytes())
    text = listed(export)
    rows = json.dumps([*csv.DictReader(text.splitlines())], indent=4)
    assert parts_us(read(tmp_path, rows)) == parts_us(read(tmp_path, text))
    with pytest.raises(CorruptProfileError, match="ends too early"):
        read(tmp_path, rows[: rows.rindex("Name")])


def test_copies_say_their_direction_and_size(tmp_path: Path) -> None:
    rows = [
        "100,50,1,,,,,,,,,,4.194,6337.593,Pinned,Device,NVIDIA A40 (0),1,,7,"
        "[CUDA memcpy Host-to-Device]",
        "200,50,2,,,,,,,,,,4.194,6337.593,Device,Pageable,NVIDIA A40 (0),1,,7,[CUDA memcpy DtoH]",
        "300,50,3,,,,,,,,,,0.000,0.1,,,NVIDIA A40 (0),1,,7,[CUDA memset]",
        "400,50,4,8,1,1,128,1,1,16,0,0,,,,,NVIDIA A40 (0),1,,7,gemm",
    ]
    profile = read(tmp_path, "\n".join([COLUMNS, *rows]))
    assert set(profile.ops.name) == {
        "Memcpy HtoD (Pinned -> Device)",
        "Memcpy DtoH (Device -> Pageable)",
        "Memset (Device)",
        "gemm",
    }
    assert profile.device.name == "NVIDIA A40"
    known = dict(zip(profile.ops.name, profile.ops.bytes_known, strict=True))
    assert not known["Memset (Device)"]  # 0.000 MB are less than 500 bytes, not none


def test_sums_have_times_and_calls_of_each_kernel(tmp_path: Path) -> None:
    profile = read(tmp_path, KERNELS, COPIES)
    ops = profile.ops
    assert list(ops.occurrences) == [32, 4, 1, 2]
    assert list(ops.time_ps) == [99385786000, 26500000000, 6600000000, 661398000]
    assert list(ops.category) == ["attention", "reduction", "communication", "copy"]
    assert profile.timeline is None
    assert codes(profile) >= {"work-summed"}
    of_all = subject_of(tmp_path / "report_0.csv", tmp_path / "report_1.csv")
    assert (of_all.label, of_all.unit_word) == ("4 operations", "of operation time")
    of_kernels = subject_of(tmp_path / "report_0.csv")
    assert (of_kernels.label, of_kernels.unit_word) == ("3 kernels", "of kernel time")


def test_tables_of_one_report_are_of_one_gpu(tmp_path: Path) -> None:
    profile = read(tmp_path, KERNELS, COPIES)
    assert profile.device.core_count == 1
    assert sum(host.core_count for host in profile.hosts) == 1
    assert read(tmp_path, KERNELS, COPIES, KERNELS).device.core_count == 2


def test_sizes_beside_sums_are_bytes_of_copies(tmp_path: Path) -> None:
    times = COPIES + "1.0,500,1,500,500,1,2,3,[CUDA memcpy Device-to-Device]\n"
    times += "1.0,400,7,500,500,1,2,3,[CUDA memset]\n"
    sizes = """\
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
8.389,2,4.194,4.194,4.194,4.194,0.000,[CUDA memcpy Host-to-Device]
1.500,1,1.500,1.500,1.500,1.500,0.000,[CUDA memcpy Device-to-Device]
1.000,3,1.500,1.500,1.500,1.500,0.000,[CUDA memset]
"""
    ops = read(tmp_path, KERNELS, f"{times}\n{sizes}").ops
    moved = {level: dict(zip(ops.name, found, strict=True))
             for level, found in ops.traffic_bytes.items()}  # fmt: skip
    assert moved[MemoryLevel.HOST]["Memcpy HtoD"] == 8_389_000
    # Read and written; another count of memsets is of another program.
    assert moved[MemoryLevel.DRAM]["Memcpy DtoD"] == 3_000_000
    known = dict(zip(ops.name, ops.bytes_known, strict=True))
    assert known["Memcpy DtoD"] and not known["Memset (Device)"]
    with pytest.raises(IncompleteProfileError, match="adds up no time"):
        read(tmp_path, sizes)


def test_a_table_of_both_makes_others_needless(tmp_path: Path) -> None:
    both = KERNELS.replace("StdDev (ns),Name", "StdDev (ns),Category,Operation").replace(
        ",3,", ",3,CUDA_KERNEL,"
    )
    both = both.replace("216832.4,", "216832.4,CUDA_KERNEL,")
    profile = read(tmp_path, f"{both}\n{KERNELS}")
    assert int(profile.ops.time_ps.sum()) == 132485786000


def test_columns_under_a_ruler(tmp_path: Path) -> None:
    profile = read(tmp_path, RULED)
    assert "gemm_f16" in profile.ops.name
    assert list(profile.ops.time_ps) == [26500000000, 7000000000]
    assert list(profile.ops.occurrences) == [4, 1]


def boxed(ruled: str) -> str:
    """The same tables as `-f table` prints them."""
    lines = ruled.splitlines()
    for at, line in enumerate(lines):
        if line.startswith(" ---"):
            ends = [match.span() for match in re.finditer("-+", line)]
            ruler = "+" + "+".join("-" * (end - begin + 2) for begin, end in ends) + "+"
            last = next((k for k in range(at, len(lines)) if not lines[k]), len(lines))
            for k in (at - 1, *range(at + 1, last)):
                cells = [lines[k][b:e] for b, e in [*ends[:-1], (ends[-1][0], None)]]
                padded = (cell.ljust(e - b) for cell, (b, e) in zip(cells, ends, strict=True))
                lines[k] = "| " + " | ".join(padded) + " |"
            lines[at - 1] = f"{ruler}\n{lines[at - 1]}"
            lines[last - 1] += f"\n{ruler}"
            lines[at] = ruler
    return "\n".join(lines) + "\n"


def test_columns_in_a_box(tmp_path: Path) -> None:
    assert "\n+----------+-----" in boxed(RULED)
    found, ruled = read(tmp_path, boxed(RULED)), read(tmp_path, RULED)
    assert found.ops.name == ruled.ops.name
    assert found.ops.time_ps.tolist() == ruled.ops.time_ps.tolist()


def test_names_that_were_cut_to_the_same_letters_are_other_kernels(tmp_path: Path) -> None:
    """One of 69 % and one of 5 % were one of 74 %."""
    text = RULED.replace("void reduce<float>(int)", "sm80_xmma_gemm_tilesi…")
    found = read(tmp_path, text.replace("gemm_f16", "sm80_xmma_gemm_tilesi…"))
    assert found.ops.time_ps.tolist() == [26_500_000_000, 7_000_000_000]
    assert len(set(found.ops.name)) == 2


def test_a_table_behind_long_ones_of_the_host_is_found(tmp_path: Path) -> None:
    """`nsys stats` prints its tables of NVTX and of calls first."""
    ranges = "Time (%),Total Time (ns),Instances,Style,Range\n" + "1.0,2000,1,PushPop,:x\n" * 9_000
    assert len(ranges) > 1 << 17
    assert len(read(tmp_path, f"{ranges}\n{KERNELS}").ops) == 3


def test_units_and_encodings_of_the_writer(tmp_path: Path) -> None:
    text = f"{COLUMNS}\n0.1,0.05,4,8,1,1,128,1,1,16,0,0,,,,,NVIDIA A40 (0),1,,7,gemm\n"
    in_ms = text.replace("Start (ns),Duration (ns)", "Start (ms),Duration (ms)")
    profile = read(tmp_path, in_ms.encode("utf-16"))
    assert list(profile.ops.time_ps) == [50_000_000]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("100,50,4", "100,x,4", "“x” in row 1 is not a number of duration"),
        ("100,50,4", "100,-50,4", "-50 in row 1 is beyond any capture"),
        ("Duration (ns)", "Duration (furlongs)", "“furlongs” is not a unit of duration"),
        (",7,gemm", "", "row 1 of its table ends too early"),
    ],
)
def test_damage_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = f"{COLUMNS}\n100,50,4,8,1,1,128,1,1,16,0,0,,,,,NVIDIA A40 (0),1,,7,gemm\n"
    with pytest.raises(CorruptProfileError, match=said):
        read(tmp_path, text.replace(old, new))


def test_hostile_cells_read_or_are_told(tmp_path: Path) -> None:
    rng, told = np.random.default_rng(7), 0
    text = f"{COLUMNS}\n" + "\n".join(
        f"{k * 100},50,{k},8,1,1,128,1,1,16,0,0,,,,,NVIDIA A40 (0),1,,7,gemm_{k % 3}"
        for k in range(20)
    )
    for _ in range(200):
        raw = bytearray(text.encode())
        for at in rng.integers(len(COLUMNS), len(raw), 3):
            raw[at] = int(rng.integers(32, 127))
        path = tmp_path / "fuzzed.csv"
        path.write_bytes(raw)
        try:
            imported(path)
        except (CorruptProfileError, IncompleteProfileError):
            told += 1
    assert 0 < told < 200
