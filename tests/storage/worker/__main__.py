"""A worker as `roofline worker` starts it, with short leases and children that read their file.

Children do not load a module of this name again, as they do with others that were started.
"""

import sys
from pathlib import Path

import app.jobs
import app.runners.desk
import app.storage.jobs
from app.admin import run_worker
from app.settings import Settings
from tests.storage.children import by_content
from tests.storage.places import LEASE_S

if __name__ == "__main__":
    app.jobs.run_in_child = by_content
    app.storage.jobs.LEASE_S = LEASE_S
    app.runners.desk.BEAT_EVERY_S = LEASE_S / 4
    sys.exit(run_worker(Settings.from_env(data_dir=Path(sys.argv[1])), 1))
