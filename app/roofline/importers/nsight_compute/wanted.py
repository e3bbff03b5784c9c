"""The metrics that the arithmetic uses; a report holds up to two thousand others."""

import re
from functools import lru_cache

from roofline.importers.nsight_compute import busy, slow, waste

_COUNTED = re.compile(
    r"gpu__time_duration(_measured_user)?\.sum"
    r"|(sm|smsp|l1tex|lts|dram)__cycles_elapsed\.(avg|max)(\.per_second)?"
    r"|sms?p?__sass_thread_inst_executed_ops?_[dfh](add|mul|fma)_pred_on\."
    r"|derived__smsp__sass_thread_inst_executed_op_[dfh]fma_pred_on_x2$"
    r"|sm__ops_path_tensor_src_"
    r"|sms?p?__inst_executed_pipe_(tensor|tc|fp16)"
    r"|sm__pipe_tensor(_op_\w+)?_cycles_active\."
    r"|dram__(bytes|sectors)(_op)?(_read|_write)?\.sum"
    r"|lts__t_bytes\.sum|lts__lts2xbar_cycles_active\.sum|derived__lts__lts2xbar_bytes"
    r"|l1tex__(t_bytes|m_xbar2l1tex_read_bytes)\.sum"
    r"|(derived__)?l1tex__lsu_writeback_(active|bytes)"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
    r"|device__attribute_(display_name|device_index|multiprocessor_count|clock_rate|total_memory"
    r"|compute_capability_m\w+|max_mem_frequency_khz|fb_bus_width|global_memory_bus_width)$"
    r"|sass__(thread_)?inst_executed(_true)?_per_opcode"
)
_NAMES = busy.WANTED | waste.WANTED | slow.WANTED


@lru_cache(maxsize=16_384)
def is_wanted(metric: str) -> bool:
    """True for metrics that say how much was done, how busy units were, or why they were not."""
    return metric in _NAMES or is_counted(metric)


def is_counted(metric: str) -> bool:
    """True for metrics that times, work and peaks are made of."""
    return _COUNTED.match(metric) is not None
