"""Stored results are computed again when anything changes that computes them, and only then."""

import shutil
from importlib import metadata
from pathlib import Path

import pytest

from roofline.library import results_version as versions
from roofline.library.results_version import RESULTS_VERSION, hashed_parts, results_version
from roofline.source_closure import PACKAGE_FOLDER


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of this package's files, to be changed."""
    copy = tmp_path / "roofline"
    shutil.copytree(PACKAGE_FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def version_of(folder: Path) -> str:
    """The version of the sources in `folder` as they are now."""
    results_version.cache_clear()
    return results_version(folder)


def changes(folder: Path, path: Path) -> bool:
    """True if one byte more in the file at `path` changes the version."""
    before = version_of(folder)
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    after = version_of(folder)
    path.write_bytes(content)
    assert version_of(folder) == before
    return after != before


def test_what_is_hashed() -> None:
    names = [name for name, _ in hashed_parts()]
    assert len(names) == len(set(names))
    for needed in (
        "__init__.py",
        "errors.py",
        "pipeline.py",
        "imports/child.py",
        "imports/messages.py",
        "devices/catalogue.json",
        "devices/resolve.py",
        "importers/registry.py",
        "importers/xspace/messages.py",
        "importers/xspace/xspace.proto",
        "importers/xspace/hlo/hlo.proto",
        "model/units.py",
        "analysis/analyse.py",
        "exports/records.py",
        "presentation/page.py",
        "storage/results.py",
        "storage/migrations/versions/0001_first.py",
        "numpy",
        "numba",
    ):
        assert needed in names
    # Every importer is loaded by its name, and read when a file is of its format.
    packages = {path.name for path in (PACKAGE_FOLDER / "importers").glob("*/") if path.is_dir()}
    hashed = {name.split("/")[1] for name in names if name.startswith("importers/")}
    assert packages - {"__pycache__"} <= hashed


@pytest.mark.parametrize(
    "name",
    [
        "pipeline.py",
        "imports/child.py",
        "devices/catalogue.json",
        "importers/xspace/xspace.proto",
        "importers/pytorch/signatures.py",
        "importers/intake/wrong_files.py",  # imported inside functions only
        "presentation/verdict.py",
        "storage/results.py",
        "storage/migrations/versions/0001_first.py",
    ],
)
def test_one_byte_of_what_computes_a_result_changes_the_version(package: Path, name: str) -> None:
    assert changes(package, package / name)


@pytest.mark.parametrize(
    "name",
    [
        "web/pages/routes.py",
        "web/http/guard.py",
        "library/labels.py",
        "cli/main.py",
        "cli/device_text.py",
        "api/results.py",
        "cli/template.csv",
        "importers/xspace/xspace_pb2.pyi",
    ],
)
def test_what_computes_no_result_changes_nothing(package: Path, name: str) -> None:
    assert not changes(package, package / name)


def test_pages_of_an_installed_wheel_change_nothing(package: Path) -> None:
    asset = package / "_assets" / "static" / "main.js"
    asset.parent.mkdir(parents=True)
    asset.write_bytes(b"")
    assert not changes(package, asset)


def test_new_data_and_compiled_files(package: Path) -> None:
    before = version_of(package)
    (package / "devices" / "__pycache__").mkdir()
    (package / "devices" / "__pycache__" / "lookup.pyc").write_bytes(b"x")
    assert version_of(package) == before
    (package / "devices" / "more.json").write_bytes(b"{}")
    assert version_of(package) != before


@pytest.mark.parametrize("server", ["numpy", "numba"])
def test_another_version_of_a_library_changes_the_version(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version_of(PACKAGE_FOLDER)
    installed = metadata.version

    def other(name: str) -> str:
        return "99.9" if name == server else installed(name)

    monkeypatch.setattr(versions, "version", other)
    assert version_of(PACKAGE_FOLDER) != before
    monkeypatch.undo()
    assert version_of(PACKAGE_FOLDER) == before


def test_version_is_a_folder_name_and_found_once() -> None:
    found = version_of(PACKAGE_FOLDER)
    assert found.startswith(f"v{RESULTS_VERSION}-")
    assert found.replace("-", "").isalnum()
    results_version()
    results_version()
    assert results_version.cache_info().misses <= 2
