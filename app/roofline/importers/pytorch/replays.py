"""Replays of graphs: each kernel gets the operators of its launch in the capture of its graph.

The calls around an aligned launch are put into the trace at the time of the replay, on a thread of
their own, and the kernel is given a launch of its own in them. After that it is like a kernel that
was launched by itself.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from roofline.importers.pytorch.alignment import UNALIGNED, aligned, most_in_common
from roofline.importers.pytorch.captures import (
    COPY_NODE,
    FILL_NODE,
    UNNAMED,
    CapturedGraph,
    ScopeCalls,
    node_of,
)
from roofline.importers.pytorch.scan import Kind
from roofline.importers.pytorch.serving import ServingStep, step_at
from roofline.importers.pytorch.trace import NO_KERNEL, Api, Trace
from roofline.model.op_columns import I64
from roofline.model.profile import Capture, GraphReplays, UnalignedKernel
from roofline.model.units import PS_PER_NS

_LEAST_SHARE = 0.5  # of a replay's kernels: with fewer in common it is another graph
_MAX_IDS = 2**32
_MAX_LEFT = 100
AMBIGUOUS = "captures of several batches fit equally well"


@dataclass(slots=True, kw_only=True)
class Alignment:
    """The aligned part of all replays: counts and ns of device time.

    `used` is how many kernels each capture explains; `left` are count and ns of the kernels
    without a launch, by name; `too_large` counts kernels whose capture was of a larger batch than
    their step, `ambiguous` those that captures of several batches explain equally well.
    """

    replays: int = 0
    kernels: int = 0
    aligned: int = 0
    time_ns: int = 0
    aligned_ns: int = 0
    by_order: int = 0
    too_large: int = 0
    ambiguous: int = 0
    used: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: dict[str, tuple[int, int]] = field(default_factory=dict)


_COUNTS = [count.name for count in fields(Alignment) if count.type is int]


def summed(parts: Sequence[Alignment]) -> Alignment:
    """The sum of the files' alignments."""
    total = Alignment()
    for part in parts:
        for name in _COUNTS:
            setattr(total, name, getattr(total, name) + getattr(part, name))
        total.used.update(part.used)
        for kernel, (count, ns) in part.left.items():
            before = total.left.get(kernel, (0, 0))
            total.left[kernel] = (before[0] + count, before[1] + ns)
    return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Replay:
    """One launch of a graph: its device events in order, its place among those of its step."""

    events: I64
    begin_ns: int
    tokens: int | None
    place: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """The launch of each event of a replay, in the graph that explains most of it."""

    graph: CapturedGraph
    launch: I64

    @property
    def count(self) -> int:
        return int((self.launch != UNALIGNED).sum())


def as_record(alignment: Alignment) -> GraphReplays | None:
    """The record of a profile's graphs; `None` where none ran."""
    if not alignment.kernels:
        return None
    ranked = sorted(alignment.left.items(), key=lambda item: (-item[1][1], item[0]))
    return GraphReplays(
        replays=alignment.replays,
        kernels=alignment.kernels,
        aligned=alignment.aligned,
        time_ps=alignment.time_ns * PS_PER_NS,
        aligned_ps=alignment.aligned_ns * PS_PER_NS,
        captures=tuple(
            Capture(file_name=name, label=label, kernels=count)
            for (name, label), count in sorted(alignment.used.items())
        ),
        left=tuple(
            UnalignedKernel(name=name, count=count, time_ps=ns * PS_PER_NS)
            for name, (count, ns) in ranked[:_MAX_LEFT]
        ),
    )


def explain_replays(
    trace: Trace, graphs: Sequence[CapturedGraph], steps: Sequence[ServingStep]
) -> Alignment:
    """Give the kernels of every replay in `trace` the operators of `graphs`."""
    total = Alignment()
    replays = _replays(trace, steps)
    matcher = _Matcher(trace, graphs)
    matches = [matcher.best(replay) for replay in replays]
    total.ambiguous = matcher.ambiguous
    for replay, match in zip(replays, matches, strict=True):
        _count(trace, replay, match, total)
    _graft(trace, [(r, f) for r, f in zip(replays, matches, strict=True) if f is not None])
    return total


def has_replays(trace: Trace) -> bool:
    """True if `trace` has launches of graphs, or device events that share a launch it lacks."""
    return bool((trace.launches["api"] == Api.GRAPH).any()) or len(_unlaunched(trace)[0]) > 0


