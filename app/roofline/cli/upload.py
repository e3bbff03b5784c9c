"""`roofline upload`: sends files to a server, as they are read, and says where they can be seen.

The standard library's HTTP, not httpx: importing it takes 0.03 s instead of 0.12 s, and a body of
known length that is read in pieces is all that is needed.
"""

import hashlib
import http.client
import json
import os
import secrets
import ssl
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from roofline.errors import MixedUploadError, RooflineError, UploadRejectedError

PIECE_BYTES = 1 << 20
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An upload: files of all hosts of one run, and their labels.

    `joined` is the id of a profile on the server whose files belong to it, too; "" for none.
    """

    files: tuple[Path, ...]
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    visibility: str = ""
    joined: str = ""


def labelled(files: Sequence[Path], given: Namespace, *, joined: str = "") -> Upload:
    """An upload of `files` with the labels of the command line."""
    return Upload(
        files=tuple(files),
        title=given.title,
        note=given.note,
        tags=tuple(given.tag),
        visibility=given.visibility,
        joined=joined,
    )


@dataclass(frozen=True, slots=True)
class Receiver:
    """A server, by the address of its home page, and the token it asks for, if any."""

    url: str
    token: str | None = None


def send(
    upload: Upload, receiver: Receiver, *, wait_s: float, split: bool = False
) -> list[dict[str, Any]]:
    """Uploads, waits for the import at most `wait_s`, and returns the server's answer.

    That is one profile. Where the files are several profiles, it is each of them with `split`, and
    otherwise `MixedUploadError` says which files belong together. Raises `UploadRejectedError` with
    the server's own words, or with the reason why it cannot be reached.
    """
    body, headers = form_of(upload)
    link = ServerLink(receiver)
    # Gigabytes are not sent to find out that the token is wrong.
    link.ask("GET", "/api/v1/profiles?limit=1", timeout_s=TIMEOUT_S)
    path = f"/api/v1/profiles?wait={wait_s:g}"
    if upload.joined:
        path += f"&with={quote(upload.joined, safe='')}"
    timeout_s = TIMEOUT_S + wait_s
    status, answer = link.answer("POST", path, body=body, headers=headers, timeout_s=timeout_s)
    if split and answer.get("split_url"):
        path = f"{answer['split_url']}?wait={wait_s:g}"
        held = {"X-Delete-Token": str(answer.get("delete_token", ""))}
        made = link.ask("POST", path, headers=held, timeout_s=timeout_s)
        return list(made["profiles"])
    if status >= http.client.BAD_REQUEST:
        raise refusal(status, answer)
    return [answer]


def form_of(upload: Upload) -> tuple[Iterator[bytes], dict[str, str]]:
    """The body of a request with these files, read as it is sent, and its headers."""
    sizes = [_size(path) for path in upload.files]
    boundary = f"roofline-{secrets.token_hex(16)}"
    heads = _heads(upload, boundary, sizes)
    tail = f"\r\n--{boundary}--\r\n".encode()
    length = sum(sizes) + sum(len(head) for head in heads) + len(tail)
    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(length),
    }
    return _body(upload.files, sizes, heads, tail), headers


def read_token(path: Path | None) -> str | None:
    """The token in the file `path`, or what `ROOFLINE_TOKEN_FILE` or `ROOFLINE_TOKEN` say.

    It is never given on the command line, where every user of the machine can read it.
    """
    named = path or (Path(name) if (name := os.environ.get("ROOFLINE_TOKEN_FILE")) else None)
    if named is None:
        return os.environ.get("ROOFLINE_TOKEN") or None
    try:
        return named.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UploadRejectedError(
            f"The token file {named} cannot be read.", remedy="Correct --token-file."
        ) from error


class ServerLink:
    """Asks one server, a connection per question."""

    def __init__(self, receiver: Receiver) -> None:
        parts = urlsplit(receiver.url if "://" in receiver.url else f"http://{receiver.url}")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UploadRejectedError(
                f"{receiver.url} is not the address of a server.",
                remedy="Give its home page: --server https://roofline.example.org",
            )
        self._parts = parts
        self._shown = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._headers = {"Accept": "application/json"}
        if receiver.token is not None:
            self._headers["Authorization"] = f"Bearer {receiver.token}"

    def send(
        self, method: str, path: str, content: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The JSON answer to `content` as JSON; raises like `ask`."""
        if content is None:
            return self.ask(method, path, timeout_s=TIMEOUT_S)
        packed = json.dumps(content).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(packed))}
        return self.ask(method, path, timeout_s=TIMEOUT_S, body=iter([packed]), headers=headers)

    def ask(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float,
        body: Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The JSON answer; every other end is an `UploadRejectedError`."""
        status, answer = self.answer(method, path, timeout_s=timeout_s, body=body, headers=headers)
        if status >= http.client.BAD_REQUEST:
            raise refusal(status, answer)
        return answer

    def answer(
        self,
        method: str,
        path: str,
        *,
        timeout_s: float,
        body: Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of the answer, also of one that refuses."""
        connection = self._connect(timeout_s)
        try:
            answer = self._exchange(connection, method, path, body, headers or {})
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()
        return answer.status, self._understood(answer.status, content)

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, self._parts.port, timeout=timeout_s)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            host, self._parts.port, timeout=timeout_s, context=context
        )

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Iterator[bytes] | None,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        connection.connect()
        address = f"{self._parts.path.rstrip('/')}{path}"
        try:
            connection.request(method, address, body=body, headers={**self._headers, **headers})
        except (BrokenPipeError, ConnectionResetError):
            # The server has heard enough and says why; what it said can still be read.
            if body is None:
                raise
        return connection.getresponse()

    def _understood(self, status: int, content: bytes) -> dict[str, Any]:
        if status == http.client.NO_CONTENT:
            return {}
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise UploadRejectedError(
                f"{self._shown} answered {status}, and not as a Roofline server does.",
                remedy="Check the address; a proxy in front of the server may refuse large bodies.",
            )
        return answer

    def _unreachable(self, error: Exception) -> RooflineError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return UploadRejectedError(
            f"{self._shown} cannot be reached: {reason}.",
            remedy="Check that the server runs, the address, and the network between.",
        )


