"""A rule of advice as one object, and the run that rules read.

`advise`, the page, every text, docs/advice.md and the tests read rules from these objects, which
stand in `rules`: a rule is one of them, with its cases, and nothing else.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from roofline.advice.diagnosis import Diagnoses, Label
from roofline.advice.formula import LEAST_SAVING, Case, Formula, Threshold
from roofline.advice.nearness import Nearness
from roofline.advice.op_kinds import ATTENTION, op_kind
from roofline.advice.plan import Lever, State, saving_us
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import Floats
from roofline.model.device import DeviceKind
from roofline.model.memory import main_level
from roofline.model.op_columns import I64
from roofline.model.profile import OpTable

Confidence = Literal["high", "medium", "low"]
Term = Literal[
    "", "calls", "closeness", "communication", "idle", "peaks", "traffic", "transfers", "work"
]
STEP, CAPTURE = "step", "capture"
IDLE, UNEXPLAINED = "idle", "idle.unknown"
INFEED, UNKNOWN = "infeed_outfeed", "unknown"
HOST = "exposed_transfer.host"
EXPOSED = "exposed."
KERNELS = "kernels"
"""The category of kernels that a measured reason puts together, whatever they do."""

BOOK = "https://jax-ml.github.io/scaling-book/"
BRRR = "https://horace.io/brrr_intro.html"
GUIDE = "https://docs.nvidia.com/nsight-compute/ProfilingGuide/"
MATMUL = "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/"
XPROF = "https://github.com/openxla/xprof"

_BY_REASON = frozenset({"L2", "W2", "P1"})


class Cure(NamedTuple):
    """What to try, as a sentence with slots, and code that does it; "" where there is none."""

    text: str
    snippet: str = ""


class Form(NamedTuple):
    """Texts of a kind of operation, a measured reason or a profiler; "" is the rule's own."""

    title: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Ops or a part of the time for which a rule holds, and the lever, before it is put in a plan.

    `ops` are in the order of their time, `what` names what it is about: a category, a module, a
    link. `resource` and `factor` are the lever in words; `factor` is what is left of the resource.
    A `lever` of `None` saves none of the measured time: a flag, or an option, such as another
    batch, whose `gain` is how many times as much work is done in a time; 1 is the same.

    `kind` picks the text: a kind of op, or the reason that was measured; `forms` go before it.
    Findings of one `group` are about one op or one link, so only one of them can be saved. `facts`
    are numbers and names for the slots of texts. `rule` and what follows it come from the rule,
    but for what a finding states itself.
    """

    ops: tuple[int, ...] = ()
    what: str
    resource: str = ""
    factor: float | None = None
    lever: Lever | None = None
    e: float | None = None
    bound: str | None = None
    time_us: float = 0.0
    also: tuple[str, ...] = ()
    gain: float | None = None
    kind: str = ""
    forms: tuple[str, ...] = ()
    group: str = ""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    rule: str = ""
    term: Term = ""
    confidence: Confidence | None = None
    is_hypothetical: bool = False
    changes_results: bool | None = None
    is_measured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One rule: `finds` yields what it holds for, `label` is its mark on single ops.

    `when` says in words when it holds, with its thresholds as slots. `lever` is the term of a
    comparison that should change. `condition` is the change that a hypothetical factor assumes.
    `is_measured`: all of the time was measured as a wait, so a saving is "up to". Flags (no saving,
    no gain) are listed by `urgency`, the largest first. `title` and `why` are templates;
    `forms` replaces them by kind + profiler, kind, or profiler. `cure` is what to try where
    `cures.json` has no words for the reader's stack. A slot names a fact of the finding; `units`
    has those of facts that are not shares.
    """

    id: str
    when: str
    source: str = ""
    formula: Formula | None = None
    cases: tuple[Case, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    label: Label | None = None
    finds: "Callable[[Run], Iterable[Found]] | None" = None
    lever: Term = ""
    confidence: Confidence = "low"
    condition: str = ""
    changes_results: bool = False
    is_measured: bool = False
    urgency: int = 0
    title: str = ""
    why: str = ""
    cure: Cure | None = None
    forms: Mapping[str, Form] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def found(self, found: Found) -> Found:
        """`found` with what this rule says of all of its findings."""
        changes = found.changes_results
        return replace(
            found,
            rule=self.id,
            term=found.term or self.lever,
            confidence=found.confidence or self.confidence,
            is_hypothetical=bool(self.condition),
            changes_results=self.changes_results if changes is None else changes,
            is_measured=self.is_measured,
        )


class Group(NamedTuple):
    """Ops of one rule, bound, category and kind; `kind` is the measured reason of L2 and W2, the
    ceiling of P1, or the kind of op. `name` is that of the op with most time."""

    rule: str
    bound: str
    category: str
    kind: str
    ops: I64
    name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """An analysis as rows that levers can change: ops of one step, and the time that no op has.

    `unit` is what times are per, as means over cores, and `unit_word` its words. Ops come first,
    then `parts` in order. `calls` are those of the ops in one unit. `diagnoses` and `nearness` are
    of the ops; `target` is the share of a roof that the reader chose to aim at.
    """

    analysis: RooflineAnalysis
    rules: Mapping[str, Rule]
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
    _found: dict[str, tuple[Found, ...]] = field(default_factory=dict)

    @property
    def table(self) -> OpTable:
        """The ops of the profile."""
        return self.analysis.profile.ops

    @cached_property
    def main(self) -> str:
        """The main memory, as clocks name it."""
        return main_level(self.analysis.levels).value

    @cached_property
    def own_us(self) -> Floats:
        """The time of each op in which nothing else ran, per unit."""
        return self.state.own_us[: len(self.calls)]

    @cached_property
    def timed(self) -> list[int]:
        """The ops that took time of their own."""
        timed: list[int] = np.flatnonzero(self.own_us > 0).tolist()
        return timed

    @property
    def unknown_us(self) -> float:
        """Time of ops whose work and use of the device are not known."""
        return float(self.own_us[self.labelled("V7")].sum()) + self.part_us(UNKNOWN)

    def labelled(self, rule: str) -> I64:
        """The ops that fall under a rule."""
        return np.flatnonzero(np.array(self.diagnoses.rule, object) == rule)

    def part_us(self, name: str) -> float:
        """Time of a part; 0 without it."""
        return float(self.state.own_us[self.row_of(name)]) if name in self.parts else 0.0

    def row_of(self, name: str) -> int:
        """The row of a part."""
        return len(self.calls) + self.parts.index(name)

    def found_by(self, rule: str) -> tuple[Found, ...]:
        """The findings of a rule; other rules may read them, as long as no two read each other."""
        if rule not in self._found:
            finds, adds = self.rules[rule].finds, self.rules[rule].found
            self._found[rule] = tuple(map(adds, finds(self))) if finds else ()
        return self._found[rule]

    def is_worth_it(self, lever: Lever) -> bool:
        """True for a lever that alone saves 1 % of the time."""
        return saving_us(self.state, lever) >= LEAST_SAVING.value * self.total_us

    @cached_property
    def groups(self) -> list[Group]:
        """The ops that took time, by group, but those that G1 fuses: fused, an op is gone."""
        fused = {op for found in self.found_by("G1") for op in found.ops}
        members: dict[tuple[str, str, str, str], list[int]] = {}
        for op in self.timed:
            rule, bound = self.diagnoses.rule[op], self.diagnoses.bound[op]
            is_counted = bool(self.analysis.nearest.is_busy_known[op])
            if op in fused or not rule or (bound is None and not is_counted):
                continue
            by_reason = is_counted and rule in _BY_REASON
            category = KERNELS if by_reason else self.table.category[op]
            key = rule, bound or "", category, self._kind(rule, op)
            members.setdefault(key, []).append(op)
        return [
            Group(*key, np.array(ops, np.int64), self.table.name[self._largest(ops)])
            for key, ops in members.items()
        ]

    def groups_of(self, *rules: str) -> list[Group]:
        """The groups that fall under one of these rules."""
        return [group for group in self.groups if group.rule in rules]

    def _largest(self, ops: list[int]) -> int:
        return max(ops, key=lambda op: float(self.state.own_us[op]))

    def _kind(self, rule: str, op: int) -> str:
        near = self.analysis.nearest
        if rule == "W2":
            return self.nearness.factor[op]
        if rule == "P1":
            return near.ceiling_of(op)
        own = op_kind(self.table.category[op], self.table.name[op])
        if rule != "L2" or (own and not near.is_busy_known[op]):
            return own
        return near.why[op]

    def of_ops(
        self,
        ops: I64,
        lever: Lever | None,
        *,
        facts: Mapping[str, float | str] | None = None,
        **rest: Any,
    ) -> Found:
        """A finding on `ops`; `rest` as in `Found`."""
        own_us = self.state.own_us[ops]
        busy_us = float(self.state.busy_us[ops].sum())
        beside = {rule for op in ops.tolist() for rule in self.diagnoses.also[op]}
        found = Found(
            ops=tuple(ops[np.argsort(-own_us, kind="stable")].tolist()),
            lever=lever,
            e=float(self.state.roof_us()[ops].sum()) / busy_us if busy_us else None,
            time_us=float(own_us.sum()),
            also=tuple(sorted(beside)),
            facts={"calls": float(self.calls[ops].sum()), **(facts or {})},
            what="",
        )
        return replace(found, **rest)

    def of_group(self, of: Group, ops: I64, lever: Lever | None, **rest: Any) -> Found:
        """A finding on `ops` of a group: what several rules say of them can be saved once."""
        rest["forms"] = (*rest.get("forms", ()), *self._attention(of, ops))
        group = {"what": of.category, "bound": of.bound, "kind": of.kind, "group": f"op:{of.name}"}
        return self.of_ops(ops, lever, **(group | rest))

    def _attention(self, group: Group, ops: I64) -> tuple[str, ...]:
        """Forms of texts about attention, before that of its kind."""
        if group.kind != ATTENTION:
            return ()
        if self.analysis.device.kind is DeviceKind.CPU:
            return ("attention_cpu",)
        table = self.table
        names = " ".join(f"{table.name[op]} {table.long_name[op]}" for op in ops.tolist())
        return ("attention_paged",) if "paged" in names else ()

    def of_part(
        self,
        name: str,
        kept: float,
        *,
        ops: Sequence[int] = (),
        facts: Mapping[str, float] | None = None,
        **rest: Any,
    ) -> Found:
        """A finding on a part of the time, of which the share `kept` is left."""
        place = np.array([self.row_of(name)], np.int64)
        time_us = self.part_us(name)
        found = Found(
            ops=tuple(ops),
            what=name,
            resource=name,
            factor=kept,
            lever=Lever(rows=place, time_us=self.state.own_us[place] * kept),
            time_us=time_us,
            facts={"share": time_us / self.total_us, **(facts or {})},
        )
        return replace(found, **rest)

    def flag(self, ops: I64, what: str, **facts: float | str) -> Found:
        """A finding without a gain; `ops` in the order in which they are shown."""
        time_us = float(self.state.own_us[ops].sum())
        return Found(ops=tuple(ops.tolist()), what=what, time_us=time_us, facts=facts)

    def bytes_per_call(self, ops: I64) -> Floats:
        """Bytes that a call of each of `ops` moves."""
        moved: Floats = self.table.bytes_accessed[ops] / np.maximum(self.table.occurrences[ops], 1)
        return moved
