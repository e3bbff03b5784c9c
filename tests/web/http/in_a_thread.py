"""A server in a thread of this process, for tests of connections."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn

from roofline.web.server import RooflineServer


@contextlib.contextmanager
def served(config: uvicorn.Config) -> Iterator[tuple[str, int]]:
    """The address at which the app of `config` answers."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = RooflineServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
