"""Partials to a report: a pure function of their set.

Hosts are sorted before anything else, all sums are of whole numbers, and equal files count once. So
neither order nor batches nor repetition can change a byte.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from roofline.importers import pytorch
from roofline.model.op_columns import I64
from roofline.pods import definitions
from roofline.pods.blocks import (
    HOSTS_BETWEEN_RELEASES,
    Bandwidths,
    Block,
    SharedSteps,
    blocks,
    chip_hosts,
    keep,
    shared_steps,
)
from roofline.pods.definitions import Ratios, SameWork, gains, with_deviations
from roofline.pods.judging import Judged, judge, late_host, why_not
from roofline.pods.partial import (
    BYTES,
    BYTES_KNOWN,
    FLOP,
    FLOP_KNOWN,
    KNOWN,
    OCCURRENCES,
    SELF,
    Partial,
)
from roofline.pods.report import (
    ChipReport,
    HostReport,
    Late,
    OpReport,
    RunReport,
    State,
    StepReport,
    Unreadable,
)
from roofline.pods.waiting import Waits, waits
from roofline.pods.workers import Parts, in_order, parts_of

VERSION = 12
"""Rises with every change of what the reduce says of the same partials."""
LEAST_STEPS = 0.9
"""A capture with a smaller part of the median host's steps is said to be shorter."""
_LONGEST_PROGRAM = 100


def reduce_run(
    partials: Iterable[Partial],
    unreadable: Iterable[Unreadable] = (),
    *,
    release: Callable[[], None] = keep,
) -> RunReport:
    """The report of the run of which `partials` could be read and `unreadable` could not.

    `release` is called now and then to give back the memory of partials that lie on disk.
    """
    files = {(one.name, one.digest): one for one in unreadable}
    hosts, missing = in_order(partials), [files[key] for key in sorted(files)]
    parts = parts_of(hosts, release)
    workers = parts.workers
    host_of = chip_hosts(workers)
    same = SameWork(host_of, np.array([one.header.cores for one in workers], np.int64))
    bandwidths = Bandwidths(len(workers))
    ops: list[OpReport] = []
    distance = np.zeros(len(workers), np.int64)
    for block in blocks(workers, release=release):
        same.take(block)
        bandwidths.take(block)
        found, away = _op_reports(block, workers)
        ops += found
        distance += away
    ratios = same.ratios(np.concatenate([np.zeros(0, np.int64), *(w.chip_ps for w in workers)]))
    steps, waited = shared_steps(workers), waits(workers)
    no_verdict = why_not(
        len(workers),
        len(missing),
        is_one_capture=_is_one_capture(workers),
        is_one_program=parts.is_one_program,
    )
    judged = judge(host_of, ratios, steps, is_allowed=no_verdict is None)
    found_hosts = _host_reports(workers, ratios, waited, judged)
    found_hosts = _measured(found_hosts, bandwidths, steps, is_judged=no_verdict is None)
    representative = workers[int(distance.argmin())] if workers else None
    if representative is not None:
        found_hosts = with_deviations(found_hosts, workers, representative)
    working, chosen = iter(found_hosts), {id(one) for one in workers}
    reports = [next(working) if id(one) in chosen else _aside(one, parts) for one in hosts]
    unreadable_hosts = [
        HostReport(host=one.name, state=State.UNREADABLE, file_digest=one.digest, reason=one.reason)
        for one in missing
    ]
    return RunReport(
        hosts=(*reports, *unreadable_hosts),
        ops=tuple(sorted(ops, key=lambda one: (-one.lost_ps, one.key))),
        steps=_step_reports(steps, workers),
        collectives=waited.collectives,
        gains=gains(found_hosts, steps.work_ps) if no_verdict is None else (),
        late=_late(found_hosts, steps, waited) if no_verdict is None else None,
        no_verdict=no_verdict,
        cost_ratio=_cost(steps) if no_verdict is None else None,
        representative=None if representative is None else representative.header.host,
        step_ps=_middle_ps(steps.duration_ps.max(axis=0, initial=0)),
        digest=_digest(hosts, missing, release),
    )


