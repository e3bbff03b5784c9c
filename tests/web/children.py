"""Children that misbehave, run in place of what imports (`roofline.imports.children.WORK`)."""

import errno
import os
import signal
import socket
import sys
import time
from pathlib import Path

from roofline.children.messages import PROGRESS, Body, Say
from roofline.errors import CorruptProfileError


def linger(body: Body, say: Say) -> Body:
    """Writes something, says it is half-way, and never ends."""
    Path(body["folder"], "half.bin").write_bytes(bytes(1000))
    say(PROGRESS, {"phase": "read", "fraction": 0.5})
    time.sleep(600)
    raise AssertionError


def be_killed(_body: Body, say: Say) -> Body:
    """Is ended as the system does when memory runs out."""
    say(PROGRESS, {"phase": "read", "fraction": 0.1})
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def abort(_body: Body, _say: Say) -> Body:
    """Ends as compiled code does that finds itself in an impossible state."""
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.abort()


def leave(_body: Body, _say: Say) -> Body:
    """Ends without a word."""
    sys.exit(3)


def babble(_body: Body, _say: Say) -> Body:
    """Sends bytes that are not a message, on every pipe that it has."""
    for pipe in range(3, 64):
        try:
            os.write(pipe, b"\x00\xff not JSON\n")
        except OSError:
            continue
    time.sleep(600)
    raise AssertionError


def spin(_body: Body, _say: Say) -> Body:
    """Computes for ever, within its limits."""
    while True:
        pass


def promise(_body: Body, _say: Say) -> Body:
    """Says it is done but leaves no results."""
    return {"format": "X", "summary": {}}


def reach(body: Body, _say: Say) -> Body:
    """Tries the address that the uploaded file names, and says how that went."""
    ((_, path, _),) = body["files"]
    host, _, port = Path(path).read_text().partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
        found = "reached"
    except OSError as error:
        found = errno.errorcode[error.errno or 0]
    raise CorruptProfileError(found, remedy="None.")


def tell(_body: Body, _say: Say) -> Body:
    """Says which variables it has, and whether it can read the requests of others."""
    names = " ".join(sorted(os.environ))
    raise CorruptProfileError(names + (" requests" if os.read(0, 1) else ""), remedy="None.")
