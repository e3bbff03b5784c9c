"""A child whose work is written in the file it imports, to be run in place of what imports.

`stub …` gives small results at once, `wait PATH …` the same when PATH exists, `nap SECONDS …` after
that time, `fail …` an error, `page PATH …` a page at once and its exports when PATH exists,
`late SECONDS …` these after that time, `half …` a page and then an error; anything else is a real
profile, and imported.
"""

import os
import time
from pathlib import Path

from roofline.children.messages import PROGRESS, READY, Body, Say
from roofline.errors import CorruptProfileError, StorageFullError
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


WORK = "tests.storage.children:by_content"


def prepare() -> None:
    """No profile is read where only this is loaded."""


def by_content(body: Body, say: Say) -> Body:
    """Does what the first file says."""
    request = ImportRequest.from_json(body)
    content = Path(request.files[0][1]).read_bytes()
    word, _, rest = content[:1000].partition(b" ")
    if word == b"wait":
        say(PROGRESS, {"phase": "read", "fraction": 0.5})
        _wait_for(Path(rest.split(b" ")[0].decode()))
    if word == b"nap":
        say(PROGRESS, {"phase": "read", "fraction": 0.5})
        time.sleep(float(rest.split(b" ")[0]))
    if word == b"fail":
        raise CorruptProfileError("It is broken.", remedy="Mend it.")
    if word not in (b"stub", b"wait", b"nap", b"page", b"late", b"half"):
        from roofline.imports.child import run

        return run(body, say)
    try:
        _write_results(request, content)
        say(READY, {"format": "Stub", "summary": SUMMARY})
        if word == b"page":
            _wait_for(Path(rest.split(b" ")[0].decode()))
        if word == b"late":
            time.sleep(float(rest.split(b" ")[0]))
        if word == b"half":
            raise CorruptProfileError("It is broken.", remedy="Mend it.")
        _write_exports(request)
    except OSError as error:
        raise StorageFullError("The disk is full.", remedy=str(error)) from error
    return {"format": "Stub", "summary": SUMMARY}


def _wait_for(gate: Path) -> None:
    parent = os.getppid()
    while not gate.exists():
        if os.getppid() != parent:
            os._exit(1)  # the fork server has ended, and with it who reads the results
        time.sleep(0.02)


def _write_results(request: ImportRequest, content: bytes) -> None:
    writer = ResultWriter(Path(request.results))
    writer.add(PAGE, b'{"schema":1,"of":%d}' % len(content))
    writer.add_ops([b'{"name":"a"}', b'{"name":"bb"}'])
    writer.finish()


def _write_exports(request: ImportRequest) -> None:
    writer = ResultWriter(Path(request.exports))
    for name in (*ROOFLINE.values(), *CSV.values()):
        writer.add(name, b"{}")
    writer.finish()
