"""Pages and static files: what the browser is given, and for how long it may keep it."""

import json
import re
from html import unescape
from itertools import pairwise
from posixpath import dirname, normpath
from urllib.parse import urljoin

import pytest

from roofline.api.packaged import assets_dir
from tests.web.conftest import Client

HTML = {"accept": "text/html,application/xhtml+xml"}


def addresses(html: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"#]+)"', html)


@pytest.mark.parametrize("path", ["/", "/api", "/limits", "/calculator", "/p/unknown"])
def test_page_loads_nothing_that_is_missing_or_foreign(reader: Client, path: str) -> None:
    html = reader.get(path, headers=HTML).text
    loaded = [address for address in addresses(html) if "/static/" in address]
    assert loaded
    for address in loaded:
        assert reader.get(address).status_code == 200, address
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", html)
    assert "<script>" not in html
    assert " style=" not in html


def test_page_of_a_ready_profile_preloads_its_data(client: Client, capture: bytes) -> None:
    body = client.upload(capture, title="<b>bold</b> & run").json()
    answer = client.get(f"/p/{body['id']}", headers=HTML)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for document in ("facts", "view"):
        address = f"/api/v1/profiles/{body['id']}/{document}"
        assert f'<link rel="preload" href="{address}" as="fetch"' in answer.text
        assert client.get(address).status_code == 200
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; run" in answer.text
    assert "<b>bold" not in answer.text


def test_a_link_without_infeed_preloads_the_view_that_its_page_asks_for(
    reader: Client, base: str
) -> None:
    page = base.replace("/api/v1/profiles/", "/p/")
    for query, preloaded in (
        ("", ["facts", "view"]),
        ("?infeed=out", ["facts", "view?infeed=out"]),
    ):
        html = reader.get(f"{page}{query}", headers=HTML).text
        found = re.findall(r'rel="preload" href="([^"]+)" as="fetch"', html)
        assert found == [f"{base}/{document}" for document in preloaded]


WITHOUT_TIMES = b"name,flops,bytes\ngemm,2e9,1e6\n"


def test_nothing_that_is_asked_of_a_sample_ends_in_an_error(client: Client) -> None:
    samples = client.get("/api/v1/samples").json()["samples"]
    sent = [client.post(sample["open_url"]) for sample in samples]
    sent.append(client.upload(WITHOUT_TIMES, names=("kernels.csv",)))
    assert [one.text for one in sent if one.status_code != 201] == []
    ids = [one.json()["id"] for one in sent]
    assert len(ids) > 15
    operations = client.get("/openapi.json").json()["paths"]
    asked = [
        path
        for path, methods in operations.items()
        if "get" in methods and re.findall(r"{\w+}", path) == ["{profile_id}"]
    ]
    assert len(asked) > 15
    asked += ["/p/{profile_id}", "/p/{profile_id}?peak.hbm=1.5", "/calculator?from={profile_id}"]
    pairs = [f"/c/{a}..{b}" for a, b in pairwise([*ids, ids[0]])]
    paths = [path.replace("{profile_id}", own) for path in asked for own in ids]
    answers = {path: client.get(path, headers=HTML).status_code for path in (*paths, *pairs)}
    assert [path for path, status in answers.items() if status >= 500] == []


def test_home_lists_recent_profiles_and_samples(client: Client, capture: bytes) -> None:
    body = client.upload(capture, title="Latest run").json()
    html = client.get("/", headers=HTML).text
    assert "Latest run" in html
    assert f"/p/{body['id']}" in html
    for sample in client.get("/api/v1/samples").json()["samples"]:
        assert sample["open_url"] in html


def test_list_is_sorted_by_its_headers(client: Client, capture: bytes) -> None:
    for title in ("beta", "Alpha", "gamma"):
        client.upload(capture, title=title)
    assert titles_at(client, "/") == ["gamma", "Alpha", "beta"]
    html = client.get("/", headers=HTML).text
    assert 'href="/?sort=title"' in html
    assert "aria-sort" not in html
    assert titles_at(client, "/?sort=title") == ["Alpha", "beta", "gamma"]
    turned = client.get("/?sort=title", headers=HTML).text
    assert 'aria-sort="ascending"' in turned
    assert 'href="/?sort=-title"' in turned
    assert titles_at(client, "/?sort=-title") == ["gamma", "beta", "Alpha"]
    assert titles_at(client, "/?sort=nonsense") == titles_at(client, "/")


def titles_at(client: Client, path: str) -> list[str]:
    return re.findall(r'class="open"[^>]*>([^<]+)<', client.get(path, headers=HTML).text)


def test_a_row_has_the_goal_the_picture_and_the_first_finding(
    client: Client, capture: bytes
) -> None:
    body = client.upload(capture).json()
    page = client.get(f"/p/{body['id']}", headers=HTML).text
    row = client.get("/", headers=HTML).text.split("<tbody>")[1].split("</tbody>")[0]
    found = client.get(body["url"].replace("/p/", "/api/v1/profiles/")).json()["summary"]
    assert found["picture"].startswith('<svg xmlns="http://www.w3.org/2000/svg" width="132"')
    assert found["picture"] in page and found["picture"] in row
    text = re.sub(r"<[^>]+>", "", row)
    assert found["headline"] in text
    saving = re.search(r'<data data-q="saving" value="([^"]+)"', row)
    assert saving and float(saving[1]) == found["subject"]["first"]["saving_us"]
    assert found["subject"]["first"]["title"] in text


def test_unknown_profile_is_a_page_with_a_way_back(reader: Client) -> None:
    answer = reader.get("/p/unknown", headers=HTML)
    assert answer.status_code == 404
    assert "There is no profile at this address" in answer.text
    assert 'href="/"' in answer.text
    assert answer.headers["x-request-id"] in answer.text


def test_static_files_are_kept_for_ever_under_their_build(client: Client) -> None:
    static = client.parts.static
    answer = client.get(static.url("css/tokens.css"), headers={"accept-encoding": "gzip"})
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith("text/css")
    plain = client.get(static.url("css/tokens.css"), headers={"accept-encoding": "identity"})
    assert plain.text == answer.text
    assert plain.headers["etag"] != answer.headers["etag"]
    held = client.get(
        static.url("css/tokens.css"),
        headers={"if-none-match": plain.headers["etag"], "accept-encoding": "identity"},
    )
    assert held.status_code == 304


def test_static_file_of_another_build_is_served_but_not_kept(reader: Client) -> None:
    answer = reader.get("/static/0123456789abcdef/css/tokens.css")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"


# Imports of types stand in comments.
IMPORT = re.compile(r'^[a-z}].* from "([^"]+)"', re.M)


def modules() -> dict[str, str]:
    """The text of every module of the page, by its name under `static`."""
    static = assets_dir("static")
    paths = (static / "js").rglob("*.js")
    return {path.relative_to(static).as_posix(): path.read_text("utf-8") for path in paths}


def test_modules_import_each_other_relatively(client: Client) -> None:
    static = client.parts.static
    for name, text in modules().items():
        for imported in IMPORT.findall(text):
            assert imported.startswith(("./", "../")), (name, imported)
            address = urljoin(static.url(name), imported)
            assert client.get(address).status_code == 200, (name, imported)


def test_a_profile_asks_for_few_files_and_its_bundle_has_every_module(
    client: Client, capture: bytes
) -> None:
    html = client.get(f"/p/{client.upload(capture).json()['id']}", headers=HTML).text
    asked = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', html))
    assert len(asked) <= 10, asked
    (address,) = (one for one in asked if one.endswith(".bundle.js"))
    text, todo, wanted = (
        client.get(address).text,
        ["js/app/main.js", "js/app/profile-meta.js"],
        set(),
    )
    while todo:  # found anew
        name = todo.pop()
        wanted.add(name)
        found = (normpath(f"{dirname(name)}/{one}") for one in IMPORT.findall(modules()[name]))
        todo += [one for one in found if one not in wanted]
    assert len(wanted) > 30
    for name in wanted:
        for declared in re.findall(r"^export ((?:async )?\w+ \w+)", modules()[name], re.M):
            assert f"\n{declared}" in text, (name, declared)


def test_scripts_have_a_type_browsers_accept_for_modules(client: Client) -> None:
    answer = client.get(client.parts.static.url("js/ui/theme.js"))
    assert answer.headers["content-type"].startswith("text/javascript")


def test_api_page_describes_every_operation(reader: Client) -> None:
    document = reader.get("/openapi.json").json()
    page = reader.get("/api", headers=HTML).text
    for path in document["paths"]:
        assert path in page
    assert "`" not in page
    for body in re.findall(r"-d &#39;(.+?)&#39;|-d '(.+?)'", page):
        json.loads(unescape("".join(body)))
    assert '{"finding": "…", "state": "accepted"}' in unescape(page)


def test_pages_of_the_framework_are_off(reader: Client) -> None:
    for path in ("/docs", "/redoc"):
        assert reader.get(path).status_code == 404


def test_upload_form_is_documented(reader: Client) -> None:
    document = reader.get("/openapi.json").json()
    form = document["paths"]["/api/v1/profiles"]["post"]["requestBody"]["content"]
    assert "file" in form["multipart/form-data"]["schema"]["properties"]


def test_link_previews_may_ask_for_the_head_only(client: Client) -> None:
    answer = client.request("HEAD", "/", headers=HTML)
    assert answer.status_code == 200
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"
