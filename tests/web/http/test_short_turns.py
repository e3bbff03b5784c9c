"""The order in which the event loop looks at connections."""

import asyncio
import contextlib
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from roofline.web.http.short_turns import HURRIED_AT_ONCE, USUAL_AT_ONCE, ShortTurns

READS, WRITES = selectors.EVENT_READ, selectors.EVENT_WRITE


@contextlib.contextmanager
def _pairs(count: int) -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    """Connected sockets: the first of each waits for what the second sends."""
    with contextlib.ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(count)]
        for one in (end for pair in pairs for end in pair):
            stack.enter_context(one)
        yield pairs


@pytest.fixture
def turns() -> Iterator[ShortTurns]:
    with contextlib.closing(ShortTurns()) as selector:
        yield selector


def _ready(turns: ShortTurns, timeout: float | None = 0) -> list[int]:
    return [key.fd for key, _ in turns.select(timeout)]


def test_a_turn_is_short_and_everyone_has_one(turns: ShortTurns) -> None:
    with _pairs(10 * USUAL_AT_ONCE) as pairs:
        for ours, theirs in pairs:
            turns.register(ours.fileno(), READS)
            theirs.send(b"x")
        for _ in range(3):
            seen = [_ready(turns) for _ in range(10)]
            assert {len(turn) for turn in seen} == {USUAL_AT_ONCE}
            assert len({fd for turn in seen for fd in turn}) == len(pairs)


def test_hurried_files_are_in_each_turn(turns: ShortTurns) -> None:
    with _pairs(10 * USUAL_AT_ONCE) as pairs:
        for ours, theirs in pairs:
            turns.register(ours.fileno(), READS)
            theirs.send(b"x")
        first = pairs[0][0].fileno()
        turns.hurry(first)
        seen = [_ready(turns) for _ in range(5)]
        assert all(turn[0] == first and len(turn) == 1 + USUAL_AT_ONCE for turn in seen)
        turns.calm(first)
        assert Counter(fd for _ in range(10) for fd in _ready(turns))[first] == 1


def test_hurried_files_leave_room_for_the_others(turns: ShortTurns) -> None:
    with _pairs(20) as pairs:
        for number, (ours, theirs) in enumerate(pairs):
            turns.register(ours.fileno(), READS)
            theirs.send(b"x")
            if number:
                turns.hurry(ours.fileno())
        usual = pairs[0][0].fileno()
        for _ in range(5):
            turn = _ready(turns)
            assert usual in turn
            assert len(turn) == HURRIED_AT_ONCE + 1
        served = Counter(fd for _ in range(19) for fd in _ready(turns))
        assert {served[ours.fileno()] for ours, _ in pairs[1:]} == {HURRIED_AT_ONCE}


def test_wait_ends_when_a_hurried_file_is_ready(turns: ShortTurns) -> None:
    with _pairs(1) as [(ours, theirs)]:
        turns.register(ours.fileno(), READS)
        turns.hurry(ours.fileno())
        assert _ready(turns, 0.01) == []
        sender = threading.Timer(0.05, theirs.send, [b"x"])
        sender.start()
        assert _ready(turns, None) == [ours.fileno()]
        sender.join()


def test_hurry_outlives_pauses_and_ends_before_a_number_is_used_again(turns: ShortTurns) -> None:
    with _pairs(USUAL_AT_ONCE + 2) as pairs:
        first = pairs[0][0].fileno()
        turns.hurry(first)  # while reading is paused
        for ours, theirs in pairs:
            turns.register(ours.fileno(), READS)
            theirs.send(b"x")
        assert _ready(turns)[0] == first
        turns.unregister(first)
        turns.register(first, READS)
        assert _ready(turns)[0] == first
        turns.unregister(first)
        turns.calm(first)
        turns.register(first, READS)
        assert Counter(fd for _ in pairs for fd in _ready(turns))[first] < len(pairs)


def test_events_are_those_that_were_asked_for(turns: ShortTurns) -> None:
    with _pairs(1) as [(ours, theirs)]:
        key = turns.register(ours, READS, "data")
        assert turns.get_key(ours) == turns.get_map()[ours.fileno()] == key
        assert turns.select(0) == []
        key = turns.modify(ours, READS | WRITES, "more")
        assert turns.select(0) == [(key, WRITES)]
        theirs.close()
        assert turns.select(0) == [(key, READS | WRITES)]
        with pytest.raises(KeyError):
            turns.register(ours.fileno(), READS)
        number = ours.fileno()
        ours.close()
        assert turns.unregister(number) == key
        with pytest.raises(KeyError):
            turns.get_key(number)


def test_loop_takes_a_body_in_few_turns_beside_many_others() -> None:
    """200 connections are always ready: a hurried one is served as often as it can be."""
    turns = ShortTurns()

    async def others_meanwhile(pieces: int) -> int:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        served: Counter[int] = Counter()
        with _pairs(200) as pairs:
            files = [ours.fileno() for ours, _ in pairs]

            def look(fd: int) -> None:
                served[fd] += 1
                if served[files[0]] == pieces:
                    over.set()

            for fd, (_, theirs) in zip(files, pairs, strict=True):
                loop.add_reader(fd, look, fd)
                theirs.send(b"x")
            turns.hurry(files[0])
            await asyncio.wait_for(over.wait(), 30)
            for fd in files:
                loop.remove_reader(fd)
        return served.total() - served[files[0]]

    def run() -> int:
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
            return runner.run(others_meanwhile(20))

    # In a thread: browser tests of the same process leave a loop running.
    with ThreadPoolExecutor(1) as thread:
        assert 0 < thread.submit(run).result() <= 22 * USUAL_AT_ONCE
