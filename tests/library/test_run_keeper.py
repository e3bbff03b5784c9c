"""The order in which runs are read, and when none is."""

from unittest.mock import Mock

from roofline.fleet.engine import EngineChoice
from roofline.library.run_keeper import RunKeeper, next_turns
from roofline.storage.run_records import READING, Run


def a_run(run_id: str, uploader: str | None) -> Run:
    return Run(
        id=run_id,
        title="",
        created_at="",
        address="s3://runs/a/",
        join_s=None,
        expected_hosts=None,
        uploader=uploader,
        visibility="everybody",
        state=READING,
        note="",
        reason="",
        changed_at=0.0,
        listed_at=None,
        document=None,
        said_of=0,
        version=0,
        read=0,
        unreadable=0,
        total=0,
    )


def test_many_runs_of_one_person_hold_up_no_other() -> None:
    runs = [*(a_run(f"a{number}", "ada") for number in range(50)), a_run("b", "bob")]
    turn_at: dict[str, float] = {}
    rounds = []
    for moment in range(1, 4):
        chosen = [run.id for run in next_turns(runs, turn_at)]
        turn_at |= dict.fromkeys(chosen, float(moment))
        rounds.append(chosen)
    assert rounds == [["a0", "b"], ["a1", "b"], ["a2", "b"]]


def test_a_keeper_rests_where_others_have_every_lease() -> None:
    runs = Mock(**{"open_runs.return_value": (a_run("a", "Ada"),), "claim.return_value": False})
    keeper = RunKeeper(
        Mock(runs=runs),
        Mock(),
        place="",
        workers=1,
        room=Mock(),
        reads=(),
        engine=EngineChoice(),
    )
    assert keeper._turns() is False, "it would look again at once, and take a processor"
    runs.claim.assert_called_once()
