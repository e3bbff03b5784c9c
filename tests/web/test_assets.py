"""Static files: packed forms."""

from tests.web.conftest import Client


def test_a_packed_file_beside_a_file_is_sent_to_those_who_take_it(client: Client) -> None:
    url = client.parts.static.url("vendor/plotly/plotly-roofline-4.1.1.min.js")
    answer = client.get(url, headers={"accept-encoding": "gzip, br"})
    assert answer.headers["content-encoding"] == "br"
    assert client.get(f"{url}.br").status_code == 404
    plain = client.get(url, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
