"""`python -m tests.storage.crash`: see the package. Children do not load a module of this name."""

import argparse
import shutil
import sys
from pathlib import Path

import roofline.imports.children
import roofline.imports.job_run
import roofline.library.reader
import roofline.library.upkeep
import roofline.model.outer_limits
from roofline.children.program import Program
from tests.storage.children import WORK
from tests.storage.crash import __doc__ as about
from tests.storage.crash.cycles import Cycles
from tests.storage.places import LEASE_S


def quicken() -> None:
    """Waiting is not what is tried here; and no profile is read."""
    roofline.imports.children.WORK = WORK
    roofline.imports.children._PROGRAM = Program(
        "roofline.children.forkserver", "tests.storage.children"
    )
    roofline.model.outer_limits.LEASE_S = LEASE_S
    roofline.imports.job_run.BEAT_EVERY_S = LEASE_S / 4
    roofline.imports.job_run.PAUSE_S = 0.5
    roofline.model.outer_limits.FIRST_PAUSE_S, roofline.model.outer_limits.LONGEST_PAUSE_S = (
        0.1,
        2.0,
    )
    roofline.library.reader.RETRY_AFTER_S = 1.0
    roofline.library.upkeep.REDELIVER_EVERY_S = 0.5
    roofline.library.upkeep.LOST_AFTER_S = 3.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--cycles", type=int, default=500)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    quicken()
    folder = given.folder.resolve()  # the address of a folder of blobs is absolute
    shutil.rmtree(folder, ignore_errors=True)  # what failed last time belongs to no database now
    folder.mkdir(parents=True)
    cycles = Cycles(folder, given.seed)
    cycles.run(given.cycles)
    for name, count in cycles.counts.items():
        sys.stdout.write(f"{count:5} crashes of: {name}\n")
    for name in sorted(cycles.left_out):
        sys.stdout.write(f"left out, because this machine cannot: {name}\n")
    sys.stdout.write(f"{given.cycles} crashes, {cycles.uploads} uploads promised, none lost\n")