def _unlaunched(trace: Trace) -> tuple[I64, I64]:
    """Correlations of several device events without a launch in the trace, and when each began.

    Traces of the device alone have no launches; events of one graph still share their correlation.
    """
    ids = np.asarray(trace.work["correlation"])
    distinct, count = np.unique(ids, return_counts=True)
    shared = (count > 1) & (distinct > 0) & ~np.isin(distinct, trace.launches["correlation"])
    begin = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(begin, np.searchsorted(distinct, ids), trace.work["begin"])
    return distinct[shared].astype(np.int64), begin[shared]


def _launched_graphs(trace: Trace) -> tuple[I64, I64]:
    """Correlation and begin of every launch of a graph, in order of time."""
    launches = trace.launches
    at = np.flatnonzero(launches["api"] == Api.GRAPH)
    lost, lost_begin = _unlaunched(trace)
    ids = np.concatenate([launches["correlation"][at].astype(np.int64), lost])
    begin = np.concatenate([launches["begin"][at], lost_begin])
    order = np.argsort(begin, kind="stable")
    return ids[order], begin[order]


def _replays(trace: Trace, steps: Sequence[ServingStep]) -> list[_Replay]:
    """All launches of graphs with device events, in order of their launch."""
    work = trace.work
    launched, begin = _launched_graphs(trace)
    order = np.lexsort((work["begin"], work["correlation"]))
    ids = np.asarray(work["correlation"])[order]
    step = step_at(begin, steps)
    first = np.searchsorted(ids, launched, side="left").tolist()
    last = np.searchsorted(ids, launched, side="right").tolist()
    replays: list[_Replay] = []
    counted: dict[int, int] = {}
    for k, (start, stop, at_step) in enumerate(zip(first, last, step.tolist(), strict=True)):
        if stop == start:
            continue
        place = counted[at_step] = counted.get(at_step, -1) + 1
        replays.append(
            _Replay(
                events=order[start:stop],
                begin_ns=int(begin[k]),
                tokens=steps[at_step].tokens if at_step >= 0 else None,
                place=place if at_step >= 0 else 0,
            )
        )
    return replays


class _Matcher:
    """Which captured graph a replay is of; replays of equal kernels are looked at once."""

    def __init__(self, trace: Trace, graphs: Sequence[CapturedGraph]) -> None:
        self._trace, self._graphs = trace, graphs
        self._numbers: dict[str, int] = {UNNAMED: -2}
        self._nodes = [self._numbered(graph.nodes) for graph in graphs]
        self._of_name = self._numbered([node_of(name) for name in trace.names])
        self._known: dict[tuple[bytes, int | None, int], _Found | str | None] = {}
        self.ambiguous = 0

    def _numbered(self, names: Iterable[str]) -> I64:
        numbers = self._numbers
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)

    def best(self, replay: _Replay) -> _Found | None:
        """The best alignment; `None` where no graph has half of the kernels."""
        work = self._trace.work
        nodes = self._of_name[work["name"][replay.events]]
        kind = work["kind"][replay.events]
        nodes[kind == Kind.MEMCPY] = self._numbers.setdefault(COPY_NODE, len(self._numbers))
        nodes[kind == Kind.MEMSET] = self._numbers.setdefault(FILL_NODE, len(self._numbers))
        key = (nodes.tobytes(), replay.tokens, replay.place)
        if key not in self._known:
            self._known[key] = self._search(nodes, replay)
        match = self._known[key]
        self.ambiguous += len(nodes) if match is AMBIGUOUS else 0
        return None if isinstance(match, str) else match

    def _search(self, nodes: I64, replay: _Replay) -> _Found | str | None:
        """The smallest batch that holds the step's tokens; of its graphs the one that explains
        most, then the one with the fewest launches left, then the one of the same place."""
        by_batch: dict[int | None, list[int]] = {}
        for k, graph in enumerate(self._graphs):
            if graph.tokens is None or replay.tokens is None or graph.tokens >= replay.tokens:
                by_batch.setdefault(graph.tokens, []).append(k)
        sizes = sorted(by_batch, key=lambda size: -1 if size is None else size)
        if replay.tokens is None:
            return self._only_one(nodes, replay, [by_batch[size] for size in sizes])
        for size in sizes:
            result = self._best_of(nodes, replay, by_batch[size])
            if result is not None:
                return result
        return None

    def _only_one(
        self, nodes: I64, replay: _Replay, by_batch: Sequence[Sequence[int]]
    ) -> _Found | str | None:
        """The best of all batches, if no other batch explains as much: their shapes differ."""
        matches = [match for some in by_batch if (match := self._best_of(nodes, replay, some))]
        most = max((match.count for match in matches), default=0)
        best = [match for match in matches if match.count == most]
        if len(best) > 1:
            return AMBIGUOUS
        return best[0] if best else None

    def _best_of(self, nodes: I64, replay: _Replay, candidates: Sequence[int]) -> _Found | None:
        best: tuple[tuple[int, int, int], _Found] | None = None
        least = _LEAST_SHARE * len(nodes)
        for k in sorted(candidates, key=lambda k: -self._in_common(nodes, k)):
            if self._in_common(nodes, k) < (best[0][0] if best else least):
                break
            graph = self._graphs[k]
            # Launches without names are aligned by their order alone, where there are as many.
            by_order = np.arange(len(nodes))
            launch = aligned(nodes, self._nodes[k]) if graph.is_named else by_order
            match = _Found(graph=graph, launch=launch)
            rank = (match.count, -len(graph.nodes), -abs(graph.place - replay.place))
            if match.count >= least and (best is None or rank > best[0]):
                best = (rank, match)
        return best[1] if best else None

    def _in_common(self, nodes: I64, graph: int) -> int:
        if self._graphs[graph].is_named:
            return most_in_common(nodes, self._nodes[graph])
        return len(nodes) if len(nodes) == len(self._nodes[graph]) else 0


