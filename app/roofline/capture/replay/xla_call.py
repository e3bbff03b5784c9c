"""Runs one instruction of a compiled program alone, and times it with warm and cold caches.

JAX is all that it needs. `CALL` says what is run; its `module` is a compressed HloModuleProto,
whose text is the comment above it.
"""

import base64
import contextlib
import gzip
import json
import math
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# fmt: off
CALL: Any = None  # roofline writes the call here
# fmt: on

DTYPES = {
    "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2fnuz": "float8_e5m2fnuz", "s4": "int4", "u4": "uint4",
}  # fmt: skip
WARM_UP_S, WARM_UP_CALLS = 0.5, 20
BATCH_S, BATCHES, MOST_S = 0.002, 20, 10.0


class RefusedError(Exception):
    """The instruction is not run, and this is why."""


def xla_of() -> tuple[Any, Any]:
    """The parts of jaxlib that read and compile programs; their places change between versions."""
    import jaxlib

    try:
        from jaxlib import _hlo, _jax

        return _hlo.XlaComputation, _jax
    except ImportError:
        pass
    try:
        from jax._src.lib import xla_client

        return xla_client._xla.XlaComputation, xla_client._xla
    except (ImportError, AttributeError) as error:
        version = getattr(jaxlib, "__version__", "?")
        raise RefusedError(
            f"jaxlib {version} compiles programs in a way that is not known."
        ) from error


def compiled(module: bytes, device: Any) -> Any:
    """The program for `device`, with the compiler's own choices."""
    computation_of, xla = xla_of()
    program = xla.mlir.xla_computation_to_mlir_module(computation_of(module))
    devices = xla.DeviceList((device,))
    return device.client.compile_and_load(program, devices, xla.CompileOptions())


def filled(inputs: list[tuple[str, list[int]]], generator: Any) -> list[Any]:
    """Operands: numbers as a program has them; whole ones are 0 or 1."""
    import numpy as np
    from jax import numpy as jnp

    made = []
    for kind, dims in inputs:
        if kind not in DTYPES:
            raise RefusedError(f"It reads {kind}, which JAX has no type for.")
        if kind == "pred" or kind[0] in "su":
            values = generator.integers(0, 2, dims)
        else:
            values = generator.standard_normal(dims, np.float32) * 0.02
        made.append(np.asarray(values).astype(jnp.dtype(DTYPES[kind])))
    return made


def measured(run: Callable[[int], float]) -> dict[str, float]:
    """Median, least and interquartile range of batches of calls, in us."""
    begin, done = time.perf_counter(), 0
    while done < WARM_UP_CALLS and time.perf_counter() - begin < WARM_UP_S:
        run(1)
        done += 1
    once = max(min(run(1) for _ in range(3)), 1e-9)
    calls = max(1, min(10_000, math.ceil(BATCH_S / once)))
    found: list[float] = []
    begin = time.perf_counter()
    while len(found) < BATCHES and (len(found) < 3 or time.perf_counter() - begin < MOST_S):
        found.append(run(calls) * 1e6)
    low, _, high = statistics.quantiles(found, n=4)
    return {
        "median_us": statistics.median(found),
        "least_us": min(found),
        "iqr_us": high - low,
        "batches": len(found),
        "calls": calls,
    }


