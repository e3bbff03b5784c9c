"""Measures what an accelerator reaches: products by type, memory, caches, links.

PyTorch, or JAX, is all that it needs; nothing is compiled by hand. Prints one JSON object.
"""

import argparse
import contextlib
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

MIB, GIB = 2**20, 2**30
SIZES = (1024, 2048, 4096, 8192, 16384)
BESIDE = 128
LEAST_BATCH_S, BATCHES = 0.005, 20
REST_S, WORK_S = 10.0, 20.0
QUICK = 0.1
MOST_BYTES = 8 * GIB
LINK_BYTES = GIB
LAUNCHES = 1000
PLATEAU, NEIGHBOURS = 0.1, 3
DISTURBED = 0.1
# What is measured, and the type of each product.
PRODUCTS = {
    "matrix_bf16": "bfloat16", "matrix_fp16": "float16", "matrix_tf32": "tf32",
    "matrix_fp8": "float8_e4m3fn", "matrix_int8": "int8", "vector_fp32": "float32",
    "vector_fp64": "float64",
}  # fmt: skip
KEYS = (*PRODUCTS, "hbm", "l2", "link", "pcie", "launch_us")

Run = Callable[[int], float]
"""Runs so many times, and returns the seconds of all of them."""


class MissingError(Exception):
    """The library or the device cannot do this."""


