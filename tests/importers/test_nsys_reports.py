"""Reports of Nsight Systems are exported where its program is installed; by a server by choice."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from roofline.children.confinement import missing
from roofline.errors import UploadRejectedError
from roofline.importers.intake import folders
from roofline.importers.intake.folders import MAGIC
from roofline.library.reader import Failed, Ready
from roofline.pipeline import analyse_files
from roofline.storage.results import PAGE
from tests.importers.test_nsight_systems import GRAPHS
from tests.profiles import imported
from tests.storage.conftest import folder
from tests.storage.places import Place, settled

__all__ = ["folder"]

EXPORTS = f"""#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Nsight Systems version 2025.3.1.90-0" && exit 0
[ "$1 $2 $3" = "export --type sqlite" ] || exit 2
while [ "$1" != -o ]; do shift; done
cp {GRAPHS} "$2"
"""
# Up to 2024.2, at least, it has no option for the payloads of NVTX.
EXPORTS_2023 = EXPORTS.replace(
    '[ "$1 $2 $3" =',
    """case "$*" in *--include-blobs*)
  echo "unrecognised option '--include-blobs=true'"; echo "usage: nsys export [<args>]"; exit 1
esac
[ "$1 $2 $3" =""",
)
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


@pytest.mark.parametrize("program", [EXPORTS, EXPORTS_2023], ids=["today's", "of 2023"])
def test_a_report_is_exported_and_read(
    program: str, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, program, monkeypatch)
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


# What a program of the server does with the path of the export in $2.
ENDS = {
    "it copies": ('cat "$DATABASE" > "$2"', None),
    "it fails": ("echo The report is of a newer version.; exit 1", "of a newer version"),
    "it hangs": ("sleep 98765 & wait", "it ran for more than"),
    "it writes too much": ('head -c 9000000 /dev/zero > "$2"', "could not export report1.nsys-rep"),
    "it writes no database": ('echo no > "$2"', "report1.sqlite"),
    "it leaves a link": ('ln -s "$DATABASE" "$2"', "could not export report1.nsys-rep"),
}


@pytest.mark.skipif(bool(missing()), reason="; ".join(missing()))
@pytest.mark.parametrize("end", ENDS)
def test_a_server_exports_a_report_with_the_program_of_its_settings(
    end: str, folder: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Confined: it has neither secrets of the environment nor files beside the report."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setattr(folders, "_LONGEST_S", 2.0 if end == "it hangs" else 60.0)
    secret, database = tmp_path / "secret", tmp_path / "installed" / "graphs.sqlite"
    secret.write_text("hunter2")
    program = tmp_path / "installed" / "bin" / "nsys"
    program.parent.mkdir(parents=True)
    database.write_bytes(GRAPHS.read_bytes())
    does, why = ENDS[end]
    program.write_text(f"""#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Nsight Systems version 2025.3.1.90-0" && exit 0
for last; do :; done
DATABASE={database}
while [ "$1" != -o ]; do shift; done
cat "$last" > /dev/null || exit 3
cat {secret} 2> /dev/null && exit 4
echo no 2> /dev/null > {tmp_path}/written && exit 5
[ -z "$AWS_SECRET_ACCESS_KEY" ] || exit 6
kill -0 {os.getpid()} 2> /dev/null && exit 7
bash -c ': < /dev/tcp/127.0.0.1/9' 2>&1 | grep -q "not permitted" || exit 8
{does}
""")
    program.chmod(0o755)
    server = folder.server(nsys=program, max_unpacked_bytes=4 << 20)
    area = server.library.stage()
    area.receive_all("report1.nsys-rep", [MAGIC + b" 2026@1@1@"])
    profile_id = server.library.add(area)
    state = settled(server, profile_id)
    if why is None:
        assert isinstance(state, Ready), state
        page = server.reader.result(profile_id, PAGE).plain().decode()
        assert "report1.nsys-rep was exported with nsys 2025.3." in page
        assert "CUDA graph 5" in page
    else:
        assert isinstance(state, Failed)
        assert why in state.error.message
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # of a process that has ended
            assert b"\x0098765\x00" not in path.read_bytes(), "it is ended with its children"


def test_a_server_reads_the_export_beside_a_report_and_runs_nothing(
    folder: Place, tmp_path: Path
) -> None:
    server = folder.server(nsys=tmp_path / "nowhere" / "nsys")
    area = server.library.stage()
    area.receive_all("report1.nsys-rep", [MAGIC])
    area.receive_all("report1.sqlite", [GRAPHS.read_bytes()])
    state = settled(server, server.library.add(area))
    assert isinstance(state, Ready), state


def test_an_import_of_a_server_without_that_setting_runs_no_program(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, EXPORTS, monkeypatch)
    with pytest.raises(Exception, match="a report of Nsight Systems") as caught:
        imported(report)
    assert "nsys export --type sqlite -o report.sqlite" in str(getattr(caught.value, "remedy", ""))
