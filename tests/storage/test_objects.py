"""Where objects are kept: the address, and what the environment says of it."""

from pathlib import Path

import pytest

from roofline.storage.blob_places import open_blobs


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_endpoint_may_come_from_the_environment(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    endpoint = bucket.split("endpoint=")[1].split("&")[0]
    monkeypatch.setenv(variable, endpoint)
    (tmp_path / "file").write_bytes(b"some bytes")
    ours = open_blobs("s3://profiles/elsewhere?region=us-east-1", tmp_path)
    ours.put("blobs/ab/one", tmp_path / "file")
    named = open_blobs(bucket.replace("/team", "/elsewhere"), tmp_path)
    assert b"".join(named.open("blobs/ab/one")) == b"some bytes"


def test_endpoint_in_the_address_wins(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert open_blobs(bucket, tmp_path).head("blobs/ab/none") is None
