"""Compiled kernels, kept in folders that are named by the sources they were compiled from.

`kernel` is numba's `njit` with a folder of ours. Numba by itself looks at the file of a kernel and
not at the files of the kernels that were compiled into it, so that it would run old code after a
change of those. It also refuses to load kernels from a folder that it cannot write to: in a
read-only image, or in a folder that another user installed. It then gets a copy.

The folder is `NUMBA_CACHE_DIR`, else `__pycache__` beside this module, else the user's cache. Each
module with kernels has a folder there, with a digest of its sources in its name; what compiles a
new one deletes the oldest.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba

from roofline.source_closure import source_closure

VARIABLE = "NUMBA_CACHE_DIR"
# A decorator for parts of kernels: they are compiled into what calls them, so that starting loads a
# few large pieces of code from disk.
part: Any = numba.njit(nogil=True)
# Folders of one module that stay: of the present sources, and of the checkout or release before.
KEPT = 3


def kernel(signature: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function once per machine; it runs without the GIL.

    `signature` is one of numba's: the function is then compiled when it is defined.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        with _kept_in(kernel_folder(function.__module__)):
            return numba.njit(signature, cache=True, nogil=True)(function)

    return compiled


@cache
def kernel_folder(module: str) -> Path:
    """The folder of the kernels of `module`; made if it is not there."""
    name = f"{module.rpartition('.')[2]}-{_digest(module)}"
    for base in _bases():
        if _is_writable(base / name):
            _drop_old(base / name)
            return base / name
    copy = _temporary_folder()
    for base in _bases():
        if (base / name).is_dir():
            shutil.copytree(base / name, copy / name)
            break
    return copy / name


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    # Numba reads this when it decorates a function. What others compile goes where it always went.
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _digest(module: str) -> str:
    """Of `module` and all that it imports from this package: constants are compiled in, too."""
    digest = hashlib.sha256()
    for path, source in sorted(source_closure(module, with_packages=False).items()):
        digest.update(f"{path.name}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def _bases() -> list[Path]:
    """Where folders of kernels may be, best first."""
    if chosen := os.environ.get(VARIABLE):
        return [Path(chosen)]
    user = os.environ.get("XDG_CACHE_HOME") or Path(os.path.expanduser("~")) / ".cache"
    return [Path(__file__).parent / "__pycache__" / "kernels", Path(user) / "roofline" / "kernels"]


def _is_writable(folder: Path) -> bool:
    # As numba does it: permissions alone do not tell of disks that are mounted read-only.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _drop_old(folder: Path) -> None:
    """Deletes folders of other sources of the same module, but the newest of them."""
    module = folder.name.rpartition("-")[0]
    with suppress(OSError):  # another process does the same
        others = [other for other in folder.parent.glob(f"{module}-*") if other != folder]
        others.sort(key=lambda other: other.stat().st_mtime, reverse=True)
        for other in others[KEPT - 1 :]:
            shutil.rmtree(other, ignore_errors=True)


@cache
def _temporary_folder() -> Path:
    """A folder that is deleted when this process ends; its children use it, too."""
    folder = tempfile.mkdtemp(prefix="roofline-kernels-")
    atexit.register(partial(_remove, folder, os.getpid()))
    return Path(folder)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
