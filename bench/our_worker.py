"""Our side in a long-lived process, asked like XProf's: files in, seconds and peak memory out."""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.xprof_env import BENCH, Worker


class OurWorker(Worker):
    """One warm process that imports and analyses what it is asked to."""

    def __init__(self) -> None:
        super().__init__([sys.executable, "-m", "bench.our_worker"], cwd=BENCH.parent)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from roofline.exports.render import render
    from roofline.pipeline import analyse_files

    begin, processor = time.perf_counter(), time.process_time()
    analysis = analyse_files([Path(file) for file in request["files"]], xprof_compat=True)
    data = render(analysis, "xprof", infeed=True)
    spent = {
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - processor,
    }
    if request.get("out"):
        Path(request["out"]).write_bytes(data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**spent, "peak_rss_kib": peak, "bytes": len(data)}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
