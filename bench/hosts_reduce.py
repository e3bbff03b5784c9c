"""The reduce of a large run from partials that a generator makes: no captures are read."""

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from roofline.pods.partial import SELF, Partial, spool
from roofline.pods.reduce import reduce_run
from tests.pods import runs

HOSTS, OPS, DISTINCT = 4_096, 5_000, 16
MAX_CPU_S, MAX_PEAK_MIB = 20.0, 512.0
_NOISE = 0.001


@dataclass(frozen=True, slots=True)
class Reduced:
    """Processor seconds to write the partials and to reduce them, and the most memory in MiB."""

    written_s: float
    reduced_s: float
    peak_mib: float
    digest: str


def measure(hosts: int) -> Reduced:
    """Reduce `hosts` partials in this process, whose most memory counts from its start."""
    began_s = time.process_time()
    with spool() as found:
        for one in generated(hosts):
            found.add(one)
        partials = found.partials()
        written_s = time.process_time()
        report = reduce_run(partials, release=found.release)
        reduced_s = time.process_time()
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Reduced(written_s - began_s, reduced_s - written_s, peak_kib / 1_024, report.digest)


def generated(hosts: int) -> Iterator[Partial]:
    """Hosts with four chips, twelve steps and 5,000 operations, each with times of its own."""
    rng = np.random.default_rng(16)
    bases = runs.run(16, hosts=DISTINCT, ops=OPS)
    for number in range(hosts):
        base = bases[number % DISTINCT]
        work_ps = np.rint(base.work_ps * rng.normal(1.0, _NOISE, base.work_ps.shape))
        ops = base.ops.copy()
        ops[SELF] = work_ps.sum(axis=0)
        header = replace(base.header, host=f"host-{number:04}", file_digest=f"{number:064x}")
        yield replace(base, header=header, ops=ops, work_ps=work_ps.astype(np.int64))


def lines(hosts: int) -> list[str]:
    """The measured values, with the limits, which are those of 4,096 hosts."""
    found = measure(hosts)
    return [
        f"Reduce of {hosts:,} partials with {OPS:,} operations and four chips each:",
        "",
        "| what | measured | limit |",
        "|---|---|---|",
        f"| processor time of the reduce | {found.reduced_s:.1f} s | {MAX_CPU_S:.0f} s |",
        f"| most memory of the process | {found.peak_mib:.0f} MiB | {MAX_PEAK_MIB:.0f} MiB |",
        f"| processor time to make and write the partials | {found.written_s:.1f} s | none |",
    ]
