"""The calls of a GPU's runtime, by name: some launch a kernel, some a whole graph."""

import re
from enum import IntEnum


class Api(IntEnum):
    """The thing that a runtime call starts; `OTHER` are waiting, and whatever else there is.

    Between `CAPTURE` and `CAPTURED` launches do not run: they are recorded into a graph.
    """

    OTHER = 0
    KERNEL = 1
    GRAPH = 2
    CAPTURE = 3
    CAPTURED = 4
    COPY = 5
    FILL = 6


_NAMES = (
    (Api.GRAPH, r"graph_?launch"),
    (Api.KERNEL, r"launch_?(?:cooperative_?)?kernel|module_?launch|launch_?grid"),
    (Api.CAPTURE, r"stream_?begin_?capture"),
    (Api.CAPTURED, r"stream_?end_?capture"),
    (Api.COPY, r"memcpy"),
    (Api.FILL, r"memset"),
)
_KINDS = tuple((api, re.compile(pattern, re.IGNORECASE)) for api, pattern in _NAMES)


def api_of(name: str) -> Api:
    """The kind of a call such as `cudaLaunchKernel` or `hipGraphLaunch`."""
    return next((api for api, pattern in _KINDS if pattern.search(name)), Api.OTHER)
