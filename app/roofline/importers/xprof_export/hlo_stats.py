"""XProf's table hlo_stats: ops with their HLO text, but no program, no steps and no peaks.

The program's time follows from an op's self time and its share. Infeed and outfeed are not listed,
so their time counts as idle.
"""

import numpy as np

from roofline.importers.xprof_export.peaks import levels_of, read_device
from roofline.importers.xprof_export.rows import op_table, picoseconds
from roofline.importers.xprof_export.tables import ExportTable
from roofline.model.categories import IDLE_CATEGORY
from roofline.model.memory import MemoryLevel
from roofline.model.profile import OpTable

_UNLISTED = frozenset({MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE})


def read_hlo_stats(table: ExportTable) -> tuple[OpTable, int]:
    """The ops, and the program's time in picoseconds with what it idled."""
    levels = levels_of(read_device(table, core_count=1).kind)
    levels = tuple(level for level in levels if level not in _UNLISTED)
    category = np.array(table.texts("category"))
    wanted = np.flatnonzero(category != IDLE_CATEGORY)
    ops = op_table(table, wanted, names=table.texts("hlo_op_name"), levels=levels)
    return ops, max(_time_ps(table), int(ops.self_time_ps.sum(dtype=np.uint64)))


def _time_ps(table: ExportTable) -> int:
    """Self time over its share, of the op with the largest share: the least rounded one."""
    self_us, percent = table.numbers("total_self_time"), table.numbers("total_self_time_percent")
    percent = np.nan_to_num(percent)
    at = int(np.argmax(percent))
    if not percent[at] > 0:
        return 0
    return int(picoseconds(self_us[at : at + 1] * 100.0 / percent[at])[0])
