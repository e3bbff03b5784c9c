"""The lock files: current, complete with hashes, and from the public indexes only."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK: dict[str, Any] = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
PACKAGES: list[dict[str, Any]] = LOCK["package"]
(OWN,) = (package for package in PACKAGES if package["name"] == "roofline")
OTHERS = [package for package in PACKAGES if package["name"] != "roofline"]
PUBLIC_NPM = "https://registry.npmjs.org/"
HINT = "run `make lock` and commit uv.lock"

Key = tuple[str, str, frozenset[str], str]
"""An extra or a group, a package, its own extras, and the versions that are allowed."""


def asked() -> Iterator[Key]:
    """What pyproject.toml asks for."""
    project = PROJECT["project"]
    sets = {"": project["dependencies"], **project["optional-dependencies"]}
    for where, lines in (*sets.items(), *PROJECT["dependency-groups"].items()):
        for line in lines:
            wanted = Requirement(line)
            name = wanted.name.lower().replace("_", "-")
            if name != "roofline":
                yield where, name, frozenset(wanted.extras), str(wanted.specifier)


def locked() -> Iterator[Key]:
    """What pyproject.toml asked for when uv.lock was written."""
    metadata = OWN["metadata"]
    for entry in metadata["requires-dist"]:
        found = re.search(r"extra == '([^']+)'", entry.get("marker", ""))
        if entry["name"] != "roofline":
            yield _key(found[1] if found else "", entry)
    for group, entries in metadata["requires-dev"].items():
        for entry in entries:
            yield _key(group, entry)


def _key(where: str, entry: dict[str, Any]) -> Key:
    specifier = str(SpecifierSet(entry.get("specifier", "")))
    return where, entry["name"], frozenset(entry.get("extras", ())), specifier


def test_lock_is_of_the_dependencies_that_pyproject_names() -> None:
    wanted, found = set(asked()), set(locked())
    # An extra that includes another of ours (`roofline[fleet,team]`) is written out in the lock.
    assert wanted - found == set(), HINT
    own = ("fleet", "mcp", "notebook", "server", "team")
    extra = {key for key in found - wanted if not {(one, *key[1:]) for one in own} & wanted}
    assert extra == set(), HINT
    assert LOCK["requires-python"] == PROJECT["project"]["requires-python"], HINT


def test_locked_versions_are_allowed() -> None:
    versions = {package["name"]: package["version"] for package in OTHERS}
    for _, name, _, specifier in asked():
        assert Requirement(name + specifier).specifier.contains(versions[name]), HINT


def test_packages_come_from_the_public_index_with_hashes() -> None:
    for package in OTHERS:
        assert package["source"] == {"registry": "https://pypi.org/simple"}
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else [])]
        assert files, package["name"]
        for file in files:
            assert file["url"].startswith("https://files.pythonhosted.org/packages/")
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]), file["url"]


def test_uv_itself_is_pinned_as_locked() -> None:
    (uv,) = (package for package in OTHERS if package["name"] == "uv")
    text = (ROOT / ".ci" / "uv.txt").read_text("utf-8")
    assert re.findall(r"^(\S+==\S+)", text, re.MULTILINE) == [f"uv=={uv['version']}"], HINT
    hashes = {file["hash"] for file in (*uv["wheels"], uv["sdist"])}
    assert set(re.findall(r"--hash=(\S+)", text)) == hashes, HINT


@pytest.mark.parametrize("name", [".ci/setup", "deploy/Containerfile"])
def test_set_up_installs_what_is_locked(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert re.search(r"uv sync .*--frozen", text)
    assert re.search(r"--require-hashes -r (\.ci/)?uv\.txt", text)


def test_npm_packages_are_locked_with_hashes() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    named = json.loads((ROOT / "package.json").read_text("utf-8"))
    own, *others = lock["packages"].values()
    assert own["devDependencies"] == named["devDependencies"], "run `npm install`"
    for package in others:
        # Without an address npm asks the registry that it is set up for; the hash holds for all.
        assert package.get("resolved", PUBLIC_NPM).startswith(PUBLIC_NPM)
        assert package["integrity"].startswith("sha512-")
