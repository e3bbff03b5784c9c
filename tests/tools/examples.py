"""Write `app/roofline/web/api/examples.json`: what a server answers to each operation of the API.

`python -m tests.tools.examples`. The answers are real ones, of a bundled sample; their lists are
cut to the first entry, and secrets are replaced.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from roofline.web.api.openapi import EXAMPLES
from tests.browser.serving import serving
from tests.conftest import SAMPLES

SAMPLE = SAMPLES / "generic" / "cfd-cpu.csv"
OTHER = SAMPLES / "generic" / "attention-h100.json"
OF_TPU = SAMPLES / "xspace" / "v4-training-cmem.xplane.pb"
HOSTS = sorted((SAMPLES / "xspace" / "v5e-three-hosts").iterdir())
PROXY = {
    "ROOFLINE_AUTH": "proxy",
    "ROOFLINE_PROXY_ADDRESSES": "127.0.0.1/32",
    "ROOFLINE_ADMINS": "ada@example.org",
    "ROOFLINE_CAPTURE_TARGETS": "127.0.0.1",
}
PERSON = {"X-Forwarded-User": "ada@example.org"}
LONGEST = 200
SECRETS = ("delete_token", "token")
_OWN = re.compile(r"http://127\.0\.0\.1:\d+")
Json = Any
_READ = {
    "list_profiles": "/api/v1/profiles",
    "profile_state": "{place}",
    "page_data": "{place}/page",
    "roofline": "{place}/roofline",
    "xprof": "{place}/xprof",
    "op_details": "{place}/ops/0",
    "facts": "{place}/facts",
    "view": "{place}/view",
    "other_parts": "{place}/parts",
    "advice": "{place}/advice",
    "figures": "{place}/figures",
    "list_partners": "{place}/partners",
    "whatif": "{place}/whatif?storage=fp8",
    "compare": "/api/v1/compare?a={a}&b={b}",
    "compare_page": "/api/v1/compare/page?a={a}&b={b}",
    "series": "/api/v1/series?name={title}",
    "series_check": "/api/v1/series/check?name={title}&run={a}",
    "list_samples": "/api/v1/samples",
    "list_failed_uploads": "/api/v1/failed-uploads",
    "list_found": "/api/v1/found-runs",
    "devices": "/api/v1/devices",
    "limits": "/api/v1/limits",
    "rule_rates": "/api/v1/ledger/rates",
}
_ASKED = {
    "add_machine": (
        "/api/v1/machines",
        {
            "schema": "roofline.machine/1",
            "host": "lab-7",
            "device": "NVIDIA H100 80GB HBM3",
            "count": 8,
            "memory_bytes": 85_029_158_912,
            "library": "torch 2.13.0",
            "measured_on": "2026-11-29",
            "values": {
                "hbm": {
                    "burst": 3.02e12,
                    "sustained": 2.96e12,
                    "spread": 0.006,
                    "how": "triad of 8,192 MiB, torch 2.13.0",
                }
            },
        },
    ),
    "make_token": ("/api/v1/tokens", {"name": "nightly", "scope": "upload"}),
    "estimated": (
        "/api/v1/estimate",
        {"op": "matmul", "shape": "4096x4096x4096", "device": "h100-sxm"},
    ),
    "predicted": (
        "/api/v1/predict",
        {"model": "llama-3-8b", "device": "h100-sxm", "context": 4096},
    ),
}


def main() -> None:
    """Asks a server of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), PROXY) as server,
        httpx.Client(base_url=server.url, headers=PERSON, timeout=60) as client,
    ):
        found = {name: shortened(answer) for name, answer in answers(client)}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    EXAMPLES.write_text("{" + ",\n".join(lines) + "}\n")


