"""The child of one import: files → analysis → result files in the staging folder.

The child says how far it is, and leaves files; the server moves them into place. It is killed
without warning and cleans up nothing.

An upload whose files are not one profile fails, and its groups can be imported later, each as a
profile of its own. A group is known by the uploaded files that hold it. Where an archive also holds
files of other groups, the digests of its own files tell them apart: names may be equal, and the
order may change with the code that unpacks.
"""

import hashlib
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from roofline.analysis.analyse import analyse
from roofline.analysis.one_host import hosts_alone, of_host
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.analysis.subjects.costs import INPUT, UNKNOWN_LINK
from roofline.analysis.time_range import to_analyse_again
from roofline.children.messages import PROGRESS, READY, Body, Say
from roofline.children.sandbox import give_way, limit_memory
from roofline.compare.from_analysis import run_of
from roofline.compare.partners import op_shares
from roofline.compare.run import run_to_json
from roofline.devices.measured import may_be_this_machine, measurements_digest, read_machine
from roofline.devices.resolve import resolve
from roofline.errors import FileGroup, MixedUploadError
from roofline.exports.answering import answered
from roofline.exports.records import both_to_csv, both_to_json
from roofline.exports.xprof import to_xprof
from roofline.importers import registry
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.source import SourceFile
from roofline.imports.messages import ImportRequest
from roofline.model.device import Device
from roofline.model.profile import Profile
from roofline.model.stored import stored
from roofline.pipeline import analysis_as_xprof, exported_note, open_sources, read_profile
from roofline.presentation.capture_titles import title_of_capture
from roofline.presentation.json_text import to_json
from roofline.presentation.op_details import op_details
from roofline.presentation.page import PageIdentity, build_page
from roofline.presentation.sentences import plain_text
from roofline.presentation.words import ceiling_token, ceiling_words
from roofline.storage.records import Found, Summary
from roofline.storage.results import (
    ADVICE,
    COMPARED,
    CSV,
    HOSTS,
    PAGE,
    RANGES,
    ROOFLINE,
    XPROF,
    ResultWriter,
)

# Progress more often than this is not worth a wake-up of the server.
REPORT_INTERVAL_S = 0.05
# Of gzip, for numbers that hardly compress.
_QUICK = 1


def prepare() -> None:
    """Compiles what reads files, once for all children, which all give way to pages."""
    give_way()
    registry.warm_up()


def run(body: Body, say: Say) -> Body:
    """Imports what `body` says; sends `progress`, and `ready` when the page can be shown."""
    request = ImportRequest.from_json(body)
    os.chdir(request.folder)
    return asdict(_import(request, ProgressReport(say)))


def _import(request: ImportRequest, report: "ProgressReport") -> Found:
    sources, notes = open_sources(
        [SourceFile(Path(path), name) for name, path, _ in request.files],
        scratch=Path(request.folder, "unpacked"),
        limits=_unpack_limits(request),
        progress=report,
    )
    # Mapped files count as address space, so the limit grows with what was unpacked.
    limit_memory(request.limits, sum(source.size_bytes for source in sources))
    sources = chosen(sources, request.digests)
    measurements = measurements_digest()  # before they are used: a change meanwhile shows
    try:
        notes = (*notes, *map(exported_note, request.notes))
        profile, device = read_profile(sources, notes=notes, progress=report)
    except MixedUploadError as error:
        raise located(error, sources) from error
    analysis = analyse(profile, device, AnalysisOptions())
    report("store", 0.0)
    # Results that may be of this machine say by which measurements.
    depends = may_be_this_machine(analysis.device.kind)
    found = _store_page(request, analysis, sources, measurements if depends else None)
    report.page(found)
    _store_exports(request, analysis, to_analyse_again(profile), device, sources)
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
    writer = ResultWriter(Path(request.results))
    # What takes longest to compress comes first: the rest is computed meanwhile.
    writer.add(PAGE, page)
    writer.add(ADVICE, to_json(found.advice))
    writer.add_ops(op_details(analysis))
    names = [name for name, _, _ in request.files]
    title = title_of_capture(analysis.profile, analysis.device.name, names)
    writer.finish(measurements=measurements)
    shares = op_shares(analysis, found.answer.subject)
    return replace(found_in(orjson.loads(page)), title=title, op_shares=shares)


