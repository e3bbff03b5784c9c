"""What agents read of a server: texts of profiles, and the tools by HTTP, each sender's own."""

import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from roofline.api.agents.answers import fitted
from roofline.api.agents.server import Tools
from tests.agents.test_server import ERAS, heard_of, in_a_thread
from tests.cli.test_main import run
from tests.conftest import SAMPLES
from tests.web.conftest import Client, Launch
from tests.web.http.test_access import BEARER, TOKEN, session
from tests.web.http.test_api_tokens import ada, bearer, make
from tests.web.test_server import Server

TRAINING = SAMPLES / "pytorch" / "h100-training.json"
UNFUSED = SAMPLES / "pytorch" / "h100-training-unfused.json"
ON_A_SERVER = {name for name in vars(Tools) if not name.startswith("_")} - {"capture"}
ACCEPT = {"accept": "application/json, text/event-stream"}
NOT_THERE = "There is no profile at this address."


@pytest.fixture
def guarded(launch: Launch) -> Client:
    return launch(auth="token", token=TOKEN)


def uploaded(client: Client, headers: dict[str, str], path: Path = TRAINING, **fields: str) -> str:
    answer = client.request(
        "POST",
        "/api/v1/profiles?wait=60",
        files={"file": (path.name, path.read_bytes())},
        data=fields,
        headers=headers,
    )
    assert answer.status_code == 201, answer.text
    profile: str = answer.json()["id"]
    return profile


def called(client: Client, headers: dict[str, str], tool: str, **given: Any) -> tuple[str, bool]:
    """The text of a tool, and whether it failed."""
    message = {"name": tool, "arguments": given}
    answer = client.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message},
        headers=ACCEPT | headers,
    )
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    return result["content"][0]["text"], result.get("isError", False)


def test_a_profile_an_operation_and_a_reason_are_texts(client: Client) -> None:
    profile = uploaded(client, {})
    text = client.get(f"/p/{profile}.md")
    assert text.headers["content-type"].startswith("text/markdown")
    assert text.text.splitlines()[0].endswith("(certain: modelled)")
    reason = client.get(f"/p/{profile}.md?why=peak:hbm").text
    assert "from: catalogue" in reason
    assert "(certain: in doubt)" in client.get(f"/p/{profile}.md?peak.hbm=1000").text
    op = client.get(f"/p/{profile}.md?op=aten::add [4x2048x4096, 4x2048x4096] bf16")
    assert "share by its work = least_us ÷ self_time_us" in op.text
    assert client.get(f"/p/{profile}.md?op=none").status_code == 400
    assert client.get("/p/AAAAAAAAAAAAAAAAAAAAAA.md").status_code == 404
    assert f'<a href="/p/{profile}.md">' in client.get(f"/p/{profile}").text
    assert "](/p/ID.md)" in client.get("/llms.txt").text


def test_the_tools_answer_what_the_text_says(client: Client) -> None:
    profile = uploaded(client, {})
    text, failed = called(client, {}, "summary", profile=profile)
    assert not failed
    assert text == client.get(f"/p/{profile}.md").text
    assert called(client, {}, "summary", profile="latest")[0] == text
    found, _ = called(client, {}, "find", query="h100")
    assert profile in found
    text, failed = called(client, {}, "compare", before=profile, after=profile)
    assert not failed
    assert "(certain: in doubt" in text


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_clients_of_both_eras_are_served_by_http(tmp_path: Path, mode: str, version: str) -> None:
    server = Server(tmp_path / "data", auth="token", token=TOKEN)
    try:
        files = {"file": (TRAINING.name, TRAINING.read_bytes())}
        answer = server.http.post("/api/v1/profiles?wait=60", files=files, headers=BEARER)
        profile = answer.json()["id"]

        async def ask() -> tuple[str, list[str], CallToolResult]:
            async with httpx2.AsyncClient(headers=BEARER, timeout=60) as http:
                url = f"http://127.0.0.1:{server.port}/mcp"
                transport = streamable_http_client(url, http_client=http)
                async with McpClient(transport, mode=mode) as client:
                    return await heard_of(client, profile)

        spoken, tools, summary = in_a_thread(ask)
        text = server.http.get(f"/p/{profile}.md", headers=BEARER).text
    finally:
        server.stop()
    assert spoken == version
    assert set(tools) == ON_A_SERVER
    assert isinstance(summary.content[0], TextContent)
    assert summary.content[0].text == text
    assert (summary.structured_content or {})["certain"] == "modelled"