class Torch:
    """PyTorch on a CUDA, ROCm or XPU device, or on the processor."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device)
        self.library = f"torch {torch.__version__}"
        self._of: Any = getattr(torch, self.device.type) if self.device.type != "cpu" else None

    @staticmethod
    def devices() -> list[str]:
        """The accelerators, one of each kind."""
        import torch

        found = ["cuda:0"] if torch.cuda.is_available() else []
        return found + (["xpu:0"] if hasattr(torch, "xpu") and torch.xpu.is_available() else [])

    @property
    def count(self) -> int:
        """Devices of this kind."""
        return 1 if self._of is None else int(self._of.device_count())

    @property
    def name(self) -> str:
        """As the driver calls it."""
        return "CPU" if self._of is None else str(self._of.get_device_name(self.device))

    @property
    def memory_bytes(self) -> int:
        """All of its memory; 0 where it is not known."""
        if self._of is None:
            return 0
        return int(self._of.get_device_properties(self.device).total_memory)

    @property
    def free_bytes(self) -> int:
        """The memory that nothing holds."""
        return GIB if self._of is None else int(self._of.mem_get_info(self.device)[0])

    @property
    def cache_bytes(self) -> int:
        """The last cache before memory; 0 where it is not known."""
        if self._of is None:
            return 32 * MIB
        return int(getattr(self._of.get_device_properties(self.device), "L2_cache_size", 0))

    def timed(self, call: Callable[[], Any]) -> Run:
        """`call` in batches: between two events of the device, or by the host's clock."""

        def run(times: int) -> float:
            if self._of is None:
                started = time.perf_counter()
                for _ in range(times):
                    call()
                return time.perf_counter() - started
            begin, end = (self._of.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(times):
                call()
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) / 1e3

        return run

    def product(self, kind: str, n: int, transposed: tuple[bool, bool] = (False, False)) -> Run:
        """C = A·B of n × n, of random numbers: zeros draw less power, and are faster."""
        torch = self.torch
        dtype = torch.float32 if kind == "tf32" else getattr(torch, kind)
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        if kind == "int8":
            a, b = (torch.randint(-9, 9, (n, n), device=self.device).to(dtype) for _ in range(2))
            return self.timed(lambda: torch._int_mm(a, b))
        drawn = torch.float32 if kind.startswith("float8") else dtype
        a, b = (torch.randn(n, n, dtype=drawn, device=self.device) * 0.02 for _ in range(2))
        if kind.startswith("float8"):
            one = torch.ones((), device=self.device)
            a, b = a.to(dtype), b.to(dtype).t()
            return self.timed(
                lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
            )
        a, b = (x.t() if flip else x for x, flip in zip((a, b), transposed, strict=True))
        out = torch.empty(n, n, dtype=dtype, device=self.device)
        return self.timed(lambda: torch.mm(a, b, out=out))

    def moves(self, size: int) -> dict[str, tuple[Run, int]]:
        """Copy, triad and read of arrays of `size` bytes each, and the bytes that they move."""
        torch, count = self.torch, size // 4
        a, b, c = (torch.randn(count, device=self.device) for _ in range(3))
        rows = a[: count // 1024 * 1024].view(-1, 1024)
        return {
            "copy": (self.timed(lambda: a.copy_(b)), 8 * count),
            "triad": (self.timed(lambda: torch.add(b, c, alpha=3.0, out=a)), 12 * count),
            "read": (self.timed(lambda: rows.sum(1)), 4 * rows.numel()),
        }

    def link(self, one: int, other: int) -> Run:
        """A copy of `LINK_BYTES` from one device to another."""
        torch, kind = self.torch, self.device.type
        a = torch.empty(LINK_BYTES, dtype=torch.uint8, device=f"{kind}:{one}")
        b = torch.empty(LINK_BYTES, dtype=torch.uint8, device=f"{kind}:{other}")
        return self._waited(lambda: b.copy_(a), one, other)

    def pcie(self, *, to_device: bool) -> Run:
        """A copy of `LINK_BYTES` between pinned memory of the host and the device."""
        if self._of is None:
            raise MissingError("the processor is the host")
        torch = self.torch
        there = torch.empty(LINK_BYTES, dtype=torch.uint8, device=self.device)
        here = torch.empty(LINK_BYTES, dtype=torch.uint8, pin_memory=True)
        a, b = (there, here) if to_device else (here, there)
        return self.timed(lambda: a.copy_(b, non_blocking=True))

    def _waited(self, call: Callable[[], Any], *devices: int) -> Run:
        def wait() -> None:
            for device in devices if self._of is not None else ():
                self._of.synchronize(device)

        def run(times: int) -> float:
            wait()
            started = time.perf_counter()
            for _ in range(times):
                call()
            wait()
            return time.perf_counter() - started

        return run

    def launches(self) -> Run:
        """Kernels on one element, by the host's clock."""
        one = self.torch.zeros(1, device=self.device)

        def run(times: int) -> float:
            started = time.perf_counter()
            for _ in range(times):
                one.add_(1)
            lasted = time.perf_counter() - started
            if self._of is not None:
                self._of.synchronize()
            return lasted

        return run


class Jax:
    """JAX on a TPU or a GPU, or on the processor."""

    def __init__(self, device: str) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        platform, _, number = device.partition(":")
        self.device = jax.devices(platform)[int(number or 0)]
        self.library = f"jax {jax.__version__}"
        self.cache_bytes = 32 * MIB if platform == "cpu" else 0

    @staticmethod
    def devices() -> list[str]:
        """The accelerators, one of each kind."""
        import jax

        return [
            f"{one}:0" for one in dict.fromkeys(d.platform for d in jax.devices()) if one != "cpu"
        ]

    @property
    def count(self) -> int:
        """Devices of this kind."""
        return len(self.jax.devices(self.device.platform))

    @property
    def name(self) -> str:
        """As the driver calls it."""
        return "CPU" if self.device.platform == "cpu" else str(self.device.device_kind)

    @property
    def memory_bytes(self) -> int:
        """All of its memory; 0 where it is not known."""
        return int((self.device.memory_stats() or {}).get("bytes_limit", 0))

    @property
    def free_bytes(self) -> int:
        """The memory that nothing holds."""
        stats = self.device.memory_stats() or {}
        return int(stats.get("bytes_limit", GIB) - stats.get("bytes_in_use", 0))

    def _random(self, shape: tuple[int, ...], kind: str) -> Any:
        numpy = self.jax.numpy
        key = self.jax.random.key(0)
        if kind == "int8":
            made = self.jax.random.randint(key, shape, -9, 9, numpy.int8)
        else:
            made = (self.jax.random.normal(key, shape, numpy.float32) * 0.02).astype(kind)
        return self.jax.device_put(made, self.device)

    def timed(self, call: Callable[..., Any], *operands: Any) -> Run:
        """`call` compiled, in batches; the last result is waited for."""
        compiled = self.jax.jit(call)
        compiled(*operands).block_until_ready()

        def run(times: int) -> float:
            started = time.perf_counter()
            for _ in range(times):
                result = compiled(*operands)
            result.block_until_ready()
            return time.perf_counter() - started

        return run

    def product(self, kind: str, n: int, transposed: tuple[bool, bool] = (False, False)) -> Run:
        """C = A·B of n × n, of random numbers: zeros draw less power, and are faster."""
        lax = self.jax.lax
        if kind == "tf32" and self.device.platform != "gpu":
            raise MissingError("only GPUs have TF32")
        precise = lax.DotAlgorithmPreset.TF32_TF32_F32 if kind == "tf32" else lax.Precision.HIGHEST
        dtype = "float32" if kind == "tf32" else kind
        a, b = self._random((n, n), dtype), self._random((n, n), dtype)
        axes = tuple((int(not flip) if k == 0 else int(flip),) for k, flip in enumerate(transposed))
        wide = {"int8": "int32", "float8_e4m3fn": "bfloat16"}.get(kind, dtype)
        return self.timed(
            lambda x, y: lax.dot_general(
                x,
                y,
                (axes, ((), ())),
                precision=precise if dtype == "float32" else None,
                preferred_element_type=wide,
            ),
            a,
            b,
        )

    def moves(self, size: int) -> dict[str, tuple[Run, int]]:
        """Copy, triad and read of arrays of `size` bytes each, and the bytes that they move."""
        count = size // 4 // 1024 * 1024
        b, c = self._random((count,), "float32"), self._random((count,), "float32")
        rows = b.reshape(-1, 1024)
        return {
            "copy": (self.timed(lambda x: x * 1.5, b), 8 * count),
            "triad": (self.timed(lambda x, y: x + 3.0 * y, b, c), 12 * count),
            "read": (self.timed(lambda x: x.sum(1), rows), 4 * count),
        }

    def link(self, one: int, other: int) -> Run:
        """A copy of `LINK_BYTES` from one device to another."""
        devices = self.jax.devices(self.device.platform)
        a = self.jax.device_put(self.jax.numpy.zeros(LINK_BYTES, "uint8"), devices[one])
        return self._put(a, devices[other])

    def pcie(self, *, to_device: bool) -> Run:
        """A copy of `LINK_BYTES` between memory of the host and the device."""
        if self.device.platform == "cpu":
            raise MissingError("the processor is the host")
        host = self.jax.devices("cpu")[0]
        a = self.jax.numpy.zeros(LINK_BYTES, "uint8")
        return self._put(
            self.jax.device_put(a, host if to_device else self.device),
            self.device if to_device else host,
        )

    def _put(self, array: Any, device: Any) -> Run:
        def run(times: int) -> float:
            started = time.perf_counter()
            for _ in range(times):
                self.jax.device_put(array, device).block_until_ready()
            return time.perf_counter() - started

        return run

    def launches(self) -> Run:
        """Programs on one element, by the host's clock."""
        return self.timed(lambda x: x + 1, self._random((1,), "float32"))


# -------------------------------------------------------------------------------------- measuring


class Meter:
    """Times runs: how much they are worth at once (`burst`), and while they go on (`sustained`)."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
        effort: float = 1.0,
    ) -> None:
        self._clock, self._rest, self._effort = clock, rest, effort

    def least(self, run: Run) -> float:
        """The seconds of one call, at best of a few batches."""
        calls = self._calls(run)
        return min(run(calls) for _ in range(3)) / calls

    def rates(self, run: Run, work: float) -> dict[str, Any]:
        """Work per second: the least of `BATCHES` after a rest, and the median of the last third
        of `WORK_S`; `spread` is half the range of the batches over their median."""
        calls = self._calls(run)
        self._rest(REST_S * self._effort)
        batches = sorted(run(calls) / calls for _ in range(BATCHES))
        later: list[float] = []
        begin = self._clock()
        while (since := self._clock() - begin) < WORK_S * self._effort or not later:
            lasted = run(calls) / calls
            if since >= WORK_S * self._effort * 2 / 3 or not later:
                later.append(lasted)
        counted = batches[: BATCHES // 2]
        return {
            "burst": work / batches[0],
            "sustained": work / statistics.median(later[-max(1, len(later) - 1) :]),
            "spread": (counted[-1] - counted[0]) / 2 / statistics.median(counted),
        }

    def _calls(self, run: Run) -> int:
        run(1)
        once = max(min(run(1) for _ in range(3)), 1e-9)
        return max(1, min(100_000, int(LEAST_BATCH_S / once) + 1))


def product_rates(backend: Any, meter: Meter, key: str) -> dict[str, Any]:
    """The best of all sizes that fit, of those beside it, and of the four transpositions."""
    kind, found = PRODUCTS[key], {}

    def try_one(n: int, flips: tuple[bool, bool]) -> None:
        if 24 * n * n > backend.free_bytes or (n, flips) in found:
            return
        with contextlib.suppress(RuntimeError, TypeError, NotImplementedError, ValueError):
            found[n, flips] = 2 * n**3 / meter.least(backend.product(kind, n, flips))

    for n in SIZES:
        try_one(n, (False, False))
    if not found:
        raise MissingError("the library has no such product here")
    n, _ = max(found, key=lambda one: found[one])
    for near in (n - BESIDE, n + BESIDE):
        try_one(near, (False, False))
    n, _ = max(found, key=lambda one: found[one])
    for flips in ((False, True), (True, False), (True, True)):
        try_one(n, flips)
    n, flips = max(found, key=lambda one: found[one])
    rates = meter.rates(backend.product(kind, n, flips), 2 * n**3)
    turned = "".join("ᵀ" if flip else "·" for flip in flips)
    return {**rates, "how": f"product of {n} × {n}, {backend.library}, operands {turned}"}


def memory_rates(backend: Any, meter: Meter) -> dict[str, Any]:
    """The fastest of copy, triad and read, of arrays that no cache holds."""
    size = min(MOST_BYTES, backend.free_bytes // 8)
    if size < 4 * backend.cache_bytes:
        raise MissingError("too little memory is free")
    moves = backend.moves(size)
    name = max(moves, key=lambda one: moves[one][1] / meter.least(moves[one][0]))
    run, moved = moves[name]
    how = f"{name} of {size / MIB:,.0f} MiB, {backend.library}"
    return {**meter.rates(run, moved), "how": how}


def cache_ladder(backend: Any, meter: Meter) -> list[tuple[int, float]]:
    """Working sets from 2 MiB to 4 × the cache in steps of √2, and bytes per second of each."""
    ladder, size = [], 2.0 * MIB
    top = 4 * (backend.cache_bytes or 64 * MIB)
    while size <= min(top, backend.free_bytes / 4):
        moves = backend.moves(int(size) // 3)
        ladder.append((int(size), max(moved / meter.least(run) for run, moved in moves.values())))
        size *= 2**0.5
    return ladder


def plateau(ladder: list[tuple[int, float]], memory: float) -> tuple[int, float] | None:
    """The fastest stretch of `NEIGHBOURS` sizes within 10 %, its largest size and median rate;
    `None` where there is none above the rate of memory."""
    best = None
    for k in range(len(ladder) - NEIGHBOURS + 1):
        rates = [rate for _, rate in ladder[k : k + NEIGHBOURS]]
        is_flat = max(rates) <= (1 + PLATEAU) * min(rates)
        middle = statistics.median(rates)
        if is_flat and middle > (1 + PLATEAU) * memory and (best is None or middle > best[1]):
            best = (ladder[k + NEIGHBOURS - 1][0], middle)
    return best


def once(rate: float, how: str, backend: Any) -> dict[str, Any]:
    """A rate of which nothing says how long it lasts."""
    return {"burst": rate, "sustained": rate, "spread": 0.0, "how": f"{how}, {backend.library}"}


def cache_rates(backend: Any, meter: Meter, memory: float) -> dict[str, Any]:
    """The rate of the last cache, where the ladder has a plateau."""
    ladder = cache_ladder(backend, meter)
    found = plateau(ladder, memory)
    if found is None:
        raise MissingError("the ladder of working sets has no plateau")
    size, rate = found
    return once(rate, f"plateau up to {size / MIB:,.1f} MiB", backend)


def link_rates(backend: Any, meter: Meter) -> tuple[dict[str, Any], list[list[float | None]]]:
    """The median of all pairs, one way, and the table of pairs in B/s."""
    count = backend.count
    if count < 2:
        raise MissingError("there is one device")
    pairs: list[list[float | None]] = [[None] * count for _ in range(count)]
    rates = []
    for one in range(count):
        for other in range(count):
            if one != other:
                rate = LINK_BYTES / meter.least(backend.link(one, other))
                pairs[one][other] = rate
                rates.append(rate)
    middle = statistics.median(rates)
    spread = (max(rates) - min(rates)) / 2 / middle
    how = f"median of {len(rates)} pairs, ± {spread:.0%} among them"
    return once(middle, how, backend), pairs


def pcie_rates(backend: Any, meter: Meter) -> dict[str, Any]:
    """The slower of both directions between the host and the device."""
    found = {
        word: meter.least(backend.pcie(to_device=way))
        for word, way in (("to the device", True), ("to the host", False))
    }
    word = max(found, key=lambda one: found[one])
    return once(LINK_BYTES / found[word], f"{LINK_BYTES / MIB:,.0f} MiB {word}", backend)


def launch_time(backend: Any, meter: Meter) -> dict[str, Any]:
    """Microseconds of one launch, by the host's clock."""
    run = backend.launches()
    run(10)
    us = [run(LAUNCHES) / LAUNCHES * 1e6 for _ in range(5)]
    found = once(min(us), f"{LAUNCHES} kernels on one element", backend)
    return {**found, "sustained": statistics.median(us)}


class Sensors:
    """NVIDIA's library, where it is there: clock, power, temperature, and who else computes."""

    def __init__(self, number: int) -> None:
        self._nvml, self._handle = None, None
        with contextlib.suppress(Exception):
            import pynvml

            pynvml.nvmlInit()
            self._nvml, self._handle = pynvml, pynvml.nvmlDeviceGetHandleByIndex(number)

    def read(self) -> dict[str, float] | None:
        """One reading; `None` where nothing can be read."""
        if self._nvml is None:
            return None
        with contextlib.suppress(Exception):
            nvml, handle = self._nvml, self._handle
            return {
                "clock_mhz": float(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
                "power_w": nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,
                "power_cap_w": nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3,
                "celsius": float(nvml.nvmlDeviceGetTemperature(handle, 0)),
                "processes": float(len(nvml.nvmlDeviceGetComputeRunningProcesses(handle))),
                "throttle": float(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
            }
        return None


def disturbance(
    spread: float, before: dict[str, float] | None, after: dict[str, float] | None
) -> str:
    """Why a value is not preferred over the data sheet's; empty where nothing speaks against it."""
    if spread > DISTURBED:
        return f"the timings differ by {spread:.0%}"
    if before and after:
        if max(before["processes"], after["processes"]) > 1:
            return "another process was on the device"
        if before["power_cap_w"] != after["power_cap_w"]:
            return "the power cap changed"
    return ""


def measured(
    backend: Any, meter: Meter, sensors: Any, only: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    """Each key with its value, or the reason why it has none; `pairs` with the table of links."""
    memory = 0.0
    for key in only:
        before = sensors.read()
        try:
            if key in PRODUCTS:
                value = product_rates(backend, meter, key)
            elif key == "hbm":
                value = memory_rates(backend, meter)
                memory = value["burst"]
            elif key == "l2":
                value = cache_rates(backend, meter, memory)
            elif key == "link":
                value, pairs = link_rates(backend, meter)
                yield "pairs", pairs
            elif key == "pcie":
                value = pcie_rates(backend, meter)
            else:
                value = launch_time(backend, meter)
        except (MissingError, RuntimeError, TypeError, NotImplementedError) as reason:
            yield key, str(reason).splitlines()[0][:200]
            continue
        after = sensors.read()
        value["disturbed"] = disturbance(value["spread"], before, after)
        if after is None:
            value["how"] += ", clock not read"
        yield key, {**value, "clocks": [before, after]}


def main() -> None:
    """Print what the device reaches, as JSON; `--list` the accelerators that are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--device", default="")
    parser.add_argument("--only", default=",".join(KEYS))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    kind: Any = Torch if importlib.util.find_spec("torch") is not None else Jax
    if given.list:
        print(json.dumps(kind.devices()))
        return
    device = given.device or next(iter(kind.devices()), "cpu")
    backend = kind(device)
    number = device.partition(":")[2]
    wanted = tuple(key for key in KEYS if key in given.only.split(","))
    values: dict[str, Any] = {}
    missing: dict[str, str] = {}
    pairs: list[Any] = []
    meter = Meter(effort=QUICK if given.quick else 1.0)
    for key, value in measured(backend, meter, Sensors(int(number or 0)), wanted):
        if key == "pairs":
            pairs = value
        elif isinstance(value, str):
            missing[key] = value
        else:
            values[key] = value
            sys.stderr.write(f"{key}: {value['burst']:.4g}, {value['how']}\n")
    print(
        json.dumps(
            {
                "schema": "roofline.machine/1",
                "device": backend.name,
                "count": backend.count,
                "memory_bytes": backend.memory_bytes,
                "library": backend.library,
                "values": values,
                "missing": missing,
                "pairs": pairs,
            }
        )
    )


if __name__ == "__main__":
    main()
