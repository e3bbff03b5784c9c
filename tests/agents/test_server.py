"""The tools by the Model Context Protocol: a client of the SDK calls them as an agent would."""

import re
import shlex
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ResourceLink, TextContent, TextResourceContents

import roofline
from roofline.api import agents
from roofline.api.agents import answers
from roofline.api.agents.folders import Folders, networks, pinned
from roofline.api.agents.server import server_of_folders
from roofline.errors import BadViewError, CaptureFailedError
from tests.cli.test_main import run

T = TypeVar("T")
SAMPLES = Path("sample_profiles").absolute()
TRAINING = "pytorch/h100-training.json"
V6E = "xspace/v6e-training.xplane.pb"
UNFUSED = "pytorch/h100-training-unfused.json"
ADDING = "aten::add [4x2048x4096, 4x2048x4096] bf16"
MOST_BYTES = 9_000  # of the list of tools, which every agent reads


def in_a_thread(ask: Callable[[], Awaitable[T]]) -> T:
    """Playwright leaves a loop that runs in the thread of the tests."""
    with start_blocking_portal() as portal:
        return portal.call(ask)


def called(name: str, **given: Any) -> tuple[str, bool]:
    """What the tool said, and whether it failed."""

    async def ask() -> CallToolResult:
        async with Client(server_of_folders(Folders([SAMPLES], networks([])))) as client:
            return await client.call_tool(name, given)

    return _said(in_a_thread(ask))


def _said(result: CallToolResult) -> tuple[str, bool]:
    content, *links = result.content
    assert isinstance(content, TextContent)
    assert all(isinstance(one, ResourceLink) for one in links)
    return content.text, bool(result.is_error)


def test_the_tools_are_the_ten_of_the_documents_and_cost_little() -> None:
    async def ask() -> tuple[dict[str, list[str]], int, list[bool | None]]:
        async with Client(server_of_folders(Folders([SAMPLES], networks([])))) as client:
            found = await client.list_tools()
        size = len(found.model_dump_json(by_alias=True, exclude_none=True))
        reads = [tool.annotations.read_only_hint for tool in found.tools if tool.annotations]
        return {tool.name: [*tool.input_schema["properties"]] for tool in found.tools}, size, reads

    given, size, reads = in_a_thread(ask)
    text = Path("docs/agents.md").read_text("utf-8")
    documented = re.findall(r"^\| `(\w+)\(([^)]*)\)`", text, re.M)
    assert given == {name: names.split(", ") for name, names in documented}
    assert size <= MOST_BYTES
    assert reads == [True] * 9 + [False]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("find", {"query": "h100"}, TRAINING),
        ("summary", {"profile": TRAINING}, "(certain: modelled)"),
        ("summary", {"profile": "latest"}, "(certain: "),
        ("top_ops", {"profile": TRAINING, "limit": 3}, "op_id\ttime_us"),
        ("top_ops", {"profile": TRAINING, "group": "category"}, "matmul"),
        (
            "explain",
            {"profile": TRAINING, "op": "aten::add [4x2048x4096, 4x2048x4096] bf16"},
            "hbm",
        ),
        ("why", {"profile": TRAINING}, "FLOPs estimated"),
        ("compare", {"before": UNFUSED, "after": TRAINING}, "(certain: in doubt, fewer than three"),
        ("advise", {"profile": TRAINING, "limit": 1}, "confidence: "),
        ("what_if", {"profile": TRAINING, "device": "b200"}, "(certain: modelled)"),
        ("what_if", {"profile": TRAINING, "compute": "fp8"}, "(certain: modelled)"),
        ("what_if", {"profile": TRAINING, "peaks": ["hbm=2TB/s"]}, "under hbm=2TB/s"),
        ("what_if", {"profile": V6E, "link_bytes": 0.5}, "fewer bytes over links"),
    ],
)
def test_a_tool_answers_in_words(name: str, given: dict[str, Any], said: str) -> None:
    text, failed = called(name, **given)
    assert not failed, text
    assert said in text
    assert len(text) <= answers.MOST_LETTERS


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("summary", {"profile": "nothing.json"}, "find() lists them"),
        ("summary", {"profile": "../pyproject.toml"}, "No capture"),
        ("summary", {"profile": "samples.toml"}, "not"),
        ("why", {"profile": TRAINING, "of": "peak:nvlink9"}, "Roofs: "),
        ("top_ops", {"profile": TRAINING, "group": "colour"}, "is none of"),
        ("what_if", {"profile": TRAINING}, "Nothing is changed"),
        ("what_if", {"profile": TRAINING, "device": "h999"}, "h999"),
        ("what_if", {"profile": V6E, "link_bytes": 0}, "not above 0"),
        ("what_if", {"profile": V6E, "device": "h200", "compute": "fp8"}, "Too much"),
        ("check", {"profile": TRAINING, "baseline": "none.json"}, "none.json"),
        ("capture", {"address": "192.0.2.1:9999"}, "may be captured"),
        ("capture", {"address": "localhost:1", "seconds": 0.05}, "listens"),
        ("capture", {"address": "localhost:1", "seconds": 1e9}, "out of range"),
    ],
)
def test_a_tool_that_fails_says_what_to_do(name: str, given: dict[str, Any], said: str) -> None:
    text, failed = called(name, **given)
    assert failed
    assert said in text