def test_only_the_tools_that_read_are_on_a_server(client: Client) -> None:
    answer = client.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=ACCEPT
    )
    names = {tool["name"] for tool in answer.json()["result"]["tools"]}
    assert names == ON_A_SERVER
    text, failed = called(client, {}, "capture", address="127.0.0.1:9012")
    assert failed
    assert "Unknown tool" in text


def test_no_client_holds_a_stream_of_the_tools_open(client: Client) -> None:
    """A GET took a place for ever: no limit of streams counted it."""
    for method in ("GET", "HEAD", "DELETE"):
        answer = client.request(method, "/mcp", headers=ACCEPT)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_check_against_an_earlier_profile_is_that_of_the_command(
    client: Client, tmp_path: Path
) -> None:
    kept = tmp_path / "base.json"
    run("baseline", "save", kept, TRAINING)
    earlier, later = uploaded(client, {}), uploaded(client, {}, UNFUSED)
    text, failed = called(client, {}, "check", profile=later, baseline=earlier)
    done = run("check", UNFUSED, "--against", kept, "--format", "markdown", code=1)
    assert not failed
    assert text == fitted(done.stdout.decode())
    text, failed = called(client, {}, "check", profile=later, baseline="AAAAAAAAAAAAAAAAAAAAAA")
    assert failed
    assert NOT_THERE in text


def test_a_check_has_the_limits_of_the_server(launch: Launch, tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text("[verdict]\nidle = 0.0\n")
    client = launch(budget_file=limits)
    profile = uploaded(client, {})
    text, failed = called(client, {}, "check", profile=profile, baseline=profile)
    assert not failed
    assert "verdict.idle" in text


def test_a_stranger_is_refused_and_a_token_that_reads_is_not(guarded: Client) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert guarded.post("/mcp", json=message, headers=ACCEPT).status_code == 401
    headers = ada(guarded)
    reading = bearer(make(guarded, headers, scope="read"))
    assert guarded.post("/mcp", json=message, headers=ACCEPT | reading).status_code == 200
    assert guarded.get("/llms.txt").status_code == 401


def test_a_hidden_profile_is_an_unknown_one_to_the_tools(guarded: Client) -> None:
    hers = session(guarded, name="Ada")
    guarded.forget_cookies()
    profile = uploaded(guarded, hers, visibility="owner")
    his = session(guarded, name="Bob")
    guarded.forget_cookies()
    assert called(guarded, his, "find")[0].startswith("0 of 0")
    for tool, given in (
        ("summary", {"profile": profile}),
        ("compare", {"before": profile, "after": profile}),
        ("what_if", {"profile": profile, "peaks": ["hbm=1TB/s"]}),
        ("summary", {"profile": "latest"}),
    ):
        text, failed = called(guarded, his, tool, **given)
        assert failed
        assert NOT_THERE in text or "There is no profile yet." in text
    mine = uploaded(guarded, his)
    for given in ({"profile": mine, "baseline": profile}, {"profile": profile, "baseline": mine}):
        text, failed = called(guarded, his, "check", **given)
        assert failed
        assert NOT_THERE in text
    message = {"uri": f"roofline://profiles/{profile}/summary.md"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": message}
    answers = [guarded.post("/mcp", json=asked, headers=ACCEPT | who).json() for who in (his, hers)]
    assert NOT_THERE in answers[0]["error"]["message"]
    assert "(certain: modelled)" in answers[1]["result"]["contents"][0]["text"]
    assert guarded.get(f"/p/{profile}.md", headers=his).status_code == 404
    assert not called(guarded, hers, "summary", profile=profile)[1]


def test_what_a_tool_read_is_in_the_audit(guarded: Client) -> None:
    profile = uploaded(guarded, BEARER)
    called(guarded, BEARER, "summary", profile=profile)
    audit = guarded.parts.instance.store.audit
    audit.flush()
    assert ("read by a tool", profile) in {(one.action, one.subject) for one in audit.entries()}


def test_a_server_without_the_library_says_what_to_install(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    answer = client.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=ACCEPT
    )
    assert answer.status_code == 501
    assert 'pip install "roofline[mcp]"' in answer.json()["remedy"]
