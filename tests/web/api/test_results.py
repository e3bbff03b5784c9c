"""A ready profile over the API: results, downloads, deletion, samples, and results that went."""

import csv
import gzip
import io
import shutil
import sqlite3
import zipfile

import pytest

from roofline import __version__
from roofline.library.results_version import changes_since
from tests.web.conftest import Client, Launch

API = "/api/v1/profiles"


@pytest.fixture(scope="module")
def read_id(reader: Client, capture: bytes) -> str:
    """A profile that tests read and nothing more."""
    return str(reader.upload(capture, title="The run").json()["id"])


@pytest.fixture
def profile_id(client: Client, capture: bytes) -> str:
    return str(client.upload(capture, title="The run").json()["id"])


def test_page_data_names_the_profile(reader: Client, read_id: str) -> None:
    answer = reader.get(f"{API}/{read_id}/page")
    page = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert page["schema"] == 2
    assert page["profile"]["id"] == read_id
    assert page["profile"]["files"][0]["name"] == "host_0.xplane.pb"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_result_is_sent_compressed_or_plain_with_an_etag_each(
    reader: Client, read_id: str, encoding: str
) -> None:
    path = f"{API}/{read_id}/page"
    packed = reader.get(path, headers={"accept-encoding": encoding})
    plain = reader.get(path, headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == encoding
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_damaged_result_is_never_sent(client: Client, profile_id: str, encoding: str) -> None:
    names = {"page": "page.json", "roofline": "roofline-in.json", "roofline.csv": "roofline-in.csv"}
    for path, name in names.items():
        url, headers = f"{API}/{profile_id}/{path}", {"accept-encoding": encoding}
        whole = client.get(url, headers=headers).content
        for kept in client.settings.data_dir.glob(f"derived/{profile_id}/*/{name}"):
            content = kept.read_bytes()
            kept.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
        client.parts.instance.store.answers_changed(profile_id)  # forget what is kept in memory
        again = client.get(url, headers=headers)
        assert (again.status_code, again.content == whole) == (200, True), path


def test_result_the_client_holds_is_304(reader: Client, read_id: str) -> None:
    path = f"{API}/{read_id}/page"
    etag = reader.get(path).headers["etag"]
    held = reader.get(path, headers={"if-none-match": f'"other", {etag}'})
    assert (held.status_code, held.content) == (304, b"")
    assert held.headers["etag"] == etag
    assert reader.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_page_data_is_kept_for_ever_under_its_revision_only(reader: Client, read_id: str) -> None:
    rev = reader.get(f"{API}/{read_id}").json()["rev"]
    path = f"{API}/{read_id}/page"
    assert "immutable" in reader.get(f"{path}?rev={rev}").headers["cache-control"]
    for other in (path, f"{path}?rev=older"):
        assert reader.get(other).headers["cache-control"] == "private, no-cache"


def test_roofline_has_records_with_and_without_infeed(reader: Client, read_id: str) -> None:
    for infeed in ("in", "out"):
        body = reader.get(f"{API}/{read_id}/roofline?infeed={infeed}").json()
        assert {"device", "roofs", "program_points", "ops", "diagnostics"} <= set(body)
        assert body["ops"]


def test_csv_is_an_attachment_with_one_row_per_op(reader: Client, read_id: str) -> None:
    answer = reader.get(f"{API}/{read_id}/roofline.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="The run-roofline.csv"' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    about = reader.get(f"{API}/{read_id}/roofline.csv?about=1")
    told = list(csv.DictReader(io.StringIO(about.text)))
    assert about.headers["content-disposition"] == answer.headers["content-disposition"]
    device = reader.get(f"{API}/{read_id}").json()["summary"]["device"]
    link = f"http://localhost/p/{read_id}"
    added = {"device": device, "profile": link, "roofline_version": __version__}
    assert [{**row, **added} for row in rows] == told
    ops = reader.get(f"{API}/{read_id}/roofline").json()["ops"]
    assert len(rows) == len(ops)


def test_details_of_an_op_match_the_page(reader: Client, read_id: str) -> None:
    page = reader.get(f"{API}/{read_id}/page").json()
    for index in (0, page["ops"]["count"] - 1):
        details = reader.get(f"{API}/{read_id}/ops/{index}").json()
        assert details["name"] == page["ops"]["columns"]["name"][index]
        assert {"long_name", "source_file", "source_line", "source_stack"} <= set(details)
    for index in (page["ops"]["count"], -1):
        missing = reader.get(f"{API}/{read_id}/ops/{index}")
        assert (missing.status_code, missing.json()["code"]) == (400, "bad-view")


def test_source_of_one_file_is_the_upload_byte_for_byte(client: Client, capture: bytes) -> None:
    packed = gzip.compress(capture)
    name = 'Größe";.pb.gz'
    profile_id = client.upload(packed, names=(name,)).json()["id"]
    answer = client.get(f"{API}/{profile_id}/source")
    assert answer.content == packed
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert "%C3%B6" in answer.headers["content-disposition"]
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_source_of_several_files_is_a_zip_of_them(client: Client, hosts: tuple[bytes, ...]) -> None:
    profile_id = client.upload(*hosts, names=("a.pb", "a.pb", "b.pb")).json()["id"]
    answer = client.get(f"{API}/{profile_id}/source")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["0-a.pb", "1-a.pb", "2-b.pb"]
        assert tuple(archive.read(name) for name in archive.namelist()) == hosts


def test_deleting_removes_every_trace(client: Client, capture: bytes) -> None:
    before = client.listing()
    profile_id = client.upload(capture).json()["id"]
    assert client.listing() != before
    client.erase(profile_id)
    assert client.listing() == before
    for path in ("", "/page", "/source", "/roofline.csv"):
        assert client.get(f"{API}/{profile_id}{path}").status_code == 404
    assert client.delete(f"{API}/{profile_id}").status_code == 404


def test_list_is_newest_first(client: Client, capture: bytes) -> None:
    ids = [client.upload(capture, title=f"run {k}").json()["id"] for k in range(3)]
    listed = client.get(API).json()["profiles"]
    assert {profile["id"] for profile in listed} == set(ids)
    assert len(client.get(f"{API}?limit=2").json()["profiles"]) == 2


def test_profiles_outlive_the_server(launch: Launch, capture: bytes) -> None:
    first = launch()
    body = first.upload(capture).json()
    del body["delete_token"]
    first.parts.instance.close()
    second = launch()
    assert second.get(f"{API}/{body['id']}").json() == body
    assert second.get(f"{API}/{body['id']}/page").status_code == 200


@pytest.mark.parametrize("result", ["page", "roofline?infeed=out", "roofline.csv", "ops/0"])
def test_results_that_went_are_computed_again(launch: Launch, capture: bytes, result: str) -> None:
    client = launch(kept_answers_bytes=0)
    profile_id = client.upload(capture).json()["id"]
    path = f"{API}/{profile_id}/{result}"
    before = client.get(path).content
    shutil.rmtree(client.settings.data_dir / "derived" / profile_id)
    answer = client.get(path)
    assert (answer.status_code, answer.content) == (200, before)
    assert client.get(f"{API}/{profile_id}").json()["state"] == "ready"


def test_results_of_older_code_are_computed_again(
    launch: Launch, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = launch()
    profile_id = first.upload(capture).json()["id"]
    computed = first.get(f"{API}/{profile_id}").json()["computed_by"]
    assert computed == {"release": __version__, "changes": []}
    assert "data-changed" not in first.get(f"/p/{profile_id}").text
    first.parts.instance.close()
    with sqlite3.connect(first.settings.data_dir / "roofline.db") as rows:
        rows.execute("UPDATE profile SET summary = replace(summary, 'TPU', 'OLD')")
        rows.execute("UPDATE result SET version = 'v2-old', release = NULL")
    monkeypatch.setattr("roofline.library.build.results_version", lambda: "v99-other")
    second = launch()
    assert "OLD" in second.get(API).text
    state = second.get(f"{API}/{profile_id}?wait=60").json()
    assert state["state"] in ("importing", "ready")
    assert second.get(f"{API}/{profile_id}/page").status_code == 200
    versions = list((second.settings.data_dir / "derived" / profile_id).iterdir())
    assert [path.name for path in versions] == ["v99-other"]
    assert "OLD" not in second.get(API).text, "lists show what the new code found"
    computed = second.get(f"{API}/{profile_id}").json()["computed_by"]
    assert computed["release"] == __version__
    said = changes_since("v2-old", "XSpace")
    assert said and computed["changes"] == [*said]
    page = second.get(f"/p/{profile_id}").text
    assert page.count(computed["changes"][-1]) == 2, "once at the top, and in About for good"


def test_missing_raw_file_is_told_when_it_is_needed(client: Client, profile_id: str) -> None:
    shutil.rmtree(client.settings.data_dir / "derived" / profile_id)
    shutil.rmtree(client.settings.data_dir / "blobs")
    (client.settings.data_dir / "blobs").mkdir()
    answer = client.get(f"{API}/{profile_id}/page")
    assert answer.status_code == 422
    assert "missing or damaged" in answer.json()["message"]
    assert client.get(f"{API}/{profile_id}/source").status_code == 422


def test_sample_is_imported_once(client: Client) -> None:
    samples = client.get("/api/v1/samples").json()["samples"]
    if not samples:
        pytest.skip("no sample is bundled")
    address = samples[0]["open_url"]
    first, second = client.post(address), client.post(address)
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert first.json()["state"] == "ready"
    assert len(client.get(API).json()["profiles"]) == 1


def test_sample_clicked_twice_at_once_is_one_profile(client: Client) -> None:
    samples = client.get("/api/v1/samples").json()["samples"]
    if not samples:
        pytest.skip("no sample is bundled")
    clicks = [client.start("POST", samples[0]["open_url"]) for _ in range(4)]
    assert len({click.result(timeout=60).json()["id"] for click in clicks}) == 1
