"""Which hosts hold the others up, and why: by work, never by the time of steps or collectives.

A step ends for all hosts together: the straggler has the shortest collectives. Hosts are judged by
their slowest chip, which a mean over the chips of a host would hide.

Whether what stands out may be chance, by the noise that the run itself shows.

Three things are assumed of that noise, and no more: it strikes all hosts alike; it strikes each
step apart; and its tail falls at least as fast as that of Student's t with three degrees of
freedom, which is far slower than a normal one: one value in 200 is six deviations out.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from roofline.model.op_columns import F64, I64, Bools
from roofline.pods import definitions
from roofline.pods.blocks import SharedSteps
from roofline.pods.definitions import Ratios
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    Late,
    NoVerdict,
    Verdict,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """A verdict or none for each host, in how many steps it stood out, and which chips are slow."""

    verdicts: tuple[Verdict | None, ...]
    slow_steps: I64
    slow_chips: Bools


def why_not(
    workers: int, unreadable: int, *, is_one_capture: bool, is_one_program: bool
) -> NoVerdict | None:
    """Why no host can be judged; `None` where they can."""
    if not is_one_capture:
        return NoVerdict.SEVERAL_CAPTURES
    if workers < LEAST_READABLE * (workers + unreadable):
        return NoVerdict.UNREADABLE
    if workers < FEWEST_HOSTS:
        return NoVerdict.FEW_HOSTS
    return None if is_one_program else NoVerdict.SEVERAL_PROGRAMS


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
    slow_chips = _slow_chips(host_of, ratios, steps.chip_work_ps)
    lasting, repeated = _lasting(slow, steps.work_ps), _repeated(slow, steps.work_ps)
    verdicts = tuple(
        _verdict(_Steps(int(slow[k].sum()), slow.shape[1], lasts, repeats), slow_chips[at], ratio)
        for k, (lasts, repeats) in enumerate(zip(lasting, repeated, strict=True))
        for at in [host_of == k]
        for ratio in [ratios.ratio[at]]
    )
    return Judged(verdicts=verdicts, slow_steps=slow.sum(axis=1), slow_chips=slow_chips)


class _Steps(NamedTuple):
    """In how many steps a host stood out, of how many; whether it lasts, or comes again, more than
    chance allows."""

    slow: int
    of: int
    lasts: bool
    repeats: bool


def _lasting(slow: Bools, work_ps: I64) -> list[bool]:
    """True for hosts whose work is so far out in half of the steps that it is not chance."""
    excess = _above_median(work_ps)
    apart = np.asarray(2 * slow.sum(axis=1) >= slow.shape[1])
    found: list[bool] = _more_than_chance(excess, np.arange(len(work_ps)), apart).tolist()
    return found


def _more_than_chance(excess: F64, host_of: I64, apart: Bools) -> Bools:
    """True for rows that are further out than chance makes likely.

    Few steps tell little of how much a step varies: more false alarms are allowed there, and of few
    hosts their spread decides.
    """
    steps = excess.shape[1]
    if steps >= fewest_steps(len(np.unique(host_of))):
        found, allowed = lasting_chance(excess, host_of, apart), ALLOWED_LASTING
    elif tell_noise(host_of, steps, apart):
        found, allowed = lasting_chance(excess, host_of, apart), ALLOWED_OF_FEW_STEPS
    else:
        found = apart_chance(excess.mean(axis=1), host_of, apart)
        allowed = FALSE_ALARMS
    return np.asarray(found <= allowed)


def _repeated(slow: Bools, work_ps: I64) -> list[bool]:
    """True for hosts with more slow steps than chance gives to one of them.

    Of a few hosts the spread in one step may be small: only steps count that are as far out by the
    spread of all steps.
    """
    far_out = np.asarray(slow & (definitions.scores_of_all(work_ps) >= definitions.FAR_OUT))
    by_count = repeated_chance(far_out)
    by_size = alone_chance(_above_median(work_ps), far_out)
    least = map(min, by_count, by_size)
    return [one <= ALLOWED_REPEATED for one in least]


def _above_median(work_ps: I64) -> F64:
    """By what share each host is above the median one of each step."""
    middle = definitions.lower_median(work_ps)
    return np.divide(work_ps, middle, out=np.ones(work_ps.shape), where=middle > 0) - 1


def _slow_chips(host_of: I64, ratios: Ratios, chip_work_ps: I64) -> Bools:
    """Chips whose ratio is 1.02 and 3.5 scores above the median, in half of the steps or more, and
    not by chance."""
    known = ~np.isnan(ratios.ratio)
    found = np.zeros(len(known), np.bool_)
    if not known.any():
        return found
    of = ratios.ratio[known]
    far = (definitions.scores(of) >= definitions.FAR_OUT) & (of >= definitions.SLOWER)
    if far.any():
        _, places = np.unique(host_of[known], return_inverse=True)
        lasts = _more_than_chance(_excess(of, chip_work_ps[known]), places, far)
        found[known] = far & lasts & ~_chips_by_chance(of)
    return found


def _excess(ratio: F64, work_ps: I64) -> F64:
    """By what share each chip is above the median one in each step: its ratio, varied as its work
    varies against that of the median chip."""
    middle = definitions.lower_median(work_ps)
    whole = work_ps.sum(axis=1) / max(int(middle.sum()), 1)
    relative = np.divide(work_ps, middle, out=np.ones(work_ps.shape), where=middle > 0)
    return np.asarray(ratio[:, None] * relative / np.where(whole > 0, whole, 1)[:, None] - 1)


def _chips_by_chance(ratio: F64) -> Bools:
    """True for ratios that some chip of a clean run would reach in more than one of 1,000 runs, by
    the spread of the chips: chips differ a little, and of thousands one differs more."""
    middle = definitions.lower_median(ratio)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARMS / len(ratio))
    return np.asarray(ratio - middle < limit * definitions.robust_deviation(ratio))


def _verdict(steps: _Steps, slow: Bools, ratio: F64) -> Verdict | None:
    """One host's verdict. A host that is slow now and then has a raised ratio, too."""
    is_rare = 2 * steps.slow < steps.of
    if is_rare and steps.repeats:
        return Verdict.INTERMITTENT
    if slow.any():
        return Verdict.SLOW_HOST if len(slow) > 1 and slow.all() else Verdict.SLOW_CHIP
    if is_rare or not (steps.lasts or steps.repeats):
        return None
    is_known = len(ratio) > 0 and not np.isnan(ratio).any()
    return Verdict.MORE_WORK if is_known and ratio.max() < definitions.SLOWER else Verdict.STRAGGLER


