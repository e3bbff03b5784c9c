"""Generates `sample_profiles/rocprof_compute` again: `python -m tests.tools.make_rocprof_folder`.

A made-up solver on one MI250X die: a matrix product on the matrix unit, a stencil and a reduction
on the vector unit. Counters follow from the work that each kernel is given here.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles" / "rocprof_compute"
NAME = "mi250x-solver"
LANES, MOPS = 64, 512

SYSTEM = {
    "workload_name": "solver",
    "command": "./solver --size 4096",
    "timestamp": '"Mon 02 Jun 2025 10:12:31 AM (UTC)"',
    "version": "2",
    "hostname": "node-a",
    "rocm_version": "6.2.0",
    "gpu_model": "MI200",
    "gpu_arch": "gfx90a",
    "gpu_l1": "16",
    "gpu_l2": "8192",
    "cu_per_gpu": "110",
    "max_sclk": "1700",
    "max_mclk": "1600",
    "lds_banks_per_cu": "32",
    "hbm_bw": "1638.4",
    "num_xcd": "1",
}
ROOFS = {
    "HBMBw": 1361.5,
    "L2Bw": 4980.0,
    "L1Bw": 9310.0,
    "LDSBw": 18150.0,
    "FP32Flops": 21200.0,
    "FP64Flops": 20600.0,
    "MFMABF16Flops": 168000.0,
    "MFMAF16Flops": 163500.0,
    "MFMAF32Flops": 41300.0,
    "MFMAF64Flops": 41350.0,
    "MFMAI8Ops": 165000.0,
}


@dataclass(frozen=True)
class Kernel:
    """What one launch does: instructions of whole waves, matrix operations, bytes, time."""

    name: str
    ns: int
    read_bytes: int
    write_bytes: int
    cache_factor: int
    lds_cycles: int = 0
    valu: Mapping[str, int] = field(default_factory=dict)
    mops: Mapping[str, int] = field(default_factory=dict)


GEMM = Kernel(
    name="Cijk_Ailk_Bljk_HHS_BH_MT128x128x32 [clone .kd]",
    ns=1_104_320,
    read_bytes=201_326_592,
    write_bytes=33_554_432,
    cache_factor=6,
    lds_cycles=67_108_864,
    valu={"FMA_F32": 131_072},
    mops={"F16": 2 * 4096**3 // MOPS},
)
STENCIL = Kernel(
    name="void stencil7<double, 4>(double const*, double*, int, int, int) [clone .kd]",
    ns=912_640,
    read_bytes=574_619_648,
    write_bytes=536_870_912,
    cache_factor=3,
    valu={"ADD_F64": 6_291_456, "FMA_F64": 1_048_576},
)
REDUCE = Kernel(
    name="reduce_norm(float const*, float*, int) (.kd)",
    ns=118_400,
    read_bytes=134_217_728,
    write_bytes=4_096,
    cache_factor=1,
    lds_cycles=131_072,
    valu={"ADD_F32": 524_288, "MUL_F32": 524_288, "TRANS_F32": 1},
)
LAUNCHES = (GEMM, STENCIL, REDUCE, STENCIL, REDUCE, GEMM, STENCIL, REDUCE)


def main() -> None:
    """Write the folder in place."""
    (FOLDER / NAME).mkdir(parents=True, exist_ok=True)
    for file, content in workload().items():
        (FOLDER / NAME / file).write_text(content, encoding="utf-8")


def workload(launches: Sequence[Kernel] = LAUNCHES) -> dict[str, str]:
    """The files of a workload by name."""
    rows = [dispatch(number, kernel) for number, kernel in enumerate(launches)]
    return {
        "sysinfo.csv": table([SYSTEM]),
        "roofline.csv": table([roofs(device) for device in range(2)]),
        "pmc_perf.csv": table(rows),
        "pmc_dispatch_info.csv": table(
            [{key: row[key] for key in ("Dispatch_ID", "Kernel_Name", "GPU_ID")} for row in rows]
        ),
    }


def roofs(device: int) -> dict[str, str]:
    """A row of `roofline.csv`, with the spelling slips of the real one."""
    row = {"device": str(device)}
    for name, value in ROOFS.items():
        mean = value * (1 + 0.002 * device)
        row[name] = f"{mean:.2f}"
        row[f"{name}Low".replace("I8OpsLow", "FI8OpsLow")] = f"{mean * 0.999:.2f}"
        row[f"{name}High".replace("HBMBwHigh", "hbmBwHigh")] = f"{mean * 1.001:.2f}"
    return row


def dispatch(number: int, kernel: Kernel) -> dict[str, str]:
    """A row of `pmc_perf.csv` of an MI200."""
    begin = 1_411_551_767_635_712 + number * 20_000_000
    cached = kernel.cache_factor * (kernel.read_bytes + kernel.write_bytes)
    counters = {
        "SQ_WAVES": 65_536,
        "TCC_EA_RDREQ_sum": kernel.read_bytes // 64,
        "TCC_EA_RDREQ_32B_sum": 0,
        "TCC_EA_WRREQ_sum": kernel.write_bytes // 64,
        "TCC_EA_WRREQ_64B_sum": kernel.write_bytes // 64,
        "TCP_TCC_READ_REQ_sum": 2 * kernel.read_bytes // 64,
        "TCP_TCC_WRITE_REQ_sum": kernel.write_bytes // 64,
        "TCP_TCC_ATOMIC_WITH_RET_REQ_sum": 0,
        "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum": 0,
        "TCP_TOTAL_CACHE_ACCESSES_sum": cached // 64,
        "SQ_LDS_IDX_ACTIVE": kernel.lds_cycles,
        "SQ_LDS_BANK_CONFLICT": 0,
    }
    for precision in ("F16", "F32", "F64"):
        for kind in ("ADD", "MUL", "FMA", "TRANS"):
            count = dict(kernel.valu).get(f"{kind}_{precision}", 0)
            counters[f"SQ_INSTS_VALU_{kind}_{precision}"] = count
    for precision in ("I8", "F16", "BF16", "F32", "F64"):
        count = dict(kernel.mops).get(precision, 0)
        counters[f"SQ_INSTS_VALU_MFMA_MOPS_{precision}"] = count
    return {
        "Dispatch_ID": str(number),
        "Kernel_Name": kernel.name,
        "GPU_ID": "4",
        "Grid_Size": "16777216",
        "Workgroup_Size": "256",
        "LDS_Per_Workgroup": "0",
        "wave_size": "64",
        **{name: str(value) for name, value in counters.items()},
        "wave_size_1": "64",
        "Start_Timestamp": str(begin),
        "End_Timestamp": str(begin + kernel.ns),
    }


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as CSV, as pandas writes them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


if __name__ == "__main__":
    main()
