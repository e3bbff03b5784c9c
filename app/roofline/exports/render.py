"""An analysis in the form a caller names: text, JSON, CSV, the generic format or XProf's table."""

from typing import TYPE_CHECKING

from roofline.analysis.records import RooflineAnalysis
from roofline.presentation.grouping_choice import Grouping

if TYPE_CHECKING:
    from roofline.presentation.listing import Listing


def render(
    analysis: RooflineAnalysis,
    output_format: str,
    *,
    infeed: bool,
    of: str | None = None,
    listing: "Listing | None" = None,
) -> bytes:
    """`analysis` as `text`, `json`, `csv`, `generic` or `xprof`, with infeed and outfeed or not.

    `of` is the address of the subject of text, JSON and CSV; the default one without it. With a
    `listing` these have no other operations than those that it finds.
    """
    if listing is not None:
        return _render_found(analysis, output_format, listing, infeed=infeed, of=of)
    # Each form is imported when it is wanted: most runs want one.
    match output_format:
        case "json":
            from roofline.exports.answering import answer_of
            from roofline.exports.records import analysis_to_json

            answer = answer_of(analysis, of)
            return analysis_to_json(analysis, include_infeed_outfeed=infeed, answer=answer) + b"\n"
        case "csv":
            from roofline.analysis.subjects.choose import choose
            from roofline.exports.records import ops_to_csv

            subject = choose(analysis, of)
            return ops_to_csv(analysis, include_infeed_outfeed=infeed, subject=subject)
        case "generic":
            from roofline.exports.generic import to_generic

            return to_generic(analysis, include_infeed_outfeed=infeed) + b"\n"
        case "xprof":
            from roofline.exports.xprof import to_xprof

            return to_xprof(analysis)
        case _:
            from roofline.exports.answering import answer_of
            from roofline.exports.text import describe

            view = analysis.view(include_infeed_outfeed=infeed)
            return describe(analysis, view, answer_of(analysis, of)).encode()


def _render_found(
    analysis: RooflineAnalysis,
    output_format: str,
    listing: "Listing",
    *,
    infeed: bool,
    of: str | None,
) -> bytes:
    from roofline.analysis.subjects.choose import choose
    from roofline.exports.text import operations_found
    from roofline.presentation.listing import found_alone

    subject = choose(analysis, of)
    found = found_alone(analysis, subject, listing)
    if output_format == "text":
        return operations_found(found, found.view(include_infeed_outfeed=infeed), subject)
    return render(found, output_format, infeed=infeed, of=of)


def render_groups(
    analysis: RooflineAnalysis,
    output_format: str,
    grouping: Grouping,
    *,
    infeed: bool,
    of: str | None = None,
) -> bytes:
    """A subject by groups of its ops: `text` and `csv` are the groups, `json` has them, too."""
    from roofline.exports.groups import groups_record, groups_text, groups_to_csv

    if output_format == "json":
        from roofline.exports.answering import answer_of
        from roofline.exports.records import analysis_to_json

        answer = answer_of(analysis, of)
        groups = groups_record(analysis, answer.subject, grouping)
        return (
            analysis_to_json(analysis, include_infeed_outfeed=infeed, answer=answer, groups=groups)
            + b"\n"
        )
    from roofline.analysis.subjects.choose import choose

    subject = choose(analysis, of)
    if output_format == "csv":
        return groups_to_csv(analysis, subject, grouping)
    return f"{groups_text(analysis, subject, grouping)}\n".encode()
