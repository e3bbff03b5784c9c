"""An analysis as rows that levers can change: ops of one step, and the time that no op has."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roofline.advice.counted import Nearness, measured_of, nearness_of
from roofline.advice.diagnosis import Clocks, Diagnoses, diagnose_all
from roofline.advice.plan import State
from roofline.analysis.context import NAN
from roofline.analysis.records import Cost, RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.records import Kind, OpPart, Subject
from roofline.model.memory import MemoryLevel

STEP, CAPTURE = "step", "capture"
IDLE, INFEED, UNKNOWN = "idle", "infeed_outfeed", "unknown"
HOST = "exposed_transfer.host"
EXPOSED = "exposed."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """`unit` is what times are per, as means over cores, and `unit_word` its words. Ops come first,
    then `parts` in order.

    `calls` are those of the ops in one unit. `diagnoses` and `nearness` are of the ops; `target` is
    the share of a roof that the reader chose to aim at.
    """

    unit: str
    unit_word: str
    total_us: float
    floor_us: float | None
    state: State
    calls: Floats
    parts: tuple[str, ...]
    diagnoses: Diagnoses
    nearness: Nearness
    target: float | None

    @property
    def unknown_us(self) -> float:
        """Time of ops whose work and use of the device are not known."""
        of_ops = np.array(self.diagnoses.rule, object) == "V7"
        own_us = self.state.own_us[: len(self.calls)]
        return float(own_us[of_ops].sum()) + self.part_us(UNKNOWN)

    def part_us(self, name: str) -> float:
        """Time of a part; 0 without it."""
        return float(self.state.own_us[self.row_of(name)]) if name in self.parts else 0.0

    def row_of(self, name: str) -> int:
        """The row of a part."""
        return len(self.calls) + self.parts.index(name)


def rows_of(analysis: RooflineAnalysis, subject: Subject, target: float | None = None) -> Rows:
    """The rows of a subject: its ops, and the parts of its time that no op has."""
    count, ops = len(analysis.profile.ops), subject.ops
    works = np.array([part in _WORK for part in ops.part[:count]], np.bool_)
    busy_us = ops.called_us[:count]
    whole_us = np.nan_to_num(analysis.ops.measures.total_time_us[:count])
    scale = np.divide(busy_us, whole_us, out=np.zeros(count), where=whole_us > 0)
    calls = np.maximum(analysis.profile.ops.occurrences.astype(np.float64), 1) * scale
    known = np.array([part is not OpPart.UNKNOWN for part in ops.part[:count]], np.bool_)
    clocks = _clocks(analysis, np.where(known, scale, NAN))
    parts = {name: us for name, us in _parts(subject).items() if us > 0}
    rest = [np.full(len(parts), NAN)]
    nearness = nearness_of(analysis)
    return Rows(
        unit=STEP if subject.kind in _STEPS else CAPTURE,
        unit_word=subject.unit_word,
        total_us=subject.time_us,
        floor_us=subject.floor_us,
        state=State(
            busy_us=np.concatenate([busy_us, list(parts.values())]),
            own_us=np.concatenate(
                [np.where(works, ops.width_us[:count], 0.0), list(parts.values())]
            ),
            clocks={name: np.concatenate([one, *rest]) for name, one in clocks.items()},
            least_us=subject.link_need_us,
        ),
        calls=calls,
        parts=tuple(parts),
        diagnoses=diagnose_all(_to_diagnose(analysis, busy_us, calls, clocks, nearness)),
        nearness=nearness,
        target=target,
    )


_STEPS = {Kind.STEP, Kind.SERVING}
_WORK = {OpPart.WORK, OpPart.UNKNOWN, OpPart.IMPOSSIBLE}


def _parts(subject: Subject) -> dict[str, float]:
    """Time of a subject that no op works in, by name."""
    parts, ops = subject.parts, subject.ops
    named_us = sum(ops.width_us[k] for k, part in enumerate(ops.part) if part in _WORK)
    return {
        **{f"{EXPOSED}{link}": us for link, us in parts.links.items()},
        HOST: parts.transfers,
        INFEED: parts.input,
        IDLE: parts.host_wait,
        UNKNOWN: max(parts.work - float(named_us), 0.0),
    }


def _clocks(analysis: RooflineAnalysis, scale: Floats) -> dict[str, Floats]:
    """Clocks of ops per unit; none of transfers, which are held against their links alone."""
    count = len(scale)
    moves = np.array([one is Cost.TRANSFER for one in analysis.ops.cost[:count]], np.bool_)
    found = {
        name: np.where(moves, NAN, column[:count] * scale)
        for name, column in analysis.ops.clocks.of.items()
    }
    return {name: column for name, column in found.items() if np.nansum(column) > 0}


def _to_diagnose(
    analysis: RooflineAnalysis,
    busy_us: Floats,
    calls: Floats,
    clocks: Mapping[str, Floats],
    nearness: Nearness,
) -> Clocks:
    count = len(busy_us)
    levels = {level.value: level for level in MemoryLevel}
    nothing = {UNKNOWN: np.full(count, NAN)}
    compute = frozenset(name for name in clocks if name not in levels)
    vector = frozenset(name for name in compute if name.startswith("vector_"))
    return Clocks(
        time=np.where(busy_us > 0, busy_us, NAN),
        call_us=np.where(calls > 0, busy_us / np.where(calls > 0, calls, 1.0), NAN),
        clocks=clocks or nothing,
        vector=vector,
        matrix=compute - vector,
        links=frozenset(name for name, level in levels.items() if level.is_link),
        on_chip=frozenset(
            name for name, level in levels.items() if not level.is_link and not level.is_main
        ),
        is_async=analysis.ops.is_start[:count]
        | np.array([one is Cost.TRANSFER for one in analysis.ops.cost[:count]], np.bool_),
        measured=measured_of(analysis, nearness, calls),
    )


def commonest(values: list[str]) -> str:
    """The value that occurs most often, the first of several; "" of none."""
    counted = Counter(values)
    return max(counted, key=lambda one: counted[one], default="")