def test_a_check_of_the_tool_is_that_of_the_command(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run("baseline", "save", baseline, SAMPLES / TRAINING)
    name = Path(TRAINING).name
    (tmp_path / name).write_bytes((SAMPLES / TRAINING).read_bytes())

    async def ask() -> CallToolResult:
        async with Client(server_of_folders(Folders([tmp_path], networks([])))) as client:
            return await client.call_tool("check", {"profile": name, "baseline": "baseline.json"})

    text, failed = _said(in_a_thread(ask))
    done = run("check", tmp_path / name, "--against", baseline, "--format", "markdown")
    assert not failed
    assert text == done.stdout.decode()


def asked(ask: Callable[[Client], Awaitable[T]]) -> T:
    """What a client of the samples is told."""

    async def connected() -> T:
        async with Client(server_of_folders(Folders([SAMPLES], networks([])))) as client:
            return await ask(client)

    return in_a_thread(connected)


def test_resources_are_the_texts_of_the_tools_and_the_csv_of_the_command() -> None:
    async def read(client: Client, address: str) -> str:
        try:
            found = await client.read_resource(f"roofline://profiles/{address}")
        except MCPError as error:
            return str(error)
        (content,) = found.contents
        assert isinstance(content, TextResourceContents)
        return content.text

    async def read_all(client: Client) -> list[str]:
        names = "summary.md", "op/fusion.52", "ops.csv"
        addresses = [f"{V6E}/{name}" for name in names]
        addresses += ["nothing/summary.md", "../pyproject.toml/summary.md"]
        return [await read(client, one) for one in addresses]

    summary, op, ops, missing, outside = asked(read_all)
    assert summary == called("summary", profile=V6E)[0]
    assert op == called("explain", profile=V6E, op="fusion.52")[0]
    assert ops.encode() == run("analyze", "-f", "csv", SAMPLES / V6E).stdout
    assert "No capture “nothing” is in the folders of this server. find() lists them" in missing
    assert "Unknown resource" in outside


def test_a_summary_links_its_operations_and_parts_are_resources() -> None:
    async def follow(client: Client) -> list[str]:
        (_, link) = (await client.call_tool("summary", {"profile": V6E})).content
        assert isinstance(link, ResourceLink)
        read = [await client.read_resource(one) for one in (link.uri, "roofline://devices/h200")]
        return [one.text for found in read for one in found.contents if hasattr(one, "text")]

    ops, part = asked(follow)
    assert ops.encode() == run("analyze", "-f", "csv", SAMPLES / V6E).stdout
    assert part.encode() == run("devices", "h200").stdout


def test_programs_read_the_facts_of_a_summary_a_comparison_and_a_check() -> None:
    def facts(name: str, **given: Any) -> dict[str, Any]:
        found = asked(lambda client: client.call_tool(name, given))
        content: dict[str, Any] = found.structured_content or {}
        return content

    profile = roofline.open_profile(SAMPLES / V6E)
    summary = facts("summary", profile=V6E)
    assert summary["certain"] == "modelled"
    assert summary["time_us"] == profile.subject.time_us
    assert summary["known_ratio"] == profile.subject.known_ratio
    assert facts("summary", profile="xspace/jax-cpu-transformer.xplane.pb")["ceiling"] is None
    change = facts("compare", before=UNFUSED, after=TRAINING)
    assert change["certain"].startswith("in doubt")
    assert change["change_ratio"] < 0
    tools = asked(lambda client: client.list_tools()).tools
    with_facts = [tool.name for tool in tools if tool.output_schema]
    assert with_facts == ["summary", "compare", "check", "capture"]


def test_a_client_hears_how_far_a_file_is_read() -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) in [(1.0, phase) for phase in ("recognise", "read", "analyse")]
        heard.append(progress)

    def ask(client: Client) -> Awaitable[CallToolResult]:
        return client.call_tool("summary", {"profile": V6E}, progress_callback=hear)

    assert not asked(ask).is_error
    assert heard == sorted(heard)
    assert len(heard) >= 3


