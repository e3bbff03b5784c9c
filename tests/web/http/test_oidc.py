"""Mode `oidc`: log-ins through a real provider on this machine, and how they fail."""

import html
import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from roofline.errors import SettingsError
from roofline.settings import Settings
from roofline.web.http import oidc_provider
from roofline.web.http.access import check_access
from tests.web.conftest import Client, Launch, running
from tests.web.http.sign_in import KEY, SECRET, Claims, SignIn, begin, consent, log_in, signing_in

# The mock is written for an earlier Authlib.
pytestmark = pytest.mark.filterwarnings("ignore:get_jwt_config")
AS_HTML = {"accept": "text/html"}
PROFILES = "/api/v1/profiles"
ADDRESSES = itertools.count(1)


@pytest.fixture(scope="module")
def provider_here() -> Iterator[SignIn]:
    with signing_in() as provider:
        yield provider


@pytest.fixture
def provider(provider_here: SignIn) -> Iterator[SignIn]:
    yield provider_here
    provider_here.reset()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider_here: SignIn) -> Iterator[Client]:
    """A server for all tests that need none of their own."""
    groups = {"oidc_groups": "staff", "oidc_admin_groups": "operators"}
    folder = tmp_path_factory.mktemp("oidc")
    with running(Settings.from_env(data_dir=folder, **provider_here.settings(**groups))) as client:
        yield client


@pytest.fixture
def client(server: Client, provider: SignIn) -> Client:
    """A browser of its own, at an address of its own."""
    return server.at(f"10.0.0.{next(ADDRESSES)}")


def person(client: Client) -> tuple[str, bool]:
    """The name of the one who is logged in, and whether they are an administrator."""
    page = client.get("/", headers=AS_HTML)
    assert page.status_code == 200, page.text
    found = re.search(r'title="Logged in as ([^"]+)"', page.text)
    assert found
    return found[1], client.get("/api/v1/audit").status_code == 200


def csrf(client: Client) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/", headers=AS_HTML).text)
    assert found
    return found[1]


def refusal(answer: httpx.Response, status: int = 403) -> str:
    """What the page of a failed log-in says; it leaves no session."""
    assert answer.status_code == status, answer.text
    assert not [one for one in answer.headers.get_list("set-cookie") if "session" in one]
    found = re.search(r'role="alert">.*?</svg>(.*?)</p>', answer.text, re.DOTALL)
    assert found
    return found[1]


def test_person_logs_in_and_comes_back_to_the_link(client: Client, capture: bytes) -> None:
    answer = client.get("/p/abc?x=1", headers=AS_HTML)
    assert answer.headers["location"] == "/login?next=%2Fp%2Fabc%3Fx%3D1"
    back = client.get(consent(begin(client, "/p/abc?x=1"), "ada"))
    assert (back.status_code, back.headers["location"]) == (303, "/p/abc?x=1")
    cookie = next(one for one in back.headers.get_list("set-cookie") if "session" in one)
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "ada" not in cookie
    assert person(client) == ("ada@example.org", False)
    headers = {"x-csrf-token": csrf(client)}
    body = client.upload(capture, headers=headers).json()
    assert body["uploader"] == "ada@example.org"
    assert client.upload(capture).status_code == 403, "without the page's token"
    made = client.post("/api/v1/tokens", json={"name": "ci"}, headers=headers).json()
    client.forget_cookies()
    tool = {"authorization": f"Bearer {made['token']}"}
    path = f"{PROFILES}/{body['id']}"
    assert client.request("PATCH", path, json={"note": "x"}, headers=tool).status_code == 200
    assert client.get(PROFILES).status_code == 401


def test_request_has_state_nonce_and_pkce(client: Client, provider: SignIn) -> None:
    address = urlsplit(begin(client))
    assert f"{address.scheme}://{address.netloc}" == provider.url
    sent = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert sent["response_type"] == "code" and sent["code_challenge_method"] == "S256"
    assert sent["redirect_uri"] == "http://localhost/login/callback"
    assert set(sent["scope"].split()) == {"openid", "email", "profile"}
    again = parse_qs(urlsplit(begin(client)).query)
    for name in ("state", "nonce", "code_challenge"):
        assert len(sent[name]) >= 43 and again[name] != [sent[name]]


def test_groups_are_roles(client: Client, provider: SignIn) -> None:
    log_in(client, "grace")
    assert person(client) == ("grace@example.org", True)
    client.forget_cookies()
    assert "in no group that may use this server" in refusal(log_in(client, "eve"))
    log_in(client, "nobody")
    assert person(client) == ("No Address", False)


