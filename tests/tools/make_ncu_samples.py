"""Generates `sample_profiles/nsight_compute` again: `python -m tests.tools.make_ncu_samples`.

Kernels are described by what they do; `collected` turns that into the metrics that Nsight Compute
collects, and the writers put them into its report container and its CSV pages.
"""

import csv
import io
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles" / "nsight_compute"
NAN = float("nan")

GPU: Mapping[str, int | str] = {
    "device__attribute_display_name": "NVIDIA A100-SXM4-40GB",
    "device__attribute_device_index": 0,
    "device__attribute_multiprocessor_count": 108,
    "device__attribute_clock_rate": 1_410_000,
    "device__attribute_compute_capability_major": 8,
    "device__attribute_compute_capability_minor": 0,
    "device__attribute_max_mem_frequency_khz": 1_215_000,
    "device__attribute_fb_bus_width": 5_120,
    "device__attribute_total_memory": 42_298_834_944,
}
FFMA_PER_CYCLE, DFMA_PER_CYCLE = 6_912, 3_456
DRAM_PER_CYCLE, L2_PER_CYCLE, L1_PER_CYCLE = 1_280, 6_912, 13_824
SM_HZ, DRAM_HZ, L2_HZ = 1.095e9, 1.215e9, 1.08e9
LINE_BYTES = 128


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One launch: its time in ns, thread-level instructions, warp-level opcodes, bytes."""

    name: str
    time_ns: int
    grid: tuple[int, int, int] = (108, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    stream: int = 7
    instructions: Mapping[str, int] = field(default_factory=dict)  # "ffma" → count
    opcodes: Mapping[str, int] = field(default_factory=dict)  # "HMMA.16816.F32" → warp count
    thread_opcodes: Mapping[str, int] = field(default_factory=dict)  # "HFMA2" → thread count
    dram_bytes: int = 0
    l2_bytes: int = 0
    l1_bytes: int = 0
    clock_ratio: float = 1.0  # short kernels end before the clocks have risen
    busy: Mapping[str, float] = field(default_factory=dict)  # name of a share metric → per cent
    extra: Mapping[str, float | str] = field(default_factory=dict)


SGEMM = "void sgemm_tiled<(int)128, (int)128, (int)8>(int, int, int, const float *, float *)"
HGEMM = "ampere_h16816gemm_128x128_ldg8_stages_32x5_tn"
STENCIL = "stencil27(const double *, double *, int, int, int)"
SCALE = "void vectorized_scale<__half2, (int)4>(__half2 *, const __half2 *, float, long)"
REDUCE = 'void block_reduce<float, lambda at "loss.cu":41>(const float *, float *, int)'

KERNELS = (
    *(
        Kernel(
            name=SGEMM,
            time_ns=time_ns,
            grid=(16, 16, 1),
            instructions={"ffma": 2048**3, "fadd": 0, "fmul": 4_194_304},
            dram_bytes=71_303_168,
            l2_bytes=1_090_519_040,
            l1_bytes=8_724_152_320,
            busy={
                "sm__inst_executed": 77.2,
                "sm__pipe_fma_cycles_active": 76.4,
                "sm__pipe_alu_cycles_active": 9.2,
                "l1tex__data_pipe_lsu_wavefronts": 58.3,
                "lts__t_sectors": 11.8,
            },
        )
        for time_ns in (1_571_840, 1_568_224, 1_574_016)
    ),
    Kernel(
        name=HGEMM,
        time_ns=812_544,
        grid=(32, 32, 1),
        stream=13,
        instructions={"ffma": 0, "fadd": 0, "fmul": 16_777_216},
        opcodes={"HMMA.16816.F32": 33_554_432, "LDSM": 8_388_608, "HFMA2.MMA": 65_536},
        thread_opcodes={"HFMA2.MMA": 2_097_152, "HMUL2": 8_388_608},
        dram_bytes=167_772_160,
        l2_bytes=2_415_919_104,
        l1_bytes=4_831_838_208,
        busy={
            "sm__inst_executed": 31.5,
            "sm__pipe_tensor_op_hmma_cycles_active": 74.2,
            "sm__pipe_alu_cycles_active": 6.4,
            "l1tex__data_pipe_lsu_wavefronts": 61.0,
            "lts__t_sectors": 43.5,
        },
    ),
    Kernel(
        name=STENCIL,
        time_ns=2_214_880,
        grid=(4096, 4, 1),
        instructions={"dfma": 134_217_728 * 27, "dadd": 134_217_728, "dmul": 0},
        dram_bytes=2_180_022_272,
        l2_bytes=3_623_878_656,
        l1_bytes=29_527_900_160,
        busy={
            "sm__inst_executed": 52.1,
            "sm__pipe_fp64_cycles_active": 46.3,
            "l1tex__data_pipe_lsu_wavefronts": 93.4,
            "lts__t_sectors": 31.0,
        },
    ),
    Kernel(
        name=SCALE,
        time_ns=428_064,
        grid=(8192, 1, 1),
        opcodes={"HFMA2": 8_388_608, "HADD2.F32": 1_048_576, "LDG": 4_194_304},
        thread_opcodes={"HFMA2": 268_435_456, "HADD2.F32": 33_554_432},
        dram_bytes=536_870_912,
        l2_bytes=268_435_456,
        l1_bytes=268_435_456,
        busy={
            "sm__inst_executed": 14.2,
            "sm__pipe_fma_cycles_active": 6.1,
            "l1tex__data_pipe_lsu_wavefronts": 12.0,
            "lts__t_sectors": 34.4,
        },
    ),
    Kernel(
        name=REDUCE,
        time_ns=11_264,
        instructions={"ffma": 0, "fadd": 4_194_304, "fmul": 0},
        dram_bytes=8_912_896,
        l2_bytes=16_777_216,
        l1_bytes=16_777_216,
        busy={
            "sm__inst_executed": 18.4,
            "sm__pipe_alu_cycles_active": 12.1,
            "l1tex__data_pipe_lsu_wavefronts": 21.3,
            "lts__t_sectors": 41.0,
        },
        clock_ratio=0.82,
    ),
)


def collected(kernel: Kernel) -> dict[str, float | int | str]:
    """Metrics by name in base units, as the full set of 2023 and 2024 collects them."""
    seconds = kernel.time_ns / 1e9
    sm_hz, dram_hz, l2_hz = (hz * kernel.clock_ratio for hz in (SM_HZ, DRAM_HZ, L2_HZ))
    metrics: dict[str, float | int | str] = {
        **GPU,
        "gpu__time_duration.sum": float(kernel.time_ns),
        "sm__cycles_elapsed.avg.per_second": sm_hz,
        "smsp__cycles_elapsed.avg.per_second": sm_hz,
        "dram__cycles_elapsed.avg.per_second": dram_hz,
        "lts__cycles_elapsed.avg.per_second": l2_hz,
        "l1tex__cycles_elapsed.avg.per_second": sm_hz,
        "dram__bytes.sum.peak_sustained": float(DRAM_PER_CYCLE),
        "dram__bytes.sum.per_second": kernel.dram_bytes / seconds,
        "l1tex__m_xbar2l1tex_read_bytes.sum.peak_sustained": float(L2_PER_CYCLE),
        "l1tex__m_xbar2l1tex_read_bytes.sum.per_second": kernel.l2_bytes / seconds,
        "derived__l1tex__lsu_writeback_bytes_mem_lg.sum.peak_sustained": float(L1_PER_CYCLE),
        "derived__l1tex__lsu_writeback_bytes_mem_lg.sum.per_second": kernel.l1_bytes / seconds,
        "launch__thread_count": float(kernel.grid[0] * kernel.block[0]),
        "breakdown:sm__throughput": "sm__inst_executed.avg, sm__pipe_alu_cycles_active.avg",
    }
    tensor = sum(count for code, count in kernel.opcodes.items() if code.startswith("HMMA"))
    metrics["smsp__inst_executed_pipe_tensor.sum.per_cycle_elapsed"] = tensor / seconds / sm_hz
    for letter, per_cycle in (("f", FFMA_PER_CYCLE), ("d", DFMA_PER_CYCLE)):
        name = f"sm__sass_thread_inst_executed_op_{letter}fma_pred_on.sum.peak_sustained"
        metrics[name] = float(per_cycle)
        for kind in ("add", "mul", "fma"):
            rate = kernel.instructions.get(letter + kind, 0) / seconds / sm_hz
            name = f"smsp__sass_thread_inst_executed_op_{letter}{kind}_pred_on"
            metrics[f"{name}.sum.per_cycle_elapsed"] = rate
    return metrics | _shares(kernel, seconds, dram_hz) | dict(kernel.extra)


def _shares(kernel: Kernel, seconds: float, dram_hz: float) -> dict[str, float]:
    """Busy shares as the section SpeedOfLight collects them: units, DRAM, and both headlines."""
    if not kernel.busy:
        return {}
    dram = 100 * kernel.dram_bytes / seconds / (DRAM_PER_CYCLE * dram_hz)
    units = dict(kernel.busy) | {"gpu__dram_throughput": dram}
    in_sm = [share for name, share in units.items() if name.startswith("sm__")]
    outside = [share for name, share in units.items() if not name.startswith("sm__")]
    units |= {"sm__throughput": max(in_sm), "gpu__compute_memory_throughput": max(outside)}
    return {f"{name}.avg.pct_of_peak_sustained_elapsed": share for name, share in units.items()}


# ------------------------------------------------------------------------------------------- report


def varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def nested(number: int, *parts: bytes | str) -> bytes:
    body = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(number << 3 | 2) + varint(len(body)) + body


def prefixed(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def _value(number: int, value: float | int | str) -> bytes:
    if isinstance(value, str):
        return nested(number, nested(1, value))
    if isinstance(value, int):
        return nested(number, whole(5, value))
    return nested(number, varint(3 << 3 | 1) + struct.pack("<d", value))


class Strings:
    """The table of names, which grows from block to block."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._fresh: list[str] = []

    def __getitem__(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = len(self._known)
            self._fresh.append(name)
        return self._known[name]

    def flush(self) -> bytes:
        """What the next block adds: by then, blocks before may have named it already."""
        fresh, self._fresh = self._fresh, []
        return nested(4, *(nested(1, name) for name in fresh))


def metric(number: int, strings: Strings, name: str, value: float | int | str) -> bytes:
    return nested(number, whole(1, strings[name]), _value(2, value))


def histogram(strings: Strings, name: str, counts: Mapping[str, int]) -> bytes:
    instances = [nested(3, _value(1, code), _value(2, count)) for code, count in counts.items()]
    return nested(13, whole(1, strings[name]), _value(2, float(sum(counts.values()))), *instances)


def _sides(number: int, sides: Sequence[int]) -> bytes:
    return nested(number, *(whole(k, side) for k, side in enumerate(sides, 1)))


def result(kernel: Kernel, strings: Strings) -> bytes:
    """A kernel's result; its histograms are there where it lists opcodes."""
    function = kernel.name.split("<")[0]
    parts = [
        whole(1, 4242),
        *(whole(number, 0) for number in (2, 3, 4)),  # for the profiler's own program
        nested(5, function),
        nested(6, function),
        nested(7, kernel.name),
        whole(8, 3),
        _sides(9, (0, 0, 0)),
        _sides(10, kernel.grid),
        _sides(11, kernel.block),
        *(metric(13, strings, name, value) for name, value in collected(kernel).items()),
        nested(15),
        whole(22, 1),
        whole(23, kernel.stream),
    ]
    listed = {
        "sass__inst_executed_per_opcode_with_modifier_selective": kernel.opcodes,
        "sass__thread_inst_executed_true_per_opcode_with_modifier_all": kernel.thread_opcodes,
    }
    parts += [histogram(strings, name, counts) for name, counts in listed.items() if kernel.opcodes]
    return b"".join(parts)


def block(header: bytes, *entries: bytes, strings: Strings | None = None) -> bytes:
    payload = b"".join(map(prefixed, entries))
    names = strings.flush() if strings is not None else nested(4)
    return prefixed(header + names + whole(5, len(payload))) + payload


def session_block(tool: str = "2024.1.1.0 (build 33998838) (public-release)") -> bytes:
    host = nested(3, nested(1, "Linux"), nested(4, "x86_64"), nested(5, "gpu-node-03"))
    version = nested(8, nested(1, "Nsight Compute Target"), nested(2, tool))
    session = nested(3, whole(2, 1_714_550_400), host, version)
    return block(whole(1, 0) + whole(2, 0) + session)


def report(
    kernels: Sequence[Kernel] = KERNELS, *, version: int = 7, others: Sequence[bytes] = ()
) -> bytes:
    """A report: a session, a source that readers skip, a block per kernel, and `others`."""
    strings = Strings()
    parts = [b"NVR\0" + prefixed(whole(1, version)), session_block()]
    parts.append(block(whole(1, 1), nested(1, "cubin") * 40))
    process = nested(6, whole(1, 4242), nested(2, "127.0.0.1"), nested(3, "/home/me/a.out"))
    for kernel in kernels:
        entry = result(kernel, strings)
        parts.append(block(whole(1, 0) + whole(2, 1) + process, entry, strings=strings))
    return b"".join((*parts, *others))


# ---------------------------------------------------------------------------------------------- CSV

_UNITS = (
    ("gpu__time_duration", "nsecond"),
    (".per_cycle_elapsed", "inst/cycle"),
    ("cycles_elapsed.avg.per_second", "cycle/second"),
    ("dram__bytes.sum.per_second", "byte/second"),
    ("xbar2l1tex_read_bytes.sum.per_second", "byte/second"),
    ("lsu_writeback_bytes_mem_lg", "byte"),  # as printed, for rates and counts alike
    ("fma_pred_on.sum.peak_sustained", "inst/cycle"),
    ("bytes.sum.peak_sustained", "byte/cycle"),
    ("pct_of_peak", "%"),
)
_STEPS = {
    "nsecond": (("second", 1e9), ("msecond", 1e6), ("usecond", 1e3)),
    "cycle/second": (("cycle/nsecond", 1e9), ("cycle/usecond", 1e6)),
    "byte/second": (("Tbyte/second", 1e12), ("Gbyte/second", 1e9), ("Mbyte/second", 1e6)),
    "byte/cycle": (("Kbyte/cycle", 1e3),),
    "byte": (("Tbyte", 1e12), ("Gbyte", 1e9), ("Mbyte", 1e6), ("Kbyte", 1e3)),
}
_SYMBOLS = {
    "nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s", "cycle/nsecond": "Ghz",
    "cycle/usecond": "Mhz", "cycle/second": "hz",
}  # fmt: skip
_KEYS_2022 = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time",
              "Context", "Stream")  # fmt: skip
