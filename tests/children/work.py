"""The work of children of a fork server, for its tests."""

import os
import threading
import time
from tempfile import TemporaryFile

from roofline.children.messages import PROGRESS, Body, Say
from roofline.errors import UploadRejectedError


def prepare() -> None:
    """Nothing is loaded."""


def count(body: Body, say: Say) -> Body:
    for number in range(body["to"]):
        say(PROGRESS, {"at": number})
    return {"sum": sum(range(body["to"]))}


def wait(_body: Body, say: Say) -> Body:
    say(PROGRESS, {})
    time.sleep(600)
    raise AssertionError


def refuse(_body: Body, _say: Say) -> Body:
    raise UploadRejectedError("No.", remedy="None.")


def need_memory(_body: Body, _say: Say) -> Body:
    return {"length": len(bytes(4 << 30))}


def fill_the_disk(_body: Body, _say: Say) -> Body:
    with TemporaryFile() as file:
        file.write(bytes(2 << 20))
    return {}


def write(body: Body, _say: Say) -> Body:
    """Writes on every pipe that it has."""
    for pipe in range(3, 64):
        try:
            os.write(pipe, body["line"].encode())
        except OSError:
            continue
    if body.get("stays"):
        time.sleep(600)
    return {}


def close_its_pipes(_body: Body, _say: Say) -> Body:
    os.closerange(3, 64)
    time.sleep(600)
    return {}


def start_threads(body: Body, _say: Say) -> Body:
    """So many that wait; many of them stay."""
    threading.stack_size(64 << 10)
    for _ in range(body["count"]):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    if body["count"] > 100:
        time.sleep(600)
    return {}
