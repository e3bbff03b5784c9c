"""Reports of Nsight Systems are exported where its program is installed, and never by a server."""

from pathlib import Path

import pytest

from roofline.errors import UploadRejectedError
from roofline.importers.intake.folders import MAGIC
from roofline.pipeline import analyse_files
from tests.importers.test_nsight_systems import GRAPHS
from tests.profiles import imported

EXPORTS = f"""#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Nsight Systems version 2025.3.1.90-0" && exit 0
[ "$1 $2 $3" = "export --type sqlite" ] || exit 2
while [ "$1" != -o ]; do shift; done
cp {GRAPHS} "$2"
"""
FAILS = """#!/bin/sh
echo "The report is of a newer version."
exit 1
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report1.nsys-rep"
    path.write_bytes(MAGIC + b" 2026@1@1@")
    return path


def install(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bin" / "nsys"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_a_report_is_exported_and_read(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, EXPORTS, monkeypatch)
    profile = analyse_files([report]).profile
    assert "CUDA graph 5" in profile.ops.name
    said = [note.message for note in profile.diagnostics if note.code == "exported-reports"]
    assert said == ["report1.nsys-rep was exported with nsys 2025.3."]


def test_the_message_of_a_failed_export_is_passed_on(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, FAILS, monkeypatch)
    with pytest.raises(UploadRejectedError, match="The report is of a newer version"):
        analyse_files([report])


def test_an_export_beside_its_report_is_read(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, FAILS, monkeypatch)
    export = tmp_path / "report1.sqlite"
    export.write_bytes(GRAPHS.read_bytes())
    assert len(analyse_files([report, export]).profile.hosts) == 1


def test_an_import_of_a_server_runs_no_program(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, EXPORTS, monkeypatch)
    with pytest.raises(Exception, match="a report of Nsight Systems") as caught:
        imported(report)
    assert "nsys export --type sqlite --include-blobs=true" in str(
        getattr(caught.value, "remedy", "")
    )
