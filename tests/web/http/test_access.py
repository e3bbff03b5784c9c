"""The modes `open`, `token` and `proxy`: access, and configurations that the server refuses."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from itsdangerous import TimestampSigner

from roofline.errors import SettingsError
from roofline.settings import Settings
from roofline.web.http.access import check_access
from roofline.web.http.sessions import COOKIE, LIFETIME_S, Sessions
from tests.web.conftest import Client, Launch, running

TOKEN = "correct horse battery staple"
ADMIN = "the administrators' own words"
BEARER = {"authorization": f"Bearer {TOKEN}"}
HTML = {"accept": "text/html"}


@pytest.fixture
def guarded(launch: Launch) -> Client:
    """A server of mode `token`."""
    return launch(auth="token", token=TOKEN, admin_token=ADMIN)


def log_in(client: Client, token: str = TOKEN, **fields: str) -> httpx.Response:
    return client.post("/login", data={"token": token, **fields})


def session(client: Client, token: str = TOKEN, name: str = "") -> dict[str, str]:
    """The headers of a browser that has logged in and shows one of our pages."""
    cookie = log_in(client, token, name=name).headers["set-cookie"].split(";")[0]
    client.forget_cookies()
    page = client.get("/", headers={**HTML, "cookie": cookie}).text
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found
    return {"cookie": cookie, "x-csrf-token": found[1], "sec-fetch-site": "same-origin"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "roofline.example"])
def test_open_server_refuses_every_address_but_loopback(tmp_path: Path, host: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_access(Settings.from_env(host=host, data_dir=tmp_path))
    assert host in refused.value.message
    assert "ROOFLINE_AUTH=token" in refused.value.remedy


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_open_server_listens_on_loopback(tmp_path: Path, host: str) -> None:
    check_access(Settings.from_env(host=host, data_dir=tmp_path))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"auth": "token"}, "ROOFLINE_TOKEN_FILE"),
        ({"auth": "token", "token": "short"}, "ROOFLINE_TOKEN "),
        ({"auth": "token", "token": TOKEN, "admin_token": "x"}, "ROOFLINE_ADMIN_TOKEN"),
        ({"auth": "proxy"}, "ROOFLINE_PROXY_ADDRESSES"),
        ({"auth": "proxy", "proxy_addresses": "not-an-address"}, "ROOFLINE_PROXY_ADDRESSES"),
        ({"auth": "token", "token_file": "/no/such/file"}, "/no/such/file"),
        ({"auth": "open", "metrics_token": "x"}, "ROOFLINE_METRICS_TOKEN"),
        ({"auth": "token", "token": "a" * 40}, "ROOFLINE_TOKEN "),
        ({"auth": "token", "token": TOKEN, "admin_token": TOKEN}, "ROOFLINE_ADMIN_TOKEN"),
        ({"auth": "token", "token": TOKEN, "metrics_token": TOKEN}, "ROOFLINE_METRICS_TOKEN"),
        ({"auth": "proxy", "proxy_addresses": "0.0.0.0/0"}, "0.0.0.0/0"),
        ({"auth": "proxy", "proxy_addresses": "10.0.0.7/32, ::/0"}, "::/0"),
        ({"auth": "proxy", "proxy_addresses": "0.0.0.0/1,128.0.0.0/1"}, "0.0.0.0/1"),
        ({"auth": "token", "token": TOKEN, "proxy_addresses": "0.0.0.0/0"}, "0.0.0.0/0"),
    ],
)
def test_half_a_configuration_is_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_access(Settings.from_env(**options))
    assert named in f"{refused.value.message} {refused.value.remedy}"


def test_no_refusal_repeats_a_secret() -> None:
    with pytest.raises(SettingsError) as refused:
        check_access(Settings.from_env(auth="token", token="geheim"))
    assert "geheim" not in f"{refused.value.message} {refused.value.remedy}"
    assert TOKEN not in repr(Settings.from_env(auth="token", token=TOKEN))


def test_token_may_lie_in_a_file(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    client = launch(auth="token", token_file=tmp_path / "token")
    assert client.get("/api/v1/profiles").status_code == 401
    assert client.get("/api/v1/profiles", headers=BEARER).status_code == 200


def test_stranger_is_sent_to_log_in_or_told_so(guarded: Client) -> None:
    page = guarded.get("/p/some-id?v=1&x=hbm", headers=HTML)
    assert page.status_code == 303
    assert page.headers["location"] == "/login?next=%2Fp%2Fsome-id%3Fv%3D1%26x%3Dhbm"
    answer = guarded.get("/api/v1/profiles/some-id")
    assert (answer.status_code, answer.json()["code"]) == (401, "not-signed-in")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    for path in ("/healthz", "/login", guarded.parts.static.url("css/login.css")):
        assert guarded.get(path).status_code == 200


def test_unknown_and_existing_profiles_look_alike_to_a_stranger(
    guarded: Client, capture: bytes
) -> None:
    profile_id = guarded.upload(capture, headers=BEARER).json()["id"]
    known, unknown = (guarded.get(f"/api/v1/profiles/{one}") for one in (profile_id, "unknown"))
    assert known.status_code == unknown.status_code == 401
    assert known.json() == unknown.json()


@pytest.mark.parametrize("given", ["", "wrong", TOKEN.upper(), f"{TOKEN} ", "ünïcode"])
def test_wrong_token_opens_nothing(guarded: Client, given: str) -> None:
    if given.strip() != TOKEN:
        header = f"Bearer {given}".encode()
        assert guarded.get("/api/v1/profiles", headers={"authorization": header}).status_code == 401
        answer = log_in(guarded, given)
        assert answer.status_code == 403
        assert "This is not the token" in answer.text
        assert "set-cookie" not in answer.headers


def test_cookie_is_out_of_reach_of_scripts_and_of_other_sites(guarded: Client) -> None:
    answer = log_in(guarded, next="/p/abc")
    assert (answer.status_code, answer.headers["location"]) == (303, "/p/abc")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert "Secure" not in cookie, "a browser would not keep it without TLS"


def test_anyone_can_say_that_there_is_tls(guarded: Client) -> None:
    said = {"x-forwarded-proto": "https"}
    answer = guarded.post("/login", data={"token": TOKEN}, headers=said)
    assert "Secure" not in answer.headers["set-cookie"]
    assert "strict-transport-security" not in answer.headers


@pytest.mark.parametrize(("reached", "guesses"), [("locally", 10), ("behind-proxy", 30)])
def test_guesses_from_this_machine_are_limited_whatever_address_they_name(
    launch: Launch, reached: str, guesses: int
) -> None:
    """A program on this machine is a proxy only where the server was started behind one."""
    client = launch(auth="token", token=TOKEN, reached=reached)
    statuses = [
        client.get(
            "/api/v1/profiles",
            headers={"authorization": f"Bearer {n}", "x-forwarded-for": f"10.0.0.{n}"},
        ).status_code
        for n in range(30)
    ]
    assert statuses == [401] * guesses + [429] * (30 - guesses)


def test_addresses_of_one_ipv6_network_are_one_client(launch: Launch) -> None:
    """A provider gives each customer 2^64 addresses: each had ten guesses of its own a minute."""
    client = launch(auth="token", token=TOKEN, reached="behind-proxy")

    def guess(number: int, address: str) -> int:
        headers = {"authorization": f"Bearer {number}", "x-forwarded-for": address}
        return client.get("/api/v1/profiles", headers=headers).status_code

    assert [guess(n, f"2001:db8::{n:x}:1") for n in range(12)] == [401] * 10 + [429] * 2
    assert guess(1, "2001:db8:0:1::1") == guess(1, "::ffff:10.0.0.7") == 401


@pytest.mark.parametrize(
    ("options", "is_refused"),
    [
        ({}, True),
        ({"reached": "behind-proxy"}, True),
        ({"reached": "behind-proxy", "proxy_addresses": "10.0.0.7/32"}, False),
        ({"proxy_addresses": "10.0.0.7/32"}, False),
        ({"reached": "directly"}, False),
        ({"reached": "directly", "proxy_addresses": "10.0.0.7/32"}, True),
    ],
)
def test_address_that_others_reach_asks_for_a_proxy_or_none(
    tmp_path: Path, options: dict[str, str], *, is_refused: bool
) -> None:
    settings = Settings.from_env(
        host="0.0.0.0", auth="token", token=TOKEN, data_dir=tmp_path, **options
    )
    if is_refused:
        with pytest.raises(SettingsError) as refused:
            check_access(settings)
        assert "proxy" in refused.value.remedy or "Unset" in refused.value.remedy
    else:
        check_access(settings)


def test_cookie_is_for_tls_alone_behind_a_proxy_with_tls(launch: Launch) -> None:
    behind = launch(auth="token", token=TOKEN, reached="behind-proxy")
    answer = behind.post("/login", data={"token": TOKEN}, headers={"x-forwarded-proto": "https"})
    assert "Secure" in answer.headers["set-cookie"]
    assert "strict-transport-security" in answer.headers


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/\r\nx: y"]
)
def test_log_in_leads_nowhere_else(guarded: Client, elsewhere: str) -> None:
    assert log_in(guarded, next=elsewhere).headers["location"] == "/"


def test_tokens_cannot_be_tried_one_after_the_other(guarded: Client) -> None:
    answers = [log_in(guarded, "wrong") for _ in range(12)]
    assert [answer.status_code for answer in answers] == [403] * 10 + [429] * 2
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_bearer_tokens_cannot_be_tried_one_after_the_other(guarded: Client) -> None:
    def ask(token: str, path: str = "/api/v1/profiles", address: str = "10.9.9.9") -> int:
        headers = {"authorization": f"Bearer {token}"}
        return guarded.at(address).get(path, headers=headers).status_code

    paths = ["/api/v1/profiles", "/metrics", "/p/unknown"]
    assert [ask(f"wrong {n}", paths[n % 3]) for n in range(10)] == [401] * 10
    assert ask("wrong again") == 429
    assert ask(TOKEN) == 429, "a guesser who finds it must not see that"
    assert log_in(guarded.at("10.9.9.9")).status_code == 429, "one count for both doors"
    assert ask(TOKEN, address="10.9.9.8") == 200
    assert guarded.at("10.9.9.9").get("/healthz").status_code == 200


def test_right_bearer_tokens_are_not_counted(guarded: Client) -> None:
    answers = {guarded.get("/api/v1/profiles", headers=BEARER).status_code for _ in range(30)}
    assert answers == {200}


def test_two_bearer_tokens_are_none(guarded: Client) -> None:
    headers = [("authorization", "Bearer wrong"), ("authorization", f"Bearer {TOKEN}")]
    assert guarded.get("/api/v1/profiles", headers=headers).status_code == 401


def test_session_may_read_and_change(guarded: Client) -> None:
    headers = session(guarded)
    assert guarded.get("/api/v1/profiles", headers=headers).status_code == 200
    assert guarded.delete("/api/v1/profiles/unknown", headers=headers).status_code == 404


@pytest.mark.parametrize("csrf", [None, "", "0" * 64])
def test_change_without_the_pages_own_token_is_refused(guarded: Client, csrf: str | None) -> None:
    headers = session(guarded)
    del headers["x-csrf-token"]
    if csrf is not None:
        headers["x-csrf-token"] = csrf
    answer = guarded.delete("/api/v1/profiles/unknown", headers=headers)
    assert answer.status_code == 403
    assert "Reload" in answer.json()["remedy"]


def test_csrf_token_of_another_session_is_refused(guarded: Client) -> None:
    mine, other = session(guarded), session(guarded)
    answer = guarded.delete(
        "/api/v1/profiles/unknown", headers={**mine, "x-csrf-token": other["x-csrf-token"]}
    )
    assert answer.status_code == 403


def test_logging_out_needs_the_token_of_the_form(guarded: Client) -> None:
    headers = session(guarded)
    assert guarded.post("/logout", headers=headers).status_code == 403
    form = {"csrf": headers["x-csrf-token"]}
    answer = guarded.post("/logout", headers=headers, data=form)
    assert answer.status_code == 303
    assert 'roofline_session=""' in answer.headers["set-cookie"]


def test_session_that_was_logged_out_is_over_for_every_copy_of_its_cookie(
    guarded: Client, launch: Launch
) -> None:
    stolen, other = session(guarded, name="Ada"), session(guarded, name="Ada")
    assert guarded.get("/api/v1/profiles", headers=stolen).status_code == 200
    guarded.post("/logout", headers=stolen, data={"csrf": stolen["x-csrf-token"]})
    assert guarded.get("/api/v1/profiles", headers=stolen).status_code == 401
    assert guarded.get("/api/v1/profiles", headers=other).status_code == 200


def test_session_that_was_logged_out_stays_so_after_a_restart(tmp_path: Path) -> None:
    settings = Settings.from_env(data_dir=tmp_path, auth="token", token=TOKEN)
    with running(settings) as client:
        stolen, other = session(client), session(client)
        client.post("/logout", headers=stolen, data={"csrf": stolen["x-csrf-token"]})
    with running(settings) as client:
        assert client.get("/api/v1/profiles", headers=stolen).status_code == 401
        assert client.get("/api/v1/profiles", headers=other).status_code == 200


def parts_of(cookie: str) -> list[str]:
    """Content, time and signature of a session's cookie."""
    return cookie.split(".")


