"""Settings: what the table says, what the examples name, and how values are written."""

import re
from pathlib import Path

import pytest

from roofline import settings
from roofline.errors import SettingsError
from roofline.settings import Settings, forget_secrets

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [*ROOT.glob("deploy/*"), *ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "Makefile"]
# Of `roofline upload` and `roofline check`, which are not a server.
OF_THE_CLIENT = {"ROOFLINE_SERVER", "ROOFLINE_CAPTURE_DIR"}
# Too special for the table: their defaults are right everywhere but in tests.
UNLISTED = {"ROOFLINE_UPLOAD_IDLE_SECONDS"}


def variables() -> set[str]:
    return {f"ROOFLINE_{name.upper()}" for name in Settings.model_fields}


def test_every_setting_is_in_the_table() -> None:
    listed: set[str] = set()
    for cell in re.findall(r"^\| (`ROOFLINE_.*?)\s*\|", settings.__doc__ or "", re.MULTILINE):
        first, *more = re.findall(r"`([^`]+)`", cell)
        listed.add(first)
        for short in more:  # `_PORT` beside `ROOFLINE_HOST`, `…_FILE` beside what it is a file of
            listed.add(first + short[1:] if short.startswith("…") else f"ROOFLINE{short}")
    files = {name for name in variables() if name.endswith("_FILE")}
    assert variables() - files - UNLISTED <= listed
    assert listed <= variables()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_name_settings_that_exist(path: Path) -> None:
    named = set(re.findall(r"ROOFLINE_[A-Z_]+[A-Z]", path.read_text("utf-8")))
    assert named <= variables() | OF_THE_CLIENT


@pytest.mark.parametrize("text", ["a.example, b.example", '["a.example", "b.example"]'])
def test_lists_are_written_with_commas_or_as_json(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("ROOFLINE_ALLOWED_HOSTS", text)
    assert Settings.from_env().allowed_hosts == ("a.example", "b.example")


def test_half_a_json_list_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOFLINE_ALLOWED_HOSTS", '["a.example"')
    with pytest.raises(SettingsError, match="ROOFLINE_ALLOWED_HOSTS"):
        Settings.from_env()


def test_secrets_leave_the_environment_once_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOFLINE_TOKEN", "0123456789abcdef")
    found = Settings.from_env(auth="token")
    forget_secrets()
    assert found.token is not None
    assert Settings.from_env().token is None
