"""The page of a comparison: its sentence and facts before any script runs, and its states."""

import pytest
from markupsafe import escape

from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html,application/xhtml+xml"}
MARKUP = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def ids(reader: Client, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    found = []
    for events in (600, 900):
        config = Config(n_events=events, n_steps=3, n_distinct_ops=20)
        (path,) = write_profile(config, tmp_path_factory.mktemp("capture"))
        title = f"Run {events} {MARKUP}"
        found.append(str(reader.upload(path.read_bytes(), title=title).json()["id"]))
    return found


def test_frame_has_the_sentence_and_what_differs(reader: Client, ids: list[str]) -> None:
    answer = reader.get(f"/c/{ids[0]}..{ids[1]}", headers=HTML)
    said = reader.get(f"/api/v1/compare?a={ids[0]}&b={ids[1]}").json()["verdict"]
    assert answer.status_code == 200
    assert said["largest"]
    for piece in (*said["headline_segments"], *said["largest_segments"]):
        assert str(escape(piece["text"])) in answer.text
    assert "One capture of each, so it may be noise. Two more of each would tell." in answer.text
    assert "Memory peak" in answer.text
    assert 'class="good"' not in answer.text, "one capture a side has no verdict"


def test_frame_has_the_facts_of_both_subjects_with_their_values(
    reader: Client, ids: list[str]
) -> None:
    html = reader.get(f"/c/{ids[0]}..{ids[1]}", headers=HTML).text
    for one in ids:
        subject = reader.get(f"/api/v1/profiles/{one}/roofline").json()["subject"]
        assert f'<data data-q="length" value="{subject["time_us"]}">' in html
        assert f'<data data-q="floor" value="{subject["floor_us"]}">' in html
        assert f'<data data-q="idle" value="{subject["idle_ratio"]}">' in html


def test_the_subject_in_the_address_is_that_of_the_data(reader: Client, ids: list[str]) -> None:
    html = reader.get(f"/c/{ids[0]}..{ids[1]}?of=capture", headers=HTML).text
    assert "&amp;of=capture" in html
    assert "Capture, from the first operation" in html
    assert f"/c/{ids[1]}..{ids[0]}?of=capture" in html


def test_titles_of_strangers_are_escaped(reader: Client, ids: list[str]) -> None:
    html = reader.get(f"/c/{ids[0]}..{ids[1]}", headers=HTML).text
    assert MARKUP not in html
    assert "&lt;script&gt;" in html
    assert " style=" not in html


def test_several_captures_are_tested_and_the_answer_has_a_colour(
    reader: Client, ids: list[str]
) -> None:
    more = "&".join([f"a={ids[0]}"] * 2 + [f"b={ids[1]}"] * 2)
    html = reader.get(f"/c/{ids[0]}..{ids[1]}?{more}", headers=HTML).text
    verdict = reader.get(f"/api/v1/compare?a={ids[0]}&b={ids[1]}&{more}").json()["verdict"]
    assert verdict["state"] in {"slower", "faster"}, verdict
    colour = {"slower": "bad", "faster": "good"}[verdict["state"]]
    assert f'<span class="{colour}">' in html
    assert f"/c/{ids[1]}..{ids[0]}?a={ids[1]}&amp;a={ids[1]}&amp;b={ids[0]}" in html


def test_page_data_have_words_and_looks_and_are_kept(reader: Client, ids: list[str]) -> None:
    path = f"/api/v1/compare/page?a={ids[0]}&b={ids[1]}&unit=capture"
    answer = reader.get(path)
    found = answer.json()
    assert found["unit"] == "capture"
    assert found["units"][0] == "step"
    assert {one["category"] for one in found["categories"]} == set(found["page"]["styles"])
    bounds = {one[side]["bound_by"] for one in found["ops"] for side in ("a_side", "b_side")}
    assert bounds - {None} <= set(found["page"]["bounds"])
    held = {"if-none-match": answer.headers["etag"]}
    assert reader.get(path, headers=held).status_code == 304
    plain = reader.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == found


def test_a_run_that_failed_is_named_with_its_reason(reader: Client, ids: list[str]) -> None:
    bad = reader.upload(b"this is not a profile", names=("notes.txt",))
    failed = bad.json()["id"]
    html = reader.get(f"/c/{ids[0]}..{failed}", headers=HTML).text
    assert "These runs cannot be compared" in html
    assert reader.get(f"/api/v1/profiles/{failed}").json()["message"][:20] in html


def test_addresses_that_name_no_runs_are_not_found(reader: Client, ids: list[str]) -> None:
    for path in ("/c/x", f"/c/{ids[0]}..", f"/c/{ids[0]}..unknown"):
        assert reader.get(path, headers=HTML).status_code == 404, path
    html = reader.get(f"/c/{ids[0]}..unknown", headers=HTML).text
    assert "Run B of this comparison does not exist" in html
    assert reader.get(f"/c/{ids[0]}..{ids[1]}?unit=day", headers=HTML).status_code == 400


def test_a_server_with_tokens_asks_for_one(launch: Launch) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    answer = client.get("/c/x..y", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login")
    assert client.get("/api/v1/compare/page?a=x&b=y").status_code == 401