def other(text: str) -> str:
    """`text` with another first character."""
    return ("A" if text[0] != "A" else "B") + text[1:]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content, time, sign: f"{other(content)}.{time}.{sign}",
        lambda content, time, sign: f"{content}.{other(time)}.{sign}",
        lambda content, time, sign: f"{content}.{time}.{other(sign)}",
        lambda content, time, sign: f"{content}.{time}",
        lambda content, time, sign: f"{content}.{time}.{time}.{sign}",
        lambda content, time, sign: "",
        lambda content, time, sign: "." * 6,
        lambda content, time, sign: "1.member.1700000000.0.QWRh." + "0" * 64,  # of version 0.1
    ],
)
def test_forged_cookie_is_nobody(guarded: Client, damage: Callable[[str, str, str], str]) -> None:
    content, time, sign = parts_of(session(guarded)["cookie"].partition("=")[2])
    headers = {"cookie": f"{COOKIE}={damage(content, time, sign)}"}
    assert guarded.get("/api/v1/profiles", headers=headers).status_code == 401
    whole = {"cookie": f"{COOKIE}={content}.{time}.{sign}"}
    assert guarded.get("/api/v1/profiles", headers=whole).status_code == 200


def test_session_ends_with_its_time_and_with_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions("token", "")
    cookie = sessions.open("Ada", is_admin=False)
    found = sessions.read(cookie)
    assert found is not None
    assert found.name == "Ada"
    assert Sessions("another", "").read(cookie) is None
    now = TimestampSigner("any").get_timestamp()
    for after_s, lasts in ((LIFETIME_S - 60, True), (LIFETIME_S + 60, False), (-60, False)):
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _, at=now + after_s: at)
        assert (sessions.read(cookie) is not None) is lasts, after_s


