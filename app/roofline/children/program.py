"""A program that answers requests, as the process sees it that started it.

A program that was killed is started again with the next request. Each request that was under way
ends with `ProgramLost`, and its work is done `again`: the file that is read is not to blame.
"""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from roofline.children.messages import ASK, KILL, Message
from roofline.children.sandbox import needed_environment
from roofline.model.outer_limits import MAX_STARTS

T = TypeVar("T")


class ProgramLost(Exception):  # noqa: N818 - an event, worth another attempt
    """The program was killed, and not by this process."""


class ProgramStopped(Exception):  # noqa: N818 - an event
    """This process has stopped the program."""


def again(work: Callable[[], T]) -> T:
    """The result of `work`, which is done again where its program was killed.

    Raises `ProgramLost` where that happens `MAX_STARTS` times.
    """
    for _ in range(MAX_STARTS - 1):
        with suppress(ProgramLost):
            return work()
    return work()


class Program:
    """`python -m MODULE ARGUMENTS`, started with the first request. Threads may ask side by side.

    It gets the variables of `environment` and no others, and the places where this process finds
    packages.
    """

    def __init__(
        self,
        *command: str,
        environment: Callable[[], Mapping[str, str]] = needed_environment,
    ) -> None:
        self._command, self._environment = command, environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        self._open: dict[int, Request] = {}
        self._number = 0
        self.is_stopped = False

    def start(self) -> None:
        """Start the program now, so that it loads while this process goes on."""
        with self._lock:
            self._running()

    def ask(self, body: Mapping[str, Any]) -> "Request":
        """Send a request. Raises `OSError` where no program can be started, and as `Request`."""
        with self._lock:
            pipe = self._running().stdin
            self._number += 1
            request = Request(self, self._number)
            self._open[request.id] = request
            try:
                self._send(pipe, Message(request.id, ASK, dict(body)))
            except (OSError, ValueError) as error:  # it was killed; its pipe may be closed
                del self._open[request.id]
                raise ProgramLost from error
        return request

    def kill(self, number: int) -> None:
        """End the child that works on a request; its last message says so."""
        with self._lock, suppress(OSError, ValueError):
            if number in self._open and self._process is not None:
                self._send(self._process.stdin, Message(number, KILL, {}))

    def close(self, *, within_s: float = 0.0) -> None:
        """End the program and its children; requests under way raise `ProgramStopped`.

        It may end by itself for so many seconds. A second call does nothing.
        """
        self.is_stopped = True
        process = self._process
        if process is not None and not within_s:
            process.kill()  # before the lock, which a thread holds that writes to a stuck program
        with self._lock:
            process, listener = self._process, self._listener
        if process is None or listener is None:
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=within_s)
        process.kill()
        listener.join()

    def _send(self, pipe: Any, message: Message) -> None:
        pipe.write(message.line)
        pipe.flush()

    def _running(self) -> "subprocess.Popen[bytes]":
        """The program, started anew if it was killed. Raises `ProgramStopped` after `close`."""
        if self.is_stopped:
            raise ProgramStopped
        if self._process is None or self._process.poll() is not None:
            path = os.pathsep.join(filter(None, sys.path))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", *self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**self._environment(), "PYTHONPATH": path},
            )
            self._open = {}
            self._listener = threading.Thread(
                target=self._listen, args=(self._process, self._open), daemon=True
            )
            self._listener.start()
        return self._process

    def _listen(self, process: "subprocess.Popen[bytes]", under_way: "dict[int, Request]") -> None:
        """Give each answer to its request until the program ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdout as pipe, suppress(ValueError):
            for line in pipe:
                message = Message.read(line)
                request = under_way.get(message.id)
                if message.is_last:
                    under_way.pop(message.id, None)
                if request is not None:
                    request.arrived.put(message)
        process.kill()  # it may have sent something else than messages
        process.wait()
        with suppress(OSError):  # a request that was not sent any more
            process.stdin.close()
        # Nothing is added afterwards: the next request sees that the program has ended.
        with self._lock:
            for left in under_way.values():
                left.arrived.put(None)


class Request:
    """A request under way."""

    def __init__(self, program: Program, number: int) -> None:
        self.id, self._program = number, program
        self.arrived: queue.SimpleQueue[Message | None] = queue.SimpleQueue()

    def next(self, timeout_s: float | None = None) -> Message | None:
        """The next message; `None` if there is none in time.

        Raises `ProgramLost` where the program was killed, `ProgramStopped` where this process has
        stopped it.
        """
        try:
            message = self.arrived.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if message is None:
            self.arrived.put(None)  # the next call raises as well
            raise ProgramStopped if self._program.is_stopped else ProgramLost
        return message

    def messages(self) -> Iterator[Message]:
        """All messages up to the last one; waits for them. Raises as `next`."""
        while (message := self.next()) is not None:
            yield message
            if message.is_last:
                return

    def last(self) -> Message:
        """The last message; waits for it. Raises as `next`."""
        *_, message = self.messages()
        return message

    def kill(self) -> None:
        """End the child that works on it."""
        self._program.kill(self.id)
