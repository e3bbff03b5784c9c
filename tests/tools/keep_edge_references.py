"""Copies XProf's output for the hand-made corners into the golden folder.

python -m bench.check_against_xprof --count 0 --references-only
python -m tests.tools.keep_edge_references bench/.work/references
"""

import shutil
import sys
from pathlib import Path

from tests.tools.edge_cases import EDGE_CASES

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "xspace" / "edge_cases"


def main() -> None:
    """Replace all kept references by those below the given folder."""
    made = Path(sys.argv[1])
    for old in GOLDEN.glob("*.json.gz"):
        old.unlink()
    for name in EDGE_CASES:
        shutil.copyfile(made / name / "reference.json.gz", GOLDEN / f"{name}.json.gz")


if __name__ == "__main__":
    main()
