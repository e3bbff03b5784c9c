"""The bill of materials: of the present lock file, with hashes, and of the vendored JavaScript."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.test_lock import OTHERS
from tests.tools import sbom

BILL: dict[str, Any] = json.loads(sbom.FILE.read_text("utf-8"))
PYTHON = [one for one in BILL["components"] if one["purl"].startswith("pkg:pypi/")]
# As `tests/tools/plotly` builds them: a file that was edited by hand is not theirs any more.
BUILT = {
    "plotly/plotly-roofline-4.1.1.min.js": (
        "3ff97d93003ddbea58a801a05b0409b2f1b9ea0fac1d506e698f5277d9f20659"
    ),
    "plotly/LICENSE": "79e427846ba608156d11508aa631f6263e5da513d43829f19ee4ee69277ea152",
}
# Written here, or told by the others.
OWN = {
    "plotly/README.md",
    "plotly/parts.json",
    "plotly/plotly.css",
    "plotly/plotly-roofline-4.1.1.min.js.br",
}
RECIPE = ROOT / "tests" / "tools" / "plotly"


def test_bill_is_of_the_present_lock_file() -> None:
    if not (Path(sys.executable).parent / "uv").exists() and shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    assert sbom.FILE.read_text("utf-8") == sbom.text(), "run `python -m tests.tools.sbom`"


def test_bill_is_cyclonedx_with_the_hashes_of_the_lock() -> None:
    assert (BILL["bomFormat"], BILL["specVersion"]) == ("CycloneDX", "1.5")
    locked = {(one["name"], one["version"]): one for one in OTHERS}
    assert len(PYTHON) > 40
    for one in PYTHON:
        package = locked[one["name"], one["version"]]
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else [])]
        told = {
            link["url"]: f"sha256:{link['hashes'][0]['content']}"
            for link in one["externalReferences"]
            if link["type"] == "distribution"
        }
        assert told == {file["url"]: file["hash"] for file in files}, one["name"]


def test_bill_names_what_a_server_needs() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (needed,) = re.findall(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    names = {re.match(r"[\w.-]+", line)[0] for line in re.findall(r'"([^"]+)"', needed)}  # type: ignore[index]
    assert names and names <= {one["name"] for one in PYTHON}


def test_vendored_files_are_those_that_were_built() -> None:
    vendored = {
        path.relative_to(sbom.VENDOR).as_posix()
        for path in sbom.VENDOR.rglob("*")
        if path.is_file()
    }
    assert vendored == set(BUILT) | OWN
    for path, digest in BUILT.items():
        assert hashlib.sha256((sbom.VENDOR / path).read_bytes()).hexdigest() == digest, path
    told = {
        file["name"].removeprefix("static/vendor/"): file["hashes"][0]["content"]
        for one in BILL["components"]
        for file in one.get("components", ())
    }
    assert told == BUILT


def test_vendored_parts_are_of_the_versions_that_the_recipe_locks() -> None:
    packages = json.loads((RECIPE / "package-lock.json").read_text("utf-8"))["packages"]
    locked = {
        path.rpartition("node_modules/")[2]: one["version"]
        for path, one in packages.items()
        if path.startswith("node_modules/") and path.count("node_modules/") == 1
    }
    parts: dict[str, str] = json.loads(sbom.PARTS.read_text("utf-8"))
    assert parts["plotly.js"] == "4.1.1"
    assert parts.items() <= locked.items()
    purls = {one["purl"] for one in BILL["components"] if one["purl"].startswith("pkg:npm/")}
    assert purls == {f"pkg:npm/{name.replace('@', '%40')}@{v}" for name, v in parts.items()}