def test_admin_session_ends_with_the_admin_token() -> None:
    cookie = Sessions("token", "admin token").open("Ada", is_admin=True)
    found = Sessions("token", "admin token").read(cookie)
    assert found is not None
    assert found.is_admin
    assert Sessions("token", "other").read(cookie) is None
    assert Sessions("token", "").read(cookie) is None


def test_a_role_is_not_the_other_even_with_one_secret_for_both() -> None:
    sessions = Sessions("the same", "the same")
    for is_admin in (False, True):
        found = sessions.read(sessions.open("Ada", is_admin=is_admin))
        assert found is not None
        assert found.is_admin is is_admin


PROXY = {"auth": "proxy", "proxy_addresses": "10.1.0.0/16"}
ADA = {"x-forwarded-user": "ada@example.org"}


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("10.1.2.3", ADA, 200),
        ("10.1.2.3", {}, 401),
        ("10.1.2.3", {"x-forwarded-user": "  "}, 401),
        ("10.2.2.3", ADA, 401),
        ("127.0.0.1", ADA, 401),
        ("10.2.2.3", {**ADA, "x-forwarded-for": "10.1.2.3"}, 401),
        ("not-an-address", ADA, 401),
    ],
)
def test_user_header_counts_from_the_proxy_only(
    launch: Launch, address: str, headers: dict[str, str], status: int
) -> None:
    client = launch(**PROXY).at(address)
    assert client.get("/api/v1/profiles", headers=headers).status_code == status


