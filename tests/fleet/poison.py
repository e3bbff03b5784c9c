"""A task whose worker dies with a certain file: sent to workers by name, as the real one is."""

import os
import signal

from roofline.fleet import dask_engine
from roofline.fleet.engine import files_from

NAME = "poison.xplane.pb"


def read_batch(order_text: str, files_text: str) -> str:
    """As the real task, but for one file."""
    if any(file.name == NAME for file in files_from(files_text)):
        os.kill(os.getpid(), signal.SIGKILL)
    return dask_engine.read_batch(order_text, files_text)
