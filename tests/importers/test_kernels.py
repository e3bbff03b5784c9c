"""Kernels are object files that fit the sources and the machine, and need nothing of numba."""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from roofline.importers import kernels, registry
from roofline.importers.kernels import KEPT, UNREACHED, kernel_folder_name
from roofline.importers.shared.nesting import self_times
from roofline.source_closure import PACKAGE_FOLDER, source_closure

MODULE = "roofline.importers.pytorch.scan"
IMPORTERS = PACKAGE_FOLDER / "importers"
SUM_UP = (
    "import sys, numpy as np\n"
    "from roofline.importers.shared.nesting import self_times\n"
    "own = self_times(np.array([9, 4]), np.array([-1, 0], np.int32))\n"
    "print(own.tolist(), 'numba' in sys.modules)"
)


def run(code: str, **environment: object) -> str:
    """What a fresh interpreter prints, which must end well and say nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_first_call_compiles_and_later_processes_load_without_numba(tmp_path: Path) -> None:
    place = {kernels.VARIABLE: tmp_path / "kernels"}
    assert run(SUM_UP, **place) == "[5, 4] True"
    folder = tmp_path / "kernels" / kernel_folder_name("roofline.importers.shared.nesting")
    assert [path.name.partition("-")[0] for path in folder.iterdir()] == ["_subtract_children"]
    assert run(SUM_UP, **place) == "[5, 4] False"


def test_a_damaged_object_file_is_compiled_again(tmp_path: Path) -> None:
    place = {kernels.VARIABLE: tmp_path}
    run(SUM_UP, **place)
    (path,) = tmp_path.rglob("*.o")
    path.write_bytes(path.read_bytes()[:-1])
    assert run(SUM_UP, **place) == "[5, 4] True"
    assert run(SUM_UP, **place) == "[5, 4] False"


def test_kernels_run_where_no_folder_can_be_written_and_leave_nothing(tmp_path: Path) -> None:
    place = {kernels.VARIABLE: "/proc/none", "TMPDIR": tmp_path}
    assert run(SUM_UP, **place) == "[5, 4] True"
    assert list(tmp_path.iterdir()) == []


def test_folder_is_beside_the_code_or_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kernels.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert list(kernels._bases()) == [
        IMPORTERS / "__pycache__" / "kernels",
        tmp_path / "roofline" / "kernels",
    ]


def test_name_changes_with_the_sources_that_are_compiled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closure = source_closure(MODULE, with_packages=False)
    assert {path.name for path in closure} >= {"scan.py", "json_text.py", "kernels.py"}
    before = kernel_folder_name.__wrapped__(MODULE)
    changed = {
        path: source + b"#" * (path.name == "json_text.py") for path, source in closure.items()
    }
    monkeypatch.setattr(kernels, "source_closure", lambda *_, **__: changed)
    assert kernel_folder_name.__wrapped__(MODULE) != before


@pytest.mark.parametrize("changed", ["numba", "llvmlite", "cpu"])
def test_name_changes_with_the_compiler_and_the_cpu(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = kernels._machine_digest.__wrapped__
    before = digest()
    if changed == "numba":
        monkeypatch.setattr(kernels, "find_spec", lambda _name: None)
    elif changed == "llvmlite":
        monkeypatch.setattr("llvmlite.__version__", "99.9")
    else:
        monkeypatch.setattr(kernels, "_cpu", lambda: ("cpu-of-tomorrow", "+avx2048"))
    assert digest() != before


def test_old_folders_do_not_pile_up(tmp_path: Path) -> None:
    for number in range(6):
        old = tmp_path / f"scan-{number:016x}"
        old.mkdir()
        os.utime(old, (number, number))
    other = tmp_path / "wire-0000000000000000"
    other.mkdir()
    assert kernels._write(tmp_path / "scan-new" / "f.o", b"code")
    left = sorted(path.name for path in tmp_path.glob("scan-*"))
    assert len(left) == KEPT
    assert {"scan-new", f"scan-{5:016x}", f"scan-{4:016x}"} == set(left)
    assert other.is_dir()


@pytest.mark.parametrize(
    "parent",
    [
        np.zeros(2, np.int64),  # other elements
        np.zeros((2, 1), np.int32),  # another number of dimensions
        np.zeros(4, np.int32)[::2],  # not contiguous
    ],
)
def test_arrays_that_the_signature_does_not_allow_are_refused(parent: "np.ndarray") -> None:
    with pytest.raises(TypeError, match="_subtract_children takes"):
        self_times(np.array([9, 4]), parent)


def test_a_kernel_does_not_write_to_an_array_that_python_may_not_write_to() -> None:
    from roofline.importers.xspace import spans

    state = np.zeros(2, np.int64)
    state.flags.writeable = False
    column = np.zeros(1, np.int64)
    with pytest.raises(TypeError, match="_gaps takes"):
        spans._gaps(column, column, column.copy(), column.copy(), state)


def test_a_kernel_that_allocates_is_refused() -> None:
    @kernels.kernel("float64(int64)")
    def allocates(n):  # type: ignore[no-untyped-def]
        return np.empty(n)[0]

    kernels._KERNELS.remove(allocates)
    with pytest.raises(TypeError, match="is not a kernel: it needs NRT_MemInfo_alloc"):
        allocates.compile(kernels._cpu())


def test_warm_up_loads_every_kernel_of_the_importers_and_no_numba() -> None:
    registry.warm_up()
    code = (
        "import json, sys\n"
        "from roofline.importers import kernels, registry\n"
        "registry.warm_up()\n"
        "names = [each.name for each in kernels._KERNELS if each._native]\n"
        "print(json.dumps([names, 'numba' in sys.modules]))"
    )
    names, has_numba = json.loads(run(code))
    declared = [
        f"{'.'.join(path.relative_to(PACKAGE_FOLDER.parent).with_suffix('').parts)}"
        for path in IMPORTERS.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("@kernel(")
    ]
    assert sorted(name.rpartition(".")[0] for name in names) == sorted(declared)
    assert not has_numba


def object_files() -> Iterator[tuple[str, bytes]]:
    """Each kernel's object file, as `warm_up` left it."""
    registry.warm_up()
    for kernel in kernels._KERNELS:
        yield kernel.name, kernels._object_file(kernel)