@pytest.mark.parametrize("second", ["admin@example.org", "ada@example.org", ""])
def test_two_user_headers_are_refused(launch: Launch, second: str) -> None:
    client = launch(**PROXY, admins="admin@example.org").at("10.1.2.3")
    for pair in (("ada@example.org", second), (second, "ada@example.org")):
        headers = [("x-forwarded-user", name) for name in pair]
        assert client.get("/api/v1/profiles", headers=headers).status_code == 401


def test_user_header_can_be_named(launch: Launch) -> None:
    client = launch(**PROXY, proxy_header="X-Auth-Email").at("10.1.2.3")
    assert client.get("/api/v1/profiles", headers=ADA).status_code == 401
    assert client.get("/api/v1/profiles", headers={"x-auth-email": "ada"}).status_code == 200


def test_user_names_are_utf8(launch: Launch, capture: bytes) -> None:
    client = launch(**PROXY, admins="Zoë").at("10.1.2.3")
    headers = {b"x-forwarded-user": "Zoë".encode()}
    body = client.upload(capture, headers=headers).json()
    assert body["uploader"] == "Zoë"
    other = {b"x-forwarded-user": b"ada"}
    theirs = client.upload(capture, headers=other).json()["id"]
    assert client.delete(f"/api/v1/profiles/{theirs}", headers=headers).status_code == 204


