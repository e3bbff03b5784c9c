"""Digests that clients send: a bit that flips on the way is refused, and leaves no trace."""

import hashlib

import pytest

from tests.web.conftest import Client

HEADER = "X-Content-SHA256"


def part(name: str, content: bytes, *digests: str) -> bytes:
    lines = [f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n']
    lines += [f"{HEADER}: {digest}\r\n" for digest in digests]
    return "".join(lines).encode() + b"\r\n" + content + b"\r\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


def test_right_digest_of_each_file_is_taken(client: Client, hosts: tuple[bytes, ...]) -> None:
    named = (part(f"h{n}.xplane.pb", host, sha256(host).upper()) for n, host in enumerate(hosts))
    answer = client.raw(b"".join(named) + b"--XX--\r\n")
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_flipped_bit_is_refused_with_both_digests_and_nothing_is_stored(
    client: Client, hosts: tuple[bytes, ...], damaged: int
) -> None:
    before = client.listing()
    body = b"".join(
        part(f"h{n}.pb", flipped(host) if n == damaged else host, sha256(host))
        for n, host in enumerate(hosts)
    )
    answer = client.raw(body + b"--XX--\r\n")
    assert (answer.status_code, answer.json()["code"]) == (400, "upload-damaged")
    said = answer.json()["message"]
    assert f"h{damaged}.pb" in said
    assert sha256(hosts[damaged]) in said
    assert sha256(flipped(hosts[damaged])) in said
    assert client.listing() == before
    assert client.get("/api/v1/profiles").json()["total"] == 0


def test_digest_of_one_part_does_not_count_for_the_next(client: Client, capture: bytes) -> None:
    body = part("a.pb", capture, sha256(capture)) + part("b.pb", b"other") + b"--XX--\r\n"
    assert client.raw(body).json()["code"] != "upload-damaged"


def test_request_with_one_file_may_have_the_digest_itself(client: Client, capture: bytes) -> None:
    def send(content: bytes, *others: bytes) -> int:
        files = [("file", ("h.xplane.pb", one)) for one in (content, *others)]
        headers = {HEADER: sha256(capture)}
        return client.post("/api/v1/profiles", files=files, headers=headers).status_code

    assert send(capture) == 201
    assert send(flipped(capture)) == 400
    assert send(capture, capture) == 400


@pytest.mark.parametrize("given", [("",), ("0" * 63,), ("g" * 64,), ("0" * 64, "0" * 64)])
def test_what_is_not_one_digest_is_refused(
    client: Client, capture: bytes, given: tuple[str, ...]
) -> None:
    answer = client.raw(part("h.xplane.pb", capture, *given) + b"--XX--\r\n")
    assert answer.status_code == 400
    assert HEADER in answer.json()["message"]