def timed(program: Any, sets: list[list[Any]]) -> Callable[[int], float]:
    """A function that runs so many calls on `sets` in turn, and returns the seconds of one."""
    turn = [0]

    def run(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            given = sets[turn[0]]
            turn[0] = (turn[0] + 1) % len(sets)
            result = program.execute(given)
        for one in result:
            one.block_until_ready()
        return (time.perf_counter() - begin) / calls

    return run


def free_bytes(device: Any) -> int:
    """Memory that is free on the device."""
    stats = device.memory_stats() if device.platform != "cpu" else None
    if stats and "bytes_limit" in stats:
        return int(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 2**31


def cache_bytes(device: Any) -> int:
    """The last cache before memory, at least."""
    sizes = [2**25 if device.platform == "cpu" else 2**27]
    for level in ("2", "3") if device.platform == "cpu" else ():
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size") as file,
        ):
            text = file.read().strip()
            sizes.append(int(text[:-1]) * {"K": 2**10, "M": 2**20, "G": 2**30}[text[-1]])
    return max(sizes)


def device_name(device: Any) -> str:
    """As its maker calls it."""
    if device.platform != "cpu":
        return str(device.device_kind)
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def instructions_in(program: Any) -> int | None:
    """How many instructions of the compiled entry compute something."""
    with contextlib.suppress(Exception):
        text = program.hlo_modules()[0].to_string()
        entry = text[text.index("\nENTRY ") :].partition("\n}")[0].splitlines()[1:]
        idle = re.compile(r"= \S+ (?:parameter|tuple|get-tuple-element|constant|bitcast)\(")
        return sum(1 for line in entry if " = " in line and not idle.search(line))
    return None


def replayed(call: dict[str, Any], platform_name: str | None = None) -> dict[str, Any]:
    """The instruction's time alone, as a document."""
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    device = jax.devices(platform_name)[0]
    module = gzip.decompress(base64.b64decode(call["module"]))
    needed = 2 * sum(8 * math.prod(dims) for _, dims in call["inputs"])
    free = free_bytes(device)
    if needed > 0.8 * free:
        raise RefusedError(
            f"It needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free here."
        )
    program = compiled(module, device)
    generator = np.random.default_rng(0)
    first = filled(call["inputs"], generator)

    def on_device() -> list[Any]:
        return [jax.device_put(one, device) for one in first]

    operands = on_device()
    result = [np.asarray(one) for one in program.execute(operands)]
    floats = [one.astype(np.float64) for one in result if one.dtype.kind == "f" and one.size]
    largest = max((float(np.abs(one).max()) for one in floats), default=None)
    warm = measured(timed(program, [operands]))
    size = sum(one.nbytes for one in first)
    copies = min(
        math.ceil(4 * cache_bytes(device) / max(size, 1)), int(free / 4 / max(size, 1)), 4096
    )
    cold = None
    if size and copies >= 2:
        cold = measured(timed(program, [operands] + [on_device() for _ in range(copies - 1)]))
    elif size:
        cold = warm  # its operands are larger than the caches, or memory holds them once
    count = instructions_in(program)
    return {
        "schema": "roofline.replay/1",
        "op_id": call["op_id"],
        "op": call["name"],
        "label": call["label"],
        "device": device_name(device),
        "framework": f"jax {jax.__version__}",
        "threads": None,
        "captured_us": call["captured_us"],
        "warm": warm,
        "cold": cold,
        "clock_mhz": None,
        "max_abs": largest if largest is None or math.isfinite(largest) else None,
        "compiled": count,
        "notes": call["notes"],
        "profile_digest": call["profile_digest"],
    }


def main() -> None:
    """Measure `CALL`, on the platform that is named, or on JAX's first."""
    try:
        found = replayed(CALL, *sys.argv[1:2])
    except (RefusedError, RuntimeError, MemoryError, ValueError) as reason:
        sys.exit(f"{CALL['name']} was not replayed: {str(reason).splitlines()[0]}")
    print(json.dumps(found))
    times = f"alone {found['warm']['median_us']:.1f} us warm"
    if found["cold"]:
        times += f", {found['cold']['median_us']:.1f} us with cold caches"
    captured = found["captured_us"]
    told = f"{captured:.1f} us in the program; " if captured else ""
    sys.stderr.write(f"{found['label']}: {told}{times}, on {found['device']}.\n")
    if found["compiled"] and found["compiled"] > 1:
        sys.stderr.write(f"The compiler made {found['compiled']} instructions of it.\n")


if __name__ == "__main__":
    main()