def test_administrators_are_named_by_addresses_that_the_provider_has_checked(
    launch: Launch, provider: SignIn
) -> None:
    options = {"admins": "ada@example.org,grace@example.org", "oidc_groups_claim": "realm.roles"}
    client = launch(**provider.settings(**options))
    log_in(client, "ada")
    assert person(client) == ("ada@example.org", True)
    client.forget_cookies()
    log_in(client, "grace")  # no `email_verified`
    assert person(client) == ("grace@example.org", False)


def test_claims_in_objects_and_new_names_keep_the_person(
    launch: Launch, provider: SignIn, capture: bytes
) -> None:
    options = {"oidc_groups_claim": "realm.roles", "oidc_admin_groups": "root"}
    client = launch(**provider.settings(**options))
    log_in(client, "ada")
    one = client.upload(capture, headers={"x-csrf-token": csrf(client)}).json()
    token = {"x-csrf-token": csrf(client)}
    made = client.post("/api/v1/tokens", json={"name": "a"}, headers=token).json()
    provider.tamper = lambda old: {**old, "email": "new@example.org", "realm": {"roles": ["root"]}}
    client.forget_cookies()
    log_in(client, "ada")
    assert person(client) == ("new@example.org", True)
    tokens = client.get("/api/v1/tokens").json()["tokens"]
    assert [listed["id"] for listed in tokens] == [made["id"]], "the same person"
    provider.tamper = lambda old: {**old, "email": "new@example.org"}
    client.forget_cookies()
    log_in(client, "ada")
    assert person(client)[1] is False
    change = {"json": {"note": "still mine"}, "headers": {"x-csrf-token": csrf(client)}}
    assert client.request("PATCH", f"{PROFILES}/{one['id']}", **change).status_code == 200


def test_admin_tokens_end_with_the_role(client: Client, provider: SignIn) -> None:
    log_in(client, "grace")
    headers = {"x-csrf-token": csrf(client)}
    new = {"name": "x", "scope": "admin"}
    made = client.post("/api/v1/tokens", json=new, headers=headers).json()
    tool = {"authorization": f"Bearer {made['token']}"}
    assert client.get("/api/v1/audit", headers=tool).status_code == 200
    client.forget_cookies()
    provider.tamper = lambda claims: {**claims, "groups": ["staff"]}
    log_in(client, "grace")
    assert client.get("/api/v1/audit", headers=tool).status_code == 403


