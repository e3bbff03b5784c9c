"""The page that explores a profile, and its API: number formats and other devices."""

import json
from html import unescape

from roofline.devices.choice import known_part
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.request import workload
from roofline.estimate.llm.step import step_of
from tests.web.conftest import Client
from tests.web.pages.test_model import DECODE, HTML


def test_a_profile_is_explored(client: Client) -> None:
    step = step_of(preset("llama-3-8b"), workload(DECODE), known_part("h100-sxm"))
    document = json.dumps(generic_document(step, "llama-3-8b")).encode()
    found = client.upload(document, names=("m.json",), title="<b>llama</b>").json()["id"]
    page = f"/explore?of={found}"
    first = client.get(page, headers=HTML)
    assert first.status_code == 200
    assert "<b>llama</b>" not in first.text
    html = unescape(first.text).replace("\u202f", " ")
    assert "as it ran" in html
    assert 'value="tpu-v6e" checked' in html
    assert "H100 SXM5 80GB: at best" in html
    assert f'href="{page}"' in client.get(f"/p/{found}", headers=HTML).text
    chosen = client.get(f"{page}&storage=&compute=fp8&prices=h100-sxm=2.5&vs=tpu-v5e", headers=HTML)
    said = unescape(chosen.text)
    assert "a step becomes" in said or "in the capture becomes" in said
    assert "per million" in said
    assert 'value="tpu-v6e" checked' not in said
    refused = client.get(f"{page}&storage=&compute=int4", headers=HTML)
    assert refused.status_code == 400
    assert "no known rate" in refused.text
    assert client.get("/explore", headers=HTML).status_code == 404
    assert client.get("/explore?of=unknown", headers=HTML).status_code == 404

    api = f"/api/v1/profiles/{found}"
    record = client.get(f"{api}/whatif?compute=fp8").json()
    assert record["now_us"] >= record["after_us"]
    assert client.get(f"{api}/whatif").status_code == 400
    (part,) = client.get(f"{api}/devices?device=h100-sxm&prices=h100-sxm=2.5").json()["devices"]
    assert part["least_us"] > 0
    assert part["dollars_per_million"] > 0
