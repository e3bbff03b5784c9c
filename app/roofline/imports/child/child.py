"""What runs in the child of one import: files → analysis → result files in the staging folder.

The child limits itself before it touches a byte, says how far it is, and leaves files; the server
moves them into place. It is killed without warning and cleans up nothing.
"""

import errno
import json
import os
import resource
import signal
import threading
import time
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson

from roofline.analysis.records import RooflineAnalysis
from roofline.devices.this_machine import may_be_this_machine, measurements_digest
from roofline.errors import ImportStoppedError, RooflineError, StorageFullError, describe
from roofline.exports.records import analysis_to_json, ops_to_csv
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.source import SourceFile
from roofline.imports.messages import ImportLimits, WorkOrder
from roofline.model.units import GIB
from roofline.pipeline import analyse_sources, open_sources
from roofline.presentation.op_details import op_details
from roofline.presentation.page import PageIdentity, build_page
from roofline.storage.results import CSV, PAGE, ROOFLINE, ResultWriter

# Progress more often than this is not worth a wake-up of the server.
REPORT_INTERVAL_S = 0.05
# Where processors are short, whoever looks at a profile comes first; an idle machine is as quick.
NICENESS = 5


def run(order: WorkOrder, pipe: Connection) -> None:
    """Imports `order` and answers on `pipe`: progress messages, then `done` or `error`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICENESS)
    os.chdir(order.folder)
    limit(order.limits, sum(size for _, _, size in order.files))
    try:
        answer: dict[str, Any] = {"done": _import(order, _Reporter(pipe))}
    except RooflineError as error:
        answer = {"error": describe(error)}
    except MemoryError:
        answer = {"error": describe(_out_of_memory(order.limits))}
    except OSError as error:
        answer = {"error": describe(_system_fault(error, order.limits))}
    pipe.send_bytes(json.dumps(answer).encode())


def _import(order: WorkOrder, report: "_Reporter") -> dict[str, Any]:
    sources, notes = open_sources(
        [SourceFile(path, name) for name, path, _ in order.files],
        scratch=order.folder / "unpacked",
        limits=_unpack_limits(order.limits),
        progress=report,
    )
    # Mapped files count as address space, so the limit grows with what was unpacked.
    _limit_memory(order.limits, sum(source.size_bytes for source in sources))
    measurements = measurements_digest()  # before they are used: a change meanwhile shows
    analysis = analyse_sources(sources, notes=notes, progress=report)
    report("store", 0.0)
    file_sizes = {source.name: source.size_bytes for source in sources}
    return _store(order, analysis, file_sizes, measurements)


def _store(
    order: WorkOrder, analysis: RooflineAnalysis, file_sizes: dict[str, int], measurements: str
) -> dict[str, Any]:
    """Writes every result file; what the server keeps in the profile's manifest."""
    identity = PageIdentity(
        id=order.profile_id,
        created_at=order.created_at,
        file_sizes=file_sizes,
    )
    page = build_page(analysis, identity)
    writer = ResultWriter(order.results)
    writer.add(PAGE, page)
    writer.add_ops(op_details(analysis))
    for infeed in ("in", "out"):
        writer.add(
            ROOFLINE[infeed], analysis_to_json(analysis, include_infeed_outfeed=infeed == "in")
        )
        writer.add(CSV[infeed], ops_to_csv(analysis, include_infeed_outfeed=infeed == "in"))
    depends = may_be_this_machine(analysis.device.kind)
    writer.finish(measurements=measurements if depends else None)
    return _headline(orjson.loads(page))


def _headline(page: dict[str, Any]) -> dict[str, Any]:
    """What lists show, taken from the page data so that list and page never disagree."""
    device, view = page["device"], page["views"]["in"]
    points: dict[str, list[Any]] = view["program"]["columns"]
    total = {name: column[0] for name, column in points.items()}
    at = total.get("bound_by")
    bound = page["bounds"][at] if at is not None else {}
    costs = page["ops"]["columns"]["cost"]
    return {
        "format": page["profile"]["format"],
        "hosts": _hosts(page["profile"]["files"]),
        "summary": {
            "device": device["name"],
            "device_kind": device["kind"],
            "core_count": device["cores"],
            "core_word": device["core_word"],
            "host_count": device["hosts"],
            "op_count": sum(cost != "idle" for cost in costs) + view["beyond"]["ops"],
            "bound_by": bound.get("label"),
            "bound_kind": bound.get("kind"),
            "bound_token": bound.get("token"),
            "efficiency_ratio": total.get("roofline_efficiency_ratio"),
        },
    }


def _hosts(files: list[dict[str, Any]]) -> dict[str, str]:
    """Host names by file name, where both are known and the file's name is the only one."""
    names = [file["name"] for file in files]
    return {
        file["name"]: file["host"]
        for file in files
        if file["host"] and names.count(file["name"]) == 1
    }


def _end_with_parent() -> None:
    """Exits when the server is gone: nobody would read the results."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def limit(limits: ImportLimits, file_bytes: int) -> None:
    """Puts this process under `limits`, with address space for `file_bytes` of mapped files."""
    _limit_memory(limits, file_bytes)
    # The soft limit sends SIGXCPU, which ends us with a reason; the hard one is the safety net.
    _set_soft(resource.RLIMIT_CPU, limits.cpu_seconds)
    _set_soft(resource.RLIMIT_CORE, 0)
    _set_soft(resource.RLIMIT_FSIZE, limits.max_unpacked_bytes)


def _limit_memory(limits: ImportLimits, file_bytes: int) -> None:
    # What was mapped before the import (libraries, compiled kernels) is not the import's doing.
    _set_soft(resource.RLIMIT_AS, _held_bytes() + limits.memory_bytes + file_bytes)


def _held_bytes() -> int:
    """Address space of this process, in bytes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _set_soft(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _unpack_limits(limits: ImportLimits) -> UnpackLimits:
    return UnpackLimits(
        max_bytes=limits.max_unpacked_bytes,
        max_files=limits.max_unpacked_files,
        max_ratio=limits.max_expansion_ratio,
    )


class _Reporter:
    """Sends progress to the server, at most every 50 ms within a phase."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._phase = ""
        self._sent_at = 0.0

    def __call__(self, phase: str, fraction: float) -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._sent_at < REPORT_INTERVAL_S:
            return
        self._phase, self._sent_at = phase, now
        self._pipe.send_bytes(json.dumps({"phase": phase, "fraction": fraction}).encode())


def _out_of_memory(limits: ImportLimits) -> ImportStoppedError:
    return ImportStoppedError(
        f"The import needs more than {limits.memory_bytes / GIB:,.3g} GiB of memory.",
        remedy="Capture fewer steps, or raise ROOFLINE_IMPORT_MEMORY_BYTES.",
    )


def _system_fault(error: OSError, limits: ImportLimits) -> RooflineError:
    """`error` in the user's words if it is about a limit; anything else is raised again."""
    if error.errno == errno.ENOMEM:  # mmap says so instead of raising MemoryError
        return _out_of_memory(limits)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageFullError(
            "The server's disk is full.",
            remedy="Delete profiles that are no longer needed, or free space on the server's disk.",
        )
    raise error
