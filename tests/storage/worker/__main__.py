"""A worker as `roofline worker` starts it, with short leases and children that read their file.

Children do not load a module of this name again, as they do with others that were started.
"""

import sys
from pathlib import Path

import roofline.imports.children
import roofline.imports.job_run
import roofline.model.outer_limits
from roofline.settings import Settings
from roofline.web.upkeep import run_worker
from tests.storage.children import WORK
from tests.storage.places import LEASE_S

if __name__ == "__main__":
    roofline.imports.children.WORK = WORK
    roofline.model.outer_limits.LEASE_S = LEASE_S
    roofline.imports.job_run.BEAT_EVERY_S = LEASE_S / 4
    sys.exit(run_worker(Settings.from_env(data_dir=Path(sys.argv[1])), 1))