def answers(client: httpx.Client) -> Iterator[tuple[str, Json]]:
    """Each operation with a JSON answer, by its id."""
    profile = _sent(client, "/api/v1/profiles", SAMPLE)
    other = _sent(client, "/api/v1/profiles", OTHER)
    yield "add_profile", profile
    place = f"/api/v1/profiles/{profile['id']}"
    known = {"place": place, "title": profile["title"], "a": profile["id"], "b": other["id"]}
    for name, path in _READ.items():
        yield (
            name,
            _json(client.get(path.format(**known))),
        )
    yield "edit_profile", _json(client.patch(place, json={"title": "Solver"}))
    yield "retry_import", _json(client.post(f"{place}/retry"))
    note = {"name": _json(client.get(f"{place}/roofline"))["ops"][0]["name"], "text": "Look here."}
    yield "add_note", _json(client.post(f"{place}/notes", json=note))
    yield "list_notes", _json(client.get(f"{place}/notes"))
    yield "make_link", _json(client.post(f"{place}/links", json={"name": "vendor"}))
    yield "list_links", _json(client.get(f"{place}/links"))
    measured = client.post(f"{place}/measured", json={"after": other["id"]})
    yield "measure", _json(measured)
    mixed = _sent(client, "/api/v1/profiles", SAMPLE, OF_TPU)
    yield "split_upload", _json(client.post(mixed["split_url"]))
    client.delete(place)
    yield "list_trash", _json(client.get("/api/v1/trash"))
    yield "restore_profile", _json(client.post(f"{place}/restore"))
    yield from _of_runs(client)
    sample = _json(client.get("/api/v1/samples"))["samples"][0]
    yield "open_sample", _json(client.post(sample["open_url"]))
    for name, (path, body) in _ASKED.items():
        yield name, _json(client.post(path, json=body))
    machines = _json(client.get("/api/v1/machines"))
    yield "list_machines", machines
    measured_at = f"/api/v1/machines/{machines['machines'][0]['id']}"
    yield "read_measurement", _json(client.get(measured_at))
    # Nothing listens there: what failed is named with its reason.
    capture = _json(client.post("/api/v1/captures", json={"addresses": ["127.0.0.1:9"]}))
    yield "add_capture", capture
    yield "read_capture", _json(client.get(f"/api/v1/captures/{capture['id']}?wait=30"))
    yield "list_tokens", _json(client.get("/api/v1/tokens"))


def _of_runs(client: httpx.Client) -> Iterator[tuple[str, Json]]:
    run = _json(client.post("/api/v1/runs", json={"title": "Nightly"}))
    yield "add_run", run
    place = f"/api/v1/runs/{run['id']}"
    yield "push_hosts", _sent(client, f"{place}/hosts", *HOSTS)
    yield "close_run", _json(client.post(f"{place}/close"))
    read = _json(client.get(f"{place}?wait=60"))
    yield "read_run", read
    hosts = _json(client.get(f"{place}/hosts"))
    yield "list_hosts", hosts
    yield "list_runs", _json(client.get("/api/v1/runs"))
    yield "read_op", _json(client.get(f"{place}/ops/{read['ops'][0]['id']}/hosts"))
    first, names = hosts["hosts"][0]["file"], [host["host"] for host in read["hosts"]]
    yield "open_host", _json(client.post(f"{place}/hosts/{first}/profile"))
    yield "open_hosts", _json(client.post(f"{place}/profiles", json={"hosts": names[:2]}))
    client.delete(place)
    yield "restore_run", _json(client.post(f"{place}/restore"))


def _sent(client: httpx.Client, path: str, *files: Path) -> Json:
    parts = [("file", (file.name, file.read_bytes())) for file in files]
    return client.post(path, files=parts).json()


def _json(answer: httpx.Response) -> Json:
    assert answer.is_success, answer.text
    return answer.json()


def shortened(value: Json, key: str = "") -> Json:
    """`value` with lists of one entry, short texts and no secrets."""
    match value:
        case dict():
            return {name: shortened(one, name) for name, one in value.items()}
        case list():
            return [shortened(one) for one in value[:1]]
        case str() if key in SECRETS:
            return "…"
        case str():
            return re.sub(r"http://127\.0\.0\.1:\d+", "https://roofline.example.org", value)[
                :LONGEST
            ]
    return value


if __name__ == "__main__":
    main()