def _is_one_capture(workers: Sequence[Partial]) -> bool:
    """False where a rank of PyTorch, which writes its number, has several files.

    Other profilers' ranks are read from names of files, where they may count per machine.
    """
    told = [one.header for one in workers if one.header.format_id == pytorch.FORMAT_ID]
    ranks = [one.known_rank for one in told if one.known_rank >= 0]
    return len(set(ranks)) == len(ranks)


def _digest(
    hosts: Sequence[Partial], missing: Sequence[Unreadable], release: Callable[[], None]
) -> str:
    """Names the set of files and this version of the reduce."""
    digests = []
    for number, one in enumerate(hosts):
        if number % HOSTS_BETWEEN_RELEASES == 0:
            release()
        digests.append(one.digest())
    broken = sorted(f"{one.digest} {one.name}" for one in missing)
    lines = [f"reduce {VERSION}", *sorted(digests), *broken]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


# ------------------------------------------------------------------------------------- operations


def _op_reports(block: Block, workers: Sequence[Partial]) -> tuple[list[OpReport], I64]:
    """The operations of a block, and how far each host is from the median one."""
    if not workers:
        return [], np.zeros(0, np.int64)
    cores = np.array([one.header.cores for one in workers], np.int64)
    times = block.quantities[SELF] // cores[:, None]
    found = definitions.spread(times)
    ran = (times > 0).sum(axis=0)
    work = _median_work(block, cores)
    reports = [
        OpReport(
            key=key,
            hosts=int(ran[k]),
            flop=work[0][k],
            bytes=work[1][k],
            min_ps=int(found.least[k]),
            median_ps=int(found.median[k]),
            p95_ps=int(found.p95[k]),
            max_ps=int(found.largest[k]),
            max_host=workers[int(found.worst[k])].header.host,
            imbalance_ratio=_imbalance(int(found.largest[k]), int(found.total[k]), found.hosts),
            lost_ps=int(found.lost[k]),
        )
        for k, key in enumerate(block.keys)
    ]
    return reports, np.abs(times - found.median).sum(axis=1)


