"""Our side in a long-lived process, asked like XProf's: files in, seconds and peak memory out."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class OurWorker:
    """One warm process that imports and analyses what it is asked to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.our_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[1],
        )

    def ask(self, files: Sequence[Path], out: Path | None = None) -> dict[str, Any]:
        """Our table of `files`: time and memory; the JSON goes to `out`."""
        assert self._process.stdin and self._process.stdout
        request = {"files": [str(file) for file in files], "out": str(out) if out else None}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            return {"error": f"our worker ended with status {self._process.wait()}"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def __enter__(self) -> "OurWorker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from roofline.exports.render import render
    from roofline.pipeline import analyse_files

    begin = time.perf_counter()
    analysis = analyse_files([Path(file) for file in request["files"]], xprof_compat=True)
    data = render(analysis, "xprof", infeed=True)
    seconds = time.perf_counter() - begin
    if request.get("out"):
        Path(request["out"]).write_bytes(data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "peak_rss_kib": peak, "bytes": len(data)}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