def test_prompts_name_tools_that_exist_and_ask_for_the_certainty() -> None:
    prompts = asked(lambda client: client.list_prompts()).prompts
    assert [one.name for one in prompts] == ["find_bottleneck", "verify_change", "explain_to_me"]
    tools = {tool.name for tool in asked(lambda client: client.list_tools()).tools}
    for one in prompts:
        given = {argument.name: "run.pb" for argument in one.arguments or ()}
        get = methodcaller("get_prompt", one.name, given)
        (message,) = asked(get).messages
        assert isinstance(message.content, TextContent)
        assert set(re.findall(r"(\w+)\('run\.pb'", message.content.text)) <= tools
        assert "sure" in message.content.text or "certain" in message.content.text


# How a client begins, and the version of the protocol that both then speak.
ERAS = [("legacy", "2025-11-25"), ("auto", "2026-07-28")]


async def heard_of(client: Client, profile: str) -> tuple[str, list[str], CallToolResult]:
    """The version of the protocol, the tools, and a summary."""
    tools = (await client.list_tools()).tools
    summary = await client.call_tool("summary", {"profile": profile})
    return client.protocol_version, [tool.name for tool in tools], summary


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_clients_of_both_eras_are_served_on_standard_input(mode: str, version: str) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "roofline", "mcp", str(SAMPLES)]
    )

    async def ask(server: Any) -> tuple[str, list[str], CallToolResult]:
        async with Client(server, mode=mode) as client:
            return await heard_of(client, TRAINING)

    spoken, tools, summary = in_a_thread(partial(ask, command))
    here = in_a_thread(partial(ask, server_of_folders(Folders([SAMPLES], networks([])))))
    assert (spoken, tools, summary.content) == (version, here[1], here[2].content)
    assert here[0] == version
    text, failed = _said(summary)
    assert not failed
    assert text.startswith("19.5 ms a step")
    assert (summary.structured_content or {})["certain"] == "modelled"


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8:53", "10.0.0.1:80", "169.254.169.254:80", "0.0.0.0:80", "[::]:80",
        "[::ffff:10.0.0.1]:80", "[fe80::1%lo]:80", "192.168.1.1:443", "0x0a000001:80",
        "167772161:80",
        "012.0.0.1:80", "10.1:80", "localhost", "localhost:0", "localhost:65536", "localhost:١",
        ":80", "http://localhost:80/x", "user@10.0.0.1:80", "", "\0:80", "a" * 300 + ":80",
    ],
)  # fmt: skip
def test_addresses_that_nobody_allowed_are_refused(address: str) -> None:
    with pytest.raises(CaptureFailedError):
        pinned(address, networks([]))


def test_addresses_that_are_allowed_are_pinned() -> None:
    assert pinned("127.0.0.1:80", networks([])) == "127.0.0.1:80"
    assert pinned("[::1]:80", networks([])) == "[::1]:80"
    assert pinned("10.0.0.7:80", networks(["10.0.0.0/24"])) == "10.0.0.7:80"
    with pytest.raises(CaptureFailedError):
        pinned("10.0.1.7:80", networks(["10.0.0.0/24"]))
    with pytest.raises(BadViewError, match="allow-capture"):
        networks(["somewhere"])


def test_a_name_that_leads_inside_and_outside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*_given: object, **_named: object) -> list[tuple[Any, ...]]:
        return [(2, 1, 6, "", ("127.0.0.1", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]

    monkeypatch.setattr("socket.getaddrinfo", both)
    with pytest.raises(CaptureFailedError, match="may be captured"):
        pinned("rebind.test:80", networks([]))


SKILL = Path(agents.__file__).with_name("skill.md").read_text("utf-8")
COMMANDS = [
    line.split("#")[0].strip()
    for line in SKILL.splitlines()
    if line.startswith("roofline ") and "record" not in line and "capture" not in line
]


def test_every_command_of_the_skill_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, sample in (("FILE", TRAINING), ("BEFORE", UNFUSED), ("AFTER", TRAINING)):
        (tmp_path / name).write_bytes((SAMPLES / sample).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 10
    for command in COMMANDS:
        words = [ADDING if word == "OP_ID" else word for word in shlex.split(command)[1:]]
        assert run(*words).stdout or words[0] == "baseline"


def test_the_skill_is_short_and_is_written_where_agents_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(SKILL.splitlines()) <= 90
    assert run("skill").stdout.decode() == SKILL
    monkeypatch.chdir(tmp_path)
    run("skill", "--install")
    assert Path(".claude/skills/roofline/SKILL.md").read_text("utf-8") == SKILL
    run("skill", "--to", tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "SKILL.md").read_text("utf-8") == SKILL