def refusal(status: int, answer: Mapping[str, Any]) -> RooflineError:
    """The error that the server describes, in its own words."""
    message = str(answer.get("message", f"The server answered {status}."))
    remedy = str(answer.get("remedy", "Look into the server's log."))
    if "retry_url" in answer:
        remedy = f"{remedy} The server has kept the files: try again at {answer['url']}"
    if answer.get("code") != MixedUploadError.code or "split_url" not in answer:
        return UploadRejectedError(message, remedy=remedy)
    kept = "The server has kept the files: add --split for a profile of each group, or decide at"
    return MixedUploadError.from_details(
        message, f"{remedy} {kept} {answer['url']}", answer.get("details") or {}
    )


def _size(path: Path) -> int:
    try:
        size = path.stat().st_size
        if path.is_file() and os.access(path, os.R_OK):
            return size
    except OSError as error:
        raise UploadRejectedError(
            f"{path} cannot be read: {error.strerror}.", remedy="Check the path."
        ) from error
    raise UploadRejectedError(f"{path} is not a file that can be read.", remedy="Name its files.")


def _heads(upload: Upload, boundary: str, sizes: Sequence[int]) -> list[bytes]:
    """The bytes before each file, with its digest; the first also holds the text fields."""
    texts = [("title", upload.title), ("note", upload.note), ("visibility", upload.visibility)]
    texts += [("tag", tag) for tag in upload.tags]
    fields = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in texts
        if text
    )
    heads = []
    for number, path in enumerate(upload.files):
        before = fields if number == 0 else "\r\n"
        name = path.name.replace('"', "%22").replace("\r", " ").replace("\n", " ")
        heads.append(
            f"{before}--{boundary}\r\nContent-Disposition: form-data;"
            f' name="file"; filename="{name}"\r\n'
            f"Content-Type: application/octet-stream\r\n"
            f"X-Content-SHA256: {_digest(path, sizes[number])}\r\n\r\n"
        )
    return [head.encode("utf-8", "surrogateescape") for head in heads]


def _digest(path: Path, size: int) -> str:
    """The SHA-256 of the first `size` bytes, which are what will be sent."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (piece := file.read(min(PIECE_BYTES, size))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _body(
    files: Sequence[Path], sizes: Sequence[int], heads: Sequence[bytes], tail: bytes
) -> Iterator[bytes]:
    for path, size, head in zip(files, sizes, heads, strict=True):
        yield head
        sent = 0
        with path.open("rb") as file:
            while piece := file.read(min(PIECE_BYTES, size - sent)):
                sent += len(piece)
                yield piece
        if sent < size:
            raise UploadRejectedError(
                f"{path} became shorter while it was sent.",
                remedy="Upload it when the profiler has finished.",
            )
    yield tail
