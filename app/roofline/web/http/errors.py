"""Every error as a response: `RooflineError` class → status; HTML or JSON by `Accept`.

JSON is always `{"message", "remedy", "code"}` at the top level.
"""

import math
from collections.abc import Callable

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from roofline import errors
from roofline.web.pages.views import ErrorView

STATUS: dict[type[errors.RooflineError], int] = {
    errors.UploadRejectedError: 400,
    errors.UploadTooLargeError: 413,
    errors.MixedUploadError: 400,
    errors.UnknownFormatError: 415,
    errors.CorruptProfileError: 422,
    errors.IncompleteProfileError: 422,
    errors.ImportStoppedError: 422,
    errors.StorageFullError: 507,
    errors.StoreUnavailableError: 503,
    errors.BadEditError: 400,
    errors.ProfileNotFoundError: 404,
    errors.NotReadyError: 409,
    errors.NotAllowedError: 403,
    errors.NotSignedInError: 401,
    errors.TooManyRequestsError: 429,
    errors.BadViewError: 400,
    errors.SettingsError: 500,
    errors.RooflineError: 500,
}
_HTTP_CODES = {404: "not-found", 405: "method-not-allowed", 413: "upload-too-large"}
_HTTP_MESSAGES = {
    404: ("There is nothing at this address.", "Check the link, or start at the home page."),
    405: ("This address does not take requests of this kind.", "See the API page."),
    413: ("The request is larger than this address takes.", "Send less."),
}
_log = structlog.get_logger("roofline.web")

Render = Callable[[Request, ErrorView], Response]


def status_of(error: errors.RooflineError) -> int:
    """The HTTP status of `error`: that of its nearest class in `STATUS`."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def prefers_html(request: Request) -> bool:
    """True if a browser asked for a page; everything under /api answers JSON."""
    if request.url.path.startswith("/api/"):
        return False
    return "text/html" in request.headers.get("accept", "")


def _said_besides(error: errors.RooflineError) -> dict[str, str]:
    """Headers that say to a program what the message says to a person."""
    match error:
        case errors.NotReadyError():
            return {"retry-after": "2"}
        case errors.TooManyRequestsError():
            return {"retry-after": str(math.ceil(error.retry_after_s))}
        case errors.NotSignedInError():
            return {"www-authenticate": 'Bearer realm="roofline"'}
        case _:
            return {}


def error_json(status: int, message: str, remedy: str, code: str) -> JSONResponse:
    """The one shape of errors for programs."""
    content = {"message": message, "remedy": remedy, "code": code}
    return JSONResponse(content, status, headers={"cache-control": "no-store"})


def install(app: FastAPI, render: Render) -> Callable[[Request, errors.RooflineError], Response]:
    """Makes `app` answer every error in our shape; `render` draws the HTML page.

    Returns what answers one of our errors, for whoever stands outside `app`.
    """
    answers = _Answers(render)
    app.add_exception_handler(errors.RooflineError, answers.to_ours)
    app.add_exception_handler(HTTPException, answers.to_http)
    app.add_exception_handler(RequestValidationError, answers.to_bad_value)
    app.add_exception_handler(ClientDisconnect, answers.to_gone)
    app.add_exception_handler(Exception, answers.to_fault)
    return answers.to_ours


class _Answers:
    """One handler per kind of exception."""

    def __init__(self, render: Render) -> None:
        self._render = render

    def to_ours(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, errors.RooflineError)
        status = status_of(error)
        response = self._respond(request, status, error.message, error.remedy, error.code)
        response.headers.update(_said_besides(error))
        return response

    def to_http(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status = error.status_code
        message, remedy = _HTTP_MESSAGES.get(status, (str(error.detail), "See the API page."))
        code = _HTTP_CODES.get(status, "bad-request")
        response = self._respond(request, status, message, remedy, code)
        response.headers.update(error.headers or {})
        return response

    def to_bad_value(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        name = str(first["loc"][-1])[:80]
        message = f"The value of {name} cannot be used: {first['msg'][:200]}."
        return self._respond(request, 400, message, "See the API page.", errors.BadViewError.code)

    def to_gone(self, _request: Request, _error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it: the client has hung up

    def to_fault(self, request: Request, error: Exception) -> Response:
        _log.error("request failed by a fault of the server", exc_info=error)
        remedy = "Try again. If it happens again, report the request id with the server's log."
        return self._respond(request, 500, "The server made an error.", remedy, "fault")

    def _respond(
        self, request: Request, status: int, message: str, remedy: str, code: str
    ) -> Response:
        if not prefers_html(request):
            return error_json(status, message, remedy, code)
        view = ErrorView(
            status=status,
            message=message,
            remedy=remedy,
            code=code,
            request_id=getattr(request.state, "request_id", ""),
        )
        return self._render(request, view)
