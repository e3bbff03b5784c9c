"""A child whose work is written in the file it imports, to be run in place of `run_in_child`.

`stub …` gives small results at once, `wait PATH …` the same when PATH exists, `nap SECONDS …` after
that time, `fail …` an error, `page PATH …` a page at once and its exports when PATH exists,
`late SECONDS …` these after that time, `half …` a page and then an error; anything else is a real
profile, and imported.
"""

import json
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from roofline.imports.messages import ImportRequest
from roofline.storage.results import CSV, PAGE, ROOFLINE, ResultWriter

SUMMARY = {
    "device": "TPU v9",
    "device_kind": "tpu",
    "core_count": 4,
    "core_word": "TensorCore",
    "host_count": 1,
    "op_count": 17,
    "bound_by": "HBM",
    "bound_kind": "slanted",
    "bound_token": "--roof-hbm",
    "efficiency_ratio": 0.5,
}


def by_content(request: ImportRequest, pipe: Connection) -> None:
    """Does what the first file says."""
    content = request.files[0][1].read_bytes()
    word, _, rest = content[:1000].partition(b" ")
    if word == b"wait":
        _say(pipe, phase="read", fraction=0.5)
        _wait_for(Path(rest.split(b" ")[0].decode()))
    if word == b"nap":
        _say(pipe, phase="read", fraction=0.5)
        time.sleep(float(rest.split(b" ")[0]))
    broken = {"code": "corrupt-profile", "message": "It is broken.", "remedy": "Mend it."}
    if word in (b"stub", b"wait", b"nap", b"page", b"late", b"half"):
        try:
            _write_results(request, content)
            _say(pipe, page={"format": "Stub", "summary": SUMMARY})
            if word == b"page":
                _wait_for(Path(rest.split(b" ")[0].decode()))
            if word == b"late":
                time.sleep(float(rest.split(b" ")[0]))
            if word == b"half":
                _say(pipe, error=broken)
                return
            _write_exports(request)
        except OSError as error:
            full = {"code": "storage-full", "message": "The disk is full.", "remedy": str(error)}
            _say(pipe, error=full)
            return
        _say(pipe, done={"format": "Stub", "summary": SUMMARY})
    elif word == b"fail":
        _say(pipe, error=broken)
    else:
        from roofline.imports.child import run

        run(request, pipe)


def _say(pipe: Connection, **message: object) -> None:
    try:
        pipe.send_bytes(json.dumps(message).encode())
    except BrokenPipeError:
        os._exit(1)  # the listener was killed


def _wait_for(gate: Path) -> None:
    parent = os.getppid()
    while not gate.exists():
        if os.getppid() != parent:
            os._exit(1)  # the fork server has ended, and with it who reads the results
        time.sleep(0.02)


def _write_results(request: ImportRequest, content: bytes) -> None:
    writer = ResultWriter(request.results)
    writer.add(PAGE, b'{"schema":1,"of":%d}' % len(content))
    writer.add_ops([b'{"name":"a"}', b'{"name":"bb"}'])
    writer.finish()


def _write_exports(request: ImportRequest) -> None:
    writer = ResultWriter(request.exports)
    for name in (*ROOFLINE.values(), *CSV.values()):
        writer.add(name, b"{}")
    writer.finish()
