"""What single instances of modules did: the layers of a model, where a trace tells them apart."""

from dataclasses import dataclass

from roofline.model.op_columns import F64, I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModuleInstances:
    """One row per (step, instance): sums over all cores.

    An instance in one direction ("forward", "backward" or "recomputed") has a `name`
    ("DecoderLayer_17") and the `path` of its class ("Model/DecoderLayer"), one entry each; `step`
    is a place among the steps (-1: in none), `instance` a place in `name`.
    `flop` and `bytes` are sums of what is known.
    """

    name: tuple[str, ...]
    path: tuple[str, ...]
    direction: tuple[str, ...]
    step: I64
    instance: I64
    calls: I64
    time_ps: F64
    flop: F64
    bytes: F64

    def __len__(self) -> int:
        return len(self.step)
