"""Whether what stands out may be chance, by the noise that the run itself shows.

Three things are assumed of that noise, and no more: it strikes all hosts alike; it strikes each
step apart; and its tail falls at least as fast as that of Student's t with three degrees of
freedom, which is far slower than a normal one: one value in 200 is six deviations out.
"""

import math
from statistics import NormalDist

import numpy as np

from roofline.model.op_columns import F64, I64, Bools

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
