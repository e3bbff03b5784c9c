"""Whether what stands out may be chance, by the noise that the run itself shows.

Three things are assumed of that noise, and no more: it strikes all hosts alike; it strikes each
step apart; and its tail falls at least as fast as that of Student's t with three degrees of
freedom, which is far slower than a normal one: one value in 200 is six deviations out.
"""

import math

import numpy as np

from roofline.model.op_columns import F64, I64, Bools

FALSE_ALARMS = 0.001
"""Clean runs in which some host or chip is accused, at most."""
ALLOWED_LASTING, ALLOWED_REPEATED = FALSE_ALARMS / 40, FALSE_ALARMS / 2
"""The same for slow chips and for stragglers, whose chance has several bounds, and for intermittent
hosts."""
# Values of hosts in steps: fewer may all be close to each other by chance.
_FEWEST_TELLING = 6
_TAIL_SHARE, _FAR = 0.1, 4.0
_LEAST_SPREAD = 1e-4
# With more hosts, one of them alone does not move the largest tenth.
_FEW_HOSTS = 64


def lasting_chance(excess: F64, host_of: I64, apart: Bools) -> F64:
    """In how many clean runs some row lies as far out, in three of four steps, as each row does.

    `excess` has shape (rows, steps): by what share a chip, or a host, is above the median one.
    `host_of` is the place of each row's host. Rows of other hosts tell the noise, but for those
    that may be slow themselves, `apart`: these count as values that are further out.
    """
    rows, steps = excess.shape
    hosts, others_apart = int(host_of.max()) + 1, max(len(np.unique(host_of[apart])) - 1, 0)
    # The median host of a step tells no noise, and a host nothing of its own.
    telling = steps * (hosts - 2 - others_apart)
    if telling < _FEWEST_TELLING:
        return np.ones(rows)
    least = steps - steps // 4
    reached = -np.sort(-excess, axis=1)[:, least - 1]
    ordinary = _largest_tenth(excess, host_of, apart)[host_of]
    share = _share_beyond(telling, steps * others_apart, least)
    beyond = np.maximum(reached / ordinary, 1.0)
    each = np.where(reached > ordinary, share * _tail(beyond), 1.0)
    return np.asarray(np.minimum(rows * _at_least(least, steps, each), 1.0))


def _tail(beyond: F64) -> F64:
    """The share of the largest tenth that is `beyond` times as large as its least; at most so much
    for Student's t with three degrees of freedom."""
    return np.asarray(beyond**-2.0 * np.minimum(_FAR / beyond, 1.0))


def _largest_tenth(excess: F64, host_of: I64, apart: Bools) -> F64:
    """For each host, what nine of ten values of the others stay below."""
    hosts = int(host_of.max()) + 1
    if hosts > _FEW_HOSTS:
        return np.full(hosts, _ninth_tenth(excess[~apart]))
    return np.array([_ninth_tenth(excess[(host_of != host) & ~apart]) for host in range(hosts)])


def _ninth_tenth(values: F64) -> float:
    place = _place(values.size)
    return max(float(np.partition(values.ravel(), place)[place]), _LEAST_SPREAD)


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
