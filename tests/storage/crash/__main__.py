"""`python -m tests.storage.crash`: see the package. Children do not load a module of this name."""

import argparse
import sys
from pathlib import Path

import roofline.imports.children
from tests.storage.children import by_content
from tests.storage.crash import __doc__ as about
from tests.storage.crash import run_cycles

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--cycles", type=int, default=500)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    roofline.imports.children.run_in_child = by_content
    roofline.imports.children.LOADED_ONCE = ("tests.storage.children",)  # no profile is read here
    given.folder.mkdir(parents=True, exist_ok=True)
    uploads = run_cycles(given.folder / "crash", given.cycles, given.seed)
    sys.stdout.write(f"{given.cycles} crashes, {uploads} uploads promised, none lost\n")
