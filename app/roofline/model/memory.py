"""Memory levels and links, listed once: key, label, order; all that is per level follows."""

from collections.abc import Iterable
from enum import StrEnum


class MemoryLevel(StrEnum):
    """One bandwidth ceiling, of a memory or a link. Order is XProf's, outermost first; links last.

    A profile has one main memory, `HBM` or `DRAM` (any other kind, and where the profiler does
    not say which); bytes without a known level count as that one's.
    """

    HBM = "hbm"
    DRAM = "dram"
    CMEM_READ = "cmem_read"
    CMEM_WRITE = "cmem_write"
    VMEM_READ = "vmem_read"
    VMEM_WRITE = "vmem_write"
    SHARED_L1 = "shared_l1"
    LLC = "llc"
    L2 = "l2"
    L1 = "l1"
    SHARED = "shared"
    LDS = "lds"
    HOST = "host"
    ICI = "ici"
    NVLINK = "nvlink"
    XGMI = "xgmi"
    DCN = "dcn"

    @property
    def label(self) -> str:
        """XProf's `bound_by` text, also shown on the page."""
        return _LABELS[self]

    @property
    def is_link(self) -> bool:
        """True for what joins devices and hosts, false for a memory of the device."""
        return self in LINKS

    @property
    def is_main(self) -> bool:
        """True for the device's main memory, false for what is on the chip."""
        return self in MAIN_LEVELS


_LABELS = {
    MemoryLevel.HBM: "HBM",
    MemoryLevel.DRAM: "DRAM",
    MemoryLevel.CMEM_READ: "CMEM Read",
    MemoryLevel.CMEM_WRITE: "CMEM Write",
    MemoryLevel.VMEM_READ: "VMEM Read",
    MemoryLevel.VMEM_WRITE: "VMEM Write",
    MemoryLevel.SHARED_L1: "Shm/L1",
    MemoryLevel.LLC: "LLC",
    MemoryLevel.L2: "L2",
    MemoryLevel.L1: "L1",
    MemoryLevel.SHARED: "Shared",
    MemoryLevel.LDS: "LDS",
    MemoryLevel.HOST: "Host link",
    MemoryLevel.ICI: "ICI",
    MemoryLevel.NVLINK: "NVLink",
    MemoryLevel.XGMI: "xGMI",
    MemoryLevel.DCN: "DCN",
}

LINKS = frozenset(
    {
        MemoryLevel.HOST,
        MemoryLevel.ICI,
        MemoryLevel.NVLINK,
        MemoryLevel.XGMI,
        MemoryLevel.DCN,
    }
)
"""Host: PCIe or C2C. ICI, NVLink and xGMI join devices; DCN is the data centre's network."""

MAIN_LEVELS = frozenset({MemoryLevel.HBM, MemoryLevel.DRAM})

TPU_ON_CHIP_LEVELS = (
    MemoryLevel.CMEM_READ,
    MemoryLevel.CMEM_WRITE,
    MemoryLevel.VMEM_READ,
    MemoryLevel.VMEM_WRITE,
)


def main_level(levels: Iterable[MemoryLevel]) -> MemoryLevel:
    """The main memory among `levels`; HBM where none is listed."""
    return next((level for level in levels if level.is_main), MemoryLevel.HBM)
