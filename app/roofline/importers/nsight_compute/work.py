"""Metrics of one launch to its time, FLOPs by unit, bytes by level, and measured peaks.

The arithmetic is that of NVIDIA's roofline charts and of the NERSC method (Yang, Kurth, Williams,
"Hierarchical Roofline Analysis for GPUs", 2020). FLOPs count a multiply-add as two; packed half
instructions work on two lanes, as in NVIDIA's charts since 2025.1 (twice what older ones show).
What the profiler's counters leave out comes from the opcode histogram. Conversions and special
functions are never counted; integer operations are counted on their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from roofline.importers.nsight_compute.busy import DRAM_SHARE, busy_shares, use_factors
from roofline.importers.nsight_compute.launches import Launch
from roofline.importers.nsight_compute.opcodes import (
    OpcodeWork,
    TensorWork,
    opcode_work,
    tensor_work,
)
from roofline.model.ceilings import Ceiling, UseFactor
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import NS_PER_S

Numbers = Mapping[str, float]

SECTOR_BYTES = 32
LINE_BYTES = 128
_LEAST_PEAK, _HIGHEST_PEAK = 1e3, 1e21  # bytes or FLOPs per second

_VECTOR_UNITS = (
    (ComputeUnit.VECTOR_FP64, "d", 1),
    (ComputeUnit.VECTOR_FP32, "f", 1),
    (ComputeUnit.VECTOR_FP16, "h", 2),
)
_LANES = {unit: lanes for unit, _, lanes in _VECTOR_UNITS}
_FLOP_PER_LANE = {"add": 1, "mul": 1, "fma": 2}
_COUNTERS = ("sm", "smsp")
_SM_CLOCK = "sm__cycles_elapsed.avg.per_second"
_SMSP_CLOCK = "smsp__cycles_elapsed.avg.per_second"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteSource:
    """One way to know a level's bytes: `value` is a counter, `factor` its bytes per count.

    `clock` is the counter of the cycles that its peak per cycle belongs to; `words` is what is
    counted, as the page says it.
    """

    value: str
    factor: int = 1
    clock: str
    words: str


_LOADS = "only what is returned to the SMs (loads)"
_WRITEBACK = "what the load/store unit hands back"
_BOTH = "both directions"
_L2_SOURCES = tuple(
    ByteSource(value=value, factor=factor, clock="lts", words=words)
    for value, factor, words in (
        ("derived__lts__lts2xbar_bytes", 1, _LOADS),
        ("lts__lts2xbar_cycles_active", SECTOR_BYTES, _LOADS),
        ("l1tex__m_xbar2l1tex_read_bytes", 1, _LOADS),
        ("lts__t_bytes", 1, _BOTH),
    )
)
_L1_SOURCES = tuple(
    ByteSource(value=value, factor=factor, clock="l1tex", words=words)
    for value, factor, words in (
        ("derived__l1tex__lsu_writeback_bytes_mem_lgds", 1, _WRITEBACK),
        ("derived__l1tex__lsu_writeback_bytes_mem_lg", 1, _WRITEBACK),
        ("derived__l1tex__lsu_writeback_bytes", 1, _WRITEBACK),
        ("l1tex__lsu_writeback_active_mem_lgds", LINE_BYTES, _WRITEBACK),
        ("l1tex__lsu_writeback_active_mem_lg", LINE_BYTES, _WRITEBACK),
        ("l1tex__t_bytes", 1, _BOTH),
    )
)
_DRAM_SOURCE = ByteSource(value="dram__bytes", clock="dram", words="reads and writes")
_DRAM_PARTS = (
    ("dram__bytes_read", "dram__bytes_write", 1),
    ("dram__bytes_op_read", "dram__bytes_op_write", 1),
    ("dram__sectors_read", "dram__sectors_write", SECTOR_BYTES),
)
_DRAM_CLOCK = "dram__cycles_elapsed.avg.per_second"
_DRAM_WIDTH = "device__attribute_global_memory_bus_width"
_BITS_PER_BYTE, _DOUBLE_DATA_RATE = 8, 2
_SHARED = tuple(
    f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}" for op in ("ld", "st", "atom")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Bytes of one level, the most it could have moved in the launch's time, and their source.

    `is_derived` says that they were not counted, but come from the share of the level's peak.
    """

    bytes: float
    peak_bytes_per_s: float | None
    source: str
    is_derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchWork:
    """The work of one launch; nothing is zero that was not counted.

    `time_ns` is `None` for failed launches. `flop` holds the units that were counted, `peak_flop_s`
    the peaks (FLOP/s) that the profiler measured at the launch's own clock, `clock_hz` that clock
    of the SMs. `opcodes` is what the opcode histogram says, `by_opcode` the units that come from
    it; `partial` are units of which not every kind of instruction was counted. `busy` and `use` are
    shares (0 to 1): of the time in which a unit was busy, and of that what was of use.
    """

    time_ns: float | None
    flop: Mapping[ComputeUnit, float]
    peak_flop_s: Mapping[ComputeUnit, float]
    moved: Mapping[MemoryLevel, Moved]
    tensor: TensorWork
    clock_hz: float | None = None
    opcodes: OpcodeWork = field(default_factory=OpcodeWork)
    by_opcode: frozenset[ComputeUnit] = field(default_factory=frozenset)
    partial: frozenset[ComputeUnit] = field(default_factory=frozenset)
    busy: Mapping[Ceiling, float] = field(default_factory=dict)
    use: Mapping[UseFactor, float] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """True if the profiler counted nothing, not even the time."""
        return self.time_ns is None and not (self.flop or self.moved or self._was_busy)

    @property
    def has_only_shares(self) -> bool:
        """True if it is known how busy units were, but neither for how long nor with what."""
        return self.time_ns is None and not (self.flop or self.moved) and self._was_busy

    @property
    def _was_busy(self) -> bool:
        """True if any unit was: launches that failed have zeros among their missing values."""
        return any(self.busy.values())

    @property
    def flop_known(self) -> bool:
        """True if the launch's FLOPs are known: all of them, or more than none of what there is.

        Zero by some of the counters is not zero: the launch may have used the units that were not
        counted. What they may add to a positive number is for a note to say.
        """
        if not self.flop or not self.tensor.is_whole:
            return False
        units = {unit for unit, _, _ in _VECTOR_UNITS}
        is_whole = units <= self.flop.keys() and self.tensor.operations is not None
        return is_whole or any(self.flop.values())

    @property
    def total_flop(self) -> float | None:
        """FLOPs of all units, `None` where they are not known."""
        return sum(self.flop.values()) if self.flop_known else None


