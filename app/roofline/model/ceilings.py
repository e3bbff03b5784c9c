"""Ceilings: every unit with a greatest rate of which a profiler can say how busy it was.

A busy share is the part of an op's time in which the unit was used at its greatest rate, whatever
for. Work (FLOPs, bytes) over a peak is the useful share of the same ceiling, and never more. That a
unit "has something to do" is not a busy share. `docs/verdict.md` has the definitions.
"""

from enum import StrEnum

COMPUTE = "compute"
"""The id of a device's peak that does not belong to one compute unit."""


class CeilingKind(StrEnum):
    """The kind of unit: issue slots and queues of a multiprocessor, a pipe, a memory, a link."""

    SM = "sm"
    PIPE = "pipe"
    MEMORY = "memory"
    LINK = "link"


class Ceiling(StrEnum):
    """One ceiling. The order decides which is named of several that are about equally near:

    memories before pipes before issue slots, which is what a reader can change first.
    """

    DRAM = "dram"
    HBM = "hbm"
    HOST = "host"
    NVLINK = "nvlink"
    L2 = "l2"
    XBAR = "xbar"
    L1 = "l1"
    LDS = "lds"
    TENSOR = "tensor"
    FP64 = "fp64"
    FP16 = "fp16"
    FMA = "fma"
    VALU = "valu"
    ALU = "alu"
    SALU = "salu"
    XU = "xu"
    LSU = "lsu"
    TEX = "tex"
    TMA = "tma"
    CBU = "cbu"
    BRANCH = "branch"
    ADU = "adu"
    UNIFORM = "uniform"
    CONSTANT = "constant"
    MIO = "mio"
    ISSUE = "issue"
    SHARED_PIPE = "shared_pipe"
    IPA = "ipa"
    SM_OTHER = "sm_other"
    MEMORY_OTHER = "memory_other"

    @property
    def label(self) -> str:
        """The unit in words, as within a sentence: "L1/TEX", "ALU pipe (integer and logic)"."""
        return _WORDS[self][1]

    @property
    def kind(self) -> CeilingKind:
        """The kind of unit."""
        return _WORDS[self][0]


_SM, _PIPE, _MEMORY, _LINK = CeilingKind
_WORDS: dict[Ceiling, tuple[CeilingKind, str]] = {
    Ceiling.DRAM: (_MEMORY, "DRAM"),
    Ceiling.HBM: (_MEMORY, "HBM"),
    Ceiling.HOST: (_LINK, "host memory"),
    Ceiling.NVLINK: (_LINK, "NVLink"),
    Ceiling.L2: (_MEMORY, "L2"),
    Ceiling.XBAR: (_MEMORY, "L1 to L2 crossbar"),
    Ceiling.L1: (_MEMORY, "L1/TEX"),
    Ceiling.LDS: (_MEMORY, "LDS"),
    Ceiling.TENSOR: (_PIPE, "tensor pipe"),
    Ceiling.FP64: (_PIPE, "fp64 pipe"),
    Ceiling.FP16: (_PIPE, "fp16 pipe"),
    Ceiling.FMA: (_PIPE, "FMA pipe (fp32)"),
    Ceiling.VALU: (_PIPE, "VALU"),
    Ceiling.ALU: (_PIPE, "ALU pipe (integer and logic)"),
    Ceiling.SALU: (_PIPE, "scalar ALU"),
    Ceiling.XU: (_PIPE, "XU pipe (special functions and conversions)"),
    Ceiling.LSU: (_PIPE, "LSU (load and store instructions)"),
    Ceiling.TEX: (_PIPE, "texture pipe"),
    Ceiling.TMA: (_PIPE, "TMA"),
    Ceiling.CBU: (_PIPE, "branch unit"),
    Ceiling.BRANCH: (_PIPE, "branch unit"),
    Ceiling.ADU: (_PIPE, "address unit (branches, barriers)"),
    Ceiling.UNIFORM: (_PIPE, "uniform pipe"),
    Ceiling.CONSTANT: (_SM, "constant cache"),
    Ceiling.MIO: (_SM, "MIO queue (shared memory, special functions, branches)"),
    Ceiling.ISSUE: (_SM, "issue slots"),
    Ceiling.SHARED_PIPE: (_PIPE, "pipe shared by fp64, fp16 and tensor instructions"),
    Ceiling.IPA: (_PIPE, "interpolation pipe"),
    Ceiling.SM_OTHER: (_SM, "an SM unit the profiler does not name"),
    Ceiling.MEMORY_OTHER: (_MEMORY, "a memory unit the profiler does not name"),
}


class UseFactor(StrEnum):
    """A named part of the difference between busy and useful: the share of it that was of use.

    The factors of an op multiply to at least useful ÷ busy; the rest has no name.
    """

    LANES = "lanes"
    MULTIPLY_ADDS = "multiply_adds"
    SECTORS = "sectors"
    BANK_CONFLICTS = "bank_conflicts"
    REPLAYS = "replays"
    FEW_BLOCKS = "few_blocks"
    LAST_WAVE = "last_wave"
    EQUAL_SMS = "equal_sms"
