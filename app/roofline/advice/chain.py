"""Ops that could be one kernel, and what that saves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Ops that hand tensors to each other; times are us, bytes and FLOPs counts, per unit.

    `what` names their module or program, `known_by` is "graph" or "module". `bytes_now` and
    `bytes_after` are those of the main memory, `limited_by` the resource that ends the saving.
    `is_flop_estimated`: one FLOP per element stands in for ops without counted ones.
    """

    ops: tuple[int, ...]
    what: str
    known_by: str
    calls: float
    now_us: float
    after_us: float
    bytes_now: float
    bytes_after: float
    flop: float
    is_flop_estimated: bool
    limited_by: str

    @property
    def saving_us(self) -> float:
        """The saving of one kernel in their place."""
        return self.now_us - self.after_us
