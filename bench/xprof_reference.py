"""Runs inside XProf's own environment: its roofline of given files, and how long that took.

One request per line on standard input, `{"files": [...], "out": "reference.json"}`; one answer per
line on standard output: seconds, also of processor, and peak memory, or `{"error": ...}`. `out` may
be left out. XProf itself is C++: the answer is what `xspace_to_tool_data` returns, nothing added.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

CACHE_FILES = ("ALL_HOSTS.op_stats_v2.pb", "ALL_HOSTS.op_stats.pb")


def forget_cache(files: Sequence[str]) -> None:
    """Delete what XProf leaves beside its input, so that every run does the whole work."""
    for folder in {os.path.dirname(file) for file in files}:
        for name in CACHE_FILES:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                os.unlink(path)


def roofline(files: Sequence[str]) -> bytes:
    """XProf's JSON for `files`, one file per host, in this order."""
    from xprof.convert import raw_to_tool_data

    data, _content_type = raw_to_tool_data.xspace_to_tool_data(
        files, "roofline_model", {"use_saved_result": False}
    )
    return data if isinstance(data, bytes) else str(data).encode()


def answer(request: Mapping[str, Any]) -> dict[str, float]:
    files = request["files"]
    forget_cache(files)
    begin, processor = time.perf_counter(), time.process_time()
    data = roofline(files)
    spent = {
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - processor,
    }
    forget_cache(files)
    if request.get("out"):
        with open(request["out"], "wb") as out:
            out.write(data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**spent, "peak_rss_kib": peak, "bytes": len(data)}


def main() -> None:
    # XProf logs to both streams; answers go to a private copy of standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        reply: Mapping[str, float | str]
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other side reports it
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