def late_host(hosts: tuple[str, ...], work_ps: I64, late_ps: I64 | None) -> Late | None:
    """The host that comes to collectives later than the others by more than chance makes likely.

    `work_ps` is the work of each host, `late_ps` how much later than the first one it comes in each
    part of the capture: one long stall is not being late. The limits are those of work: 1.02 times
    the median, 3.5 scores, and not by chance. It must be as much later than the next one, too: what
    the others wait for it is a fact then, whatever held it up.
    """
    if late_ps is None or late_ps.shape[1] < fewest_steps(len(hosts)):
        return None
    middle, whole = int(definitions.lower_median(work_ps)), late_ps.sum(axis=1)
    apart = definitions.stands_out(middle + whole)
    at = int(whole.argmax())
    if middle <= 0 or not apart[at]:
        return None
    excess = (late_ps - definitions.lower_median(late_ps)) * late_ps.shape[1] / middle
    found = lasting_chance(excess, np.arange(len(hosts)), apart)
    if found[at] > ALLOWED_LASTING:
        return None
    share = (int(whole[at]) - int(np.delete(whole, at).max())) / middle
    return Late(host=hosts[at], share=share) if share >= definitions.SLOWER - 1 else None


FALSE_ALARMS = 0.001
"""Clean runs in which some host or chip is accused, at most."""
ALLOWED_LASTING, ALLOWED_REPEATED = FALSE_ALARMS / 40, FALSE_ALARMS / 2
"""The same for slow chips and for stragglers, whose chance has several bounds, and for intermittent
hosts."""
ALLOWED_OF_FEW_STEPS = 10 * FALSE_ALARMS
"""The same where steps are few, and tails as heavy as may be; with normal ones it is far less."""
# Values of hosts in steps: fewer may all be close to each other by chance.
_FEWEST_TELLING = 6
_FEWEST_STEPS, _FEWEST_VALUES = 3, 8
_TAIL_SHARE, _FAR = 0.1, 4.0
_LEAST_SPREAD = 1e-4
# Slow steps of one host, where no other host has any: two meet by chance in one of few hosts.
_FEWEST_ALONE, _FEWEST_ALONE_OF_FEW, _FEW_TO_BE_ALONE = 2, 3, 16
# From here on Student's t is as good as normal.
_MOST_FREEDOM = 200
# With more hosts, one of them alone does not move the largest tenth.
_FEW_HOSTS = 64


