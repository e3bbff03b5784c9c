"""The one protocol between a process and the programs that read files for it.

A message is one JSON line on a pipe. Its `id` is that of the request, `kind` is one of those below,
`body` is the content. `ask` and `kill` go to the program. Its answers are any number of `progress`
and `ready` (a part of the result can be used), then one `done` or `failed`.

Three programs speak it. Imports and hosts of a run are read by children of `children.forkserver`;
`imports.run_program` answers what a server asks about runs, one request after the other. The side
that asks is `children.program`.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from roofline.errors import RooflineError, describe

Body = dict[str, Any]
ASK, KILL = "ask", "kill"
READY, PROGRESS, DONE, FAILED = "ready", "progress", "done", "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """One line on a pipe."""

    id: int
    kind: str
    body: Body

    @property
    def line(self) -> bytes:
        """The message as JSON, with the end of the line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @property
    def is_last(self) -> bool:
        """True where no other message of its request follows."""
        return self.kind in (DONE, FAILED)

    @classmethod
    def read(cls, line: bytes) -> "Message":
        """The message in a line. Raises `ValueError` for anything else."""
        try:
            fields = json.loads(line)
            return cls(int(fields["id"]), str(fields["kind"]), dict(fields["body"]))
        except (TypeError, KeyError, OverflowError, RecursionError) as error:
            raise ValueError("The line is not a message.") from error


Say = Callable[[str, Mapping[str, Any]], None]
"""Sends a message of a kind with a body."""

Work = Callable[[Body, Say], Body]
"""Does what the body of a request asks, and returns that of `done`; its errors are `failed`."""


def serve(work: Work) -> None:
    """Answer one request after the other until standard input ends."""
    pipe = os.dup(1)
    os.dup2(2, 1)  # nothing but answers goes to the pipe
    for line in sys.stdin.buffer:
        message = Message.read(line)
        if message.kind == ASK:
            answer(message, work, pipe)


def answer(message: Message, work: Work, pipe: int) -> None:
    """Do the work of a request and write its messages to the pipe."""

    def say(kind: str, body: Mapping[str, Any]) -> None:
        write(pipe, Message(message.id, kind, dict(body)))

    try:
        say(DONE, work(message.body, say))
    except RooflineError as error:
        say(FAILED, {"error": describe(error)})


def write(pipe: int, message: Message) -> None:
    """Write a whole line."""
    line = memoryview(message.line)
    while line:
        line = line[os.write(pipe, line) :]