def launch_work(launch: Launch) -> LaunchWork:
    """Time, FLOPs, bytes and peaks of `launch`."""
    numbers = launch.numbers
    time_ns = _time_ns(numbers)
    time_s = None if time_ns is None else time_ns / NS_PER_S
    instructions = _vector_instructions(numbers, time_s)
    counted = {u: _per_thread(counts) * _LANES[u] for u, counts in instructions.items()}
    partial = {u for u, counts in instructions.items() if len(counts) < len(_FLOP_PER_LANE)}
    opcodes = opcode_work(launch) or OpcodeWork()
    listed = {u: flop for u, flop in opcodes.flop.items() if u not in counted or u in partial}
    busy = busy_shares(numbers)
    clock = _first(numbers, [_SM_CLOCK, _SMSP_CLOCK])
    clock = clock if clock is not None and clock > 1 else None  # Hz; less is of a damaged file
    tensor = tensor_work(launch, time_s, clock)
    return LaunchWork(
        time_ns=time_ns,
        flop={**counted, **listed, **(tensor.operations or {})},
        peak_flop_s=dict(_peaks(numbers, clock, tensor)),
        moved=dict(_moved(numbers, time_s)),
        tensor=tensor,
        clock_hz=clock,
        opcodes=opcodes,
        by_opcode=frozenset(listed),
        partial=frozenset(partial) - listed.keys(),
        busy=busy,
        use=use_factors(
            numbers,
            busy,
            {u: share for u, counts in instructions.items() if (share := _fused(counts))},
        ),
    )


def _time_ns(numbers: Numbers) -> float | None:
    """Duration, else elapsed cycles over their rate (NERSC)."""
    for name in ("gpu__time_duration.sum", "gpu__time_duration_measured_user.sum"):
        if numbers.get(name, 0.0) > 0:
            return numbers[name]
    for unit in _COUNTERS:
        cycles = numbers.get(f"{unit}__cycles_elapsed.avg")
        rate = numbers.get(f"{unit}__cycles_elapsed.avg.per_second", 0.0)
        if cycles is not None and cycles > 0 and rate > 0:
            return cycles / rate * NS_PER_S
    return None


