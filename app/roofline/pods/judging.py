"""Which hosts hold the others up, and why: by work, never by the time of steps or collectives.

A step ends for all hosts together: the straggler has the shortest collectives. Hosts are judged by
their slowest chip, which a mean over the chips of a host would hide.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from roofline.model.op_columns import F64, I64, Bools
from roofline.pods import chance, definitions
from roofline.pods.blocks import SharedSteps
from roofline.pods.report import (
    FEWEST_HOSTS,
    LEAST_READABLE,
    Late,
    NoVerdict,
    Verdict,
)
from roofline.pods.same_work import Ratios


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
    if steps >= chance.fewest_steps(len(np.unique(host_of))):
        found, allowed = chance.lasting_chance(excess, host_of, apart), chance.ALLOWED_LASTING
    elif chance.tell_noise(host_of, steps, apart):
        found, allowed = chance.lasting_chance(excess, host_of, apart), chance.ALLOWED_OF_FEW_STEPS
    else:
        found = chance.apart_chance(excess.mean(axis=1), host_of, apart)
        allowed = chance.FALSE_ALARMS
    return np.asarray(found <= allowed)


def _repeated(slow: Bools, work_ps: I64) -> list[bool]:
    """True for hosts with more slow steps than chance gives to one of them.

    Of a few hosts the spread in one step may be small: only steps count that are as far out by the
    spread of all steps.
    """
    far_out = np.asarray(slow & (definitions.scores_of_all(work_ps) >= definitions.FAR_OUT))
    by_count = chance.repeated_chance(far_out)
    by_size = chance.alone_chance(_above_median(work_ps), far_out)
    least = map(min, by_count, by_size)
    return [one <= chance.ALLOWED_REPEATED for one in least]


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
    limit = NormalDist().inv_cdf(1 - chance.FALSE_ALARMS / len(ratio))
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
    if late_ps is None or late_ps.shape[1] < chance.fewest_steps(len(hosts)):
        return None
    middle, whole = int(definitions.lower_median(work_ps)), late_ps.sum(axis=1)
    apart = definitions.stands_out(middle + whole)
    at = int(whole.argmax())
    if middle <= 0 or not apart[at]:
        return None
    excess = (late_ps - definitions.lower_median(late_ps)) * late_ps.shape[1] / middle
    found = chance.lasting_chance(excess, np.arange(len(hosts)), apart)
    if found[at] > chance.ALLOWED_LASTING:
        return None
    share = (int(whole[at]) - int(np.delete(whole, at).max())) / middle
    return Late(host=hosts[at], share=share) if share >= definitions.SLOWER - 1 else None
