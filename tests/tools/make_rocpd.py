"""A small database of rocprofv3 (rocpd, schema 3), made up: one process, one of two agents a GPU.

A kernel ran three times, idle before the last one; a copy from the host came first. Times are ns.
Run `python -m tests.tools.make_rocpd` to write the sample again.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_profiles" / "rocprofiler_sdk" / "mi300x-times_results.db"
UUID = "_00001234_5678_9abc"
KERNEL = "batched_gemm(float*)"
BEGIN = 1_000_000
COPY_NS, KERNEL_NS, GAP_NS, IDLE_NS = 400_000, 200_000, 5_000, 600_000
COPY_BYTES = 20_000_000

Rows = Sequence[Sequence[object]]
_GPU = {"cu_count": 304, "max_engine_clk_fcompute": 2100, "num_xcc": 8, "max_waves_per_cu": 32}


def tables(uuid: str = UUID, pid: int = 42) -> dict[str, tuple[str, Rows]]:
    """The columns and rows of each table, by its name."""
    first = BEGIN + COPY_NS + GAP_NS
    second = first + KERNEL_NS + GAP_NS
    third = second + KERNEL_NS + IDLE_NS
    spans = [(begin, begin + KERNEL_NS) for begin in (first, second, third)]
    content: Mapping[str, tuple[str, Rows]] = {
        "string": ("id, string", [(1, "MEMORY_COPY_HOST_TO_DEVICE"), (2, "hipLaunchKernel")]),
        "info_process": (
            "id, pid, command, environment",
            [(1, 42, "./app --key hunter2", '{"KEY": "hunter2"}')],
        ),
        "info_agent": (
            "id, type, name, product_name, user_name, extdata",
            [
                (0, "CPU", "a CPU", "a CPU", "a CPU", "{}"),
                (1, "GPU", "gfx942", "AMD Instinct MI300X", "", json.dumps(_GPU)),
                (2, "GPU", "gfx942", "AMD Instinct MI300X", "", json.dumps(_GPU)),
            ],
        ),
        "info_kernel_symbol": (
            "id, kernel_name, display_name, extdata",
            [(7, "_Z12batched_gemm.kd", KERNEL, "{}")],
        ),
        "event": (
            "id, stack_id, correlation_id",
            [(k, 100 + k % 10, 0) for k in (1, 2, 3, 11, 12, 13)],
        ),
        "region": (
            "id, tid, start, end, name_id, event_id",
            # The first two were launched ahead, the last one 100 us before it ran.
            [
                (1, 42, 10, 20, 2, 11),
                (2, 42, 30, 40, 2, 12),
                (3, 42, third - 100_000, third, 2, 13),
            ],
        ),
        "kernel_dispatch": (
            "id, pid, tid, agent_id, kernel_id, dispatch_id, start, end, workgroup_size_x,"
            " workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id",
            [
                (k, pid, pid, 1, 7, k, begin, end, 256, 1, 1, 262_144, 1, 1, k)
                for k, (begin, end) in enumerate(spans, 1)
            ],
        ),
        "memory_copy": (
            "id, pid, start, end, name_id, src_agent_id, dst_agent_id, size",
            [(1, 42, BEGIN, BEGIN + COPY_NS, 1, 0, 1, COPY_BYTES)],
        ),
    }
    return {f"rocpd_{name}{uuid}": of for name, of in content.items()}


def write(path: Path, *uuids: str) -> None:
    """Write a database with the tables of one process, or of one per UUID."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 1024")
        for pid, uuid in enumerate(uuids or (UUID,), 42):
            for name, (columns, rows) in tables(uuid, pid).items():
                connection.execute(f"CREATE TABLE {name} ({columns})")
                places = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
        connection.execute(f"CREATE VIEW kernels AS SELECT * FROM rocpd_kernel_dispatch{UUID}")
        connection.commit()


if __name__ == "__main__":
    write(SAMPLE)