FORGED = RSAKey.generate_key(2048, {"kid": "ours", "use": "sig"})
TAMPERED: dict[str, tuple[Callable[[Claims], Claims], str]] = {
    "nonce": (lambda claims: {**claims, "nonce": "another"}, "nonce"),
    "no nonce": (lambda claims: {k: v for k, v in claims.items() if k != "nonce"}, "nonce"),
    "audience": (lambda claims: {**claims, "aud": "another"}, "aud"),
    "audiences": (lambda claims: {**claims, "aud": ["roofline", "another"], "azp": "x"}, "azp"),
    "issuer": (lambda claims: {**claims, "iss": "https://evil.example"}, "iss"),
    "expired": (lambda claims: {**claims, "exp": int(time.time()) - 300}, "expired"),
    "endless": (lambda claims: {k: v for k, v in claims.items() if k != "exp"}, "exp"),
    "from tomorrow": (lambda claims: {**claims, "iat": int(time.time()) + 86_400}, "token"),
    "nobody": (lambda claims: {**claims, "sub": ""}, ""),
    "access token": (lambda claims: {**claims, "at_hash": "x" * 22}, "at_hash"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_id_token_that_is_not_right_is_refused(client: Client, provider: SignIn, what: str) -> None:
    provider.tamper, word = TAMPERED[what]
    said = refusal(log_in(client, "ada"))
    assert "ID token" in said and word in said, said
    assert client.get("/", headers=AS_HTML).status_code == 303


SIGNED: dict[str, Callable[[Claims], str]] = {
    "by another key": lambda claims: jwt.encode({"alg": "RS256", "kid": "ours"}, claims, FORGED),
    "by an unknown key": lambda claims: jwt.encode({"alg": "RS256", "kid": "x"}, claims, FORGED),
    "with the client's secret": lambda claims: jwt.encode(
        {"alg": "HS256", "kid": "ours"}, claims, OctKey.import_key(SECRET)
    ),
    "not at all": lambda claims: ".".join(
        (
            "eyJhbGciOiJub25lIn0",
            jwt.encode({"alg": "RS256"}, claims, FORGED).split(".")[1],
            "",
        )
    ),
    "as no token": lambda claims: "neither this nor that",
}


@pytest.mark.parametrize("how", SIGNED)
def test_signature_that_is_not_the_providers_is_refused(
    client: Client, provider: SignIn, how: str
) -> None:
    provider.signed = SIGNED[how]
    assert "ID token" in refusal(log_in(client, "ada"))


def test_answer_of_another_log_in_is_refused(client: Client) -> None:
    back = consent(begin(client), "ada")
    wrong = re.sub("state=[^&]+", "state=another", back)
    assert "not the one that this browser began" in refusal(client.get(wrong))
    stolen = consent(begin(client), "ada")
    client.forget_cookies()
    assert "in another browser" in refusal(client.get(stolen))
    begin(client)  # of this browser, with the other's code
    state = parse_qs(urlsplit(begin(client)).query)["state"][0]
    mixed = re.sub("state=[^&]+", f"state={state}", stolen)
    assert "did not take the code" in refusal(client.get(mixed)), "PKCE"
    assert "Another provider" in refusal(
        client.get(f"/login/callback?state={state}&code=x&iss=https://evil.example")
    )


def test_code_counts_once(client: Client) -> None:
    back = consent(begin(client), "ada")
    cookie = client.get(back).headers.get_list("set-cookie")
    assert any("roofline_login=" in one and "Max-Age=0" in one for one in cookie)
    assert "in another browser" in refusal(client.get(back))


def test_log_in_that_took_too_long_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = consent(begin(client), "ada")
    monkeypatch.setattr(oidc_provider, "ATTEMPT_LIFETIME_S", -1)
    assert "more than ten minutes ago" in refusal(client.get(back))


@pytest.mark.parametrize(
    ("error", "said"),
    [("access_denied", "declined at the provider"), ("<b>x</b>", "(&lt;b&gt;x&lt;/b&gt;)")],
)
def test_refusal_of_the_provider_is_told(client: Client, error: str, said: str) -> None:
    state = parse_qs(urlsplit(begin(client, "/trash")).query)["state"][0]
    answer = client.get("/login/callback", params={"state": state, "error": error})
    assert said in refusal(answer)
    assert 'href="/login?next=/trash"' in answer.text, "and leads on"


def test_provider_that_is_down_is_told(launch: Launch) -> None:
    with signing_in() as provider:
        client = launch(**provider.settings())  # starts without asking it
        back = consent(begin(client), "ada")
    said = refusal(client.get(back), 503)
    assert "does not answer as it should" in said
    other = launch(**provider.settings(), data_dir=client.settings.data_dir / "other")
    assert "does not answer" in refusal(other.get("/login?next=/"), 503)
    assert other.get("/healthz").status_code == 200


def test_provider_by_another_name_is_refused(launch: Launch, provider: SignIn) -> None:
    wrong = provider.url.replace("localhost", "127.0.0.1")
    client = launch(**provider.settings(oidc_issuer=wrong))
    # The mock names itself by the address it is asked at; a real one has one name.
    assert client.get("/login?next=/").status_code == 303
    provider.hidden = frozenset({"issuer"})
    other = launch(**provider.settings(), data_dir=client.settings.data_dir / "other")
    assert "another name" in refusal(other.get("/login?next=/"), 503)


def test_log_out_ends_the_session_here_and_leads_to_the_providers(
    client: Client, provider: SignIn
) -> None:
    log_in(client, "ada")
    token, copy = csrf(client), client.cookies()
    assert client.post("/logout", data={"csrf": "wrong"}).status_code == 403
    left = client.post("/logout", data={"csrf": token})
    assert left.status_code == 200
    address = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', left.text)
    assert address
    end = urlsplit(address[1].replace("&amp;", "&"))
    assert f"{end.scheme}://{end.netloc}{end.path}" == f"{provider.url}/oauth2/end_session"
    sent = parse_qs(end.query)
    assert sent["post_logout_redirect_uri"] == ["http://localhost/login"]
    assert jwt.decode(sent["id_token_hint"][0], KEY).claims["sub"] == "ada"
    assert client.cookies() == "", "neither the session's nor the ID token's is left"
    client.forget_cookies()
    for _ in range(2):
        assert client.get(PROFILES, headers={"cookie": copy}).status_code == 401, "a copy"
    page = client.get("/login", headers=AS_HTML)
    assert page.status_code == 200 and 'href="/login?next=/"' in page.text


def leave_fields(client: Client, planted: str = "") -> dict[str, list[str]]:
    """What a log-out tells the provider; the cookie `planted` comes after the browser's own."""
    token, cookies = csrf(client), client.cookies()
    client.forget_cookies()
    headers = {"cookie": f"{cookies}; {planted}"}
    left = client.post("/logout", data={"csrf": token}, headers=headers)
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', left.text)
    assert found
    return parse_qs(urlsplit(html.unescape(found[1])).query)


def test_id_token_goes_with_a_log_out_only_and_never_one_of_another_log_in(
    client: Client, provider: SignIn
) -> None:
    def kept() -> str:
        cookies = log_in(client, "ada").headers.get_list("set-cookie")
        (found,) = (one for one in cookies if one.startswith("roofline_id_token="))
        return found

    first = kept()
    assert first.startswith("roofline_id_token=ey")
    assert "Path=/logout;" in first and "HttpOnly" in first
    usual = {"client_id", "post_logout_redirect_uri"}
    assert set(leave_fields(client, "roofline_id_token=a.b.c%3Cx%3E")) == usual, "not an ID token"
    provider.tamper = lambda claims: {**claims, "photo": "x" * 2048}
    assert kept().startswith('roofline_id_token="";'), "in the place of the one before"
    assert set(leave_fields(client)) == usual


def test_log_in_opens_a_new_session_each_time(client: Client) -> None:
    seen = set()
    for _ in range(2):
        client.forget_cookies()
        client.get("/", headers={"cookie": "roofline_session=chosen-by-someone-else"})
        log_in(client, "ada")
        seen.add(client.cookies())
    assert len(seen) == 2


def test_provider_without_an_end_of_sessions(launch: Launch, provider: SignIn) -> None:
    provider.hidden = frozenset({"end_session_endpoint"})
    client = launch(**provider.settings())
    log_in(client, "ada")
    left = client.post("/logout", data={"csrf": csrf(client)})
    assert left.status_code == 200 and "http-equiv" not in left.text


@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_log_in_leads_to_this_server_only(client: Client, wanted: str) -> None:
    assert log_in(client, "ada", wanted).headers["location"] == "/"


def test_wrong_log_ins_are_limited_and_noted(client: Client) -> None:
    for _ in range(10):
        assert client.get("/login/callback?state=x&code=y").status_code == 403
    assert client.get("/login/callback?state=x&code=y").status_code == 429
    elsewhere = client.at("10.9.9.9")
    log_in(elsewhere, "grace")
    rows = elsewhere.get("/api/v1/audit").text.splitlines()
    entries = [json.loads(line) for line in rows]
    of_here = [one for one in entries if one["address"] == client.address]
    assert [one["action"] for one in of_here] == ["log-in refused"] * 10
    assert "in another browser" in of_here[0]["details"]
    last = [one["person"] for one in entries if one["action"] == "log-in"][-1]
    assert last == "grace@example.org"


def test_addresses_are_those_that_a_trusted_proxy_names(launch: Launch, provider: SignIn) -> None:
    client = launch(**provider.settings(proxy_addresses="10.1.0.0/16")).at("10.1.0.1")
    headers = {"x-forwarded-proto": "https", "host": "localhost"}
    answer = client.get("/login?next=/", headers=headers)
    sent = parse_qs(urlsplit(answer.headers["location"]).query)
    assert sent["redirect_uri"] == ["https://localhost/login/callback"]
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"oidc_issuer": ""}, "ROOFLINE_OIDC_ISSUER"),
        ({"oidc_client_id": ""}, "ROOFLINE_OIDC_CLIENT_ID"),
        ({"oidc_client_secret": None}, "ROOFLINE_OIDC_CLIENT_SECRET_FILE"),
        ({"oidc_client_secret": "short"}, "ROOFLINE_OIDC_CLIENT_SECRET can be guessed"),
        ({"oidc_issuer": "http://login.example.org"}, "https://"),
    ],
)
def test_half_a_configuration_is_refused(wrong: dict[str, Any], said: str) -> None:
    good = {"oidc_issuer": "https://login.example.org", "oidc_client_id": "roofline"}
    settings = {"auth": "oidc", **good, "oidc_client_secret": SECRET}
    check_access(Settings.from_env(**settings))
    with pytest.raises(SettingsError) as error:
        check_access(Settings.from_env(**{**settings, **wrong}))
    assert said in f"{error.value.message} {error.value.remedy}"
