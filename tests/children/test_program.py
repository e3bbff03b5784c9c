"""The one protocol of programs that read files: messages, kills, and children that lie."""

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import gettempdir

import pytest

from roofline.children.forkserver import MOST_THREADS
from roofline.children.messages import DONE, FAILED, PROGRESS, Message
from roofline.children.program import Program, ProgramLost, ProgramStopped, Request
from roofline.model.outer_limits import ImportLimits
from tests.children.processes import LIMITS, children_of, program_id

SMALL = replace(LIMITS, memory_bytes=1 << 30, max_unpacked_bytes=1 << 20)


@pytest.fixture
def program() -> Iterator[Program]:
    found = Program("roofline.children.forkserver", "tests.children.work")
    yield found
    found.close()


def ask(program: Program, work: str, limits: ImportLimits = SMALL, **body: object) -> Request:
    work = f"tests.children.{work}" if ":" in work else f"tests.children.work:{work}"
    of_child = {"limits": asdict(limits), "size_bytes": 0, "reads": [], "writes": gettempdir()}
    return program.ask({"work": work, **of_child, **body})


def test_messages_come_in_order_and_the_last_has_the_time_of_the_child(program: Program) -> None:
    *before, last = ask(program, "count", to=3).messages()
    assert [one.body for one in before] == [{"at": 0}, {"at": 1}, {"at": 2}]
    assert (last.kind, last.body["sum"]) == (DONE, 3)
    assert last.body["cpu_seconds"] > 0


def test_requests_side_by_side_get_their_own_answers(program: Program) -> None:
    asked = [ask(program, "count", to=number) for number in range(8)]
    assert [request.last().body["sum"] for request in asked] == [0, 0, 1, 3, 6, 10, 15, 21]


def test_errors_are_those_of_the_work_and_of_its_limits(program: Program) -> None:
    refused = ask(program, "refuse").last()
    assert (refused.kind, refused.body["error"]["message"]) == (FAILED, "No.")
    full = ask(program, "fill_the_disk").last()
    assert "writes a file of more than" in full.body["error"]["message"]
    large = ask(program, "need_memory").last()
    assert "more than 1 GiB of memory" in large.body["error"]["message"]


def test_a_child_speaks_for_its_own_request_only(program: Program) -> None:
    honest = ask(program, "wait")
    honest.next()
    liar = ask(program, "write", line=Message(honest.id, DONE, {"sum": 0}).line.decode())
    assert liar.last().id == liar.id
    assert honest.next(0.2) is None


WRONG = [
    "no JSON\n",
    "[]\n",
    '{"id": 1}\n',
    '{"id": Infinity, "kind": "done", "body": {}}\n',
    '{"id": 1, "kind": "done", "body": ' + "[" * 100_000 + "\n",
    "x" * (9 << 20),
]


@pytest.mark.parametrize("line", WRONG, ids=range(len(WRONG)))
def test_a_child_that_sends_something_else_than_messages_is_ended(
    program: Program, line: str
) -> None:
    last = ask(program, "write", line=line, stays=True).last()
    assert (last.kind, last.body["exit"]) == (FAILED, None)
    assert ask(program, "count", to=1).last().kind == DONE


def test_a_child_that_is_killed_ends_its_request_alone(program: Program) -> None:
    other, request = ask(program, "wait"), ask(program, "wait")
    assert [one.next().kind for one in (other, request)] == [PROGRESS] * 2  # type: ignore[union-attr]
    request.kill()
    assert request.last().body["exit"] == -signal.SIGKILL
    assert other.next(0.2) is None


def test_a_child_that_says_nothing_and_stays_holds_up_no_other(program: Program) -> None:
    silent = ask(program, "close_its_pipes")
    assert ask(program, "count", to=1).next(20) is not None
    last = silent.next(20)
    assert last is not None and (last.kind, last.body["exit"]) == (FAILED, -signal.SIGKILL)


def test_a_child_of_too_many_threads_is_ended(program: Program) -> None:
    last = ask(program, "start_threads", LIMITS, count=MOST_THREADS + 50).next(20)
    assert last is not None and last.body["exit"] == -signal.SIGKILL
    assert ask(program, "start_threads", LIMITS, count=16).last().kind == DONE


def test_a_child_past_its_time_is_ended(program: Program) -> None:
    few = replace(LIMITS, wall_seconds=0.2)
    assert ask(program, "wait", few).last().body["is_slow"]


def test_a_program_that_is_killed_is_started_again_and_its_children_end(program: Program) -> None:
    request = ask(program, "wait")
    request.next()
    number = program_id(program)
    (child,) = children_of(number)
    os.kill(number, signal.SIGKILL)
    with pytest.raises(ProgramLost):
        request.last()
    assert ask(program, "count", to=2).last().kind == DONE
    assert (
        not Path(f"/proc/{child}/cmdline").exists()
        or not Path(f"/proc/{child}/cmdline").read_bytes()
    )


def test_closing_ends_who_waits_and_what_is_asked_afterwards(program: Program) -> None:
    request = ask(program, "wait")
    request.next()
    threading.Timer(0.1, program.close).start()
    with pytest.raises(ProgramStopped):
        request.last()
    with pytest.raises(ProgramStopped):
        ask(program, "count", to=1)
