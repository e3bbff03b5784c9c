"""Measured machines on a server: sent, listed, chosen, removed; and whose they are."""

import json
from html import unescape
from typing import Any

import pytest

from roofline.devices.parts import MEASURED
from roofline.storage import machines as stored
from tests.api.calibration.test_accelerators import entry
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import ADMIN, TOKEN, session
from tests.web.http.test_rights import Instance, share, token_instance

MACHINES = "/api/v1/machines"
HTML = {"accept": "text/html"}
H100 = f"{MEASURED}lab-7/NVIDIA-H100-80GB-HBM3-"
CPU: dict[str, Any] = {"kind": "cpu", "vendor": "AMD", "device": "AMD EPYC", "library": "NumPy"}


def sent(client: Client, headers: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    document = {**entry(matrix_bf16=700e12, hbm=3.0e12), **changes}
    answer = client.post(MACHINES, json=document, headers=headers or {})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_measurement_is_listed_with_its_origin_and_chosen(client: Client, capture: bytes) -> None:
    machine = sent(client)
    assert machine["device"] == f"{H100}{machine['id']}"
    assert [one["id"] for one in client.get(MACHINES).json()["machines"]] == [machine["id"]]
    assert client.get(f"{MACHINES}/{machine['id']}").json()["values"]["hbm"]["burst"] == 3.0e12
    first = client.get("/api/v1/devices").json()["devices"][0]
    assert (first["id"], first["memory"][0]["gbs"]) == (machine["device"], 3000.0)
    profile = client.upload(capture).json()["id"]
    view = f"/api/v1/profiles/{profile}/view"
    memory = client.get(view, params={"device": machine["device"]}).json()["roofs"]["memory"]
    assert [(one["gbs"], one["origin"]) for one in memory if one["id"] == "hbm"] == [
        (3000.0, "calibrated")
    ]
    assert "Measured on lab-7, 2026-11-29" in memory[0]["source"]
    # No profile takes it by itself, and where it is gone the page opens by its own peaks.
    own = client.get(view).json()["roofs"]["memory"]
    assert "calibrated" not in {one["origin"] for one in own}
    assert client.delete(f"{MACHINES}/{machine['id']}").status_code == 204
    gone = client.get(view, params={"device": machine["device"]})
    assert (gone.status_code, MEASURED in gone.json()["message"]) == (400, True)
    page = client.get(f"/p/{profile}", params={"dev": machine["device"]}, headers=HTML)
    assert page.status_code == 200


def test_another_measurement_of_the_same_name_replaces_none(client: Client) -> None:
    first, again, other = sent(client), sent(client), sent(client, values=entry(hbm=2e12)["values"])
    assert first["id"] == again["id"] != other["id"]
    assert len(client.get(MACHINES).json()["machines"]) == 2
    held = client.get(f"{MACHINES}/{first['id']}").json()["values"]["hbm"]["burst"]
    assert held == 3.0e12


def test_a_processor_of_a_machine_is_a_device(client: Client) -> None:
    rates = {"vector_fp32": 2e11, "dram": 8e10}
    values = {key: {"burst": rate, "spread": 0, "how": "NumPy"} for key, rate in rates.items()}
    machine = sent(client, **CPU, values=values)
    listed = client.get("/api/v1/devices").json()["devices"][0]
    assert (listed["id"], listed["kind"]) == (machine["device"], "cpu")
    assert [one["gflops"] for one in listed["compute"]] == [200.0]


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "roofline.machine/2"},
        {"device": "An unknown part"},
        {"device": "AMD EPYC"},  # not without its kind
        {"host": "x" * 300},
        {"measured_on": "yesterday"},
        {"values": {}},
        {"values": {"memory_bytes": {"burst": 1e9, "spread": 0, "how": ""}}},
        {"values": {"hbm": {"burst": -1, "spread": 0, "how": ""}}},
        {"values": {"hbm": {"burst": 1e30, "spread": 0, "how": ""}}},
        {"values": {"hbm": {"burst": 3e12, "spread": 0, "how": "x" * 301}}},
        {"values": {f"hbm{n}": {"burst": 1, "spread": 0, "how": ""} for n in range(41)}},
    ],
)
def test_what_is_no_measurement_is_refused(client: Client, change: dict[str, Any]) -> None:
    answer = client.post(MACHINES, json={**entry(hbm=3e12), **change})
    assert answer.status_code == 400, answer.text
    text = json.dumps(entry(hbm=3e12)).replace("3000000000000.0", "NaN")
    headers = {"content-type": "application/json"}
    assert "NaN" in text
    assert client.post(MACHINES, content=text, headers=headers).status_code == 400
    assert client.get(MACHINES).json() == {"machines": []}


