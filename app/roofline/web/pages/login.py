"""Logging in with the shared token, and out again: the forms of mode `token`."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from roofline.web.api.audit import log_action
from roofline.web.http.access import NAME_LENGTH
from roofline.web.http.guard import LOGIN_PATH, LOGOUT_PATH, actor_of, peer_of_request, stale_page
from roofline.web.http.rate_limit import Door
from roofline.web.http.sessions import COOKIE, LIFETIME_S, local_path
from roofline.web.pages import views
from roofline.web.parts import Parts

router = APIRouter(include_in_schema=False)


async def _door(parts: Parts) -> Door:
    assert parts.door is not None  # these routes are there in mode `token` only
    return parts.door


@router.api_route(LOGIN_PATH, methods=["GET", "HEAD"])
def show(
    request: Request, parts: Parts, wanted: Annotated[str, Query(alias="next")] = "/"
) -> Response:
    """The form that asks for the token."""
    if actor_of(request).has_session:
        return RedirectResponse(local_path(wanted), 303)
    return parts.templates.page("login.html", views.LoginView(next=local_path(wanted)), request)


@router.post(LOGIN_PATH)
def log_in(
    request: Request,
    parts: Parts,
    door: Annotated[Door, Depends(_door)],
    token: Annotated[str, Form(max_length=1000)] = "",
    name: Annotated[str, Form(max_length=NAME_LENGTH)] = "",
    wanted: Annotated[str, Form(alias="next", max_length=4000)] = "/",
) -> Response:
    """Opens a session, or says that the token is wrong."""
    door.attempts.check(peer_of_request(request).address, is_wrong=True)  # until it is known
    cookie = door.tokens.log_in(token, name)
    log_action(request, "log-in" if cookie else "log-in refused", person=name)
    if cookie is None:
        view = views.LoginView(next=local_path(wanted), name=name, is_refused=True)
        return parts.templates.page("login.html", view, request, status=403)
    response = RedirectResponse(local_path(wanted), 303)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=LIFETIME_S,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@router.post(LOGOUT_PATH)
def log_out(
    request: Request,
    door: Annotated[Door, Depends(_door)],
    csrf: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Ends the session, also for copies of its cookie."""
    if not actor_of(request).accepts(csrf):
        raise stale_page()
    door.tokens.log_out(request.headers)
    log_action(request, "log-out")
    response = RedirectResponse(LOGIN_PATH, 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response
