"""What a server does by itself: its memory goes back to the system."""

import ctypes
import subprocess
import sys

import pytest

HOLES = """
import os
from pathlib import Path
from roofline.library.upkeep import give_memory_back

def taken_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

blocks = [bytearray(2000) for _ in range(20_000)]
kept = blocks[::500]
del blocks
before = taken_mb()
give_memory_back()
print(before - taken_mb())
"""


def test_holes_between_what_is_kept_go_back_to_the_system() -> None:
    """40 MB of pages were answered; each megabyte holds one thing that stays."""
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("this C library has no malloc_trim")
    told = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert float(told.stdout) > 20
