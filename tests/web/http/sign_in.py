"""A real sign-in provider for tests, over HTTP on this machine: `oidc-provider-mock`.

In front of it stands what the mock does not do: PKCE is checked, and ID tokens are signed anew, so
that a test can have the provider say anything.
"""

import base64
import hashlib
import importlib
import io
import json
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server
from werkzeug.test import Client as WsgiClient
from werkzeug.wrappers import Request, Response

from roofline.web.http.guard import CALLBACK_PATH
from tests.web.conftest import Client

with warnings.catch_warnings():  # of Authlib, about its own modules, which the mock still uses
    importlib.import_module("authlib.deprecate")  # has its warnings shown always
    warnings.simplefilter("ignore")
    import oidc_provider_mock

SECRET = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
KEY = RSAKey.generate_key(2048, {"kid": "ours", "use": "sig"})
USERS = (
    ("ada", {"email": "ada@example.org", "email_verified": True, "groups": ["staff"]}),
    ("grace", {"email": "grace@example.org", "groups": ["staff", "operators"]}),
    ("eve", {"email": "eve@example.org", "groups": ["guests"]}),
    ("nobody", {"name": "No Address", "groups": ["staff"]}),
)
Claims = dict[str, Any]


@dataclass
class SignIn:
    """The provider: `tamper` changes the claims of its next ID tokens, `signed` their signing."""

    url: str = ""
    tamper: Callable[[Claims], Claims] = lambda claims: claims
    signed: Callable[[Claims], str] = lambda claims: jwt.encode(
        {"alg": "RS256", "kid": "ours"}, claims, KEY
    )
    hidden: frozenset[str] = frozenset()
    challenges: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def settings(self, **options: Any) -> dict[str, Any]:
        """Those of a server that signs people in here."""
        usual = {"oidc_client_id": "roofline", "oidc_client_secret": SECRET}
        return {"auth": "oidc", "oidc_issuer": self.url, **usual, **options}

    def reset(self) -> None:
        fresh = SignIn()
        self.tamper, self.signed, self.hidden = fresh.tamper, fresh.signed, frozenset()

    def answer(self, app: WsgiClient, request: Request) -> Response:
        self.requests.append(request.path)
        if request.path == "/jwks":
            return _json({"keys": [KEY.as_dict(private=False)]})
        if request.path == "/oauth2/token" and not self._is_proven(request):
            return _json({"error": "invalid_grant"}, 400)
        environ = {**request.environ, "wsgi.input": io.BytesIO(request.get_data())}
        environ.pop("werkzeug.request", None)
        found = app.open(environ)
        answer = Response(found.get_data(), found.status, dict(found.headers))
        if request.path == "/oauth2/authorize" and "location" in answer.headers:
            code = parse_qs(urlsplit(answer.headers["location"]).query).get("code", [""])[0]
            self.challenges[code] = request.args.get("code_challenge", "")
        if request.path.startswith("/.well-known/"):
            content = {k: v for k, v in json.loads(answer.data).items() if k not in self.hidden}
            return _json(content)
        if request.path == "/oauth2/token" and answer.status_code == 200:
            content = json.loads(answer.data)
            body = content["id_token"].split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            return _json({**content, "id_token": self.signed(self.tamper(claims))})
        return answer

    def _is_proven(self, request: Request) -> bool:
        verifier = request.form.get("code_verifier", "").encode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).decode().rstrip("=")
        return bool(verifier) and self.challenges.get(request.form.get("code", "")) == digest


def _json(content: Any, status: int = 200) -> Response:
    return Response(json.dumps(content), status, content_type="application/json")


@contextmanager
def signing_in(users: Sequence[tuple[str, Claims]] = USERS) -> Iterator[SignIn]:
    """Runs a provider that knows `users`, by their id."""
    known = [oidc_provider_mock.User(sub=sub, claims=claims) for sub, claims in users]
    mock = oidc_provider_mock.app(user_claims=known)
    provider = SignIn()

    @Request.application
    def front(request: Request) -> Response:
        request.get_data()  # it is read from the connection once, and given on
        return provider.answer(WsgiClient(mock, use_cookies=False), request)

    server = make_server("localhost", 0, front, threaded=True)
    provider.url = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def begin(client: Client, wanted: str = "/") -> str:
    """Where the browser is sent to log in."""
    answer = client.get("/login", params={"next": wanted})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def consent(address: str, person: str) -> str:
    """The person logs in at the provider: the path and query that it sends the browser back to."""
    answer = httpx.post(address, data={"sub": person}, follow_redirects=False)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert back.path == CALLBACK_PATH
    return f"{back.path}?{back.query}"


def log_in(client: Client, person: str, wanted: str = "/") -> httpx.Response:
    """A whole log-in."""
    return client.get(consent(begin(client, wanted), person))
