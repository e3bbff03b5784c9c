"""How busy each unit was during a launch: the profiler's own shares of every unit's greatest rate.

A metric is `<name>.avg.pct_of_peak_sustained_elapsed`, in per cent of the launch's time. The share
of a ceiling is the largest of its metrics. The section SpeedOfLight, part of the profiler's default
set, stores one metric per unit; other sections add more. Names from reports of 2020.3 to 2025.2.
"""

from collections.abc import Iterable, Iterator, Mapping

from roofline.model.ceilings import Ceiling, CeilingKind

Numbers = Mapping[str, float]
Shares = dict[Ceiling, float]

METRICS: Mapping[Ceiling, str] = {
    Ceiling.ISSUE: "sm__issue_active sm__inst_issued sm__inst_executed",
    Ceiling.ALU: "sm__pipe_alu_cycles_active sm__inst_executed_pipe_alu",
    Ceiling.FMA: "sm__pipe_fma_cycles_active sm__pipe_fmaheavy_cycles_active "
    "sm__pipe_fmalite_cycles_active sm__inst_executed_pipe_fma sm__inst_executed_pipe_fmaheavy "
    "sm__inst_executed_pipe_fmalite",
    Ceiling.FP16: "sm__inst_executed_pipe_fp16 sm__pipe_fp16_cycles_active",
    Ceiling.FP64: "sm__pipe_fp64_cycles_active sm__inst_executed_pipe_fp64",
    Ceiling.TENSOR: "sm__pipe_tensor_cycles_active sm__pipe_tensor_op_hmma_cycles_active "
    "sm__pipe_tensor_op_imma_cycles_active sm__pipe_tensor_op_dmma_cycles_active "
    "sm__pipe_tensor_op_gmma_cycles_active sm__pipe_tensor_subpipe_hmma_cycles_active "
    "sm__pipe_tensor_subpipe_imma_cycles_active sm__pipe_tensor_subpipe_dmma_cycles_active "
    "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active "
    "sm__pipe_tc_cycles_active sm__inst_executed_pipe_tensor "
    "sm__inst_executed_pipe_tensor_op_hmma sm__inst_executed_pipe_tensor_op_imma "
    "sm__inst_executed_pipe_tensor_op_dmma sm__inst_executed_pipe_tc",
    Ceiling.SHARED_PIPE: "sm__pipe_shared_cycles_active",
    Ceiling.XU: "sm__inst_executed_pipe_xu sm__pipe_xu_cycles_active",
    Ceiling.CBU: "sm__inst_executed_pipe_cbu sm__inst_executed_pipe_cbu_pred_on_any",
    Ceiling.ADU: "sm__inst_executed_pipe_adu",
    Ceiling.UNIFORM: "sm__inst_executed_pipe_uniform",
    Ceiling.LSU: "sm__inst_executed_pipe_lsu l1tex__lsuin_requests",
    Ceiling.TEX: "sm__inst_executed_pipe_tex l1tex__texin_sm2tex_req_cycles_active "
    "l1tex__f_wavefronts",
    Ceiling.TMA: "sm__pipe_tma_cycles_active l1tex__tmain_requests",
    Ceiling.IPA: "sm__inst_executed_pipe_ipa",
    Ceiling.MIO: "sm__mio_inst_issued sm__mio_pq_read_cycles_active "
    "sm__mio_pq_write_cycles_active sm__mio2rf_writeback_active",
    Ceiling.CONSTANT: "idc__request_cycles_active",
    Ceiling.L1: "l1tex__throughput l1tex__data_bank_reads l1tex__data_bank_writes "
    "l1tex__lsu_writeback_active l1tex__tex_writeback_active l1tex__data_pipe_tex_wavefronts "
    "l1tex__data_pipe_lsu_wavefronts",
    Ceiling.XBAR: "l1tex__m_l1tex2xbar_req_cycles_active l1tex__m_xbar2l1tex_read_sectors "
    "l1tex__m_xbar2l1tex_read_sectors_mem_dshared lts__lts2xbar_cycles_active "
    "lts__xbar2lts_cycles_active",
    Ceiling.L2: "lts__throughput lts__t_sectors lts__t_tag_requests lts__d_sectors "
    "lts__d_sectors_fill_device lts__d_atomic_input_cycles_active",
    Ceiling.HOST: "lts__d_sectors_fill_sysmem",
    Ceiling.DRAM: "gpu__dram_throughput dram__throughput dram__cycles_active fbpa__dram_sectors "
    "dram__bytes",
    Ceiling.NVLINK: "nvltx__bytes nvlrx__bytes",
    # The headlines: the largest of what the profiler looks at, named or not.
    Ceiling.SM_OTHER: "sm__throughput sm__instruction_throughput sm__memory_throughput "
    "sm__instruction_throughput_internal_activity sm__memory_throughput_internal_activity",
    Ceiling.MEMORY_OTHER: "gpu__compute_memory_throughput gpu__compute_memory_access_throughput "
    "gpu__compute_memory_request_throughput "
    "gpu__compute_memory_access_throughput_internal_activity "
    "gpu__compute_memory_request_throughput_internal_activity",
}

