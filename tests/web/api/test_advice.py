"""Advice over the API: stored with the results, answered as they are."""

from roofline.advice.advise import advise
from roofline.exports.advice import advice_record
from roofline.pipeline import analyse_files
from tests.conftest import SAMPLES
from tests.web.conftest import Client

SAMPLE = SAMPLES / "pytorch" / "h100-training.json"


def test_advice_is_that_of_the_command(client: Client) -> None:
    uploaded = client.upload(SAMPLE.read_bytes(), names=(SAMPLE.name,)).json()
    path = f"/api/v1/profiles/{uploaded['id']}/advice"
    answer = client.get(path)
    found = answer.json()
    analysis = analyse_files([SAMPLE])
    expected = advice_record(advise(analysis), analysis)
    assert found["after_us"] == expected["after_us"]
    assert [one["id"] for one in found["findings"]] == [one["id"] for one in expected["findings"]]
    etag = answer.headers["etag"]
    assert client.get(path, headers={"if-none-match": etag}).status_code == 304


def test_advice_of_no_profile_is_404(client: Client) -> None:
    assert client.get("/api/v1/profiles/none/advice").status_code == 404