def test_browser_behind_the_proxy_needs_the_pages_token_and_a_tool_does_not(launch: Launch) -> None:
    client = launch(**PROXY).at("10.1.2.3")
    path = "/api/v1/profiles/unknown"
    assert client.delete(path, headers=ADA).status_code == 404
    browser = {**ADA, "sec-fetch-site": "same-origin"}
    assert client.delete(path, headers=browser).status_code == 403
    page = client.get("/", headers={**ADA, **HTML}).text
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found
    assert client.delete(path, headers={**browser, "x-csrf-token": found[1]}).status_code == 404


def csrf_of(client: Client, name: str) -> str:
    page = client.get("/", headers={"x-forwarded-user": name, **HTML}).text
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found
    return found[1]


def test_open_form_outlives_a_restart_and_belongs_to_one_user_of_one_instance(
    tmp_path: Path,
) -> None:
    tokens = []
    for folder in ("one", "one", "other"):
        settings = Settings.from_env(**PROXY, data_dir=tmp_path / folder)
        with running(settings) as server:
            tokens += [csrf_of(server.at("10.1.2.3"), name) for name in ("ada", "grace")]
    assert tokens[0:2] == tokens[2:4]
    assert len(set(tokens)) == 4


def test_stranger_to_the_proxy_sees_a_page_that_says_so(launch: Launch) -> None:
    answer = launch(**PROXY).get("/", headers=HTML)
    assert answer.status_code == 401
    assert "does not know who you are" in answer.text
