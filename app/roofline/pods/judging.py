"""Which hosts hold the others up, and why: by work, never by the time of steps or collectives.

A step ends for all hosts together: the straggler has the shortest collectives. Hosts are judged by
their slowest chip, which a mean over the chips of a host would hide.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from roofline.model.op_columns import F64, I64, Bools
from roofline.pods import definitions
from roofline.pods.same_work import Ratios
from roofline.pods.steps import SharedSteps
from roofline.pods.verdicts import FEWEST_HOSTS, LEAST_READABLE, NoVerdict, Verdict

# Clean runs in which a host is called intermittent, or a chip slow; and the least rate of slow
# steps by chance.
_FALSE_ALARMS = 0.001
_LEAST_RATE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """A verdict or none for each host, in how many steps it stood out, and which chips are slow."""

    verdicts: tuple[Verdict | None, ...]
    slow_steps: I64
    slow_chips: Bools


def why_not(workers: int, unreadable: int) -> NoVerdict | None:
    """Why no host can be judged; `None` where they can."""
    if workers < LEAST_READABLE * (workers + unreadable):
        return NoVerdict.UNREADABLE
    return NoVerdict.FEW_HOSTS if workers < FEWEST_HOSTS else None


def judge(host_of: I64, ratios: Ratios, steps: SharedSteps, *, is_allowed: bool) -> Judged:
    """The verdicts; none unless `is_allowed`. `host_of` is the place of each chip's host."""
    hosts = len(steps.work_ps)
    if not is_allowed:
        return Judged(
            verdicts=(None,) * hosts,
            slow_steps=np.zeros(hosts, np.int64),
            slow_chips=np.zeros(len(host_of), np.bool_),
        )
    slow = definitions.stands_out(steps.work_ps)
    slow_chips = _slow_chips(ratios, definitions.standard_error(steps.chip_work_ps))
    by_chance = _by_chance(slow, steps.work_ps)
    verdicts = tuple(
        _verdict(_Steps(int(slow[k].sum()), slow.shape[1], is_chance), slow_chips[at], ratio)
        for k, is_chance in enumerate(by_chance)
        for at in [host_of == k]
        for ratio in [ratios.ratio[at]]
    )
    return Judged(verdicts=verdicts, slow_steps=slow.sum(axis=1), slow_chips=slow_chips)


class _Steps(NamedTuple):
    """In how many steps a host stood out, of how many, and whether that may be chance."""

    slow: int
    of: int
    is_chance: bool


def _by_chance(slow: Bools, work_ps: I64) -> list[bool]:
    """True for hosts whose slow steps may be chance: too few, and none of them far out.

    Of thousands of hosts and steps some are 3.5 scores out without a reason; of a few hosts, too,
    because their spread in one step may be small: only steps that are as far out by the spread of
    all steps count.
    """
    hosts, count = slow.shape
    scores = definitions.scores_of_all(work_ps)
    far: Bools = np.asarray((slow & (scores >= 2 * definitions.FAR_OUT)).any(axis=1))
    sure = slow & (scores >= definitions.FAR_OUT)
    each, every = sure.sum(axis=1), int(sure.sum())
    # One more than was seen: that none was seen among few does not make the rate nothing.
    others = (every - each + 1) / max((hosts - 1) * count, 1)
    return [
        not is_far and hosts * _chance(int(k), count, max(rate, _LEAST_RATE)) > _FALSE_ALARMS
        for is_far, k, rate in zip(far.tolist(), each.tolist(), others.tolist(), strict=True)
    ]


def _chance(least: int, count: int, rate: float) -> float:
    """The probability that at least `least` of `count` happen, each with this rate."""
    return sum(
        math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(least, count + 1)
    )


def _slow_chips(ratios: Ratios, standard_error: float) -> Bools:
    """Chips whose ratio is 1.02 and 3.5 scores above the median, and not by chance.

    `standard_error` is that of a chip's time over the steps, as a share.
    """
    known = ~np.isnan(ratios.ratio)
    found = np.zeros(len(known), np.bool_)
    if known.any():
        of = ratios.ratio[known]
        far = definitions.scores(of) >= definitions.FAR_OUT
        found[known] = far & (of >= definitions.SLOWER) & ~_chips_by_chance(of, standard_error)
    return found


def _chips_by_chance(ratio: F64, standard_error: float) -> Bools:
    """True for ratios that some chip of a clean run would reach in more than one of 1,000 runs.

    The spread is that of the chips or that of their steps, whichever is wider: the one of a few
    chips may be small by chance, and a capture of a few short steps has a wide one of steps.
    """
    middle = definitions.lower_median(ratio)
    spread = max(definitions.robust_deviation(ratio), standard_error * float(middle))
    limit = NormalDist().inv_cdf(1 - _FALSE_ALARMS / len(ratio))
    return np.asarray(ratio - middle < limit * spread)


def _verdict(steps: _Steps, slow: Bools, ratio: F64) -> Verdict | None:
    """One host's verdict. A host that is slow now and then has a raised ratio, too."""
    is_rare = 2 * steps.slow < steps.of
    if steps.slow and is_rare and not steps.is_chance:
        return Verdict.INTERMITTENT
    if slow.any():
        return Verdict.SLOW_HOST if len(slow) > 1 and slow.all() else Verdict.SLOW_CHIP
    if is_rare:
        return None
    is_known = len(ratio) > 0 and not np.isnan(ratio).any()
    return Verdict.MORE_WORK if is_known and ratio.max() < definitions.SLOWER else Verdict.STRAGGLER
