"""Requests are the bytes that XProf's client sends; answers are read field by field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.capture.profiler_service import (
    CaptureOptions,
    ProfileAnswer,
    profile_request,
    read_answer,
    terminate_request,
)

# Written by the classes that jaxlib 0.10.2 has for these messages.
REQUESTS = [
    (
        CaptureOptions(),
        ("s1", "w0"),
        "08d00f220b280110021801380148d00f320273313a0277304801",
    ),
    (
        CaptureOptions(duration_ms=500, host_level=1, python=True, hlo=False),
        ("s2", ""),
        "08f403220b280110011801200148f403320273324801",
    ),
    (
        CaptureOptions(duration_ms=1000, start_ns=1_700_000_000_000_000_000),
        ("s3", ""),
        "08e80722152801100218013801408080a8b1e39fe7cb1748e807320273334801",
    ),
    (
        CaptureOptions(duration_ms=1000, advanced={"a": "b", "c": True, "d": 7}),
        ("s4", ""),
        "08e8072227280110021801380148e80762080a016112030a016262070a01631202100162070a0164"
        "12021807320273344801",
    ),
]


@pytest.mark.parametrize(("options", "names", "expected"), REQUESTS)
def test_requests(options: CaptureOptions, names: tuple[str, str], expected: str) -> None:
    assert profile_request(options, *names).hex() == expected


def test_end_of_a_session() -> None:
    assert terminate_request("s1").hex() == "0a027331"


def test_answers() -> None:
    assert read_answer(bytes.fromhex("38014200")) == ProfileAnswer(None, is_empty=True)
    assert read_answer(b"") == ProfileAnswer(None, is_empty=False)
    assert read_answer(b"\x42\x03abc\x32\x01x") == ProfileAnswer(b"abc", is_empty=False)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_answer_or_a_value_error(content: bytes) -> None:
    try:
        answer = read_answer(content)
    except ValueError:
        return
    assert answer.xspace is None or answer.xspace in content
