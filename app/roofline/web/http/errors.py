"""Every error as a response: `RooflineError` class → status; HTML or JSON by `Accept`.

JSON is always `application/problem+json` (RFC 9457): `title`, `status` and `detail`, with `code`
and `remedy` beside them, and `details` where an error has any: see `roofline.errors`. `message` is
what `detail` was called before there was that standard.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from roofline import errors
from roofline.web.offline.views import ErrorBody, error_body

STATUS: dict[type[errors.RooflineError], int] = {
    errors.UploadRejectedError: 400,
    errors.UploadTooLargeError: 413,
    errors.DamagedUploadError: 400,
    errors.MixedUploadError: 400,
    errors.UnknownFormatError: 415,
    errors.CorruptProfileError: 422,
    errors.DamagedCopyError: 422,
    errors.IncompleteProfileError: 422,
    errors.ImportStoppedError: 422,
    errors.StorageFullError: 507,
    errors.OverQuotaError: 507,
    errors.StoreUnavailableError: 503,
    errors.BadEditError: 400,
    errors.ProfileNotFoundError: 404,
    errors.FindingNotFoundError: 404,
    errors.NoteNotFoundError: 404,
    errors.NotReadyError: 409,
    errors.NotAllowedError: 403,
    errors.NotSignedInError: 401,
    errors.LogInRefusedError: 403,
    errors.ProviderUnavailableError: 503,
    errors.TooManyRequestsError: 429,
    errors.ServerBusyError: 503,
    errors.BadViewError: 400,
    errors.NoSuchRangeError: 404,
    errors.CaptureFailedError: 502,
    errors.ExtraMissingError: 501,
    errors.SettingsError: 500,
    errors.RooflineError: 500,
}
PROBLEM = "application/problem+json"
_HTTP_CODES = {404: "not-found", 405: "method-not-allowed", 413: "upload-too-large"}
_HTTP_MESSAGES = {
    404: ("There is nothing at this address.", "Check the link, or start at the home page."),
    405: ("This address does not take requests of this kind.", "See the API page."),
    408: ("The request's body stood still for too long.", "Check the connection, send it again."),
    413: ("The request is larger than this address takes.", "Send less."),
}
_UNKNOWN_KEY = "unexpected_keyword_argument"
_MOST_KEYS = 10
_log = structlog.get_logger("roofline.web")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView:
    """A request that failed, as a page; `request_id` is the one to quote from the log."""

    status: int
    error: ErrorBody
    request_id: str


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


def error_json(status: int, error: ErrorBody) -> JSONResponse:
    """The one shape of errors for programs."""
    said = {name: value for name, value in asdict(error).items() if value is not None}
    content = {
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error.message,
        **said,
    }
    headers = {"cache-control": "no-store"}
    return JSONResponse(content, status, headers=headers, media_type=PROBLEM)


class ErrorResponses:
    """One handler per kind of exception; `render` draws the HTML page."""

    def __init__(self, render: Render) -> None:
        self._render = render

    def install(self, app: FastAPI) -> None:
        """Makes `app` answer every error in our shape."""
        app.add_exception_handler(errors.RooflineError, self.to_ours)
        app.add_exception_handler(HTTPException, self._to_http)
        app.add_exception_handler(RequestValidationError, self._to_bad_value)
        app.add_exception_handler(ClientDisconnect, self._to_gone)
        app.add_exception_handler(Exception, self._to_fault)

    def to_ours(self, request: Request, error: Exception) -> Response:
        """The response to a request that ended with one of our errors."""
        assert isinstance(error, errors.RooflineError)
        response = self._respond(request, status_of(error), error_body(error))
        response.headers.update(_said_besides(error))
        return response

    def _to_http(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status = error.status_code
        message, remedy = _HTTP_MESSAGES.get(status, (str(error.detail), "See the API page."))
        code = _HTTP_CODES.get(status, "bad-request")
        body = ErrorBody(message=message, remedy=remedy, code=code)
        response = self._respond(request, status, body)
        response.headers.update(error.headers or {})
        return response

    def _to_bad_value(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = error.errors()
        first = found[0]
        message = f"The value of {str(first['loc'][-1])[:80]} cannot be used: {first['msg'][:200]}."
        remedy = "See the API page."
        if first["loc"] == ("body",):  # of another type, or of none: as `curl -d` sends it
            message = "The body of this request has to be a JSON object."
            remedy = "Send one, with the header Content-Type: application/json."
        elif unknown := [str(one["loc"][-1])[:80] for one in found if one["type"] == _UNKNOWN_KEY]:
            message = f"These keys of the body are not known: {', '.join(unknown[:_MOST_KEYS])}."
            remedy = "Nothing was changed. The API page has the keys of this request."
        code = errors.BadViewError.code
        return self._respond(request, 400, ErrorBody(message=message, remedy=remedy, code=code))

    def _to_gone(self, _request: Request, _error: Exception) -> Response:
        return Response(status_code=400)  # is not read: the client has hung up

    def _to_fault(self, request: Request, error: Exception) -> Response:
        _log.error("request failed by a fault of the server", exc_info=error)
        body = ErrorBody(
            message="The server made an error.",
            remedy="Try again. If it happens again, report the request id with the server's log.",
            code="fault",
        )
        response = self._respond(request, 500, body)
        # Starlette raises the fault again behind this answer, and uvicorn ends the connection: a
        # client that was not told would send its next request into that.
        response.headers["connection"] = "close"
        return response

    def _respond(self, request: Request, status: int, error: ErrorBody) -> Response:
        if not prefers_html(request):
            return error_json(status, error)
        request_id = getattr(request.state, "request_id", "")
        return self._render(request, ErrorView(status=status, error=error, request_id=request_id))
