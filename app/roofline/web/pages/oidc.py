"""Logging in with a sign-in provider, and out again: the pages of mode `oidc`."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from roofline.errors import LogInRefusedError, ProviderUnavailableError, RooflineError
from roofline.web.api.audit import log_action
from roofline.web.http.errors import status_of
from roofline.web.http.forwarded import origin_of
from roofline.web.http.guard import (
    CALLBACK_PATH,
    LOGIN_PATH,
    LOGOUT_PATH,
    actor_of,
    peer_of_request,
    stale_page,
)
from roofline.web.http.oidc_provider import (
    ATTEMPT_COOKIE,
    ATTEMPT_LIFETIME_S,
    HINT_COOKIE,
    LIFETIME_S,
    LONGEST_HINT,
    OidcLogIn,
    refused,
)
from roofline.web.http.sessions import COOKIE, local_path
from roofline.web.offline.views import error_body
from roofline.web.pages import views
from roofline.web.parts import Parts, parts_of

router = APIRouter(include_in_schema=False)


def _oidc(parts: Parts) -> OidcLogIn:
    assert parts.oidc is not None  # these routes are there in mode `oidc` only
    return parts.oidc


Oidc = Annotated[OidcLogIn, Depends(_oidc)]


@router.api_route(LOGIN_PATH, methods=["GET", "HEAD"])
def show(
    request: Request, oidc: Oidc, wanted: Annotated[str, Query(alias="next")] = ""
) -> Response:
    """Sends the browser to the provider; without `next`, which a log-out leaves, asks first."""
    if actor_of(request).has_session:
        return RedirectResponse(local_path(wanted or "/"), 303)
    if not wanted or request.method == "HEAD":
        return _page(request, oidc)
    attempt, cookie = oidc.begin(local_path(wanted))
    try:
        address = oidc.provider.authorization_url(attempt, _callback(request))
    except ProviderUnavailableError as error:
        return _page(request, oidc, problem=error, wanted=attempt.next)
    response = RedirectResponse(address, 303)
    _keep(request, response, ATTEMPT_COOKIE, cookie, ATTEMPT_LIFETIME_S, path=LOGIN_PATH)
    return response


@router.get(CALLBACK_PATH)
def come_back(
    request: Request,
    oidc: Oidc,
    parts: Parts,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
    iss: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Opens a session for the person whom the provider sent back, or says why not."""
    address, wanted = peer_of_request(request).address, "/"
    try:
        parts.attempts.check(address, is_wrong=False)
        attempt = oidc.begun(request.headers, state)
        wanted = attempt.next
        _check_answer(oidc, code, error, iss)
        found = oidc.provider.signed_in(code, attempt, _callback(request))
        cookie, name = oidc.end(found.claims)
    except (LogInRefusedError, ProviderUnavailableError) as problem:
        log_action(request, "log-in refused", details=problem.message)
        if isinstance(problem, LogInRefusedError):
            parts.attempts.note(address)
        return _page(request, oidc, problem=problem, wanted=wanted)
    log_action(request, "log-in", person=name)
    response = RedirectResponse(attempt.next, 303)
    _keep(request, response, COOKIE, cookie, LIFETIME_S)
    # Also where it is too long: an empty one takes the place of another person's.
    hint = found.id_token if len(found.id_token) <= LONGEST_HINT else ""
    _keep(request, response, HINT_COOKIE, hint, LIFETIME_S, path=LOGOUT_PATH)
    response.delete_cookie(ATTEMPT_COOKIE, path=LOGIN_PATH, httponly=True, samesite="lax")
    return response


@router.post(LOGOUT_PATH)
def log_out(
    request: Request, oidc: Oidc, csrf: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Ends the session here, and leads on to where the provider's ends.

    By a page, not by a redirect: what a form leads to must be on this server.
    """
    actor = actor_of(request)
    if not actor.accepts(csrf):
        raise stale_page()
    if not actor.has_session:  # a tool, which has nothing to end
        return RedirectResponse(LOGIN_PATH, 303)
    oidc.log_out(request.headers)
    log_action(request, "log-out")
    hint = request.cookies.get(HINT_COOKIE, "")
    try:
        leave_url = oidc.provider.end_session_url(f"{origin_of(request)}{LOGIN_PATH}", hint)
    except ProviderUnavailableError:
        leave_url = None
    request.state.actor = None
    response = _page(request, oidc, leave_url=leave_url)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    response.delete_cookie(HINT_COOKIE, path=LOGOUT_PATH, httponly=True, samesite="lax")
    return response


def _check_answer(oidc: OidcLogIn, code: str, error: str, iss: str) -> None:
    if iss and iss.rstrip("/") != oidc.provider.issuer:
        raise refused("Another provider than this server's answered this log-in.")
    if error == "access_denied":
        raise refused("The log-in was declined at the provider.")
    if error or not code:
        raise refused(f"The provider could not log you in ({error[:80] or 'no code'}).")


def _page(
    request: Request,
    oidc: OidcLogIn,
    *,
    problem: RooflineError | None = None,
    wanted: str = "/",
    leave_url: str | None = None,
) -> Response:
    view = views.OidcLoginView(
        next=wanted,
        provider=urlsplit(oidc.provider.issuer).netloc,
        problem=None if problem is None else error_body(problem),
        leave_url=leave_url,
    )
    status = 200 if problem is None else status_of(problem)
    return parts_of(request).templates.page("login_oidc.html", view, request, status=status)


def _callback(request: Request) -> str:
    return f"{origin_of(request)}{CALLBACK_PATH}"


def _keep(
    request: Request, response: Response, name: str, value: str, seconds: int, *, path: str = "/"
) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=path,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
