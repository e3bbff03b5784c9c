"""Traces as PyTorch's profiler writes them, made up: `python -m tests.tools.make_kineto_traces`.

Operators, shapes and kernels are those of a small transformer's training; kernels take the time
that a share of the device's peak or bandwidth leaves them. Nothing is taken from a real trace.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles" / "pytorch"

MAIN_THREAD, BACKWARD_THREAD, PID = 4100, 4177, 4100
COMPUTE_STREAM, COMMUNICATION_STREAM = 7, 20
H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85017755648,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
    "warpSize": 32,
}
MI300X = {
    "id": 0,
    "name": "AMD Instinct MI300X",
    "totalGlobalMem": 206141652992,
    "computeMajor": 9,
    "computeMinor": 4,
    "numSms": 304,
    "warpSize": 64,
}
BF16, FP32, INT64 = "c10::BFloat16", "float", "long int"


class KinetoTrace:
    """Events in the order in which a program makes them; times in µs."""

    def __init__(
        self, *, device: Mapping[str, Any] | None = H100, is_hip: bool = False, shapes: bool = True
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.header: dict[str, Any] = {
            "schemaVersion": 1,
            "deviceProperties": [device] if device else [],
            "record_shapes": int(shapes),
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 1_790_000_000_000_000_000,
        }
        self.host_us = 1_000.0
        self.device_us = dict.fromkeys((COMPUTE_STREAM, COMMUNICATION_STREAM), 1_000.0)
        self._is_hip, self._shapes = is_hip, shapes
        self._id = 100

    def event(self, cat: str, name: str, ts: float, dur: float, **rest: Any) -> dict[str, Any]:
        """Add a complete event."""
        made = {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": rest.get("pid", PID),
            "tid": rest.get("tid", MAIN_THREAD),
            "ts": round(ts, 3),
            "dur": round(dur, 3),
            "args": rest.get("args", {}),
        }
        self.events.append(made)
        return made

    def call(
        self,
        name: str,
        inputs: Sequence[tuple[Sequence[int], str]] = (),
        *kernels: tuple[str, float],
        values: Sequence[str] | None = None,
        thread: int = MAIN_THREAD,
        stream: int = COMPUTE_STREAM,
        outer: str | None = None,
        **args: Any,
    ) -> None:
        """An operator call, in an `outer` one if named, that launches kernels (name, µs)."""
        begin = self.host_us
        opened = []
        if outer:
            opened.append(self._open(outer, begin, thread, inputs, values, {}))
            begin += 1
        opened.append(self._open(name, begin, thread, inputs, values, args))
        self.host_us = begin + 2
        for kernel, lasts_us in kernels:
            self.launch(kernel, lasts_us, thread=thread, stream=stream)
        for one in reversed(opened):
            self.host_us += 1
            one["dur"] = round(self.host_us - one["ts"], 3)
        self.host_us += 1

    def launch(
        self,
        kernel: str,
        lasts_us: float,
        *,
        thread: int = MAIN_THREAD,
        stream: int = COMPUTE_STREAM,
        cat: str = "kernel",
        traced: bool = True,
        **args: Any,
    ) -> None:
        """A kernel or copy, and its launch unless it was not traced."""
        self._id += 1
        ids = {"External id": self._id, "correlation": self._id}
        if traced:
            call = "hipLaunchKernel" if self._is_hip else "cudaLaunchKernel"
            self.event("cuda_runtime", call, self.host_us, 1.5, tid=thread, args={**ids, **args})
            self.host_us += 2
        begin = max(self.device_us[stream], self.host_us + 3)
        where = {"device": 0, "stream": stream}
        self.event(cat, kernel, begin, lasts_us, pid=0, tid=stream, args={**ids, **where, **args})
        self.device_us[stream] = begin + lasts_us + 0.8

    def graph(self, *kernels: tuple[str, float], call: str = "cudaGraphLaunch") -> None:
        """One call that launches a graph of kernels (name, µs), which share its correlation."""
        self._id += 1
        ids = {"External id": self._id, "correlation": self._id}
        self.event("cuda_runtime", call, self.host_us, 1.5, args=ids)
        self.host_us += 2
        for kernel, lasts_us in kernels:
            begin = max(self.device_us[COMPUTE_STREAM], self.host_us + 3)
            args = {**ids, "device": 0, "stream": COMPUTE_STREAM}
            self.event("kernel", kernel, begin, lasts_us, pid=0, tid=COMPUTE_STREAM, args=args)
            self.device_us[COMPUTE_STREAM] = begin + lasts_us + 0.8

    def recorded(
        self, *kernels: str, named: bool = True, name: str = "", inputs: Sequence[Any] = ()
    ) -> None:
        """Launches of `kernels` that do not run, in an operator if `name` names one."""
        opened = self._open(name, self.host_us, MAIN_THREAD, inputs, None, {}) if name else None
        self.host_us += 1
        for kernel in kernels:
            self._id += 1
            args: dict[str, Any] = {"External id": self._id, "correlation": self._id}
            if named:
                args["kernel"] = kernel
            call = "hipLaunchKernel" if self._is_hip else "cudaLaunchKernel"
            self.event("cuda_runtime", call, self.host_us, 1.5, args=args)
            self.host_us += 2
        if opened:
            self.host_us += 1
            opened["dur"] = round(self.host_us - opened["ts"], 3)
        self.host_us += 1

    def runtime(self, call: str) -> None:
        """A call of the runtime that launches nothing."""
        self._id += 1
        self.event("cuda_runtime", call, self.host_us, 1.0, args={"correlation": self._id})
        self.host_us += 2

    def annotate(self, name: str, begin_us: float) -> None:
        """Write `name` around what the host did since `begin_us`."""
        self.event("user_annotation", name, begin_us, self.host_us - begin_us)

    def step(self, number: int, begin_us: float) -> None:
        """Mark what was launched since `begin_us` as a step."""
        self.event("user_annotation", f"ProfilerStep#{number}", begin_us, self.host_us - begin_us)

    def wait(self) -> None:
        """The host waits for the device."""
        self.host_us = max(self.host_us, *self.device_us.values())
        self.device_us = dict.fromkeys(self.device_us, self.host_us)

    def _open(
        self,
        name: str,
        ts: float,
        thread: int,
        inputs: Sequence[tuple[Sequence[int], str]],
        values: Sequence[str] | None,
        args: Mapping[str, Any],
    ) -> dict[str, Any]:
        self._id += 1
        shown: dict[str, Any] = {"External id": self._id, **args}
        if self._shapes and inputs:
            shown["Input Dims"] = [list(shape) for shape, _ in inputs]
            shown["Input type"] = [dtype for _, dtype in inputs]
            if values:
                shown["Concrete Inputs"] = list(values)
        return self.event("cpu_op", name, ts, 0, tid=thread, args=shown)

    def as_json(self) -> str:
        """The file."""
        lines = ",\n".join(json.dumps(event) for event in self.events)
        head = json.dumps(self.header)[:-1]
        return f'{head}, "traceEvents": [\n{lines}\n], "traceName": "trace.json"}}\n'


# ----------------------------------------------------------------------------------- a transformer

TOKENS, WIDTH, HEADS, DEPTH, BATCH = 8192, 4096, 32, 128, 4
SEQUENCE = TOKENS // BATCH


class Device:
    """How long kernels take: a share of the peak in FLOP/s, or of the bandwidth in B/s."""

    def __init__(self, peak: float, bandwidth: float, gemm: str, attention: str) -> None:
        self._peak, self._bandwidth = peak, bandwidth
        self.gemm, self.attention = gemm, attention

    def products(self, flop: float, share: float) -> float:
        """µs for that many FLOP."""
        return flop / (self._peak * share) * 1e6

    def moves(self, count: float, share: float) -> float:
        """µs for that many bytes."""
        return count / (self._bandwidth * share) * 1e6


_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, {}, std::array<char*, 3ul> >"
_NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"


def linear(trace: KinetoTrace, device: Device, m: int, k: int, n: int, **rest: Any) -> None:
    """A matrix product of activations and a weight."""
    lasts = device.products(2 * m * k * n, 0.68 if min(m, k, n) >= 2048 else 0.41)
    inputs = [((m, k), BF16), ((k, n), BF16)]
    trace.call("aten::mm", inputs, (device.gemm, lasts), **rest)


def layer(trace: KinetoTrace, device: Device, *, fused: bool = True) -> None:
    """Forward pass of one layer; not `fused`, its activation is six operators."""
    hidden = ((BATCH, SEQUENCE, WIDTH), BF16)
    weight = ((WIDTH,), BF16)
    size = TOKENS * WIDTH * 2
    norm = [hidden, ((), ""), weight, weight, ((), "Scalar")]
    trace.call("aten::native_layer_norm", norm, (_NORM, device.moves(2 * size, 0.82)))
    linear(trace, device, TOKENS, WIDTH, 3 * WIDTH, outer="aten::linear")
    heads = ((BATCH, HEADS, SEQUENCE, DEPTH), BF16)
    flop = 4 * BATCH * HEADS * SEQUENCE * SEQUENCE * DEPTH
    trace.call(
        "aten::_scaled_dot_product_flash_attention",
        [heads, heads, heads],
        (device.attention, device.products(flop, 0.52)),
        outer="aten::scaled_dot_product_attention",
    )
    linear(trace, device, TOKENS, WIDTH, WIDTH, outer="aten::linear")
    add = _ELEMENTWISE.format("at::native::CUDAFunctor_add<c10::BFloat16>")
    plus = [hidden, hidden, ((), "Scalar")]
    trace.call("aten::add", plus, (add, device.moves(3 * size, 0.88)))
    linear(trace, device, TOKENS, WIDTH, 4 * WIDTH, outer="aten::linear")
    wide = ((BATCH, SEQUENCE, 4 * WIDTH), BF16)
    for name in ("gelu",) if fused else ("pow", "mul", "add", "tanh", "add", "mul"):
        kernel = _ELEMENTWISE.format(f"at::native::{name.capitalize()}CUDAKernelImpl")
        trace.call(f"aten::{name}", [wide, ((), "")], (kernel, device.moves(8 * size, 0.86)))
    linear(trace, device, TOKENS, 4 * WIDTH, WIDTH, outer="aten::linear")


def layer_backward(trace: KinetoTrace, device: Device) -> None:
    """Its backward pass, on the thread of autograd."""
    for k, n in ((4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (WIDTH, WIDTH), (WIDTH, 3 * WIDTH)):
        node = {"outer": "MmBackward0", "thread": BACKWARD_THREAD}
        linear(trace, device, TOKENS, n, k, **node)
        linear(trace, device, k, TOKENS, n, **node)
    heads = ((BATCH, HEADS, SEQUENCE, DEPTH), BF16)
    flop = 10 * BATCH * HEADS * SEQUENCE * SEQUENCE * DEPTH
    trace.call(
        "aten::_scaled_dot_product_flash_attention_backward",
        [heads, heads, heads, heads, heads],
        (device.attention.replace("fwd", "bwd"), device.products(flop, 0.38)),
        thread=BACKWARD_THREAD,
    )


def iteration(
    trace: KinetoTrace, device: Device, number: int, *, skew: float = 1.0, fused: bool = True
) -> None:
    """One training step: copy in, forward, backward with a collective beside it, update."""
    begin = trace.host_us
    tokens = BATCH * SEQUENCE * 8
    trace.launch("Memcpy HtoD (Pinned -> Device)", 4.1, cat="gpu_memcpy", bytes=tokens, kind="HtoD")
    layer(trace, device, fused=fused)
    layer_backward(trace, device)
    n_weights = 12 * WIDTH * WIDTH
    lasts = device.moves(2 * n_weights * 2, 0.09) * skew
    trace.call(
        "c10d::allreduce_",
        [((n_weights,), BF16)],
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", lasts),
        thread=BACKWARD_THREAD,
        stream=COMMUNICATION_STREAM,
    )
    adam = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
    trace.wait()
    trace.call(
        "aten::_fused_adamw_",
        [((n_weights,), FP32)] * 4,
        (adam, device.moves(7 * 4 * n_weights, 0.79)),
    )
    trace.step(number, begin)
    trace.wait()


H100_TIMES = Device(
    989e12,
    3.35e12,
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, bfloat16_t> >",
)
MI300X_TIMES = Device(
    1307e12,
    5.3e12,
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN",
    "attn_fwd_kernel.kd",
)


def h100_training(*, fused: bool = True) -> str:
    """Two steps on one H100."""
    trace = KinetoTrace()
    for number in (10, 11):
        iteration(trace, H100_TIMES, number, fused=fused)
    return trace.as_json()


def h100_decode() -> str:
    """Three decode steps of a server on one H100: 32 sequences, 4 layers."""
    trace = KinetoTrace()
    sequences, hidden = 32, ((32, WIDTH), BF16)
    norm = [hidden, ((), ""), ((WIDTH,), BF16), ((WIDTH,), BF16), ((), "Scalar")]
    for _ in range(3):
        begin = trace.host_us
        for _ in range(4):
            trace.call("aten::native_layer_norm", norm, (_NORM, 4.0))
            for k, n in (
                (WIDTH, 3 * WIDTH),
                (WIDTH, WIDTH),
                (WIDTH, 4 * WIDTH),
                (4 * WIDTH, WIDTH),
            ):
                weight = [((sequences, k), BF16), ((k, n), BF16)]
                trace.call("aten::mm", weight, (H100_TIMES.gemm, H100_TIMES.moves(2 * k * n, 0.62)))
        trace.annotate(f"execute_context_0(0)_generation_{sequences}({sequences})", begin)
        trace.wait()
        trace.host_us += 40  # the scheduler
    return trace.as_json()


def mi300x_rank(rank: int) -> str:
    """One step of one of two ranks on MI300X."""
    trace = KinetoTrace(device=MI300X, is_hip=True)
    trace.header["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    iteration(trace, MI300X_TIMES, 5, skew=1.0 + 0.3 * rank)
    return trace.as_json()


def main() -> None:
    """Write the samples."""
    ranks = SAMPLES / "mi300x-two-ranks"
    ranks.mkdir(parents=True, exist_ok=True)
    (SAMPLES / "h100-training.json").write_text(h100_training())
    (SAMPLES / "h100-training-unfused.json").write_text(h100_training(fused=False))
    (SAMPLES / "h100-decode.json").write_text(h100_decode())
    for rank in (0, 1):
        (ranks / f"rank{rank}.json").write_text(mi300x_rank(rank))


if __name__ == "__main__":
    main()
