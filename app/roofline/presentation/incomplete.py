"""Traces without most kernels of their program: what they are, and what to capture instead."""

from roofline.analysis.knowledge import HOST_ONLY
from roofline.analysis.records import RooflineAnalysis
from roofline.model.profile import Diagnostic
from roofline.presentation.placed import plain
from roofline.presentation.sentences import Number, Sentence, say

_NOT_RUN = "launches-not-run"


def incomplete(analysis: RooflineAnalysis) -> tuple[Sentence, Sentence] | None:
    """Headline and lead of such a file; `None` for every other."""
    notes = {note.code: note for note in analysis.diagnostics}
    if HOST_ONLY in notes:
        return say("host_only"), [*say("host_only_times"), *_remedy(notes[HOST_ONLY])]
    missing = notes.get(_NOT_RUN)
    # Of graphs, kernels run that no launch of a kernel stands for.
    if missing is None or missing.count <= int(analysis.profile.ops.occurrences.sum()):
        return None
    count = Number(missing.count, "count")
    return say("not_run", count=count), [*say("not_run_why"), *_remedy(missing)]


def _remedy(note: Diagnostic) -> Sentence:
    return [plain(note.remedy)]
