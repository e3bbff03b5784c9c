"""`roofline analyze`: files → analysis → text, JSON, CSV or XProf's table, without a server."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.analysis.records import RooflineAnalysis
from app.devices import PeakChoice
from app.errors import UploadRejectedError
from app.importers.archives import UnpackLimits
from app.importers.source import SourceFile
from app.pipeline import analyse_sources, open_sources
from app.report.watch import progress_on_terminal


def analyse_files(
    paths: Sequence[Path], *, xprof_compat: bool, choice: PeakChoice | None = None
) -> RooflineAnalysis:
    """The roofline of the files at `paths`, one per host, or archives of them.

    `choice` is the device or the peaks to hold the program against.
    """
    sources = [_source(path) for path in paths]
    with (
        tempfile.TemporaryDirectory(prefix="roofline-") as scratch,
        progress_on_terminal(sources) as report,
    ):
        opened, notes = open_sources(
            sources, scratch=Path(scratch) / "unpacked", limits=UnpackLimits(), progress=report
        )
        return analyse_sources(
            opened, notes=notes, xprof_compat=xprof_compat, choice=choice, progress=report
        )


def render(analysis: RooflineAnalysis, output_format: str, *, infeed: bool) -> bytes:
    """`analysis` as `text`, `json`, `csv`, `generic` or `xprof`, with infeed and outfeed or not."""
    # Each form is imported when it is wanted: most runs want one.
    match output_format:
        case "json":
            from app.analysis.export import analysis_to_json

            return analysis_to_json(analysis, include_infeed_outfeed=infeed) + b"\n"
        case "csv":
            from app.analysis.export import ops_to_csv

            return ops_to_csv(analysis, include_infeed_outfeed=infeed)
        case "generic":
            from app.analysis.generic_export import to_generic

            return to_generic(analysis, include_infeed_outfeed=infeed) + b"\n"
        case "xprof":
            from app.analysis.xprof_table import to_xprof

            return to_xprof(analysis)
        case _:
            from app.report.text import describe

            return describe(analysis, analysis.view(include_infeed_outfeed=infeed)).encode()


def _source(path: Path) -> SourceFile:
    if path.is_dir():
        raise UploadRejectedError(
            f"{path} is a folder.", remedy=f"Name the profile files: {path}/*.xplane.pb."
        )
    try:
        path.open("rb").close()
    except OSError as error:
        raise UploadRejectedError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            remedy="Check the path and its permissions.",
        ) from error
    return SourceFile(path)
