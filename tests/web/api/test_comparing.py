"""Stored profiles against each other over the API, with the server's guard and errors."""

import pytest

from roofline.compare.attribution import TERMS
from tests.tools.generate_xspace import Config, write_profile
from tests.web.conftest import Client, Launch

API = "/api/v1/compare"


@pytest.fixture(scope="module")
def ids(reader: Client, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    found = []
    for seed in (1, 2):
        config = Config(n_events=600, n_steps=3, n_distinct_ops=20, seed=seed)
        (path,) = write_profile(config, tmp_path_factory.mktemp("capture"))
        uploaded = reader.upload(path.read_bytes(), title=f"Run {seed}").json()
        found.append(str(uploaded["id"]))
    return found


def test_two_profiles_have_terms_that_add_up(reader: Client, ids: list[str]) -> None:
    found = reader.get(f"{API}?a={ids[0]}&b={ids[1]}").json()
    assert set(found["terms"]) == set(TERMS)
    assert sum(found["terms"].values()) == pytest.approx(found["change_us"])
    assert found["unit"] == "step"
    assert found["captures"]["a"]["labels"] == ["Run 1"]
    back = reader.get(f"{API}?a={ids[1]}&b={ids[0]}").json()
    assert back["change_us"] == -found["change_us"]


def test_a_profile_against_itself_is_unchanged(reader: Client, ids: list[str]) -> None:
    found = reader.get(f"{API}?a={ids[0]}&b={ids[0]}&unit=capture").json()
    assert found["change_us"] == 0
    assert not any(found["terms"].values())
    assert found["verdict"]["state"] == "none"


def test_of_says_what_all_times_are_of(reader: Client, ids: list[str]) -> None:
    path = f"{API}?a={ids[0]}&b={ids[1]}"
    whole, step = reader.get(f"{path}&of=capture"), reader.get(path)
    found = whole.json()
    assert (found["unit"], step.json()["unit"]) == ("capture", "step")
    assert found["subjects"]["a"]["label"] == "Capture, from the first operation"
    assert found["change_us"] == found["subjects"]["b"]["time_us"] - found["a_us"]
    assert whole.headers["etag"] != step.headers["etag"]
    first = reader.get(f"{path}&of=step:0").json()["subjects"]["a"]
    assert (first["of"], first["kind"]) == ("step:0", "step")
    unknown = reader.get(f"{path}&of=step:99").json()["subjects"]["a"]
    assert (unknown["of"], unknown["not_found"]) == ("step", "step:99")
    assert reader.get(f"{path}&of=capture&unit=step").status_code == 400


def test_a_subject_from_an_address_is_escaped_on_the_page(reader: Client, ids: list[str]) -> None:
    html = reader.get(f"/c/{ids[0]}..{ids[1]}?of=<b>x</b>", headers={"accept": "text/html"}).text
    assert "<b>x" not in html
    assert "there is no &lt;b&gt;x" in html


def test_several_captures_of_a_side_are_tested(reader: Client, ids: list[str]) -> None:
    a, b = (f"{name}={profile}" for name, profile in zip("ab", ids, strict=True))
    found = reader.get(f"{API}?{'&'.join([a] * 3 + [b] * 3)}").json()
    assert found["tested"]["p"] <= 0.05
    assert len(found["captures"]["b"]["time_us"]) == 3


def test_an_answer_that_the_client_holds_is_304(reader: Client, ids: list[str]) -> None:
    path = f"{API}?a={ids[0]}&b={ids[1]}"
    etag = reader.get(path).headers["etag"]
    assert reader.get(path, headers={"if-none-match": etag}).status_code == 304
    swapped = f"{API}?a={ids[1]}&b={ids[0]}"
    assert reader.get(swapped, headers={"if-none-match": etag}).status_code == 200


def test_unknown_profiles_units_and_missing_sides_are_refused(
    reader: Client, ids: list[str]
) -> None:
    missing = "0" * len(ids[0])
    assert reader.get(f"{API}?a={ids[0]}&b={missing}").status_code == 404
    assert reader.get(f"{API}?a={ids[0]}").status_code == 400
    assert reader.get(f"{API}?a={ids[0]}&b={ids[1]}&unit=day").status_code == 400
    many = "&".join([f"b={ids[1]}"] * 17)
    assert reader.get(f"{API}?a={ids[0]}&{many}").status_code == 400


def test_a_server_with_tokens_asks_for_one(launch: Launch) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    assert client.get(f"{API}?a=x&b=y").status_code == 401


def test_the_likeliest_partner_ran_the_same_operations(
    reader: Client, ids: list[str], capture: bytes
) -> None:
    """Neither the newest profile nor the one of the same title is nearer."""
    other = str(reader.upload(capture, title="Run 1").json()["id"])
    found = reader.get(f"/api/v1/profiles/{ids[0]}/partners").json()
    assert found["chosen"] == ids[1]
    assert [one["id"] for one in found["partners"]] == [ids[1], other]
    first, second = found["partners"]
    assert 1 > first["same_ratio"] > second["same_ratio"]
    assert first["reason"] == f"{first['same_ratio']:.0%} the same operations".replace("%", " %")
    searched = reader.get(f"/api/v1/profiles/{ids[0]}/partners?q=no+such").json()
    assert searched == {"chosen": None, "partners": []}


def test_compare_opens_with_the_partner_or_with_the_list(reader: Client, ids: list[str]) -> None:
    html = {"accept": "text/html"}
    # The earlier one is A; of two in the same second the same one, whichever is opened.
    orders = {f"/c/{a}..{b}?of=capture" for a, b in (ids, reversed(ids))}
    locations = set()
    for one in ids:
        opened = reader.get(f"/c/{one}?of=capture", headers=html)
        assert opened.status_code == 303
        locations.add(opened.headers["location"])
    assert len(locations) == 1 and locations <= orders
    listed = reader.get(f"/c/{ids[0]}?to={ids[0]}..{ids[1]}&unit=step", headers=html)
    assert listed.status_code == 200
    assert f'href="/c/{ids[0]}..{ids[1]}?unit=step&amp;vs={ids[1]}"' in listed.text
    assert "% the same operations" in listed.text
    assert reader.get("/c/nothing", headers=html).status_code == 404