def undefined_symbols(elf: bytes) -> set[str]:
    """Names that a 64-bit ELF object needs from elsewhere."""
    at, count = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<H", elf, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + 64 * k) for k in range(count)]
    table = next(section for section in sections if section[1] == 2)  # of symbols
    texts = sections[table[6]][4]
    needed = set()
    for offset in range(table[4], table[4] + table[5], 24):
        name, _, _, section = struct.unpack_from("<IBBH", elf, offset)
        if name and section == 0:
            begin = texts + name
            needed.add(elf[begin : elf.index(b"\0", begin)].decode())
    return needed


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF")
def test_kernels_need_the_c_library_and_names_for_errors_that_they_never_raise() -> None:
    needed = {name: undefined_symbols(content) for name, content in object_files()}
    assert len(needed) >= 23
    allowed = {*UNREACHED, "memset", "memcpy", "memmove"}
    for name, symbols in needed.items():
        assert "numba_gil_ensure" in symbols, name  # the table was read
        others = {each for each in symbols - allowed if not each.startswith(("Py", "_Py"))}
        assert not others, name


def test_numba_works_in_a_process_that_loaded_kernels_before() -> None:
    """Loading defines names of numba's runtime; numba must replace them by its own."""
    code = SUM_UP + (
        "\nimport numba\n"
        "@numba.njit\n"
        "def half(n):\n"
        "    if n % 2:\n"
        "        raise ValueError('odd')\n"
        "    return np.empty(n // 2).size\n"
        "print(half(8))\n"
        "try: half(7)\n"
        "except ValueError as error: print(error)"
    )
    assert run(code).splitlines()[1:] == ["4", "odd"]


INNER = """
from roofline.importers.kernels import part

@part
def inner(x):
    return x + {}
"""
OUTER = """
from roofline.importers.inner import inner
from roofline.importers.kernels import kernel

@kernel("int64(int64)")
def outer(x):
    return 10 * inner(x)
"""


def test_change_of_a_part_reaches_the_kernels_it_is_compiled_into(tmp_path: Path) -> None:
    package = tmp_path / "roofline"
    (package / "importers").mkdir(parents=True)
    (package / "__init__.py").write_text("")  # the real one loads what is not here
    shutil.copy(PACKAGE_FOLDER / "source_closure.py", package / "source_closure.py")
    for name in ("__init__.py", "kernels.py"):
        shutil.copy(IMPORTERS / name, package / "importers" / name)
    (package / "importers" / "outer.py").write_text(OUTER)
    code = (
        "import sys; from roofline.importers.outer import outer; "
        "print(outer(1), 'numba' in sys.modules)"
    )
    place = {
        "PYTHONPATH": str(tmp_path),
        kernels.VARIABLE: str(tmp_path / "kernels"),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python tells sources apart by seconds and sizes
    }
    printed = []
    for constant in (1, 1, 2):
        (package / "importers" / "inner.py").write_text(INNER.format(constant))
        printed.append(run(code, **place))
    assert printed == ["20 True", "20 False", "30 True"]
    assert len(list((tmp_path / "kernels").glob("outer-*"))) == 2


def test_only_one_module_knows_the_compiler() -> None:
    for path in PACKAGE_FOLDER.rglob("*.py"):
        if path != IMPORTERS / "kernels.py":
            assert "import numba" not in path.read_text("utf-8"), path
