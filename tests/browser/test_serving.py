"""Traces of a language-model server: the card says what a step of each phase and batch takes."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import NewPage
from tests.browser.files import drop
from tests.browser.watching import is_ready
from tests.tools.make_kineto_traces import BF16, MI300X, KinetoTrace

WEIGHT = [((4, 4096), BF16), ((4096, 8192), BF16)]


def server_trace() -> KinetoTrace:
    trace = KinetoTrace(device=MI300X, is_hip=True)
    for name in ("step[EXTEND bs=1 toks=512]", "step[DECODE bs=4]", "step[DECODE bs=4]"):
        begin = trace.host_us
        trace.call("aten::mm", WEIGHT, ("Cijk_gemm", 50.0))
        trace.annotate(name, begin)
        trace.wait()
    return trace


def test_a_server_has_a_card(new_page: NewPage, tmp_path: Path) -> None:
    path = tmp_path / "decode.json"
    path.write_text(server_trace().as_json(), "utf-8")
    page = new_page()
    page.goto("/")
    drop(page, path)
    is_ready(page)
    card = page.locator("[data-serving]")
    expect(card).to_be_visible()
    expect(card.locator("thead th")).to_have_text(
        ["Prefill step, 1 sequence", "Decode step, 4 sequences"]
    )
    expect(card.locator("tbody tr").first).to_have_text("Steps12")
    assert "––" not in card.locator("tbody").inner_text(), "no figure that no phase has"
    expect(page.locator("[data-headline]")).to_contain_text("a decode step")
    expect(page.locator("[data-steps]")).to_contain_text("decode, 4 sequences")
    page.locator("[data-subject-chip]").click()
    page.get_by_role("link", name="Prefill step, 1 sequence").click()
    is_ready(page)
    expect(page.locator("[data-headline]")).to_contain_text("a prefill step")


def test_other_profiles_have_none(new_page: NewPage, tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call("aten::mm", WEIGHT, ("gemm", 50.0))
    path = tmp_path / "plain.json"
    path.write_text(trace.as_json(), "utf-8")
    page = new_page()
    page.goto("/")
    drop(page, path)
    is_ready(page)
    expect(page.locator("[data-serving]")).to_be_hidden()
