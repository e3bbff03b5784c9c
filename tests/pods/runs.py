"""Runs of many hosts without files: partials with noise, and with faults that were planted."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roofline.pods.partial import (
    BYTES,
    BYTES_KNOWN,
    FLOP,
    FLOP_KNOWN,
    OCCURRENCES,
    CollectiveKey,
    Header,
    Names,
    Partial,
)
from roofline.pods.report import OpKey

I64 = NDArray[np.int64]
Fault = Callable[[int, I64], I64]
"""Changes a host's times, of shape (chips, steps, ops)."""

OPS, STEPS, CHIPS = 20, 12, 4
_NOISE = 0.004


def names(count: int = OPS) -> Names:
    """Operations of one program."""
    return Names(tuple(OpKey("jit_step", f"fusion.{k:04}", "loop fusion") for k in range(count)))


def none(_host: int, times: I64) -> I64:
    """No fault."""
    return times


def slow_chip(at: int, chip: int, factor: float) -> Fault:
    """One chip of one host takes `factor` times as long for everything."""

    def change(host: int, times: I64) -> I64:
        changed = times.copy()
        if host == at:
            changed[chip] = np.rint(changed[chip] * factor)
        return changed

    return change


def slow_now_and_then(at: int, steps: Sequence[int], factor: float) -> Fault:
    """All chips of one host are slow in some steps."""

    def change(host: int, times: I64) -> I64:
        changed = times.copy()
        if host == at:
            changed[:, list(steps)] = np.rint(changed[:, list(steps)] * factor)
        return changed

    return change


def run(
    seed: int,
    *,
    hosts: int = 24,
    fault: Fault = none,
    chips: int = CHIPS,
    ops: int = OPS,
    noise: float = _NOISE,
) -> list[Partial]:
    """A run with noise of 0.4 % per operation and step, if not told otherwise."""
    rng = np.random.default_rng(seed)
    of_op = rng.integers(20_000_000, 900_000_000, ops)
    return [_host(rng, host, of_op, fault, (chips, noise)) for host in range(hosts)]


def _host(
    rng: np.random.Generator, host: int, of_op: I64, fault: Fault, made: tuple[int, float]
) -> Partial:
    ops, (chips, deviation) = len(of_op), made
    noise = rng.normal(1.0, deviation, (chips, STEPS, ops))
    times = fault(host, np.rint(of_op * noise).astype(np.int64))
    work_ps = times.sum(axis=1)
    columns = np.zeros((5, ops), np.int64)
    columns[0] = work_ps.sum(axis=0)
    columns[OCCURRENCES] = chips * STEPS
    columns[FLOP], columns[BYTES] = of_op * chips * STEPS, of_op * chips
    columns[4] = FLOP_KNOWN | BYTES_KNOWN
    known = names(ops)
    step_work = times.sum(axis=2)
    return Partial(
        header=Header(
            host=f"host-{host:04}",
            known_rank=-1,
            file_name=f"host-{host:04}.xplane.pb",
            file_digest=f"{host:064x}",
            format_id="xspace",
            device="TPU v5 lite",
            has_accelerator=True,
            cores=chips,
            chips=tuple(f"/device:TPU:{k}" for k in range(chips)),
            names=known.digest,
            steps=tuple(str(k) for k in range(STEPS)),
            collectives=(),
        ),
        names=known,
        ops=columns,
        work_ps=work_ps,
        calls=np.full((chips, ops), STEPS, np.int64),
        chip_ps=work_ps.sum(axis=1),
        step_ps=step_work.max(axis=0),
        step_work_ps=step_work,
        sums_ps=np.zeros((chips, 0), np.int64),
        each=np.zeros((3, 0), np.int64),
    )


def given_more(partial: Partial, factor: float) -> Partial:
    """The host with `factor` times the work in everything, and as much more time."""

    def scaled(values: I64) -> I64:
        return np.asarray(np.rint(values * factor), np.int64)

    ops = partial.ops.copy()
    ops[[0, FLOP, BYTES]] = scaled(ops[[0, FLOP, BYTES]])
    return replace(
        partial,
        ops=ops,
        work_ps=scaled(partial.work_ps),
        chip_ps=scaled(partial.chip_ps),
        step_ps=scaled(partial.step_ps),
        step_work_ps=scaled(partial.step_work_ps),
    )


def with_collective(
    partial: Partial, times_ps: Sequence[Sequence[int]], *, group_size: int, ranks: str = "{{0,1}}"
) -> Partial:
    """The host with one collective: the times of each chip's instances, in order."""
    key = CollectiveKey("jit_step", "all-reduce.1", "all-reduce", ranks, group_size)
    each = [[0, chip, one] for chip, row in enumerate(times_ps) for one in row]
    return replace(
        partial,
        header=replace(partial.header, collectives=(*partial.header.collectives, key)),
        sums_ps=np.array([[sum(row)] for row in times_ps], np.int64),
        each=np.array(each, np.int64).T.reshape(3, -1),
    )


def first_steps(partial: Partial, count: int) -> Partial:
    """The host with a table of its first steps only."""
    return replace(
        partial,
        header=replace(partial.header, steps=partial.header.steps[:count]),
        step_ps=partial.step_ps[:count],
        step_work_ps=partial.step_work_ps[:, :count],
    )


def of_another_run(partial: Partial) -> Partial:
    """The host with another program, which takes three times as long."""
    other = Names(tuple(replace(key, program="jit_other(7)") for key in partial.names.keys))
    longer = given_more(partial, 3.0)
    return replace(longer, names=other, header=replace(longer.header, names=other.digest))
