"""Little's law: a memory gives its bandwidth only while latency × bandwidth bytes are under way.

Latencies are those of an idle memory; under load they are two to three times as long, so every
amount here is the least one.
"""

from dataclasses import dataclass

from roofline.devices.parts import PROCESSORS, Figure, Part, PartBandwidth
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, KILO

WIDEST_LOAD_BYTES = 16.0
_THREADS = 512  # a quarter of the threads that an SM has room for
_LATENCY = "latency_"


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """What one memory level of a chip needs under way: `bytes_per_s` for the latency `figure`."""

    level: MemoryLevel
    bytes_per_s: float
    processors: int
    figure: Figure

    @property
    def latency_s(self) -> float:
        """Of the idle memory, in seconds."""
        return self.figure.value

    @property
    def bytes(self) -> float:
        """Bytes under way on the whole chip at full bandwidth."""
        return self.latency_s * self.bytes_per_s

    @property
    def bytes_per_processor(self) -> float:
        """Bytes under way per SM."""
        return self.bytes / self.processors

    @property
    def loads_per_processor(self) -> float:
        """Loads of 16 bytes under way per SM."""
        return self.bytes_per_processor / WIDEST_LOAD_BYTES

    @property
    def loads_per_thread(self) -> float:
        """Loads of 16 bytes under way per thread, with a quarter of an SM's threads."""
        return self.loads_per_processor / _THREADS


def in_flight(part: Part) -> tuple[InFlight, ...]:
    """The levels whose latency and bandwidth are known, the main memory first."""
    processors = part.value(PROCESSORS)
    return tuple(
        InFlight(
            level=one.level,
            bytes_per_s=one.gbs * GIGA,
            processors=int(processors),
            figure=latency,
        )
        for one in part.memory(1)
        if processors and (latency := _latency(part, one))
    )


def _latency(part: Part, of: PartBandwidth) -> Figure | None:
    return part.figure(f"{_LATENCY}{'main' if of.level.is_main else of.level.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The `threads` of a launch that run at once, each with `loads` of `load_bytes` under way."""

    threads: int
    load_bytes: float = WIDEST_LOAD_BYTES
    loads: int = 1

    @property
    def bytes(self) -> float:
        """Bytes under way."""
        return self.threads * self.load_bytes * self.loads

    def rate(self, need: InFlight) -> float:
        """B/s of that memory at best: its bandwidth, or what these loads keep under way."""
        return min(need.bytes_per_s, self.bytes / need.latency_s)

    def sentence(self, need: InFlight) -> str:
        """What the launch has under way, beside what the memory needs."""
        share = self.bytes / need.bytes
        end = (
            "enough for all of its bandwidth at best."
            if share >= 1
            else f"at most {100 * share:.1f} % of its bandwidth. More threads or wider loads help."
        )
        loads = "a load" if self.loads == 1 else f"{self.loads:,} loads"
        return (
            f"{self.threads:,} threads with {loads} of {self.load_bytes:g} bytes each have "
            f"{_written(self.bytes)} under way; {need.level.label} needs at least "
            f"{_written(need.bytes)}: {end}"
        )


HEADS = ("memory", "latency", "in flight", "per SM", "16-byte loads per SM", "loads per thread")


def cells_of(one: InFlight) -> tuple[str, ...]:
    """A row of the table under `HEADS`."""
    return (
        one.level.label,
        f"{one.latency_s * GIGA:,.3g} ns",
        _written(one.bytes),
        _written(one.bytes_per_processor),
        f"{one.loads_per_processor:,.0f}",
        f"{one.loads_per_thread:,.2f}",
    )


def _written(size: float) -> str:
    """ "914 kB" """
    for scale, unit in ((KILO * KILO, "MB"), (KILO, "kB")):
        if size >= scale:
            return f"{size / scale:,.3g} {unit}"
    return f"{size:,.0f} B"
