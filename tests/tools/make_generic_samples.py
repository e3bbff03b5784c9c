"""Generates `sample_profiles/generic` again: `python -m tests.tools.make_generic_samples`.

A CSV of a CFD code's loops on a CPU, as a German spreadsheet saves it, and a JSON document of one
attention layer on a GPU with its roofs.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles" / "generic"

# name, calls, seconds, GFLOP, bytes from memory, bytes from L2
CPU_LOOPS = (
    ("advect_flux", 400, 9.84, 812.4, 1.31e12, 2.2e12),
    ("pressure_jacobi", 1200, 14.02, 1044.0, 2.35e12, 3.9e12),
    ("divergence", 400, 2.11, 96.5, 3.41e11, 4.0e11),
    ("equation_of_state", 400, 3.57, 1710.0, 1.92e11, 2.5e11),
    ("boundary_exchange", 400, 0.88, 0.0, 2.6e10, 2.6e10),
    ("residual_norm", 1200, 0.91, 41.2, 1.6e11, 1.7e11),
)

# name, precision, microseconds, FLOP, HBM bytes, L2 bytes
SEQUENCE, WIDTH, BATCH = 4096, 4096, 2
PROJECTION = 2 * BATCH * SEQUENCE * WIDTH * WIDTH
SCORES = 2 * BATCH * SEQUENCE * SEQUENCE * WIDTH
ACTIVATION = 2 * BATCH * SEQUENCE * WIDTH
GPU_KERNELS = (
    ("qkv_projection", "bf16", 1430.0, 3 * PROJECTION, 4 * ACTIVATION + 6 * WIDTH**2, 1.9e9),
    ("flash_attention", "bf16", 1105.0, 2 * SCORES, 4 * ACTIVATION, 2.6e9),
    ("out_projection", "bf16", 492.0, PROJECTION, 2 * ACTIVATION + 2 * WIDTH**2, 8.1e8),
    ("rms_norm", "fp32", 62.5, 4 * ACTIVATION, 2 * ACTIVATION, 3.0e8),
    ("residual_add", "fp32", 88.0, ACTIVATION // 2, 3 * ACTIVATION, 4.1e8),
    ("rotary_embedding", "fp32", 131.0, 6 * ACTIVATION, 4 * ACTIVATION, 5.6e8),
)


def main() -> None:
    """Write all samples in place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "cfd-cpu.csv").write_text(cpu_csv(), encoding="utf-8")
    (FOLDER / "attention-h100.json").write_text(gpu_json(), encoding="utf-8")


def german(value: float) -> str:
    """A number with a decimal comma and grouped thousands."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def cpu_csv() -> str:
    """The loops, each number in the unit of its column."""
    lines = [
        "# device: Dual-socket server CPU",
        "# peak_fp64: 3.1 TFLOP/s",
        "# peak_dram: 380 GB/s",
        "# peak_l2: 4.2 TB/s",
        "Region;Calls;Elapsed [ms];GFLOP;precision;DRAM bytes [MB];L2 bytes [MB]",
    ]
    for name, calls, seconds, gflop, dram, l2 in CPU_LOOPS:
        cells = (german(seconds * 1e3), german(gflop), "fp64", german(dram / 1e6), german(l2 / 1e6))
        lines.append(";".join((name, str(calls), *cells)))
    return "\n".join(lines) + "\n"


def gpu_json() -> str:
    """The layer's kernels."""
    kernels = [
        {
            "name": name,
            "calls": 1,
            "time": {"value": us, "unit": "us"},
            "flops": {precision: flop},
            "bytes": {"hbm": hbm, "l2": int(l2)},
            "category": "matrix product" if precision == "bf16" else "elementwise",
        }
        for name, precision, us, flop, hbm, l2 in GPU_KERNELS
    ]
    document = {
        "schema": "roofline-generic/1",
        "device": {"name": "NVIDIA H100 SXM5 80GB", "count": 1},
        "roofs": {
            "compute": [
                {"name": "BF16 tensor", "precision": "bf16", "value": 989.4, "unit": "TFLOP/s"},
                {"name": "FP32", "precision": "fp32", "value": 66.9, "unit": "TFLOP/s"},
            ],
            "memory": [
                {"level": "hbm", "name": "HBM3", "value": 3352, "unit": "GB/s"},
                {"level": "l2", "value": 5500, "unit": "GB/s", "kind": "measured"},
            ],
        },
        "kernels": kernels,
    }
    return json.dumps(document, indent=1) + "\n"


if __name__ == "__main__":
    main()
