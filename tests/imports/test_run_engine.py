"""What the process that reads runs gets of its server: no credentials but those of its stores."""

import os
from pathlib import Path

import pytest

from roofline.imports.run_process import RunProcess, reading_environment
from roofline.settings import Settings
from tests.children.processes import program_id

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "amazons-secret",
    "GOOGLE_SERVICE_ACCOUNT_KEY": "googles-secret",
    "AZURE_STORAGE_ACCOUNT_KEY": "azures-secret",
    "PGPASSWORD": "databases-secret",
    "GITHUB_TOKEN": "anothers-secret",
    "ROOFLINE_ADMIN_TOKEN": "our-secret",
}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("TZ", "UTC")


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        ([], set()),
        (["file:///data", "/mnt/runs"], set()),
        (["file:///data", "s3://team/runs"], {"AWS_SECRET_ACCESS_KEY"}),
        (["gs://team"], {"GOOGLE_SERVICE_ACCOUNT_KEY"}),
        (["az://team", "s3://a"], {"AZURE_STORAGE_ACCOUNT_KEY", "AWS_SECRET_ACCESS_KEY"}),
    ],
)
def test_it_gets_the_credentials_of_its_stores_alone(places: list[str], wanted: set[str]) -> None:
    found = reading_environment(places)
    assert found.keys() & SECRETS.keys() == wanted
    assert ("https_proxy" in found) == bool(wanted), "a store may be behind a proxy"
    assert found["TZ"] == "UTC"


def test_children_cannot_read_them_from_the_process(tmp_path: Path) -> None:
    limits = Settings.from_env().import_limits
    process = RunProcess(f"file://{tmp_path}", limits, 1, reads=["s3://team/runs"])
    try:
        assert process.find(str(tmp_path)) == [], "it has begun to work"
        number = program_id(vars(process)["_program"])
        shown = Path(f"/proc/{number}/environ").read_bytes()
        niceness = os.getpriority(os.PRIO_PROCESS, number)
    finally:
        process.close()
    assert niceness >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 1), "pages come first"
    assert b"AWS_SECRET_ACCESS_KEY=" in shown
    assert not [value for value in SECRETS.values() if value.encode() in shown]
