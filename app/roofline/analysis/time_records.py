"""Records of the transfers over links."""

from dataclasses import dataclass
from typing import overload

from roofline.analysis.roofline import Floats
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, PS_PER_US, TERA

# A byte per picosecond is 1000 GB/s.
GBS_PER_BYTE_PER_PS = TERA / GIGA


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRecord:
    """One kind of transfer, summed over its occurrences on all cores. `None` is unknown.

    `bytes` are those on the wire, per device, of the occurrences whose size is known; `time_us` is
    from start to end, `exposed_us` the part in which a core did nothing else. `achieved_gbs` is
    `bytes` over the time they took (see `docs/budget.md`); it is a lower bound where
    `is_lower_bound`, because the end was not observed. `bytes_is_lower_bound` where the size of
    some occurrences is not known. `skew_us` is the part of `time_us` in which ranks waited for the
    last of them, and not part of the rate; `None` where not all ranks of the group are in the
    profile: then their times include such waits, on GPUs. `saving_us` is exposed time beyond what
    the link's peak needs. `peak_gbs` is what the links and the network of its group pass, where a
    part tells it, else the link's peak; `least_us` the time of these bytes there, with latency.
    """

    op: int
    done: int
    kind: str
    link: MemoryLevel | None
    group_size: int | None
    occurrences: int
    unpaired: bool
    bytes: float | None
    payload_bytes: float | None
    time_us: float
    exposed_us: float
    achieved_gbs: float | None
    is_lower_bound: bool
    peak_gbs: float | None
    saving_us: float | None
    bytes_is_lower_bound: bool = False
    skew_us: float | None = None
    least_us: float | None = None

    @property
    def waits(self) -> int:
        """The op that waits for the transfer: its second half, or all of it."""
        return self.done if self.done >= 0 else self.op


@dataclass(frozen=True, slots=True)
class TransferRecords:
    """All transfers of a profile, in its order."""

    rows: tuple[TransferRecord, ...]

    @property
    def at_peak_us(self) -> dict[MemoryLevel, float]:
        """Time that the busier direction of a link needs at its peak, over all cores together."""
        needs: dict[tuple[MemoryLevel, str], float] = {}
        for row in self.rows:
            if row.link is None or row.bytes is None or not row.peak_gbs:
                continue
            direction = row.kind if row.kind in {"in", "out"} else ""
            time_us = at_peak_us(row.bytes, row.peak_gbs)
            needs[row.link, direction] = needs.get((row.link, direction), 0.0) + time_us
        links = dict.fromkeys(link for link, _ in needs)
        return {one: max(us for (link, _), us in needs.items() if link is one) for one in links}


@overload
def at_peak_us(moved_bytes: float, peak_gbs: float) -> float: ...
@overload
def at_peak_us(moved_bytes: Floats, peak_gbs: float) -> Floats: ...
def at_peak_us(moved_bytes: float | Floats, peak_gbs: float) -> float | Floats:
    """Time that these bytes need at that peak."""
    return moved_bytes / peak_gbs * GBS_PER_BYTE_PER_PS / PS_PER_US
