"""What the calls of a GPU's runtime are, by name: which launch a kernel, which a whole graph."""

import re
from enum import IntEnum

_GRAPH = re.compile(r"graph_?launch", re.IGNORECASE)
_KERNEL = re.compile(r"launch_?(?:cooperative_?)?kernel|module_?launch|launch_?grid", re.IGNORECASE)


class Api(IntEnum):
    """What a runtime call starts; `OTHER` are copies, waiting, and whatever else there is."""

    OTHER = 0
    KERNEL = 1
    GRAPH = 2


def api_of(name: str) -> Api:
    """The kind of a call such as `cudaLaunchKernel` or `hipGraphLaunch`."""
    if _GRAPH.search(name):
        return Api.GRAPH
    return Api.KERNEL if _KERNEL.search(name) else Api.OTHER
