"""A program on an A100, made up, as two profilers see it.

Nsight Systems says when its kernels ran, Nsight Compute what five launches of each did. Run
`python -m tests.tools.make_joined_sample` to write the sample again.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import Kernel

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles/nsight_systems/a100-counted"
US = 1_000
GEMM, SCALE, REST = "void gemm<(int)128, bf16>(float *)", "scale(float *)", "rest(int)"
LASTED = {GEMM: 20 * US, SCALE: 10 * US, REST: 30 * US}


def export(path: Path, kernels: Sequence[str], *, grid: int = 64) -> Path:
    """An export of Nsight Systems: these kernels one after the other, two to a step."""
    names = list(dict.fromkeys([*kernels, "step", "cudaLaunchKernel"]))
    with closing(sqlite3.connect(path)) as connection:
        run = connection.execute
        run("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        run(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, globalPid,"
            " correlationId, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ)"
        )
        run(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME"
            " (start, end, globalTid, correlationId, nameId)"
        )
        run("CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text, textId)")
        connection.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names))
        at = 0
        for k, name in enumerate(kernels):
            ends = at + LASTED[name]
            row = (
                at,
                ends,
                0,
                1 << 24,
                k + 1,
                names.index(name),
                names.index(name),
                grid,
                1,
                1,
                128,
                1,
                1,
            )
            run(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * 13)})", row)
            call = (at, at + 1, 1 << 24 | 7, k + 1, names.index("cudaLaunchKernel"))
            run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)", call)
            if k % 2 == 0:
                step = (at, at + LASTED[name] + 5 * US, 59, 1 << 24 | 7, f"step {k // 2}", None)
                run("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?)", step)
            at = ends + US
        connection.commit()
    return path


def counted(name: str, k: int, grid: tuple[int, int, int] = (64, 1, 1)) -> Kernel:
    return Kernel(
        name=name,
        time_ns=LASTED[name],
        grid=grid,
        block=(128, 1, 1),
        instructions={"ffma": 1_000_000, "fadd": 0, "fmul": 0},
        dram_bytes=1_000_000 + 100_000 * k,
    )


def main() -> None:
    """Write the sample in place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "program.sqlite").unlink(missing_ok=True)
    export(FOLDER / "program.sqlite", [GEMM, SCALE] * 6 + [REST, REST])
    report = [counted(name, k) for name in (GEMM, SCALE) for k in range(5)]
    (FOLDER / "report.csv").write_text(ncu.raw_page(report), "utf-8")


if __name__ == "__main__":
    main()
