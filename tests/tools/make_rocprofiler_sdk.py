"""Results of rocprofv3, made up after its documented schema.

`python -m tests.tools.make_rocprofiler_sdk` writes the sample. No real file is in this
repository. Kernels, counters and times are invented: a copy of 2^20 doubles, and a product of two
bf16 matrices with 4096 rows and columns on the matrix unit.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SAMPLE = (
    Path(__file__).resolve().parents[2]
    / "sample_profiles"
    / "rocprofiler_sdk"
    / "mi300x_results.json"
)
GPU, CPU = 4, 1
GEMM, VCOPY = "Cijk_Ailk_Bljk_BBS_BH_MT256x256x64_MI16x16x1", "vcopy(double*, double*, int)"
KERNELS = {11: GEMM, 12: VCOPY}
COPY = "MEMORY_COPY_HOST_TO_DEVICE"
START = 317_095_766_765_717
# Counters as rocprofv3 derives them; 512 operations per MOPS, 64 lanes per instruction of a wave.
COUNTERS = {
    GEMM: {
        "SQ_INSTS_VALU_MFMA_MOPS_BF16": 2 * 4096**3 // 512,
        "SQ_INSTS_VALU_FMA_F32": 1_000,
        "TCC_EA0_RDREQ_sum": 1_048_576,
        "TCC_EA0_RDREQ_32B_sum": 0,
        "TCC_BUBBLE_sum": 0,
        "TCC_EA0_WRREQ_sum": 524_288,
        "TCC_EA0_WRREQ_64B_sum": 524_288,
    },
    VCOPY: {
        "SQ_INSTS_VALU_MFMA_MOPS_BF16": 0,
        "SQ_INSTS_VALU_FMA_F32": 0,
        "TCC_EA0_RDREQ_sum": 131_072,
        "TCC_EA0_RDREQ_32B_sum": 0,
        "TCC_BUBBLE_sum": 0,
        "TCC_EA0_WRREQ_sum": 131_072,
        "TCC_EA0_WRREQ_64B_sum": 131_072,
    },
}
# Kernel and time in ns, in order, with a pause of 2 us after each.
RUN = [(12, 8_000), (11, 210_000), (11, 190_000)]


def results(
    counters: Sequence[str] | None = None, *, traced: bool = True, instances: int = 1
) -> dict[str, Any]:
    """One file with these counters (all without a choice; none with an empty one)."""
    names = list(COUNTERS[GEMM]) if counters is None else list(counters)
    handles = {name: 100 + k for k, name in enumerate(names)}
    traces, counted, now = [], [], START
    for number, (kernel, lasts) in enumerate(RUN, 1):
        times = {"start_timestamp": now, "end_timestamp": now + lasts}
        info = _info(number, kernel)
        traces.append({"size": 128, "kind": 11, "operation": 1, **times, "dispatch_info": info})
        counted.append(_counted(info, times, COUNTERS[KERNELS[kernel]], handles, instances))
        now += lasts + 2_000
    tool = {
        "metadata": {"pid": 4711, "init_time": START - 10**6, "fini_time": now},
        "agents": _agents(),
        "counters": [
            {"agent_id": {"handle": GPU}, "id": {"handle": handle}, "name": name}
            for name, handle in handles.items()
        ],
        "strings": {"buffer_records": [*_kinds()]},
        "code_objects": [],
        "kernel_symbols": [
            {"kernel_id": number, "kernel_name": f"{name}.kd", "formatted_kernel_name": name}
            for number, name in KERNELS.items()
        ],
        "callback_records": {"counter_collection": counted if names else []},
        "buffer_records": {
            "kernel_dispatch": traces if traced else [],
            "memory_copy": [_copy(START - 50_000)] if traced else [],
        },
    }
    return {"rocprofiler-sdk-tool": [tool]}


def _info(number: int, kernel: int) -> dict[str, Any]:
    return {
        "agent_id": {"handle": GPU},
        "queue_id": {"handle": 1},
        "kernel_id": kernel,
        "dispatch_id": number,
        "workgroup_size": {"x": 256, "y": 1, "z": 1},
        "grid_size": {"x": 65_536, "y": 1, "z": 1},
    }


def _counted(
    info: Mapping[str, Any],
    times: Mapping[str, int],
    values: Mapping[str, int],
    handles: Mapping[str, int],
    instances: int,
) -> dict[str, Any]:
    """The counters of a dispatch; those of several instances add up to the value."""
    records = [
        {"counter_id": {"handle": handle}, "value": values[name] / instances}
        for name, handle in handles.items()
        for _ in range(instances)
    ]
    return {"dispatch_data": {"dispatch_info": info, **times}, "records": records}


def _agents() -> list[dict[str, Any]]:
    return [
        {"id": {"handle": CPU}, "type": 1, "name": "AMD EPYC 9654", "product_name": ""},
        {
            "id": {"handle": GPU},
            "type": 2,
            "name": "gfx942",
            "product_name": "AMD Instinct MI300X",
            "gfx_target_version": 90_402,
            "cu_count": 304,
            "max_engine_clk_fcompute": 2_100,
            "wave_front_size": 64,
        },
    ]


def _kinds() -> Sequence[dict[str, Any]]:
    names = [f"KIND_{k}" for k in range(12)]
    return [
        {"kind": name, "operations": ["NONE", COPY] if k == 10 else ["NONE", "DISPATCH"]}
        for k, name in enumerate(names)
    ]


def _copy(begin: int) -> dict[str, Any]:
    return {
        "kind": 10,
        "operation": 1,
        "start_timestamp": begin,
        "end_timestamp": begin + 40_000,
        "src_agent_id": {"handle": CPU},
        "dst_agent_id": {"handle": GPU},
        "bytes": 1_048_576,
    }


def main() -> None:
    """Write the sample."""
    SAMPLE.parent.mkdir(parents=True, exist_ok=True)
    SAMPLE.write_text(json.dumps(results(), indent=1) + "\n")


if __name__ == "__main__":
    main()
