"""Children that misbehave, to be run in place of `roofline.imports.children.run_in_child`."""

import errno
import json
import os
import signal
import socket
import sys
import time
from multiprocessing.connection import Connection

from roofline.imports.messages import ImportRequest


def _say(pipe: Connection, **message: object) -> None:
    pipe.send_bytes(json.dumps(message).encode())


def linger(request: ImportRequest, pipe: Connection) -> None:
    """Writes something, says it is half-way, and never ends."""
    (request.folder / "half.bin").write_bytes(bytes(1000))
    _say(pipe, phase="read", fraction=0.5)
    time.sleep(600)


def be_killed(_order: ImportRequest, pipe: Connection) -> None:
    """Is ended as the system does when memory runs out."""
    _say(pipe, phase="read", fraction=0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def abort(_order: ImportRequest, _pipe: Connection) -> None:
    """Ends as compiled code does that finds itself in an impossible state."""
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.abort()


def leave(_order: ImportRequest, _pipe: Connection) -> None:
    """Ends without a word."""
    sys.exit(3)


def babble(_order: ImportRequest, pipe: Connection) -> None:
    """Sends bytes that are not a message."""
    pipe.send_bytes(b"\x00\xff not JSON")
    time.sleep(600)


def spin(request: ImportRequest, _pipe: Connection) -> None:
    """Computes for ever, within its limits."""
    from roofline.children.sandbox import limit_process

    limit_process(request.limits, 0)
    while True:
        pass


def promise(_order: ImportRequest, pipe: Connection) -> None:
    """Says it is done but leaves no results."""
    _say(pipe, done={"format": "X", "summary": {}})


def reach(request: ImportRequest, pipe: Connection) -> None:
    """Tries the address that the uploaded file names, and says how that went."""
    (_, path, _) = request.files[0]
    host, _, port = path.read_text().partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
        found = "reached"
    except OSError as error:
        found = errno.errorcode[error.errno or 0]
    _say(pipe, error={"code": "corrupt-profile", "message": found, "remedy": "None."})