def test_words_of_a_stranger_are_escaped(client: Client) -> None:
    evil = "<script>alert(1)</script>"
    values = {"hbm": {"burst": 3e12, "spread": 0, "how": evil, "disturbed": evil}}
    machine = sent(client, host=evil, library=evil, values=values)
    assert machine["device"].startswith(f"{MEASURED}script-alert-1-script/NVIDIA")
    for path in ("/devices", f"/devices?part={machine['device']}"):
        page = client.get(path, headers=HTML)
        assert page.status_code == 200
        assert evil not in page.text
        assert evil in unescape(page.text)


def test_the_page_has_values_beside_the_data_sheet_and_draws_both_roofs(client: Client) -> None:
    values = {**entry(matrix_bf16=700e12)["values"], **entry(hbm=1e12)["values"]}
    machine = sent(client, values=values)
    page = unescape(client.get("/devices", headers=HTML).text)
    assert "<td>700 TFLOP/s</td><td>71 %</td><td>630 TFLOP/s</td>" in page
    assert "<b>Not used.</b> 30% of the data sheet's" in page
    (address,) = (one for one in page.split('href="') if machine["device"] in unquoted(one)[:200])
    drawn = client.get(unescape(address.partition('"')[0]), headers=HTML)
    figure = json.loads(unescape(drawn.text).split("data-figure='")[1].partition("'></div>")[0])
    tops = {round(max(one["y"])) for one in figure["data"] if one.get("mode", "").startswith("li")}
    assert {700_000, 630_000} <= tops  # at once, and while the work goes on
    assert any(989_000 < top < 990_000 for top in tops)  # the data sheet's


def unquoted(text: str) -> str:
    return text.replace("%3A", ":").replace("%2F", "/")


@pytest.fixture
def people(launch: Launch, capture: bytes) -> Instance:
    return token_instance(launch, capture)


def test_who_may_send_and_who_may_remove(people: Instance) -> None:
    client, actors = people.client, people.actors
    machine = sent(client, actors["owner's token"])
    assert machine["sent_by"] == "Ada"
    assert "sent by Ada" in client.get("/devices", headers={**actors["tool"], **HTML}).text
    for actor in ("owner's reading token", "nobody", "without csrf", "other site"):
        refused = client.post(MACHINES, json=entry(hbm=3e12), headers=actors[actor])
        assert refused.status_code in (401, 403), actor
    path = f"{MACHINES}/{machine['id']}"
    for actor in ("of the same name", "tool", "admin's narrow token", "owner's reading token"):
        assert client.delete(path, headers=actors[actor]).status_code == 403, actor
    for actor, may in (("owner", True), ("admin", True), ("of the same name", False)):
        page = client.get("/devices", headers=actors[actor] | HTML).text
        assert (f'data-delete-url="{path}"' in page) is may, actor
    assert client.delete(path, headers=actors["owner"]).status_code == 204
    entries = client.get("/api/v1/audit", headers=actors["admin"]).text
    assert '"action":"add machine"' in entries and '"action":"remove machine"' in entries


def test_share_links_list_no_machines(people: Instance) -> None:
    client, owner = people.client, people.actors["owner"]
    sent(client, owner)
    listed = client.get(f"/l/{share(client, people.profile_id, owner)['token']}/devices")
    assert listed.status_code == 200
    assert MEASURED not in listed.text and "lab-7" not in listed.text


def test_measurements_are_limited(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_OF_ONE", 2)
    monkeypatch.setattr(stored, "MOST_MACHINES", 3)
    client = launch(auth="token", token=TOKEN, admin_token=ADMIN, uploads_per_hour=5)
    ada, eve = session(client, name="Ada"), session(client, name="Eve")
    client.forget_cookies()
    sent(client, ada, host="a")
    sent(client, ada, host="b")

    def refused(host: str, headers: dict[str, str]) -> int:
        return client.post(
            MACHINES, json=entry(hbm=3e12) | {"host": host}, headers=headers
        ).status_code

    assert refused("c", ada) == 400
    sent(client, eve, host="c")
    assert refused("d", eve) == 400
    assert [refused("d", ada) for _ in range(3)] == [400, 400, 429]
