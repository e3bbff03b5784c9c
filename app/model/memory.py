"""Memory levels, listed once: key, label and order; everything per level follows from here."""

from enum import StrEnum


class MemoryLevel(StrEnum):
    """One bandwidth ceiling. Order is XProf's classification order, outermost first."""

    HBM = "hbm"
    CMEM_READ = "cmem_read"
    CMEM_WRITE = "cmem_write"
    VMEM_READ = "vmem_read"
    VMEM_WRITE = "vmem_write"
    SHARED_L1 = "shared_l1"

    @property
    def label(self) -> str:
        """XProf's `bound_by` text, also shown on the page."""
        return _LABELS[self]


_LABELS = {
    MemoryLevel.HBM: "HBM",
    MemoryLevel.CMEM_READ: "CMEM Read",
    MemoryLevel.CMEM_WRITE: "CMEM Write",
    MemoryLevel.VMEM_READ: "VMEM Read",
    MemoryLevel.VMEM_WRITE: "VMEM Write",
    MemoryLevel.SHARED_L1: "Shm/L1",
}

TPU_ON_CHIP_LEVELS = (
    MemoryLevel.CMEM_READ,
    MemoryLevel.CMEM_WRITE,
    MemoryLevel.VMEM_READ,
    MemoryLevel.VMEM_WRITE,
)
