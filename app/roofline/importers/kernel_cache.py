"""Where numba keeps compiled kernels, so that it can be used from wherever Roofline is installed.

Numba wants to write into the folder it reads kernels from, and refuses to load one where it cannot:
in a read-only image, or a folder that another user installed. It then gets a copy of its own.
"""

import atexit
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def make_usable() -> None:
    """Call before numba is imported. Leaves everything as it is where numba can write."""
    chosen = os.environ.get(VARIABLE)
    if any(map(_is_writable, [Path(chosen)] if chosen else _own_choices())):
        return
    copy = tempfile.mkdtemp(prefix="roofline-kernels-")
    if chosen is not None and Path(chosen).is_dir():
        shutil.copytree(chosen, copy, dirs_exist_ok=True)
    os.environ[VARIABLE] = copy
    atexit.register(partial(_remove, copy, os.getpid()))


def _own_choices() -> list[Path]:
    """Where numba looks by itself: beside the code, then in the user's own cache."""
    beside = Path(__file__).parent / "__pycache__"
    user = os.environ.get("XDG_CACHE_HOME") or Path(os.path.expanduser("~")) / ".cache"
    return [beside, Path(user) / "numba"]


def _is_writable(folder: Path) -> bool:
    # As numba does it: permissions alone do not tell of disks that are mounted read-only.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # children use it, too
        shutil.rmtree(folder, ignore_errors=True)