_ELAPSED, _ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
_IN_SM = ("sm__", "l1tex__", "idc__")  # their active cycles are those of the SMs
_ROWS = tuple(
    (name, f"{name}{_ELAPSED}", f"{name}{_ACTIVE}" if name.startswith(_IN_SM) else "", ceiling)
    for ceiling, names in METRICS.items()
    for name in names.split()
)
SHARE_METRICS = frozenset(
    metric for _, elapsed, active, _ in _ROWS for metric in (elapsed, active) if metric
)
SM_ACTIVE_CYCLES = "sm__cycles_active.avg"
_ELAPSED_CYCLES = ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")
DRAM_SHARE = f"gpu__dram_throughput{_ELAPSED}"
WANTED = SHARE_METRICS | {SM_ACTIVE_CYCLES, *_ELAPSED_CYCLES}

# Turing's L1 moves 64 bytes a cycle and needs two for a wavefront, but the metric's peak is one a
# cycle (Jia et al., "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking", 2019).
_TURING = (7, 5)
_TWICE_ON_TURING = "l1tex__data_pipe_lsu_wavefronts"
_SHARE_THE_PIPE = (Ceiling.TENSOR, Ceiling.FP64, Ceiling.FP16)
_PER_SM = {CeilingKind.SM, CeilingKind.PIPE}
_MEMORY = {CeilingKind.MEMORY, CeilingKind.LINK}
# Queues into L1 are pipes of the SM, and the profiler counts them on the memory's side, too.
_BOTH_SIDES = {Ceiling.LSU, Ceiling.TEX, Ceiling.TMA}
SAME = 0.02  # shares this close are one


def active_ratio(numbers: Numbers) -> float | None:
    """Share of the launch's cycles in which an SM had a warp, mean of all SMs."""
    active = numbers.get(SM_ACTIVE_CYCLES)
    elapsed = next((numbers[name] for name in _ELAPSED_CYCLES if numbers.get(name, 0.0) > 0), None)
    return None if active is None or elapsed is None else min(1.0, max(0.0, active) / elapsed)


def busy_shares(numbers: Numbers) -> Shares:
    """Share (0 to 1) of the launch's time in which each unit was busy; only what was measured."""
    shares: Shares = {}
    for ceiling, share in _measured(numbers):
        shares[ceiling] = max(shares.get(ceiling, 0.0), share)
    _name_shared_pipe(shares)
    _keep_if_largest(Ceiling.SM_OTHER, shares, _side(shares, _PER_SM))
    _keep_if_largest(Ceiling.MEMORY_OTHER, shares, {*_side(shares, _MEMORY), *_BOTH_SIDES})
    return shares


def _measured(numbers: Numbers) -> Iterator[tuple[Ceiling, float]]:
    active = active_ratio(numbers)
    is_turing = _capability(numbers) == _TURING
    for name, elapsed, of_active, ceiling in _ROWS:
        percent = numbers.get(elapsed)
        if percent is None and active is not None and of_active in numbers:
            percent = numbers[of_active] * active
        if percent is not None:
            factor = 2 if is_turing and name == _TWICE_ON_TURING else 1
            yield ceiling, min(1.0, max(0.0, percent * factor / 100))


def _capability(numbers: Numbers) -> tuple[float, ...]:
    part = "device__attribute_compute_capability_"
    return tuple(numbers.get(f"{part}{name}", 0.0) for name in ("major", "minor"))


def _name_shared_pipe(shares: Shares) -> None:
    """The pipe that several kinds of instructions share is named after the one that fills it."""
    busiest = max(_SHARE_THE_PIPE, key=lambda one: shares.get(one, -1.0))
    shared, named = shares.get(Ceiling.SHARED_PIPE), shares.get(busiest)
    if shared is not None and named is not None and abs(shared - named) <= SAME:
        shares[busiest] = max(shared, named)
        del shares[Ceiling.SHARED_PIPE]


def _side(shares: Iterable[Ceiling], kinds: set[CeilingKind]) -> set[Ceiling]:
    others = {Ceiling.SM_OTHER, Ceiling.MEMORY_OTHER}
    return {one for one in shares if one.kind in kinds and one not in others}


def _keep_if_largest(headline: Ceiling, shares: Shares, named: Iterable[Ceiling]) -> None:
    """Keep a headline only where it says more than every named unit of its side."""
    share = shares.get(headline)
    if share is not None and share <= SAME + max(
        (shares.get(one, 0.0) for one in named), default=0
    ):
        del shares[headline]