# -------------------------------------------------------------------------------------------- FLOPs


def _vector_instructions(
    numbers: Numbers, time_s: float | None
) -> dict[ComputeUnit, dict[str, float]]:
    """Threads' instructions by unit and kind; only units and kinds that were counted."""
    counts: dict[ComputeUnit, dict[str, float]] = {}
    for unit, letter, _ in _VECTOR_UNITS:
        for kind in _FLOP_PER_LANE:
            count = _instructions(numbers, f"{letter}{kind}", time_s)
            if count is not None:
                counts.setdefault(unit, {})[kind] = count
    return counts


def _per_thread(counts: Mapping[str, float]) -> float:
    return sum(count * _FLOP_PER_LANE[kind] for kind, count in counts.items())


def _fused(counts: Mapping[str, float]) -> float | None:
    """Operations over those of as many multiply-adds; `None` where not every kind was counted."""
    instructions = sum(counts.values())
    if len(counts) < len(_FLOP_PER_LANE) or instructions <= 0:
        return None
    share = _per_thread(counts) / (_FLOP_PER_LANE["fma"] * instructions)
    return min(1.0, max(0.0, share))  # differences of counters can be below zero


def _instructions(numbers: Numbers, op: str, time_s: float | None) -> float | None:
    """Threads' instructions of one kind: counted, or from the rate that roofline sets collect."""
    names = [f"{unit}__sass_thread_inst_executed_op_{op}_pred_on.sum" for unit in _COUNTERS]
    counted = _first(numbers, names)
    if counted is not None or time_s is None:
        return counted
    clock = _first(numbers, [_SMSP_CLOCK, _SM_CLOCK])
    rate = _first(numbers, [f"{name}.per_cycle_elapsed" for name in names])
    # The same rate doubled: CSV keeps a digit more of it.
    doubled = numbers.get(f"derived__smsp__sass_thread_inst_executed_op_{op}_pred_on_x2")
    rate = rate if rate is None or doubled is None else doubled / 2
    if rate is not None and clock is not None:
        return rate * clock * time_s
    rate = _first(numbers, [f"{name}.per_second" for name in names])
    return None if rate is None else rate * time_s


def _peaks(
    numbers: Numbers, clock_hz: float | None, tensor: TensorWork
) -> Iterator[tuple[ComputeUnit, float]]:
    """FLOP/s that each unit could do at the launch's clock."""
    for unit, letter, lanes in _VECTOR_UNITS:
        names = [
            f"{part}__sass_thread_inst_executed_op_{letter}fma_pred_on.sum.peak_sustained"
            for part in _COUNTERS
        ]
        per_cycle = _first(numbers, names)
        if per_cycle is not None and clock_hz is not None:
            peak = _plausible(per_cycle * 2 * lanes * clock_hz)
            if peak is not None:
                yield unit, peak
    for unit, rate in tensor.peak_flop_s.items():
        if _plausible(rate) is not None:
            yield unit, rate


# -------------------------------------------------------------------------------------------- bytes


def _moved(numbers: Numbers, time_s: float | None) -> Iterator[tuple[MemoryLevel, Moved]]:
    dram = (
        _by_source(numbers, _DRAM_SOURCE, time_s)
        or _dram_by_direction(numbers)
        or _dram_by_share(numbers, time_s)
    )
    levels = (
        (MemoryLevel.DRAM, dram),
        (MemoryLevel.L2, _first_source(numbers, _L2_SOURCES, time_s)),
        (MemoryLevel.L1, _first_source(numbers, _L1_SOURCES, time_s)),
        (MemoryLevel.SHARED, _shared(numbers, time_s)),
    )
    for level, moved in levels:
        if moved is not None:
            yield level, moved


def _first_source(
    numbers: Numbers, sources: tuple[ByteSource, ...], time_s: float | None
) -> Moved | None:
    """The first source that is known; first those whose peak was collected too, as for a chart."""
    with_peak = [s for s in sources if f"{s.value}.sum.peak_sustained" in numbers]
    candidates = (_by_source(numbers, source, time_s) for source in (*with_peak, *sources))
    return next((moved for moved in candidates if moved is not None), None)


