"""Which steps of a server belong together: those of one phase, in decode also of one batch."""

import numpy as np
from numpy.typing import NDArray

from roofline.model.serving import PHASES, ServingSteps

I64 = NDArray[np.int64]

MAX_GROUPS = 64


def by_batch(steps: ServingSteps) -> list[tuple[str, I64]]:
    """Phase and steps of each group: those of decode by their number of sequences, those of other
    phases together; the groups with most time first where there are too many."""
    phase = np.array(steps.phase, object)
    groups: list[tuple[str, I64]] = []
    for name in PHASES:
        rows = np.flatnonzero(phase == name)
        sizes = np.nan_to_num(steps.sequences[rows], nan=-1)
        if name == "decode":
            groups += [(name, rows[sizes == size]) for size in np.unique(sizes).tolist()]
        elif len(rows):
            groups.append((name, rows))
    if len(groups) > MAX_GROUPS:
        groups.sort(key=lambda group: -float(steps.span_ps[group[1]].sum()))
    return groups[:MAX_GROUPS]


def batches(steps: ServingSteps | None) -> list[tuple[str, I64]]:
    """The same under the names that people read: "decode, 32 sequences"."""
    if steps is None:
        return []
    return [(batch_name(phase, steps.sequences[rows]), rows) for phase, rows in by_batch(steps)]


def batch_name(phase: str, sequences: NDArray[np.float64]) -> str:
    """The name of steps with these numbers of sequences; without a number where they differ."""
    sizes = np.unique(sequences)
    if len(sizes) != 1 or not np.isfinite(sizes[0]):
        return phase
    return f"{phase}, {sizes[0]:,.0f} {'sequence' if sizes[0] == 1 else 'sequences'}"
