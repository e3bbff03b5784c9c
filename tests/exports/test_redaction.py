"""Names that do not leave the house: none of them is in a redacted report, and its numbers stay."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import roofline
from roofline.api.profiles import Profile
from roofline.exports.redaction import redacted
from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES

PROFILES = (
    SAMPLES / "xspace" / "v6e-training.xplane.pb",
    SAMPLES / "xspace" / "jax-cpu-transformer.xplane.pb",
    SAMPLES / "pytorch" / "h100-training-unfused.json",
)


JAX = re.compile(r"transpose|jvp|jit|vmap|while|body|cond|\W|\d|_")  # words of JAX, in its paths


def secrets_of(profile: Profile) -> set[str]:
    """Every name of the input that is more than a word of the page's own."""
    found, ops = profile.analysis.profile, profile.analysis.profile.ops
    frames = (frame for stack in ops.source_stack for frame in stack.split("\n"))
    names = {
        *ops.name, *ops.long_name, *ops.framework_path, *ops.source_file, *frames,
        *(part for path in ops.framework_path for part in path.split("/")),
        *found.program_names.values(), found.program,
        *(name for host in found.hosts for name in (host.hostname, host.file_name)),
    }  # fmt: skip
    return {name for name in names if len(JAX.sub("", name)) > 5} - set(ops.category)


def texts(html: str) -> Iterator[str]:
    """The file as it is read, and what is packed in it but for the page's scripts."""
    yield unescape(html)
    packed = re.search(r'id="report-documents">([^<]*)<', html)
    assert packed
    yield from strings(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


def strings(part: Any) -> Iterator[str]:
    """Every text of a document."""
    if isinstance(part, dict):
        part = [*part, *part.values()]
    if isinstance(part, list):
        for one in part:
            yield from strings(one)
    elif isinstance(part, str):
        yield part


def left_in(path: Path, secrets: set[str]) -> set[str]:
    """The secrets that are in the file, but not in one of another profile: words of the page."""
    whole = "\n".join(texts(path.read_text("utf-8")))
    return {
        name
        for name in secrets
        if name in whole and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole)
    }


@pytest.mark.parametrize("sample", PROFILES, ids=lambda path: path.name)
def test_no_name_of_the_input_is_in_the_file(sample: Path, tmp_path: Path) -> None:
    profile, path = roofline.open_profile(sample), tmp_path / "report.html"
    secrets = secrets_of(profile)
    assert len(secrets) > 10
    run("report", sample, "-o", path)
    assert left_in(path, set(sorted(secrets)[:20]))  # where nothing is replaced
    run("report", sample, "-o", path, "--redact", "names")
    words = {"transformer", "train step"}  # the page explains models with them
    assert left_in(path, secrets) <= words
    assert f"A profile of {profile.device}" in path.read_text("utf-8")


@pytest.mark.parametrize("sample", PROFILES, ids=lambda path: path.name)
def test_numbers_stay_and_equal_names_stay_equal(sample: Path) -> None:
    named = roofline.open_profile(sample)
    other = Profile(title="", analysis=redacted(named.analysis, "names"))
    assert other.subject == named.subject
    for column in ("width_us", "needed_us", "gain_us", "operational_intensity"):
        ours, theirs = ([getattr(op, column) for op in one.ops] for one in (named, other))
        assert ours == theirs
    assert other.to_dict()["program_points"] == named.to_dict()["program_points"]
    assert len({one.name for one in other.ops}) == len({one.name for one in named.ops})
    assert [one.category for one in other.ops] == [one.category for one in named.ops]
    groups = [profile.page["groups"] for profile in (named, other)]
    lists = [{one["id"]: len(one["rows"]) for one in found["lists"]} for found in groups]
    lists = [{key: rows for key, rows in found.items() if key != "phase"} for found in lists]
    assert lists[0] == lists[1]


def test_sources_alone_are_replaced(tmp_path: Path) -> None:
    named = roofline.open_profile(PROFILES[0])
    other = redacted(named.analysis, "sources").profile.ops
    assert set(other.source_file) - {""} <= {f"file-{at}" for at in range(1, 99)}
    assert other.name == named.analysis.profile.ops.name
    path = tmp_path / "report.html"
    run("report", PROFILES[0], "-o", path, "--redact", "sources")
    assert not left_in(path, {"model/attention.py", "attention.py"})
    assert left_in(path, {"fusion.42", "file-1"}) == {"fusion.42", "file-1"}


def test_frames_have_a_file_and_a_line() -> None:
    from roofline.exports.redaction import _Names

    names = _Names()
    stack = "model/net.py:88 forward\nmodel/net.py(9): step\n<built-in>"
    assert names._stack(stack) == "file-1:88\nfile-1:9\nfile-2"


def test_a_comparison_cannot_be_redacted(tmp_path: Path) -> None:
    words = ("report", "--a", PROFILES[0], "--b", PROFILES[0], "-o", tmp_path / "report.html")
    assert "of a profile alone" in refused(*words, "--redact", "names")