def fewest_steps(hosts: int) -> int:
    """Steps that tell how much a step of so many hosts varies by chance.

    With fewer than three nothing tells a host that is slow from one that was held up once. The
    median host of a step and the accused one tell nothing of the noise: of four hosts two do.
    """
    return max(_FEWEST_STEPS, -(-_FEWEST_VALUES // max(hosts - 2, 1)))


def lasting_chance(excess: F64, host_of: I64, apart: Bools) -> F64:
    """In how many clean runs some row lies as far out, in three of four steps, as each row does.

    `excess` has shape (rows, steps): by what share a chip, or a host, is above the median one.
    `host_of` is the place of each row's host. Rows of other hosts tell the noise, but for those
    that may be slow themselves, `apart`: these count as values that are further out.
    """
    rows, steps = excess.shape
    telling, others_apart = _telling(host_of, steps, apart)
    if telling < _FEWEST_TELLING:
        return np.ones(rows)
    least = steps - steps // 4
    reached = -np.sort(-excess, axis=1)[:, least - 1]
    ordinary = _largest_tenth(excess, host_of, apart)[host_of]
    share = _share_beyond(telling, steps * others_apart, least)
    beyond = np.maximum(reached / ordinary, 1.0)
    each = np.where(reached > ordinary, share * _tail(beyond), 1.0)
    return np.asarray(np.minimum(rows * _at_least(least, steps, each), 1.0))


def tell_noise(host_of: I64, steps: int, apart: Bools) -> bool:
    """True where `lasting_chance` has values enough."""
    return _telling(host_of, steps, apart)[0] >= _FEWEST_TELLING


def _telling(host_of: I64, steps: int, apart: Bools) -> tuple[int, int]:
    """How many values of hosts in steps tell the noise, and how many other hosts may be slow.

    The median host of a step tells no noise, and a host nothing of its own.
    """
    hosts, others_apart = int(host_of.max()) + 1, max(len(np.unique(host_of[apart])) - 1, 0)
    return steps * (hosts - 2 - others_apart), others_apart


def _tail(beyond: F64) -> F64:
    """The share of the largest tenth that is `beyond` times as large as its least; at most so much
    for Student's t with three degrees of freedom."""
    return np.asarray(beyond**-2.0 * np.minimum(_FAR / beyond, 1.0))


def _largest_tenth(excess: F64, host_of: I64, apart: Bools) -> F64:
    """For each host, what nine of ten values of the others stay below."""
    hosts, tells = int(host_of.max()) + 1, _but_medians(excess) & ~apart[:, None]
    if hosts > _FEW_HOSTS:
        return np.full(hosts, _ninth_tenth(excess[tells]))
    return np.array(
        [_ninth_tenth(excess[(host_of != host)[:, None] & tells]) for host in range(hosts)]
    )


def _ninth_tenth(values: F64) -> float:
    if not values.size:
        return _LEAST_SPREAD
    place = _place(values.size)
    return max(float(np.partition(values, place)[place]), _LEAST_SPREAD)


def _but_medians(excess: F64) -> Bools:
    """False for one value of each step, the median, which is near 0 by definition: of four hosts
    these are a third of all others' values."""
    found = np.ones(excess.shape, np.bool_)
    middle = np.argsort(excess, axis=0, kind="stable")[(len(excess) - 1) // 2]
    found[middle, np.arange(excess.shape[1])] = False
    return found


def _place(count: int) -> int:
    """The place, from 0, of the value that nine of ten values do not exceed."""
    return math.ceil((1 - _TAIL_SHARE) * count) - 1


def _share_beyond(count: int, larger: int, times: int) -> float:
    """How frequent values are beyond the place of nine tenths of `count`, seen `times` times, where
    `larger` further values lie there for certain.

    A tenth, if there are many; more if there are few, because nine tenths of a few values may be
    low by chance: the mean of a power of a beta distribution, and its root.
    """
    above = count - _place(count) + larger
    logs = [math.log((above + k) / (count + larger + 1 + k)) for k in range(times)]
    return math.exp(math.fsum(logs) / times)


def _at_least(least: int, count: int, rate: F64) -> F64:
    """At most how probable it is that `least` of `count` happen (Chernoff); exact for all."""
    share = least / count
    of_these = least * (np.log(rate) - math.log(share))
    if least == count:
        return np.exp(of_these)
    rest = (count - least) * (np.log1p(-np.minimum(rate, 1 - 1e-9)) - math.log1p(-share))
    return np.asarray(np.where(rate < share, np.exp(of_these + rest), 1.0))


def repeated_chance(far_out: Bools) -> list[float]:
    """In how many clean runs some host has as many steps that are far out as each host has.

    `far_out` has shape (hosts, steps). The other hosts tell how frequent such steps are.
    """
    hosts, count = far_out.shape
    each, every = far_out.sum(axis=1), int(far_out.sum())
    return [
        min(hosts * _more_than_others(k, count, every - k, (hosts - 1) * count), 1.0)
        for k in each.tolist()
    ]


def alone_chance(excess: F64, far_out: Bools) -> list[float]:
    """The same by how far out these steps are, where no other host has one: else 1 for each host.

    `excess` has the shape of `far_out`. Where stalls are frequent, others have some.
    """
    hosts, count = far_out.shape
    each, every = far_out.sum(axis=1), int(far_out.sum())
    least = _FEWEST_ALONE if hosts >= _FEW_TO_BE_ALONE else _FEWEST_ALONE_OF_FEW
    alone = np.flatnonzero((each == every) & (each >= least))
    found = [1.0] * hosts
    for host in alone.tolist():
        others = np.delete(excess, host, axis=0)
        others = others[np.delete(_but_medians(excess), host, axis=0)]
        telling = count * (hosts - 2)
        if telling < _FEWEST_TELLING:
            continue
        beyond = np.sort(excess[host])[-every] / _ninth_tenth(others)
        rate = _share_beyond(telling, 0, every) * _tail(np.maximum(beyond, 1.0))
        found[host] = min(hosts * float(_at_least(every, count, np.asarray(rate))), 1.0)
    return found


def apart_chance(excess: F64, host_of: I64, apart: Bools) -> F64:
    """In how many clean runs some host lies as far above the others as each row does, where there
    are no steps to tell the noise: by Student's t of the spread of hosts.

    `excess` has a value for each row. A host is as far out as its largest row, because what holds a
    host up holds all its rows up. The hosts of `apart` tell no noise, and are those judged.
    """
    found, hosts = np.ones(len(excess)), int(host_of.max()) + 1
    largest = np.full(hosts, -np.inf)
    np.maximum.at(largest, host_of, excess)
    others = np.delete(largest, np.unique(host_of[apart]))
    if len(others) < 2:
        return found
    spread = max(float(others.std(ddof=1)), _LEAST_SPREAD) * math.sqrt(1 + 1 / len(others))
    for row in np.flatnonzero(apart).tolist():
        out = float(excess[row] - others.mean()) / spread
        found[row] = min(hosts * _student_tail(out, len(others) - 1), 1.0)
    return found


def _student_tail(value: float, freedom: int) -> float:
    """The probability that Student's t is `value` or more; exact for whole degrees of freedom."""
    if freedom > _MOST_FREEDOM:
        return NormalDist().cdf(-value)
    angle = math.atan(value / math.sqrt(freedom))
    cosine, is_odd = math.cos(angle), freedom % 2
    term = cosine if is_odd else 1.0
    terms = [term]
    for k in range(1, (freedom - is_odd) // 2):
        term *= cosine**2 * (2 * k / (2 * k + 1) if is_odd else (2 * k - 1) / (2 * k))
        terms.append(term)
    inner = math.sin(angle) * math.fsum(terms)
    if is_odd:
        inner = 2 / math.pi * (angle + (inner if freedom > 1 else 0.0))
    return max((1 - inner) / 2, 0.0)


def _more_than_others(own: int, count: int, others: int, of: int) -> float:
    """The probability of `own` or more of `count`, where `others` of `of` happened elsewhere.

    The rate is not known but by the others: a beta-binomial tail with the prior of Jeffreys.
    """
    if own == 0:
        return 1.0
    a, b = others + 0.5, of - others + 0.5
    logs = [
        _log_choose(count, k) + _log_beta(a + k, b + count - k) - _log_beta(a, b)
        for k in range(own, count + 1)
    ]
    return math.fsum(map(math.exp, logs))


def _log_choose(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