def _median_work(block: Block, cores: I64) -> list[list[int | None]]:
    """FLOPs and bytes per core of the median host; `None` where a host that ran it knows none."""
    ran = block.quantities[OCCURRENCES] > 0
    found: list[list[int | None]] = []
    for row, bit in ((FLOP, FLOP_KNOWN), (BYTES, BYTES_KNOWN)):
        known = (((block.quantities[KNOWN] & bit) > 0) | ~ran).all(axis=0).tolist()
        middle = definitions.lower_median(block.quantities[row] // cores[:, None]).tolist()
        found.append([value if known[k] else None for k, value in enumerate(middle)])
    return found


def _imbalance(largest: int, total: int, hosts: int) -> float | None:
    """The largest value divided by the mean, less 1; `None` where all are 0."""
    return largest * hosts / total - 1 if total else None


# ------------------------------------------------------------------------------------------ steps


def _step_reports(steps: SharedSteps, workers: Sequence[Partial]) -> tuple[StepReport, ...]:
    if not steps.labels:
        return ()
    lasted, work = definitions.spread(steps.duration_ps), definitions.spread(steps.work_ps)
    return tuple(
        StepReport(
            step=label,
            min_ps=int(lasted.least[k]),
            median_ps=int(lasted.median[k]),
            max_ps=int(lasted.largest[k]),
            spread_ratio=definitions.share(
                int(lasted.largest[k] - lasted.least[k]), int(lasted.median[k])
            ),
            min_work_ps=int(work.least[k]),
            median_work_ps=int(work.median[k]),
            p95_work_ps=int(work.p95[k]),
            max_work_ps=int(work.largest[k]),
            critical_host=workers[int(work.worst[k])].header.host,
        )
        for k, label in enumerate(steps.labels)
    )


def _cost(steps: SharedSteps) -> float | None:
    """1 - 1/K, K the slowest host's work of each step divided by the median one's."""
    work = definitions.spread(steps.work_ps)
    slowest, median = int(work.largest.sum()), int(work.median.sum())
    return 1 - median / slowest if slowest else None


def _late(hosts: Sequence[HostReport], steps: SharedSteps, waited: Waits) -> Late | None:
    """The host that is late though it does not work longer; a host with a verdict is late, too."""
    if any(one.verdict is not None for one in hosts):
        return None
    return late_host(tuple(one.host for one in hosts), steps.work_ps.sum(axis=1), waited.late_ps)


# ------------------------------------------------------------------------------------------ hosts


def _host_reports(
    workers: Sequence[Partial], ratios: Ratios, waited: Waits, judged: Judged
) -> list[HostReport]:
    reports, chip = [], 0
    steps = definitions.lower_median(np.array([len(one.header.steps) for one in workers] or [0]))
    for k, one in enumerate(workers):
        rows = range(chip, chip + len(one.header.chips))
        chips = tuple(
            _chip(one, row - chip, row, ratios, is_slow=bool(judged.slow_chips[row]))
            for row in rows
        )
        chip = rows.stop
        known = [each.same_work_ratio for each in chips if each.same_work_ratio is not None]
        reports.append(
            HostReport(
                host=one.header.host,
                rank=one.header.known_rank if one.header.known_rank >= 0 else None,
                state=State.READ,
                reason=_shortness(len(one.header.steps), int(steps)),
                device=one.header.device,
                chips=chips,
                work_ps=int(one.chip_ps.sum()) // len(chips),
                wait_ps=waited.host_ps[k],
                wait_bound=waited.bound if waited.host_ps[k] is not None else None,
                same_work_ratio=max(known, default=None),
                slow_steps=int(judged.slow_steps[k]),
                verdict=judged.verdicts[k],
                file_digest=one.header.file_digest,
            )
        )
    return reports


def _shortness(steps: int, median: int) -> str:
    """The words about a capture that is much shorter than others, perhaps cut off; else none."""
    if steps >= LEAST_STEPS * median:
        return ""
    counted = f"{steps:,} {'step' if steps == 1 else 'steps'}"
    return f"Its capture is shorter: it has {counted}, that of the median host {median:,}."


def _measured(
    hosts: Sequence[HostReport], bandwidths: Bandwidths, steps: SharedSteps, *, is_judged: bool
) -> list[HostReport]:
    """The hosts with their bandwidth, step, and score where they are judged."""
    work = steps.work_ps.sum(axis=1)
    scores = definitions.scores(work).tolist() if is_judged else [None] * len(hosts)
    measured = zip(hosts, bandwidths.per_core(), scores, steps.duration_ps, strict=True)
    return [
        replace(one, bandwidth=bandwidth, score=score, step_ps=_middle_ps(lasted_ps))
        for one, bandwidth, score, lasted_ps in measured
    ]


def _middle_ps(lasted_ps: I64) -> int | None:
    """The lower median of the lengths of steps; `None` without steps."""
    return int(definitions.lower_median(lasted_ps)) if len(lasted_ps) else None


def _chip(one: Partial, chip: int, row: int, ratios: Ratios, *, is_slow: bool) -> ChipReport:
    ratio = float(ratios.ratio[row])
    return ChipReport(
        name=one.header.chips[chip],
        work_ps=int(one.chip_ps[chip]),
        same_work_ratio=None if np.isnan(ratio) else ratio,
        compared_share=float(ratios.compared_share[row]),
        divided=bool(ratios.divided[row]),
        is_slow=is_slow,
    )


def _aside(one: Partial, parts: Parts) -> HostReport:
    """A host that takes no part: a coordinator, or one that ran another program."""
    header, reason, state = one.header, "", State.NO_ACCELERATOR
    program = parts.others.get(header.file_digest)
    if program is not None:
        is_long = len(program) > _LONGEST_PROGRAM
        called = f"{program[:_LONGEST_PROGRAM]}…" if is_long else program
        reason = f"It ran {called or 'a program without a name'}, in which most hosts did no work."
        state = State.OTHER_PROGRAM
    return HostReport(
        host=header.host,
        state=state,
        file_digest=header.file_digest,
        reason=reason,
        device=header.device,
    )
