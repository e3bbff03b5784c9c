"""The first sentences of every bundled sample, and of every real file beside the checkout.

`make headlines` prints them, with the largest busy share that the file itself has, to be read
against the files: each must be true.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from roofline.analysis.records import RooflineAnalysis
from roofline.errors import RooflineError
from roofline.exports.answering import answer_of
from roofline.library.samples import find_samples
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import Segment, plain_text
from roofline.presentation.verdict import lines_of

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
_REAL = (
    "profiles/*/host_*.xplane.pb",
    "profiles/*/reference.json",
    "samples/**/*.json.gz",
    "samples/**/*.ncu-rep",
    "samples/**/*.csv",
    "samples/xprof_export/*.json",
    "samples/minimal/*.*",
    "samples/nsight_systems/*.sqlite*",
    "samples/rocpd/*.db*",
)
_SPACE = [Segment(kind="plain", text=" ")]
# Not profiles themselves: tables of a workload folder, and what an importer must give.
_BESIDE = ("rocprof_compute", "expected.json")


def headlines() -> Iterator[tuple[str, str]]:
    """Name and first sentence of each profile."""
    for sample in find_samples(ROOT / "sample_profiles"):
        yield f"sample {sample.name}", first_sentence(list(sample.files))
    for path in sorted({path for pattern in _REAL for path in SHARED.glob(pattern)}):
        if not any(part in str(path) for part in _BESIDE):
            yield str(path.relative_to(SHARED)), first_sentence([path])
    workload = sorted(SHARED.glob("samples/rocprof_compute/*/*.csv"))
    if workload:
        yield str(workload[0].parent.relative_to(SHARED)), first_sentence(workload)


def first_sentence(paths: list[Path]) -> str:
    """The headline of one profile; of what cannot be read, the error."""
    try:
        analysis = analyse_files(paths)
    except RooflineError as error:
        return f"Error: {error.message}"
    lines = lines_of(analysis, answer_of(analysis))
    busy = largest_busy(analysis)
    own = "" if busy is None else f" [busiest: {busy[0]}, {100 * busy[1]:.1f} %]"
    return f"{plain_text([*lines.headline, *_SPACE, *lines.lead]).strip()}{own}"


def largest_busy(analysis: RooflineAnalysis) -> tuple[str, float] | None:
    """The busiest unit of all operations together, by the file's own counters."""
    table = analysis.profile.ops
    whole = float(table.time_ps.sum())
    shares = {one.value: float(np.nansum(ps)) / whole for one, ps in table.busy_ps.items() if whole}
    return max(shares.items(), key=lambda one: one[1]) if shares else None


if __name__ == "__main__":
    for name, sentence in headlines():
        sys.stdout.write(f"{name}: {sentence}\n")
        sys.stdout.flush()
