"""Notes on points of a profile: kept, shown and exported, and escaped wherever they are shown."""

import csv
import io
import json
import re
from typing import Any

import pytest

from roofline.exports.notes import notes_to_markdown, notes_to_text
from roofline.storage import notes
from tests.conftest import SAMPLES
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import BEARER, TOKEN, session

SAMPLE = SAMPLES / "generic" / "attention-h100.json"
EVIL = '=HYPERLINK("x")</script><i>&|'


def uploaded(client: Client, **options: Any) -> tuple[str, str]:
    """The path of a profile's API, and the name of one of its operations."""
    content = SAMPLE.read_bytes()
    answer = client.upload(content, names=(SAMPLE.name,), **options).json()
    path = f"/api/v1/profiles/{answer['id']}"
    headers = options.get("headers")
    page = client.get(f"{path}/page", headers=headers).json()
    name: str = page["ops"]["columns"]["name"][0]
    return path, name


def test_note_is_kept_shown_exported_and_removed(client: Client) -> None:
    path, name = uploaded(client)
    page = path.replace("/api/v1/profiles/", "/p/")
    assert client.get(f"{path}/notes").json() == {"notes": []}
    first = client.post(f"{path}/notes", json={"name": name, "text": "first"}).json()
    kept = client.post(f"{path}/notes", json={"name": name, "text": f" {EVIL}\r\n\x07two"}).json()
    assert kept["id"] == first["id"] and kept["text"] == f"{EVIL}\ntwo"
    step = client.post(f"{path}/notes", json={"kind": "program", "name": "Total"})
    assert step.status_code == 200, step.text
    listed = client.get(f"{path}/notes").json()["notes"]
    listed.sort(key=lambda one: str(one["kind"]))  # of one second
    assert [one["kind"] for one in listed] == ["operation", "program"]
    shown = client.get(page).text
    assert "</script><i>" not in shown and "=HYPERLINK" in shown
    found = re.search(r'data-notes="([^"]*)"', shown)
    assert found and "&lt;/script" in found[1]
    table = list(csv.DictReader(io.StringIO(client.get(f"{path}/notes.csv").text, newline="")))
    rows = {row["name"]: row["text"] for row in table}
    assert rows == {name: f"'{EVIL}\ntwo", "Total": ""}
    text, markdown = notes_to_text(listed).decode(), notes_to_markdown(listed).decode()
    assert len(text.splitlines()) == 2 and len(markdown.splitlines()) == 4
    assert r"\</script\>\<i\>\&\|" in markdown
    assert client.delete(f"{path}/notes/{kept['id']}").status_code == 204
    gone = client.delete(f"{path}/notes/{kept['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "note-not-found")
    assert "=HYPERLINK" not in client.get(page).text
    actions = [json.loads(one) for one in client.get("/api/v1/audit").text.splitlines()]
    done = [one["action"] for one in actions if one["action"].endswith(" note")]
    assert done == ["keep note"] * 3 + ["remove note"]


def test_note_names_a_point_of_the_profile(client: Client) -> None:
    path, name = uploaded(client)
    bodies = (
        {"name": "nothing of this name"},
        {"kind": "program", "name": "nothing of this name"},
        {"name": name, "program": "another program"},
        {"name": name, "text": "x" * 501},
    )
    for body in bodies:
        answer = client.post(f"{path}/notes", json=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad-edit"), body


def test_there_are_only_so_many_notes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST_NOTES", 1)
    path, name = uploaded(client)
    for status, body in (
        (200, {"name": name}),
        (200, {"name": name, "text": "again"}),
        (400, {"kind": "program", "name": "Total"}),
    ):
        assert client.post(f"{path}/notes", json=body).status_code == status


def test_notes_have_authors_who_links_do_not_name(launch: Launch) -> None:
    client = launch(auth="token", token=TOKEN)
    ada = session(client, name="Ada")
    client.forget_cookies()
    path, name = uploaded(client, headers=ada)
    sent = {"name": name, "text": "look here"}
    assert client.post(f"{path}/notes", json=sent, headers=BEARER).status_code == 403
    assert client.post(f"{path}/notes", json=sent, headers=ada).json()["by"] == "Ada"
    assert client.get(f"{path}/notes", headers=BEARER).json()["notes"][0]["by"] == "Ada"
    url = client.post(f"{path}/links", json={}, headers=ada).json()["url"]
    shared = client.get("/l/" + url.rpartition("/")[2]).text
    assert "look here" in shared and "Ada" not in shared and "data-notes-url" not in shared