_KEYS_2024 = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
              "Block Size", "Grid Size", "Device", "CC")  # fmt: skip
_NVTX = ("thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
         "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Style:
    """How the command line prints: units by column or base, locale, version, NVTX columns."""

    base_units: bool = False
    decimal: str = "."
    grouping: str = ""
    year: int = 2024
    nvtx: bool = False
    failed: str = "-nan"

    def number(self, value: float | int | str) -> str:
        """A cell: whole numbers as such, others with six decimals, two in base units."""
        if isinstance(value, str):
            return value
        if value != value:
            return self.failed
        if self.base_units and value == int(value):
            text = f"{int(value):,}"
        elif isinstance(value, int):
            return str(value)
        else:
            text = f"{value:,.2f}" if self.base_units else f"{value:.6f}"
        return text.translate({ord(","): self.grouping, ord("."): self.decimal})

    def cell(self, value: float | int | str, step: float) -> str:
        """A cell of a column whose measured values are divided by `step`."""
        return self.number(value / step if isinstance(value, float) else value)

    def unit(self, name: str, values: Sequence[float | int | str]) -> tuple[str, float]:
        """The unit of a column and what its values are divided by."""
        base = next((unit for part, unit in _UNITS if part in name), "")
        largest = max((v for v in values if not isinstance(v, str) and v == v), default=0)
        chosen = next((s for s in _STEPS.get(base, ()) if largest >= s[1]), (base, 1.0))
        unit, step = (base, 1.0) if self.base_units else chosen
        return (
            (_SYMBOLS.get(unit, unit).replace("/second", "/s"), step)
            if self.year >= 2025
            else (
                unit,
                step,
            )
        )


def _keys(style: Style, kernel: Kernel, number: int) -> dict[str, str]:
    values = {
        "ID": str(number), "Process ID": "4242", "Process Name": "train", "Host Name": "127.0.0.1",
        "Kernel Name": kernel.name, "Kernel Time": "2024-May-01 08:00:00", "Context": "1",
        "Stream": str(kernel.stream), "Block Size": str(kernel.block),
        "Grid Size": str(kernel.grid), "Device": "0", "CC": "8.0",
    }  # fmt: skip
    names = list(_KEYS_2022 if style.year < 2024 else _KEYS_2024)
    if style.nvtx:
        names[4:4] = _NVTX
        values |= {_NVTX[0]: '4242  "<default domain>:step, 3:none:none"', _NVTX[1]: ""}
    return {name: values[name] for name in names}


def _lines(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


def raw_page(kernels: Sequence[Kernel] = KERNELS, style: Style | None = None) -> str:
    """The raw page: header, units, one row per kernel."""
    style = style or Style()
    values = [collected(kernel) for kernel in kernels]
    names = sorted({name for one in values for name in one})
    units = {n: style.unit(n, [one[n] for one in values if n in one]) for n in names}
    keys = [_keys(style, kernel, k) for k, kernel in enumerate(kernels)]
    header = [*keys[0], *names]
    rows = [header, [""] * len(keys[0]) + [units[n][0] for n in names]]
    for key, one in zip(keys, values, strict=True):
        cells = [style.cell(one[n], units[n][1]) if n in one else "" for n in names]
        rows.append([*key.values(), *cells])
    return _lines(rows)


def long_page(
    kernels: Sequence[Kernel], style: Style, *, section: str = "Command line profiler metrics"
) -> str:
    """What `--csv --metrics a,b,c` prints: a row per kernel and metric, ragged as it is."""
    columns = ("Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name",
               "Rule Type", "Rule Description")  # fmt: skip
    rows: list[list[str]] = []
    for number, kernel in enumerate(kernels):
        keys = _keys(style, kernel, number)
        rows = rows or [[*keys, *columns]]
        for name, value in collected(kernel).items():
            if name.startswith(("device__", "breakdown:")):
                continue
            unit, step = style.unit(name, [value])
            cell = style.number(value / step if isinstance(value, float) else value)
            rows.append([*keys.values(), section, name, unit, cell, ""])
        rule = ["SpeedOfLight", "", "", "", "SOLBottleneck", "OPT", 'Look at "L2", it is busy, 9 %']
        rows.append([*keys.values(), *rule])
    return _lines(rows)


def main() -> None:
    """Write all samples in place."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "a100-kernels.ncu-rep").write_bytes(report())
    (FOLDER / "a100-kernels-raw.csv").write_text(raw_page(), "utf-8")


if __name__ == "__main__":
    main()
