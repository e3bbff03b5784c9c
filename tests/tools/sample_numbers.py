"""The numbers that lead the pages of the samples: a change of them is said to users.

`python -m tests.tools.sample_numbers` writes `tests/golden/numbers/samples.json` again, once
`library/number_changes.json` has a row that says what changed.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roofline.analysis.subjects.choose import choose
from roofline.library.results_version import RESULTS_VERSION
from roofline.library.samples import find_samples
from roofline.pipeline import analyse_files
from tests.conftest import ROOT, SAMPLES

GOLDEN = ROOT / "tests" / "golden" / "numbers" / "samples.json"
LARGEST_BYTES = 100_000
_NAMES = ("time_us", "floor_us", "roof_ratio", "known_ratio", "idle_ratio")


def numbers() -> dict[str, Any]:
    """Six digits of each number, and of each part of the time, by sample."""
    return {
        one.name: _numbers_of(one.files)
        for one in find_samples(SAMPLES)
        if one.size_bytes <= LARGEST_BYTES
    }


def _numbers_of(files: tuple[Path, ...]) -> dict[str, Any]:
    subject = choose(analyse_files(list(files)))
    said = {name: getattr(subject, name) for name in _NAMES}
    every = json.dumps({**said, **asdict(subject.parts)})
    rounded: dict[str, Any] = json.loads(every, parse_float=_six_digits)
    return rounded


def _six_digits(text: str) -> float:
    return float(f"{float(text):.5e}")


def main() -> int:
    """Writes the golden; 1 where numbers changed and no row says so."""
    golden, now = json.loads(GOLDEN.read_text()), numbers()
    is_said = golden["results_version"] < RESULTS_VERSION
    if not is_said and any(now.get(name) != one for name, one in golden["samples"].items()):
        sys.stderr.write("Numbers changed: first say what, with a row of number_changes.json.\n")
        return 1
    document = {"results_version": RESULTS_VERSION, "samples": now}
    GOLDEN.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