def _store_exports(
    request: ImportRequest,
    analysis: RooflineAnalysis,
    again: Profile,
    device: Device,
    sources: Sequence[SourceFile],
) -> None:
    """Writes what people download and what other views are computed from."""
    writer = ResultWriter(Path(request.exports))
    writer.add_pair(ROOFLINE, both_to_json(analysis))
    writer.add_pair(CSV, both_to_csv(analysis))
    writer.add(RANGES, stored((again, device)), level=_QUICK)
    writer.add(HOSTS, hosts_to_store(analysis.profile), level=_QUICK)
    writer.add(COMPARED, run_to_json(run_of(analysis)))
    writer.add(XPROF, to_xprof(analysis_as_xprof(sources, again)))
    writer.finish()


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

    def __init__(self, say: Say) -> None:
        self._say = say
        self._phase = ""
        self._sent_at = 0.0

    def page(self, found: Found) -> None:
        """Says that the results which the page needs are there."""
        self._say(READY, asdict(found))

    def __call__(self, phase: str, fraction: float) -> None:
        """Says that `fraction` of `phase` is done, 0 to 1."""
        now = time.monotonic()
        if phase == self._phase and now - self._sent_at < REPORT_INTERVAL_S:
            return
        self._phase, self._sent_at = phase, now
        self._say(PROGRESS, {"phase": phase, "fraction": fraction})


def located(error: MixedUploadError, sources: Sequence[SourceFile]) -> MixedUploadError:
    """`error` with the uploaded files of each group; its groups number `sources`."""
    return MixedUploadError(
        error.message,
        remedy=error.remedy,
        groups=[_located(group, sources) for group in error.groups],
        unreadable=error.unreadable,
    )


def chosen(
    sources: Sequence[SourceFile], digests: Collection[str] | None
) -> tuple[SourceFile, ...]:
    """The `sources` with these digests; all of them for `None`."""
    if digests is None:
        return tuple(sources)
    return tuple(source for source in sources if _digest(source) in digests)


def _located(group: FileGroup, sources: Sequence[SourceFile]) -> FileGroup:
    own = set(group.numbers)
    uploads = sorted({sources[number].upload for number in own})
    held = {number for number, source in enumerate(sources) if source.upload in uploads}
    digests = None
    if held != own:
        digests = tuple(_digest(sources[number]) for number in sorted(own))
    return group._replace(uploads=tuple(uploads), digests=digests)


def _digest(source: SourceFile) -> str:
    return hashlib.sha256(source.data).hexdigest()


def found_in(page: dict[str, Any]) -> Found:
    """The findings of an import: format, summary and hosts of the page data."""
    return Found(
        format=page["profile"]["format"],
        summary=_summary(page),
        hosts=_hosts(page["profile"]["files"]),
    )


def _summary(page: dict[str, Any]) -> Summary:
    device, view = page["device"], page["views"]["in"]
    subject, lines = dict(page["subject"]), view["verdict"]
    del subject["parts"]
    # A wait for input, or for a link that the capture does not name, is not a bound with a name.
    ceiling = None if subject["ceiling"] in (INPUT, UNKNOWN_LINK) else subject["ceiling"]
    costs, gain = page["ops"]["columns"]["cost"], page["figures"]["gain"]
    return Summary(
        device=device["name"],
        device_kind=device["kind"],
        core_count=device["cores"],
        core_word=device["core_word"],
        host_count=device["hosts"],
        op_count=sum(cost != "idle" for cost in costs) + view["beyond"]["ops"],
        bound_by=_named(page, ceiling) if ceiling else None,
        bound_kind=_kind(page, ceiling) if ceiling else None,
        bound_token=ceiling_token(ceiling) if ceiling else None,
        efficiency_ratio=subject["roof_ratio"],
        subject=subject,
        headline=plain_text(lines["headline"]),
        lines={"headline": lines["headline"], "do_first": lines["do_first"]},
        picture=gain["picture"] if gain else "",
    )


def _named(page: dict[str, Any], ceiling: str) -> str:
    """A ceiling as the page calls it: a compute unit has the name of its roof."""
    roofs = page["roofs"]["compute"]
    named = (str(roof["label"]) for roof in roofs if ceiling in (roof["id"], *roof["covers"]))
    return next(named, "") or ceiling_words(ceiling)


def _kind(page: dict[str, Any], ceiling: str) -> str:
    """How a roofline draws a ceiling: memories and links as slanted lines."""
    return "slanted" if any(one["id"] == ceiling for one in page["levels"]) else "flat"


def _hosts(files: list[dict[str, Any]]) -> dict[str, str]:
    """Host names by file name, where both are known and the file's name is the only one."""
    names = [file["name"] for file in files]
    return {
        file["name"]: file["host"]
        for file in files
        if file["host"] and names.count(file["name"]) == 1
    }


def hosts_to_store(profile: Profile) -> bytes:
    """Name, profile and device of each host that can be shown alone."""
    machine = read_machine()
    found = [(name, of_host(profile, name)) for name in hosts_alone(profile)]
    return stored(
        tuple(
            (name, to_analyse_again(one), resolve(one.device, machine=machine))
            for name, one in found
        )
    )
