"""Views in memory: computed once at a time, as many as there are cores, and the newest kept."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from roofline.errors import NoSuchRangeError, ServerBusyError
from roofline.web.http.computing import MOST_CHANGES, Changes, Computations, Memory

DEADLINE_S = 30


def test_a_memory_forgets_what_was_asked_for_longest_ago() -> None:
    memory: Memory[bytes] = Memory(10, len)
    memory.put("a", b"1234")
    memory.put("b", b"1234")
    assert memory.get("a") == b"1234"
    memory.put("c", b"1234")
    assert memory.get("b") is None
    assert memory.get("a") == b"1234"
    assert memory.put("large", b"12345678901") == b"12345678901"
    assert memory.get("large") is None


def test_threads_that_ask_for_the_same_wait_for_one_computation() -> None:
    computations, started, go = Computations(1), threading.Event(), threading.Event()
    runs: list[str] = []

    def compute() -> str:
        runs.append("run")
        started.set()
        assert go.wait(DEADLINE_S)
        return "result"

    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(computations.once, "key", compute)
        assert started.wait(DEADLINE_S)
        others = [threads.submit(computations.once, "key", compute) for _ in range(3)]
        while computations.waiting < len(others):
            assert not first.done()
        go.set()
        assert {future.result(DEADLINE_S) for future in (first, *others)} == {"result"}
    assert runs == ["run"]
    assert computations.once("key", lambda: "again") == "again"


def test_too_many_waiting_are_told_to_come_back() -> None:
    computations, started, go = (
        Computations(1, most_waiting=1),
        threading.Event(),
        threading.Event(),
    )

    def compute() -> str:
        started.set()
        assert go.wait(DEADLINE_S)
        return "result"

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(computations.once, "a", compute)
        assert started.wait(DEADLINE_S)
        second = threads.submit(computations.once, "b", lambda: "other")
        while computations.waiting < 1:
            assert not second.done()
        for key in ("a", "c"):
            with pytest.raises(ServerBusyError) as caught:
                computations.once(key, compute)
            assert caught.value.retry_after_s == 2
        go.set()
        assert (first.result(DEADLINE_S), second.result(DEADLINE_S)) == ("result", "other")


def test_a_computation_that_fails_is_tried_again() -> None:
    computations = Computations(1)

    def fail() -> str:
        raise NoSuchRangeError("There is no such range.", remedy="Choose another.")

    with pytest.raises(NoSuchRangeError):
        computations.once("key", fail)
    assert computations.once("key", lambda: "result") == "result"


def test_no_key_of_a_page_comes_back() -> None:
    """A page that was kept before a change must never be found again, whatever is forgotten."""
    changes, rng = Changes(), random.Random(1)
    names = [f"p{k}" for k in range(2 * MOST_CHANGES)]
    seen: dict[str, set[int]] = {name: set() for name in names}
    for _ in range(6 * MOST_CHANGES):
        name = rng.choice(names)
        before = changes.last(name)
        seen[name].add(before)
        changes.note(name)
        assert changes.last(name) not in seen[name]
        assert changes.last(name) > before
