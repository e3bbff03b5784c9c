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
# As the package registry has them: a changed file below static/vendor is not theirs any more.
PUBLISHED = {
    "plotly/plotly-basic-4.1.1.min.js": (
        "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
    ),
    "plotly/LICENSE": "8c45d9eaf50c2f72dd9c7ab9ef440788ba58a3538484b5c51c1f17d5128752e7",
}
# Written here.
OWN = {"plotly/README.md", "plotly/plotly.css", "plotly/plotly-basic-4.1.1.min.js.br"}


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


def test_vendored_files_are_those_that_their_makers_published() -> None:
    vendored = {
        path.relative_to(sbom.VENDOR).as_posix()
        for path in sbom.VENDOR.rglob("*")
        if path.is_file()
    }
    assert vendored == set(PUBLISHED) | OWN
    for path, digest in PUBLISHED.items():
        assert hashlib.sha256((sbom.VENDOR / path).read_bytes()).hexdigest() == digest, path
    told = {
        file["name"].removeprefix("static/vendor/"): file["hashes"][0]["content"]
        for one in BILL["components"]
        for file in one.get("components", ())
    }
    assert told == PUBLISHED
