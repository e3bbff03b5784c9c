"""Savings of levers: never past the next roof, and a plan whose savings add up."""

from collections.abc import Mapping

import numpy as np
import pytest

from roofline.advice.plan import Lever, State, after, greedy_plan, saving_us

FIRST = np.array([0])


def state_of(time_us: float, own_us: float | None = None, **clocks: float) -> State:
    """A program of one op."""
    return State(
        busy_us=np.array([time_us]),
        own_us=np.array([time_us if own_us is None else own_us]),
        clocks={name: np.array([clock]) for name, clock in clocks.items()},
    )


def scaled(**factors: float) -> Lever:
    """The first op with its work scaled."""
    return Lever(rows=FIRST, scale={name: np.array([k]) for name, k in factors.items()})


def closed(target: float) -> Lever:
    """The first op at a share of its roof."""
    return Lever(rows=FIRST, target=np.array([target]))


def test_the_next_roof_clips_a_saving() -> None:
    state = state_of(1000 / 0.8, mxu=500.0, hbm=1000.0)
    saved = saving_us(state, scaled(hbm=0.25))
    assert 1250 / (1250 - saved) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("clocks", "share", "factor", "speed_up"),
    [
        ({"mxu": 15.3e9 / 989.4e6, "hbm": 14.499e9 / 3350e3}, 0.9, 7.389 / 14.499, 1.96),
        ({"mxu": 30786.6e9 / 989.4e6, "hbm": 34.658e9 / 3350e3}, 0.8, 27.538 / 34.658, 1.0),
    ],
    ids=["decode", "prefill"],
)
def test_int8_weights_help_where_the_memory_binds(
    clocks: Mapping[str, float], share: float, factor: float, speed_up: float
) -> None:
    state = state_of(max(clocks.values()) / share, **clocks)
    time = state.own_us[0]
    assert time / after(state, scaled(hbm=factor)).own_us[0] == pytest.approx(speed_up, abs=0.005)


def test_an_op_above_its_roof_saves_nothing() -> None:
    assert saving_us(state_of(90.0, hbm=100.0), scaled(hbm=0.5)) == 0.0
    assert saving_us(state_of(90.0, hbm=100.0), closed(0.9)) == 0.0


def test_an_op_of_unknown_cost_saves_nothing() -> None:
    state = state_of(90.0, hbm=float("nan"))
    assert saving_us(state, closed(0.9)) == 0.0
    assert saving_us(state, scaled(hbm=0.5)) == 0.0


def test_an_op_beyond_the_target_saves_nothing() -> None:
    assert saving_us(state_of(100.0, hbm=95.0), closed(0.9)) == 0.0


def test_only_time_that_others_do_not_cover_is_saved() -> None:
    assert saving_us(state_of(100.0, own_us=100.0, hbm=45.0), closed(0.9)) == pytest.approx(50.0)
    assert saving_us(state_of(100.0, own_us=60.0, hbm=45.0), closed(0.9)) == pytest.approx(15.0)
    assert saving_us(state_of(100.0, own_us=40.0, hbm=45.0), closed(0.9)) == 0.0


def test_a_time_after_the_change_is_never_below_the_roof() -> None:
    lever = Lever(rows=FIRST, time_us=np.array([10.0]))
    assert after(state_of(100.0, hbm=30.0), lever).own_us[0] == pytest.approx(30.0)


def random_program(rnd: np.random.Generator) -> tuple[State, list[Lever]]:
    """Ops at random places below their roofs, and three levers for each of some groups."""
    count = 8
    clocks = {name: 10 ** rnd.uniform(-1, 3, count) for name in ("mxu", "hbm", "l2")}
    roof = np.max([*clocks.values()], axis=0)
    busy = roof / rnd.uniform(0.05, 1.02, count)
    own = busy * np.where(rnd.random(count) < 0.3, rnd.random(count), 1.0)
    levers = []
    for rows in (np.arange(3), np.arange(2, 6), np.arange(5, count)):
        ones = np.ones(len(rows))
        levers += [
            Lever(rows=rows, scale={"hbm": ones * 0.5}),
            Lever(rows=rows, scale={"mxu": ones * 0.5}),
            Lever(rows=rows, target=ones * 0.9),
            Lever(rows=rows, time_us=busy[rows] * 0.3),
        ]
    return State(busy_us=busy, own_us=own, clocks=clocks), levers


def test_no_saving_beats_a_roof_and_a_plan_adds_up() -> None:
    rnd = np.random.default_rng(3)
    for _ in range(100):
        state, levers = random_program(rnd)
        for lever in levers:
            changed = after(state, lever)
            # A row that others cover may own less time than its work needs, but saves none of it.
            least = np.minimum(changed.roof_us(), state.own_us)
            assert (changed.own_us >= least * (1 - 1e-12)).all()
            assert (changed.own_us <= state.own_us).all()
        plan = greedy_plan(state, levers)
        start, end = state.own_us.sum(), plan.end.own_us.sum()
        assert sum(plan.savings_us) == pytest.approx(start - end, rel=1e-12)
        assert len(set(plan.order)) == len(plan.order)
        assert (plan.end.own_us >= np.minimum(plan.end.roof_us(), state.own_us) - 1e-9).all()


def test_a_plan_takes_the_largest_saving_first() -> None:
    state = State(
        busy_us=np.array([100.0, 400.0]),
        own_us=np.array([100.0, 400.0]),
        clocks={"hbm": np.array([50.0, 100.0])},
    )
    levers = [Lever(rows=np.array([row]), target=np.array([1.0])) for row in (0, 1)]
    plan = greedy_plan(state, levers)
    assert plan.order == (1, 0)
    assert plan.savings_us == pytest.approx((300.0, 50.0))


def test_a_small_saving_stays_out_of_the_plan() -> None:
    plan = greedy_plan(state_of(100.0, hbm=89.0), [closed(0.9)], least_us=2.0)
    assert (plan.order, plan.savings_us) == ((), ())


def test_a_program_never_takes_less_than_its_busiest_link_needs() -> None:
    state = State(
        busy_us=np.array([100.0, 80.0]),
        own_us=np.array([100.0, 80.0]),
        clocks={"hbm": np.array([np.nan, np.nan])},
        least_us=60.0,
    )
    levers = [Lever(rows=np.array([row]), time_us=np.array([0.0])) for row in (0, 1)]
    plan = greedy_plan(state, levers)
    assert plan.savings_us == pytest.approx((100.0, 20.0))
    assert plan.end.own_us.sum() == pytest.approx(60.0)
