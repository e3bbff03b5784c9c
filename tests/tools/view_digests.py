"""Digests of views under other peaks: what the page computed itself, before the server did.

`python -m tests.tools.view_digests` writes `tests/golden/views/digests.json` again. The pairs were
compared with the browser's arithmetic, unrounded, before that was removed: bounds and numbers were
equal at a relative 1e-12. Two kinds differed, and the server's were kept. Numbers that are hidden
under the profile's own peaks were not sent to the browser. The profile's own part, when it was
chosen by its name, had the catalogue's clock in the browser and has the measured one here.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from functools import lru_cache

from roofline.analysis.analyse import Prepared, hold, prepare
from roofline.analysis.other_device import under_other_peaks
from roofline.analysis.records import AnalysisOptions
from roofline.analysis.subjects.choose import choose
from roofline.devices.catalogue import parts
from roofline.devices.choice import read_choice
from roofline.devices.resolve import resolve
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.library.samples import find_samples
from roofline.presentation.facts_and_view import Document
from roofline.presentation.json_text import to_json
from roofline.presentation.op_values import OpRows
from roofline.presentation.page_ops import categories_of, page_ops
from roofline.presentation.page_roofs import bounds, roofs
from roofline.presentation.rounding import numbers
from roofline.presentation.shown import listed_ops, shown_levels
from tests.conftest import ROOT, SAMPLES

GOLDEN = ROOT / "tests" / "golden" / "views" / "digests.json"
PARTS = 37
EDITS = 200
FILES = {sample.name: sample.files for sample in find_samples(SAMPLES)}


_FOLLOW_FROM_PEAKS = frozenset(
    {
        *("bound_by", "bottleneck_intensity", "attainable_gflops", "compute_unit", "at_ridge"),
        *("roofline_efficiency_ratio", "compute_efficiency_ratio", "memory_utilisation_ratio"),
        *("saving_per_core_us", "t_min_us", "t_max_us", "above_t_max_us", "above_roof"),
    }
)


def _follows(column: str) -> bool:
    return column in _FOLLOW_FROM_PEAKS or column.endswith("_clock_us")


@lru_cache(maxsize=2)
def prepared(name: str) -> Prepared:
    """A sample, prepared."""
    profile = import_profile([SourceFile(file) for file in FILES[name]])
    return prepare(profile, AnalysisOptions())


def pairs() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Samples, each with a part and peaks: 37 parts, and 200 peaks at random."""
    known = [part.id for part in parts()]
    for name in FILES:
        yield from ((name, known[k * len(known) // PARTS], ()) for k in range(PARTS))
    chance = random.Random(26)
    for _ in range(EDITS):
        peaks = {"compute": (2, 6.5, "GFLOP/s"), "hbm": (0, 4, "GB/s"), "host": (0, 2.5, "GB/s")}
        chosen = [key for key in peaks if chance.random() < 0.6] or ["hbm"]
        texts = []
        for key in chosen:
            low, high, unit = peaks[key]
            texts.append(f"{key}={10 ** chance.uniform(low, high):.6g}{unit}")
        part = chance.choice(["", "", *known])
        yield chance.choice(list(FILES)), part, tuple(texts)


def digest(name: str, part: str, peaks: tuple[str, ...]) -> str:
    """Of what peaks change in the ops of a view: six digits of each number."""
    found = prepared(name)
    reported = found.profile.device
    device = resolve(reported, choice=read_choice(part or None, peaks))
    profile, device = under_other_peaks(found.profile, resolve(reported), device)
    analysis = hold(prepare(profile, found.options), device)
    listed = listed_ops(analysis)
    levels, categories = shown_levels(analysis, listed), categories_of(analysis, listed)
    subject = choose(analysis)
    rows = OpRows(
        analysis=analysis,
        measures=analysis.ops.cells,
        at=listed,
        levels=levels,
        subject=subject,
        view=analysis.with_infeed,
        categories={name: k for k, name in enumerate(categories)},
    )
    # Savings of ops were in the page, too.
    savings = {"saving_per_core_us": numbers(analysis.ops.saving_per_core_us[listed])}
    ops = page_ops(Document.VIEW, rows)["columns"] | savings
    columns = {key: column for key, column in sorted(ops.items()) if _follows(key)}
    shown = roofs(analysis)
    lines = [
        *([roof["id"], roof["gflops"]] for roof in shown["compute"]),
        *([roof["id"], roof["gbs"], roof["ridge_flop_per_byte"]] for roof in shown["memory"]),
    ]
    document = to_json([columns, lines, [bound["id"] for bound in bounds(analysis)]])
    return hashlib.sha256(document).hexdigest()[:16]


def read() -> Mapping[str, Mapping[str, str]]:
    """The kept digests by sample, then by part and peaks, with spaces between them."""
    kept: Mapping[str, Mapping[str, str]] = json.loads(GOLDEN.read_text("utf-8"))
    return kept


def main() -> None:
    """Writes the file."""
    GOLDEN.parent.mkdir(exist_ok=True)
    found: dict[str, dict[str, str]] = {name: {} for name in FILES}
    for name, part, peaks in sorted(pairs(), key=lambda pair: pair[0]):
        found[name][" ".join([part or "own", *peaks])] = digest(name, part, peaks)
    GOLDEN.write_text(json.dumps(found, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