def _count(trace: Trace, replay: _Replay, match: _Found | None, total: Alignment) -> None:
    work = trace.work
    time = np.array(work["duration"][replay.events])
    done = np.zeros(len(time), np.bool_) if match is None else match.launch != UNALIGNED
    total.replays += 1
    total.kernels += len(time)
    total.aligned += int(done.sum())
    total.time_ns += int(time.sum())
    total.aligned_ns += int(time[done].sum())
    if match is not None:
        key = (match.graph.file_name, match.graph.label)
        total.used[key] += match.count
        total.by_order += 0 if match.graph.is_named else match.count
        sizes = (match.graph.tokens, replay.tokens)
        is_larger = None not in sizes and sizes[0] != sizes[1]
        total.too_large += match.count if is_larger else 0
    for event, ns in zip(replay.events[~done].tolist(), time[~done].tolist(), strict=True):
        name = trace.names[int(work["name"][event])]
        count, before = total.left.get(name, (0, 0))
        total.left[name] = (count + 1, before + ns)


def _graft(trace: Trace, matches: Sequence[tuple[_Replay, _Found]]) -> None:
    """Put the calls into the trace, and point the aligned kernels at launches in them."""
    correlation = _highest(trace.launches["correlation"], trace.work["correlation"]) + 1
    thread = _highest(trace.launches["thread"], trace.operators["thread"], trace.scopes["thread"])
    thread += 1
    if correlation + sum(match.count for _, match in matches) >= _MAX_IDS:
        return
    names = {name: k for k, name in enumerate(trace.names)}
    place = {id(trace.signatures): 0}  # of a file's signatures among those of the trace
    for replay, match in matches:
        calls, graph = match.graph.calls, match.graph
        if id(graph.signatures) not in place:
            place[id(graph.signatures)] = len(trace.signatures)
            trace.signatures.extend(graph.signatures)
        done = match.launch != UNALIGNED
        at = match.launch[done]
        ids = np.arange(correlation, correlation + len(at))
        size = len(calls.begin)
        trace.operators.extend(
            begin=calls.begin + replay.begin_ns,
            duration=calls.duration,
            thread=np.full(size, thread),
            signature=calls.signature + place[id(graph.signatures)],
            external=np.zeros(size, np.int64),
            node=np.full(size, -1),
        )
        _graft_scopes(trace, calls.scopes, replay.begin_ns, thread, names)
        trace.launches.extend(
            begin=graph.tick[at] + replay.begin_ns,
            correlation=ids,
            thread=np.full(len(at), thread),
            api=np.full(len(at), Api.KERNEL),
            kernel=np.full(len(at), NO_KERNEL),
        )
        trace.work["correlation"][replay.events[done]] = ids
        correlation += len(at)
        thread += 1


def _graft_scopes(
    trace: Trace, scopes: ScopeCalls, begin_ns: int, thread: int, names: dict[str, int]
) -> None:
    """Put the modules around the calls into the trace; `names` are numbers of its names."""
    for name in scopes.names:
        if names.setdefault(name, len(trace.names)) == len(trace.names):
            trace.names.append(name)
    trace.scopes.extend(
        begin=scopes.begin + begin_ns,
        duration=scopes.duration,
        thread=np.full(len(scopes.names), thread),
        name=np.array([names[name] for name in scopes.names], np.int64),
    )


def _highest(*columns: I64) -> int:
    return max((int(column.max()) for column in columns if len(column)), default=0)
