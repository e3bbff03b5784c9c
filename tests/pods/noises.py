"""Clean runs with noise of many kinds: how many of them accuse a host.

    python -m tests.pods.noises --seeds 1000

The suite does the same with fewer seeds. Partials are left out: only what judges is run.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from roofline.pods.blocks import SharedSteps
from roofline.pods.definitions import Ratios, lower_median
from roofline.pods.judging import judge
from roofline.pods.report import Verdict

F64 = NDArray[np.float64]
Shape = tuple[int, int, int]
"""Hosts, chips of each, steps."""
OPS = 20


def _normal(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    return rng.normal(0, size, (*shape, OPS))


def _heavy(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    """Student's t with three degrees of freedom, for each operation."""
    return rng.standard_t(3, (*shape, OPS)) * size / 3**0.5


def _heavy_steps(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    """The same for all operations of a chip's step together: nothing evens it out."""
    return np.asarray(rng.standard_t(3, (*shape, 1)) * size / 3**0.5)


def _steps(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    return rng.normal(0, size, (*shape, 1))


def _shared(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    """A step is slow for all hosts together."""
    return _normal(rng, shape, size / 2) + rng.normal(0, size, (1, 1, shape[2], 1))


def _of_hosts(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    """A step is slow for all chips of a host together."""
    return _normal(rng, shape, size / 2) + rng.normal(0, size, (shape[0], 1, shape[2], 1))


def _stalls(rng: np.random.Generator, shape: Shape, size: float) -> F64:
    """Rarely, a chip is held up for a part of a step."""
    stalls = np.where(rng.random((*shape, 1)) < 0.005, 20 * size, 0.0)
    return np.asarray(stalls + _normal(rng, shape, size))


Noise = Callable[[np.random.Generator, Shape, float], F64]
NOISES: dict[str, tuple[Noise, float]] = {
    "normal, 0.4 %": (_normal, 0.004),
    "normal, 8 %": (_normal, 0.08),
    "heavy tails, 0.4 %": (_heavy, 0.004),
    "heavy tails, 8 %": (_heavy, 0.08),
    "whole steps, 3 %": (_steps, 0.03),
    "whole steps, heavy tails, 3 %": (_heavy_steps, 0.03),
    "steps of all hosts, 8 %": (_shared, 0.08),
    "steps of a host, 3 %": (_of_hosts, 0.03),
    "rare stalls": (_stalls, 0.02),
}
SHAPES: Sequence[Shape] = (
    (4, 1, 4), (4, 8, 4), (8, 1, 3), (6, 8, 3), (24, 4, 3), (64, 1, 3),
    (4, 1, 12), (8, 1, 12), (6, 8, 12), (24, 4, 12), (4, 8, 50), (64, 1, 50),
)  # fmt: skip
LARGE: Sequence[Shape] = ((256, 8, 12), (1_024, 4, 5), (4_096, 1, 5), (4_096, 8, 3))
LARGE_SEEDS = 20


def factors(seed: int, shape: Shape, noise: tuple[Noise, float]) -> F64:
    """How long each operation takes against its usual time: shape, and operations."""
    made, size = noise
    rng = np.random.default_rng([seed, *shape])
    return np.maximum(1 + made(rng, shape, size) + np.zeros((*shape, OPS)), 0.01)


def accused(times: F64) -> list[Verdict | None]:
    """The verdicts on hosts whose operations of equal work take `times`."""
    hosts, chips, steps, _ = times.shape
    usual = np.random.default_rng(1).integers(20_000_000, 900_000_000, OPS)
    work = times.reshape(hosts * chips, steps, OPS) * usual
    chip_work = np.rint(work.sum(axis=2)).astype(np.int64)
    of_ops = work.sum(axis=1)
    ratio = of_ops.sum(axis=1) / lower_median(of_ops).sum()
    of_hosts = chip_work.reshape(hosts, chips, steps).max(axis=1)
    shared = SharedSteps(
        labels=tuple(map(str, range(steps))),
        duration_ps=of_hosts,
        work_ps=of_hosts,
        chip_work_ps=chip_work,
    )
    known = Ratios(
        ratio=ratio, compared_share=np.ones(len(ratio)), divided=np.zeros(len(ratio), np.bool_)
    )
    host_of = np.repeat(np.arange(hosts), chips)
    return list(judge(host_of, known, shared, is_allowed=True).verdicts)


def false_alarms(name: str, shape: Shape, seeds: int) -> int:
    """Clean runs of `seeds` in which a host is accused."""
    return sum(any(accused(factors(seed, shape, NOISES[name]))) for seed in range(seeds))


def main() -> None:
    """Count, and print a row for each shape and noise with an accusation, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000)
    given = parser.parse_args()
    runs = dict.fromkeys(SHAPES, given.seeds) | dict.fromkeys(LARGE, LARGE_SEEDS)
    for name in NOISES:
        wrong = {shape: false_alarms(name, shape, seeds) for shape, seeds in runs.items()}
        said = [f"{'×'.join(map(str, shape))}: {count}" for shape, count in wrong.items() if count]
        sys.stdout.write(f"{name}: {sum(wrong.values())} of {sum(runs.values())} {said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
