"""The bill of materials, `sbom.cdx.json` (CycloneDX 1.5): installed packages and vendored files.

Python packages with the hashes of `uv.lock`, as uv lists them, and the files of other people below
`static/vendor` with their digests. pytest holds the file to both. After `make lock`, or a change of
a vendored file, write it again with `python -m tests.tools.sbom`.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "sbom.cdx.json"
VENDOR = ROOT / "static" / "vendor"
# The files of each vendored package that are its own, unchanged.
VENDORED = {
    "pkg:npm/plotly.js-basic-dist-min@4.1.1": ("plotly/plotly-basic-4.1.1.min.js", "plotly/LICENSE")
}
_EXPORT = (
    "export",
    "--quiet",
    "--frozen",
    "--offline",
    "--no-default-groups",
    "--extra",
    "pods",
    "--extra",
    "team",
)
_FORMAT = ("--format", "cyclonedx1.5", "--preview")
# Other at each writing.
_OF_ONE_WRITING = ("serialNumber", "metadata")


def document() -> dict[str, Any]:
    """The bill of the present lock file and vendored files."""
    uv = Path(sys.executable).parent / "uv"
    told = subprocess.run(
        [uv, *_EXPORT, *_FORMAT],
        cwd=ROOT,
        env={**os.environ, "UV_NO_PROGRESS": "1"},
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(told.stdout)
    for name in _OF_ONE_WRITING:
        found.pop(name, None)
    found["components"] += [_vendored(purl, files) for purl, files in VENDORED.items()]
    return found


def text() -> str:
    """The document as it is in the file."""
    return json.dumps(document(), indent=1) + "\n"


def _vendored(purl: str, files: tuple[str, ...]) -> dict[str, Any]:
    name, _, version = purl.rpartition("/")[2].partition("@")
    return {
        "type": "library",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "purl": purl,
        "components": [_file(path) for path in files],
    }


def _file(path: str) -> dict[str, Any]:
    digest = hashlib.sha256((VENDOR / path).read_bytes()).hexdigest()
    hashes = [{"alg": "SHA-256", "content": digest}]
    return {"type": "file", "name": f"static/vendor/{path}", "hashes": hashes}


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
