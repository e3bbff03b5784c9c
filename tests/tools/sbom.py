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
# What `tests/tools/plotly` built, and the packages that it is made of.
BUILT = ("plotly/plotly-roofline-4.1.1.min.js", "plotly/LICENSE")
PARTS = VENDOR / "plotly" / "parts.json"
_EXPORT = (
    "export",
    "--quiet",
    "--frozen",
    "--offline",
    "--no-default-groups",
    *("--extra", "fleet"),
    *("--extra", "notebook"),
    *("--extra", "team"),
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
    parts: dict[str, str] = json.loads(PARTS.read_text("utf-8"))
    found["components"] += [_vendored(name, version) for name, version in parts.items()]
    return found


def text() -> str:
    """The document as it is in the file."""
    return json.dumps(document(), indent=1) + "\n"


def _vendored(name: str, version: str) -> dict[str, Any]:
    """A package of the bundle; plotly.js itself names the files."""
    component = {
        "type": "library",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:npm/{name.replace('@', '%40')}@{version}",
    }
    files = [_file(path) for path in BUILT] if name == "plotly.js" else []
    return {**component, "components": files} if files else component


def _file(path: str) -> dict[str, Any]:
    digest = hashlib.sha256((VENDOR / path).read_bytes()).hexdigest()
    hashes = [{"alg": "SHA-256", "content": digest}]
    return {"type": "file", "name": f"static/vendor/{path}", "hashes": hashes}


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
