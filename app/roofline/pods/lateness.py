"""A host that the others wait for, though it does not work longer: its input or program is late.

Judging by work cannot see it: its chips stand idle, or wait for their input, before collectives.
"""

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods import chance, definitions
from roofline.pods.report import Late


def late_host(hosts: tuple[str, ...], work_ps: I64, late_ps: I64 | None) -> Late | None:
    """The host that comes to collectives later than the others by more than chance makes likely.

    `work_ps` is the work of each host, `late_ps` how much later than the first one it comes in each
    part of the capture: one long stall is not being late. The limits are those of work: 1.02 times
    the median, 3.5 scores, and not by chance. It must be as much later than the next one, too: what
    the others wait for it is a fact then, whatever held it up.
    """
    if late_ps is None or late_ps.shape[1] < chance.fewest_steps(len(hosts)):
        return None
    middle, whole = int(definitions.lower_median(work_ps)), late_ps.sum(axis=1)
    apart = definitions.stands_out(middle + whole)
    at = int(whole.argmax())
    if middle <= 0 or not apart[at]:
        return None
    excess = (late_ps - definitions.lower_median(late_ps)) * late_ps.shape[1] / middle
    found = chance.lasting_chance(excess, np.arange(len(hosts)), apart)
    if found[at] > chance.ALLOWED_LASTING:
        return None
    share = (int(whole[at]) - int(np.delete(whole, at).max())) / middle
    return Late(host=hosts[at], share=share) if share >= definitions.SLOWER - 1 else None
