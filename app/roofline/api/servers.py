"""Profiles to a server, and from one: files are sent as they are read, links are downloaded.

The standard library's HTTP, not httpx: importing it takes 0.03 s instead of 0.12 s, and a body of
known length that is read in pieces is all that is needed.
"""

import hashlib
import http.client
import json
import os
import secrets
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from roofline.errors import (
    MixedUploadError,
    RooflineError,
    StorageFullError,
    UploadRejectedError,
)

HERE = "http://127.0.0.1:8000"
PIECE_BYTES = 1 << 20
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An upload: files of all hosts of one run, and their labels.

    `joined` is the id of a profile on the server whose files belong to it, too; "" for none.
    """

    files: Sequence[Path]
    title: str = ""
    note: str = ""
    tags: Sequence[str] = ()
    visibility: str = ""
    joined: str = ""


@dataclass(frozen=True, slots=True)
class Receiver:
    """A server, by the address of its home page, and the token it asks for, if any."""

    url: str
    token: str | None = None


class WithFiles(Protocol):
    """A profile, as far as it is sent: its files, and the address of its subject."""

    @property
    def files(self) -> Sequence[Path]:
        """Where its files are."""

    @property
    def of(self) -> str | None:
        """The address of its subject."""


class Link(str):
    """The address of a profile on a server. `document` is the server's answer to the upload, with
    the token that deletes it."""

    document: Mapping[str, Any]


def upload(
    profile: WithFiles | str | PathLike[str],
    *,
    server: str | None = None,
    title: str = "",
    note: str = "",
    tags: Sequence[str] = (),
    visibility: str = "",
    wait_s: float = 60.0,
) -> Link:
    """Sends the files of a profile to a server (`ROOFLINE_SERVER` where none is named): its link.

    A server that asks for a token gets that of `ROOFLINE_TOKEN_FILE` or `ROOFLINE_TOKEN`. Raises
    `UploadRejectedError` with the server's words, or where the files are not here.
    """
    files: Sequence[Path]
    if isinstance(profile, str | PathLike):
        files, of = [Path(profile)], None
    else:
        files, of = profile.files, profile.of
    if not files:
        raise UploadRejectedError(
            "The files of this profile are not here.", remedy="Name the path of the profile."
        )
    new = Upload(files=files, title=title, note=note, tags=tags, visibility=visibility)
    receiver = Receiver(server or os.environ.get("ROOFLINE_SERVER") or HERE, read_token(None))
    (document,) = send_found(new, receiver, wait_s=wait_s, say=lambda text: None)
    link = Link(with_of(str(document["url"]), of))
    link.document = document
    return link


def profile_id_of(text: str) -> str:
    """The id in the address of a profile's page, or `text` itself."""
    return text.partition("/p/")[2].partition("?")[0].partition("#")[0] or text


def with_of(url: str, of: str | None) -> str:
    """The address of a profile's page, of the subject `of`."""
    return url if of is None else f"{url}{'&' if '?' in url else '?'}of={quote(of, safe=':.')}"


def send_found(
    upload: Upload,
    receiver: Receiver,
    *,
    wait_s: float,
    say: Callable[[str], object],
    split: bool = False,
) -> list[dict[str, Any]]:
    """Sends as `send`: the files of folders, and exports in place of reports, which it says."""
    from roofline.importers.intake.folders import exported, files_of_folder  # loads slowly

    with tempfile.TemporaryDirectory(prefix="roofline-") as scratch:
        found = [
            file
            for path in upload.files
            for file in (files_of_folder(path) if path.is_dir() else [path])
        ]
        files, said = exported(found, Path(scratch))
        for line in said:
            say(line)
        return send(replace(upload, files=files), receiver, wait_s=wait_s, split=split)


def is_link(source: object) -> bool:
    """True for the address of a server."""
    return isinstance(source, str) and source.startswith(("http://", "https://"))


def download(link: str, folder: Path) -> Path:
    """The uploaded file of the profile behind `link`, in `folder`; several files are an archive.

    The link is that of a page, or a share link. The token of the environment goes to the server
    that `ROOFLINE_SERVER` names and to no other: links come from anybody. Raises
    `UploadRejectedError`.
    """
    parts = urlsplit(link)
    base, kind, rest = next(
        (cut for mark in ("/p/", "/l/") if (cut := parts.path.rpartition(mark))[1]), ("", "", "")
    )
    if not rest:
        raise UploadRejectedError(
            f"{link[:200]} is not the link of a profile.",
            remedy="Copy the address of its page (…/p/ID), or a share link (…/l/…).",
        )
    server = f"{parts.scheme}://{parts.netloc}{base}"
    is_own = urlsplit(os.environ.get("ROOFLINE_SERVER") or HERE)[:2] == parts[:2]
    token = read_token(None) if kind == "/p/" and is_own else None
    path = f"/api/v1/profiles/{rest}" if kind == "/p/" else f"/l/{rest}"
    return ServerLink(Receiver(server, token)).download(f"{path}/source", folder)


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
        with closing(self._connect(timeout_s)) as connection:
            with self._reached():
                answer = self._exchange(connection, method, path, body, headers or {})
            return answer.status, self._understood(answer)

    def download(self, path: str, folder: Path) -> Path:
        """The file that the answer is, by its own name in `folder`; raises like `ask`, and
        `StorageFullError` where the file cannot be written."""
        with closing(self._connect(TIMEOUT_S)) as connection:
            with self._reached():
                answer = self._exchange(connection, "GET", path, None, {"Accept": "*/*"})
            if answer.status != http.client.OK:
                raise refusal(answer.status, self._understood(answer))
            into = folder / (Path(answer.headers.get_filename() or "").name or "profile")
            try:
                with into.open("wb") as file:
                    file.writelines(self._pieces(answer))
            except OSError as error:
                raise StorageFullError(
                    f"{into.name} cannot be written to {folder}: {error.strerror or error}.",
                    remedy="Make room there, or name another folder in TMPDIR.",
                ) from error
        return into

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Says of a connection that breaks that the server cannot be reached."""
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise UploadRejectedError(
                f"{self._shown} cannot be reached: {reason}.",
                remedy="Check that the server runs, the address, and the network between.",
            ) from error

    def _pieces(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        """The whole body, as it comes."""
        while True:
            with self._reached():
                piece = answer.read(PIECE_BYTES)
                if not piece and answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
            if not piece:
                return
            yield piece

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

    def _understood(self, answer: http.client.HTTPResponse) -> dict[str, Any]:
        content = b"".join(self._pieces(answer))
        if answer.status == http.client.NO_CONTENT:
            return {}
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise UploadRejectedError(
                f"{self._shown} answered {answer.status}, and not as a Roofline server does.",
                remedy="Check the address; a proxy in front of the server may refuse large bodies.",
            )
        return found


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
        raise _unreadable(path, error) from error
    raise UploadRejectedError(f"{path} is not a file that can be read.", remedy="Name its files.")


def _unreadable(path: Path, error: OSError) -> UploadRejectedError:
    return UploadRejectedError(
        f"{path} cannot be read: {error.strerror}.", remedy="Check the path."
    )


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
        try:
            with path.open("rb") as file:
                while piece := file.read(min(PIECE_BYTES, size - sent)):
                    sent += len(piece)
                    yield piece
        except OSError as error:
            raise _unreadable(path, error) from error
        if sent < size:
            raise UploadRejectedError(
                f"{path} became shorter while it was sent.",
                remedy="Upload it when the profiler has finished.",
            )
    yield tail
