"""Instances of one module against each other: which of the layers takes longest, if any does.

Only instances of equal work are compared: as many calls, and the same known FLOPs and bytes within
1 %.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.analysis.subjects.options import asked
from roofline.analysis.subjects.records import Subject
from roofline.model.profile import ModuleInstances
from roofline.model.units import PS_PER_US
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.grouping import Key, instance_level, module_of, op_keys
from roofline.presentation.sentences import Number, Sentence, say

SLOWER = 1.15
"""An instance stands out from this many times the median of those of equal work on."""

_FEWEST = 3  # a median of two says nothing
_FEWEST_INSTANCES = 2
_SAME_WORK = 0.01
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance: its group, and its time in us per unit and core.

    `ratio` is its time over the median of the instances of equal work; `None`: too few of them.
    `is_group` is true where it has ops of its own, which are a group by layer.
    """

    path: Key
    name: str
    is_group: bool
    time_us: float
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Instances of one module in their order; `direction` is empty where there is only one.

    `time_ratio` is their share of the subject's time, `rest_us` the time of all other work.
    """

    name: str
    direction: str
    instances: tuple[Instance, ...]
    time_ratio: float
    rest_us: float

    @property
    def slowest(self) -> Instance | None:
        """The instance that stands out most, if any does."""
        known = [one for one in self.instances if one.ratio is not None and one.ratio >= SLOWER]
        return max(known, key=lambda one: one.ratio or 0.0, default=None)


@dataclass(slots=True)
class Measured:
    """The time and the work of one instance. Equal instances have the same `work`: the number of
    calls, then FLOPs and bytes; with the calls alone the work is not known."""

    path: Key
    time_us: float = 0.0
    work: tuple[float, ...] = ()
    is_group: bool = True


def layers_of(
    analysis: RooflineAnalysis,
    subject: Subject,
    keys: Mapping[str, Sequence[Key]] | None = None,
) -> tuple[Layers, ...]:
    """The instances that a trace or the paths of ops name, those that take longest first."""
    if analysis.profile.instances is not None:
        return _recorded(analysis, analysis.profile.instances, subject)
    keys = keys or {by: op_keys(analysis, by) for by in ("layer", "phase")}
    found: dict[tuple[Key, str], dict[str, Measured]] = defaultdict(dict)
    for op, (key, direction) in enumerate(zip(keys["layer"], keys["phase"], strict=True)):
        level, time_us = instance_level(key), float(subject.ops.work_us[op])
        if level is None or time_us <= 0:
            continue
        family = (module_of(key[: level + 1]), "/".join(direction))
        one = found[family].setdefault(key[level], Measured(key[: level + 1]))
        one.time_us += time_us
        one.work = _added(one.work, _work_of(analysis, subject, op))
    families = ((name, way, of.values()) for (name, way), of in found.items())
    return compared(families, subject)


def _recorded(
    analysis: RooflineAnalysis, found: ModuleInstances, subject: Subject
) -> tuple[Layers, ...]:
    """The instances that the trace itself tells apart, as means over the subject's units."""
    option = asked(analysis, subject.of)
    if option is None or option.span_ps is not None:
        return ()
    steps, cores = option.steps, subject.cores
    rows = np.isin(found.step, steps) if len(steps) else np.ones(len(found), np.bool_)
    units = max(len(steps), 1) * max(cores, 1)

    def means(values: NDArray[Any]) -> list[float]:
        at = found.instance[rows]
        summed: Floats = np.bincount(at, values[rows], len(found.name)) / units
        return list(summed)

    families: dict[tuple[Key, str], list[Measured]] = defaultdict(list)
    columns = (found.time_ps / PS_PER_US, found.calls, found.flop, found.bytes)
    sums = zip(found.name, found.path, found.direction, *map(means, columns), strict=True)
    for name, path, direction, time_us, calls, flop, moved in sums:
        key = tuple(path.split("/"))
        one = Measured((*key[:-1], name), time_us, (calls, flop, moved), is_group=False)
        families[key, direction] += [one] if time_us > 0 else []
    return compared(((key, way, of) for (key, way), of in families.items()), subject)


def compared(
    families: Iterable[tuple[Key, str, Collection[Measured]]], subject: Subject
) -> tuple[Layers, ...]:
    """Families of two instances or more; the direction is said where a module has several."""
    several = [one for one in families if len(one[2]) >= _FEWEST_INSTANCES]
    names = [name[-1:] for name, _, _ in several]
    made = [
        Layers(
            name=name[-1] if name else "layer",
            direction=direction if names.count(name[-1:]) > 1 else "",
            instances=_instances(of),
            time_ratio=time_us / subject.time_us,
            rest_us=max(subject.parts.work - time_us, 0.0),
        )
        for name, direction, of in several
        for time_us in [sum(one.time_us for one in of)]
    ]
    return tuple(sorted(made, key=lambda one: -one.time_ratio))


def line_of(layers: Layers) -> Sentence:
    """ "24 Qwen2DecoderLayers, 1.31 to 1.33 ms each, 91 % of the time: none stands out." """
    times = [one.time_us for one in layers.instances]
    slowest = layers.slowest
    plural = layers.name if layers.name.endswith("s") else f"{layers.name}s"
    own = Scale.of(max(times))
    fillings: dict[str, str | Number] = {
        "count": Number(float(len(times)), "count"),
        "name": f"{plural} {layers.direction}".strip(),
        "least": own.number(min(times)),
        "most": own.length(max(times)),
        "share": whole_percent(layers.time_ratio),
    }
    if slowest is None:
        is_compared = any(one.ratio is not None for one in layers.instances)
        return say("layers_even" if is_compared else "layers_other", **fillings)
    return say(
        "layers_slow", **fillings, slow=slowest.name, ratio=Number(slowest.ratio or 0.0, "number")
    )


def _instances(of: Collection[Measured]) -> tuple[Instance, ...]:
    ordered = sorted(of, key=lambda one: _natural(one.path[-1]))
    return tuple(
        Instance(
            path=one.path,
            name=one.path[-1],
            is_group=one.is_group,
            time_us=one.time_us,
            ratio=_ratio(one, of),
        )
        for one in ordered
    )


def _ratio(one: Measured, of: Collection[Measured]) -> float | None:
    alike = [other.time_us for other in of if _is_equal(one.work, other.work)]
    usual = median(alike) if len(alike) >= _FEWEST else 0.0
    return one.time_us / usual if usual > 0 else None


def _is_equal(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    is_known = len(a) == len(b) and any(a[1:]) and any(b[1:])
    return is_known and bool(np.isclose(a, b, rtol=_SAME_WORK, atol=0).all())


def _work_of(analysis: RooflineAnalysis, subject: Subject, op: int) -> tuple[float, ...]:
    """Calls, FLOPs and bytes of an op in the subject; unknown ones are 0."""
    table = analysis.profile.ops
    calls = float(subject.ops.calls[op])
    each = calls / max(float(table.occurrences[op]), 1.0)
    return calls, float(table.flop[op]) * each, float(table.bytes_accessed[op]) * each


def _added(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True)) if a else b


def _natural(name: str) -> list[tuple[bool, int, str]]:
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _DIGITS.split(name)
    ]
