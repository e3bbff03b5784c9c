"""Every error has a status, and a full disk is one of them."""

from pathlib import Path
from typing import Any

import pytest

from roofline import errors
from roofline.errors import RooflineError, describe, error_from
from roofline.web.http.errors import STATUS, status_of
from tests.web.conftest import Client


def every_class(kind: type[RooflineError] = RooflineError) -> list[type[RooflineError]]:
    return [kind, *(deeper for sub in kind.__subclasses__() for deeper in every_class(sub))]


@pytest.mark.parametrize("kind", every_class(), ids=lambda kind: kind.__name__)
def test_every_class_has_a_status_and_crosses_processes(kind: type[RooflineError]) -> None:
    assert kind in STATUS
    error = kind("What is wrong.", remedy="What to do.")
    again = error_from(describe(error))
    assert type(again) is kind
    assert (again.message, again.remedy) == (error.message, error.remedy)


def test_codes_are_distinct() -> None:
    codes = [kind.code for kind in every_class()]
    assert len(set(codes)) == len(codes)


def test_bad_files_are_the_sender_s_fault() -> None:
    for kind in (
        errors.UploadRejectedError,
        errors.UnknownFormatError,
        errors.CorruptProfileError,
        errors.IncompleteProfileError,
        errors.ImportStoppedError,
    ):
        assert 400 <= status_of(kind("x", remedy="y")) < 500


def no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


class FullFile:
    """A file on a full disk."""

    write = staticmethod(no_space)

    def close(self) -> None:
        pass


def test_full_disk_during_the_upload_is_507_and_leaves_no_trace(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = client.listing()
    opened = Path.open

    def open_full(path: Path, mode: str = "r", **options: Any) -> object:
        opened(path, mode, **options).close()
        return FullFile()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_full)
        answer = client.upload(capture)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage-full")
    assert client.listing() == before
    assert client.upload(capture).status_code == 201


def test_full_disk_at_the_commit_is_507_and_leaves_no_trace(
    client: Client, capture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = client.listing()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", no_space)
        answer = client.upload(capture)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage-full")
    assert client.listing() == before
    assert client.upload(capture).status_code == 201


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/x-www-form-urlencoded"}])
def test_a_body_of_another_type_is_asked_for_as_json(
    client: Client, headers: dict[str, str]
) -> None:
    """`curl -d` sends JSON as a form: the answer named a class of ours, and not what to do."""
    answer = client.post("/api/v1/runs", content=b'{"title": "nightly"}', headers=headers)
    assert answer.status_code == 400
    assert answer.json()["message"] == "The body of this request has to be a JSON object."
    assert "Content-Type: application/json" in answer.json()["remedy"]
