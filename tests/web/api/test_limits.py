"""What a server says it takes is what it takes, as JSON and on its page."""

from typing import Any

import pytest

from roofline.settings import Settings
from roofline.web.api.limits import Limit
from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html"}


def told(client: Client, **options: Any) -> dict[str, dict[str, Any]]:
    groups = client.get("/api/v1/limits", **options).json()["groups"]
    return {limit["id"]: limit for group in groups for limit in group["limits"]}


def test_limits_are_those_of_the_settings(launch: Launch, capture: bytes) -> None:
    client = launch(max_upload_bytes=len(capture), retention_days=30, uploads_per_hour=7)
    found = told(client)
    assert found["max_upload_bytes"]["value"] == len(capture)
    assert found["max_upload_bytes"]["setting"] == "ROOFLINE_MAX_UPLOAD_BYTES"
    assert found["uploads_per_hour"]["value"] == 7
    assert found["retention_days"]["value"] == 30
    assert found["quota_bytes"]["value"] is None
    assert client.upload(capture).status_code == 201
    assert client.upload(capture + bytes(1)).status_code == 413


def test_every_limit_that_can_be_set_is_told(client: Client) -> None:
    settings = {
        name for name in Settings.model_fields if name.startswith(("max_", "import_", "upload"))
    }
    # How many imports run at once decides how long one waits, not what is taken.
    assert settings - {"import_workers"} <= set(told(client))
    named = {limit["setting"] for limit in told(client).values()} - {""}
    assert {name.removeprefix("ROOFLINE_").lower() for name in named} <= set(Settings.model_fields)


def test_page_says_the_same_in_words(launch: Launch) -> None:
    client = launch(max_upload_bytes=3 << 30, retention_days=90)
    page = client.get("/limits", headers=HTML)
    assert page.status_code == 200
    for limit in told(client).values():
        assert limit["label"] in page.text
        assert limit["past"] in page.text
    assert "<td>3 GiB</td>" in page.text
    assert "<td>90 days</td>" in page.text
    assert "<td>15 min</td>" in page.text


def test_home_page_leads_there_and_says_how_long_profiles_are_kept(
    launch: Launch, client: Client
) -> None:
    page = client.get("/", headers=HTML).text
    assert 'href="/limits"' in page
    assert "kept for" not in page
    client = launch(retention_days=90, data_dir=client.settings.data_dir.parent / "other")
    assert "kept for 90 days" in client.get("/", headers=HTML).text


def test_logging_in_has_limits_where_one_logs_in(launch: Launch, client: Client) -> None:
    assert "session" not in told(client)
    guarded = launch(
        auth="token",
        token="0123456789abcdef",
        data_dir=client.settings.data_dir.parent / "guarded",
    )
    assert guarded.get("/api/v1/limits").status_code == 401
    found = told(guarded, headers={"authorization": "Bearer 0123456789abcdef"})
    assert (found["session"]["value"], found["uploads_per_hour"]["value"]) == (30, 60)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0, "bytes", "0 bytes"),
        (1023, "bytes", "1,023 bytes"),
        (1 << 20, "bytes", "1 MiB"),
        (3 << 29, "bytes", "1.5 GiB"),
        (1 << 45, "bytes", "32 TiB"),
        (0.25, "s", "0.25 s"),
        (900, "s", "15 min"),
        (5000, "count", "5,000"),
        (10_000, "characters", "10,000 characters"),
        (300, "ratio", "300 : 1"),
        (None, "days", "for ever"),
        (None, "bytes", "no limit"),
        (1 << 14, "bytes/s", "16 KiB/s"),
        (0.5, "days", "0.5 days"),
    ],
)
def test_values_in_words(value: float | None, unit: Any, words: str) -> None:
    limit = Limit(id="x", label="x", value=value, unit=unit, past="x", setting="")
    assert limit.shown == words
