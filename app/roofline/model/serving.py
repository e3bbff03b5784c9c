"""Steps of a server of language models: their phase and batch, their time, and what they moved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofline.model.op_columns import OpColumns
from roofline.model.plain_data import Aligned

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

PHASES = ("prefill", "decode", "mixed")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingSteps(Aligned):
    """One entry per step, in the order of the profile's steps; NaN is unknown.

    `sequences`, `prefill_tokens`, `decode_tokens` (new tokens) and `context_tokens` (tokens in the
    cache, the new ones included) are sums over the batch, as the server states them.

    Times are ps on the device. `span_ps` is from the first work of the step to its last, of the
    slowest core, `busy_ps` the part with work, `wait_ps` the idle time before it; both are means
    over the cores. Work before a long wait at a step's begin counts as before the step.

    Bytes are sums over all cores: `weight_bytes` of the model's weights (`weight_least` to
    `weight_most` where experts are chosen by data), `cache_bytes` of keys and values.

    `work` are times and work of single ops within steps: `work_step` is the step of each row,
    `work_op` its row in the op table.
    """

    phase: tuple[str, ...]
    sequences: F64
    prefill_tokens: F64
    decode_tokens: F64
    context_tokens: F64
    span_ps: F64
    busy_ps: F64
    wait_ps: F64
    weight_bytes: F64
    weight_least: F64
    weight_most: F64
    cache_bytes: F64
    work_step: I64
    work_op: I64
    work: OpColumns