def _by_source(numbers: Numbers, source: ByteSource, time_s: float | None) -> Moved | None:
    """Bytes by one source. The rate first: it is what the profiler's own chart uses."""
    name = f"{source.value}.sum"
    rate, total = numbers.get(f"{name}.per_second"), numbers.get(name)
    if rate is not None and time_s is not None:
        used = f"{name}.per_second"
        counted = rate * time_s * source.factor
    elif total is not None:
        used, counted = name, total * source.factor
    else:
        return None
    peak = _peak_by_clock(numbers, source) or _peak_by_share(numbers, name, source.factor, time_s)
    return Moved(bytes=counted, peak_bytes_per_s=peak, source=f"{used}, {source.words}")


def _peak_by_clock(numbers: Numbers, source: ByteSource) -> float | None:
    per_cycle = numbers.get(f"{source.value}.sum.peak_sustained")
    clock = numbers.get(f"{source.clock}__cycles_elapsed.avg.per_second")
    if per_cycle is None or clock is None:
        return None
    return _plausible(per_cycle * source.factor * clock)


def _peak_by_share(numbers: Numbers, name: str, factor: int, time_s: float | None) -> float | None:
    """The peak behind a count and its share of the peak, where the share is not tiny."""
    total, percent = numbers.get(name), numbers.get(f"{name}.pct_of_peak_sustained_elapsed", 0.0)
    least_percent = 1.0  # CSV shows two decimals
    if total is None or percent < least_percent or time_s is None:
        return None
    return _plausible(total * factor / (percent / 100) / time_s)


def _dram_by_direction(numbers: Numbers) -> Moved | None:
    for read, write, factor in _DRAM_PARTS:
        counts = [numbers.get(f"{name}.sum") for name in (read, write)]
        if counts[0] is None or counts[1] is None:
            continue
        return Moved(
            bytes=(counts[0] + counts[1]) * factor,
            peak_bytes_per_s=_peak_by_clock(numbers, _DRAM_SOURCE) or _dram_peak(numbers),
            source=f"{read}.sum + {write}.sum, {_DRAM_SOURCE.words}",
        )
    return None


def _dram_by_share(numbers: Numbers, time_s: float | None) -> Moved | None:
    """Bytes from the share of DRAM's peak, which is what the profiler makes that share of.

    A share of 0 may be a small one, rounded.
    """
    share, peak = numbers.get(DRAM_SHARE, 0.0) / 100, _dram_peak(numbers)
    if share <= 0 or peak is None or time_s is None:
        return None
    return Moved(
        bytes=share * peak * time_s,
        peak_bytes_per_s=peak,
        source=f"{DRAM_SHARE}, from the share of DRAM's peak",
        is_derived=True,
    )


def _dram_peak(numbers: Numbers) -> float | None:
    """Bytes per second at DRAM's clock during the launch: bus width × two transfers a clock."""
    clock, width_bits = (numbers.get(name, 0.0) for name in (_DRAM_CLOCK, _DRAM_WIDTH))
    return _plausible(clock * width_bits / _BITS_PER_BYTE * _DOUBLE_DATA_RATE)


def _shared(numbers: Numbers, time_s: float | None) -> Moved | None:
    """Shared memory: 128 bytes at most per wavefront of loads, stores and atomics."""
    counts = [numbers[f"{name}.sum"] for name in _SHARED if f"{name}.sum" in numbers]
    if len(counts) < 2:
        return None
    peaks = (_peak_by_share(numbers, f"{name}.sum", LINE_BYTES, time_s) for name in _SHARED)
    return Moved(
        bytes=sum(counts) * LINE_BYTES,
        peak_bytes_per_s=next((peak for peak in peaks if peak is not None), None),
        source="l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum × 128 bytes at most",
    )


def _plausible(per_second: float) -> float | None:
    """A peak that hardware can have; `None` for what damage or a stopped clock makes of one."""
    return per_second if _LEAST_PEAK <= per_second <= _HIGHEST_PEAK else None


def _first(numbers: Numbers, names: list[str]) -> float | None:
    return next((numbers[name] for name in names if name in numbers), None)
