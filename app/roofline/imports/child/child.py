"""The child of one import: files → analysis → result files in the staging folder.

The child limits itself before it touches a byte, says how far it is, and leaves files; the server
moves them into place. It is killed without warning and cleans up nothing.
"""

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import Any

import orjson

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.time_range import to_analyse_again
from roofline.compare.from_analysis import run_of
from roofline.compare.run import run_to_json
from roofline.devices.this_machine import may_be_this_machine, measurements_digest
from roofline.errors import MixedUploadError, RooflineError, describe
from roofline.exports.answering import answered
from roofline.exports.records import both_to_csv, both_to_json
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.source import SourceFile
from roofline.imports.child.groups import chosen, located
from roofline.imports.child.headline import found_in
from roofline.imports.child.hosts import hosts_to_store
from roofline.imports.messages import ImportRequest
from roofline.model.device import Device
from roofline.model.profile import Profile
from roofline.model.stored import stored
from roofline.pipeline import open_sources, read_profile
from roofline.presentation.budget_bar import budget_json
from roofline.presentation.capture_titles import title_of_capture
from roofline.presentation.json_text import to_json
from roofline.presentation.op_details import op_details
from roofline.presentation.page import PageIdentity, build_page
from roofline.sandbox.limits import (
    give_way,
    limit_memory,
    limit_process,
    out_of_memory,
    system_fault,
)
from roofline.storage.records import Found
from roofline.storage.results import (
    ADVICE,
    BUDGET,
    COMPARED,
    CSV,
    HOSTS,
    PAGE,
    RANGES,
    ROOFLINE,
    ResultWriter,
)

# Progress more often than this is not worth a wake-up of the server.
REPORT_INTERVAL_S = 0.05
# Of gzip, for numbers that hardly compress.
_QUICK = 1


def run(request: ImportRequest, pipe: Connection) -> None:
    """Imports `request` and answers on `pipe`: progress messages, then `done` or `error`."""
    gc.freeze()  # a search for garbage would copy every page of memory shared with the fork server
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    give_way()
    os.chdir(request.folder)
    limit_process(request.limits, sum(size for _, _, size in request.files))
    pipe.send_bytes(json.dumps(_outcome(request, ProgressReport(pipe))).encode())


def _outcome(request: ImportRequest, report: "ProgressReport") -> dict[str, Any]:
    """The last message to the server."""
    try:
        return {"done": asdict(_import(request, report))}
    except RooflineError as error:
        return {"error": describe(error)}
    except MemoryError:
        return {"error": describe(out_of_memory(request.limits))}
    except OSError as error:
        return {"error": describe(system_fault(error, request.limits))}


def _import(request: ImportRequest, report: "ProgressReport") -> Found:
    sources, notes = open_sources(
        [SourceFile(path, name) for name, path, _ in request.files],
        scratch=request.folder / "unpacked",
        limits=_unpack_limits(request),
        progress=report,
    )
    # Mapped files count as address space, so the limit grows with what was unpacked.
    limit_memory(request.limits, sum(source.size_bytes for source in sources))
    sources = chosen(sources, request.digests)
    measurements = measurements_digest()  # before they are used: a change meanwhile shows
    try:
        profile, device = read_profile(sources, notes=notes, progress=report)
    except MixedUploadError as error:
        raise located(error, sources) from error
    analysis = analyse(profile, device, AnalysisOptions())
    report("store", 0.0)
    # Results that may be of this machine say by which measurements.
    depends = may_be_this_machine(analysis.device.kind)
    found = _store_page(request, analysis, sources, measurements if depends else None)
    report.page(found)
    _store_exports(request, analysis, to_analyse_again(profile), device)
    return found


def _store_page(
    request: ImportRequest,
    analysis: RooflineAnalysis,
    sources: Sequence[SourceFile],
    measurements: str | None,
) -> Found:
    """Writes what the page needs; what the server keeps in the profile's rows."""
    identity = PageIdentity(
        id=request.profile_id,
        created_at=request.created_at,
        file_sizes={source.name: source.size_bytes for source in sources},
    )
    found = answered(analysis)
    page = build_page(analysis, found.answer, identity)
    writer = ResultWriter(request.results)
    # What takes longest to compress comes first: the rest is computed meanwhile.
    writer.add(PAGE, page)
    writer.add(ADVICE, to_json(found.advice))
    writer.add(BUDGET, to_json(budget_json(analysis, found.answer.subject)))
    writer.add_ops(op_details(analysis))
    names = [name for name, _, _ in request.files]
    title = title_of_capture(analysis.profile, analysis.device.name, names)
    writer.finish(measurements=measurements)
    return replace(found_in(orjson.loads(page)), title=title)


def _store_exports(
    request: ImportRequest, analysis: RooflineAnalysis, again: Profile, device: Device
) -> None:
    """Writes what people download and what other views are computed from."""
    writer = ResultWriter(request.exports)
    writer.add_pair(ROOFLINE, both_to_json(analysis))
    writer.add_pair(CSV, both_to_csv(analysis))
    writer.add(RANGES, stored((again, device)), level=_QUICK)
    writer.add(HOSTS, hosts_to_store(analysis.profile), level=_QUICK)
    writer.add(COMPARED, run_to_json(run_of(analysis)))
    writer.finish()


def _end_with_parent() -> None:
    """Exits when the server is gone: nothing would read the results."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _unpack_limits(request: ImportRequest) -> UnpackLimits:
    limits = request.limits
    return UnpackLimits(
        max_bytes=limits.max_unpacked_bytes,
        max_files=limits.max_unpacked_files,
        max_ratio=limits.max_expansion_ratio,
        keep_free_bytes=request.keep_free_bytes,
    )


class ProgressReport:
    """Sends progress to the server, at most every 50 ms within a phase."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._phase = ""
        self._sent_at = 0.0

    def page(self, found: Found) -> None:
        """Says that the results which the page needs are there."""
        self._pipe.send_bytes(json.dumps({"page": asdict(found)}).encode())

    def __call__(self, phase: str, fraction: float) -> None:
        """Says that `fraction` of `phase` is done, 0 to 1."""
        now = time.monotonic()
        if phase == self._phase and now - self._sent_at < REPORT_INTERVAL_S:
            return
        self._phase, self._sent_at = phase, now
        self._pipe.send_bytes(json.dumps({"phase": phase, "fraction": fraction}).encode())
