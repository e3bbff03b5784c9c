"""The page in a widget of a notebook: its front end, with the kernel's answers behind it."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect

import roofline
from roofline.api.packaged import assets_dir
from roofline.api.results import ReportWish, writer
from tests.browser.conftest import NewPage

FRONT = assets_dir("static") / "js" / "app" / "notebook-widget.js"
# A model as anywidget gives it: traits, and messages of the kernel.
MODEL = """
globalThis.models = [];
globalThis.mount = (page) => {
  const traits = { page, state: "", rows: [], theme: "system", height: 800 };
  const heard = {};
  const model = {
    get: (name) => traits[name],
    set: (name, value) => {
      if (JSON.stringify(traits[name]) === JSON.stringify(value)) return;
      traits[name] = value;
      for (const one of heard[`change:${name}`] ?? []) one();
    },
    save_changes: () => {},
    send: async ({ view }) => {
      const document = JSON.parse(await kernel(view));
      for (const one of heard["msg:custom"] ?? []) one({ view, document });
    },
    on: (event, listener) => (heard[event] ??= []).push(listener),
    off: () => {},
    traits,
  };
  const el = document.createElement("div");
  document.body.append(el);
  models.push(model);
  widget.render({ model, el });
};
"""


@pytest.fixture(scope="module")
def profile() -> roofline.Profile:
    return roofline.open_profile(roofline.example("h100"))


@pytest.fixture
def notebook(new_page: NewPage, profile: roofline.Profile, tmp_path: Path) -> Page:
    """A page with two widgets of one profile."""
    content = writer().file_of(profile, ReportWish(is_hosted=True)).decode()
    page = new_page("file://", offline=True)
    (tmp_path / "notebook.html").write_text("<title>notebook</title>", "utf-8")
    page.goto((tmp_path / "notebook.html").as_uri())

    def kernel(view: str) -> str:
        return json.dumps(writer().document_of(profile, view))

    page.expose_function("kernel", kernel)
    front = FRONT.read_text("utf-8").replace("export default", "globalThis.widget =")
    page.add_script_tag(content=front)
    page.add_script_tag(content=MODEL)
    page.evaluate("(html) => [mount(html), mount(html)]", content)
    for frame in frames(page):
        frame.wait_for_selector("body[data-ready]")
    return page


def frames(page: Page) -> list[Frame]:
    return page.frames[1:]


def trait(page: Page, number: int, name: str) -> Any:
    return page.evaluate("([number, name]) => models[number].traits[name]", [number, name])


def test_what_is_chosen_goes_both_ways_in_a_tenth_of_a_second_and_to_one_widget(
    notebook: Page, profile: roofline.Profile
) -> None:
    first, second = frames(notebook)
    first.locator("#fold-ops").click()
    row = first.locator("#op-table tbody th button").nth(2)
    name = row.evaluate("(one) => { one.click(); return one.innerText }")
    since = time.monotonic()
    notebook.wait_for_function("models[0].traits.rows.length === 1")
    assert time.monotonic() - since < 1.0, "100 ms where nothing else runs"
    assert name.split(" ")[0] in profile.rows()[trait(notebook, 0, "rows")[0]]["name"]
    assert (trait(notebook, 1, "rows"), trait(notebook, 1, "state")) == ([], "")
    notebook.evaluate("models[0].set('state', 'sel=0,1&q=mm')")
    expect(first.locator("[data-picked-text]")).to_contain_text("2")
    expect(first.locator("#filter-name")).to_have_value("mm")
    expect(second.locator("#filter-name")).to_have_value("")
    notebook.wait_for_function("models[0].traits.rows.length === 2")
    notebook.evaluate("models[1].set('theme', 'dark')")
    expect(second.locator("html")).to_have_attribute("data-theme", "dark")
    assert first.locator("html").get_attribute("data-theme") is None


def test_a_device_that_is_not_in_the_page_is_computed_by_the_kernel(
    notebook: Page, profile: roofline.Profile
) -> None:
    frame = frames(notebook)[0]
    notebook.evaluate("models[0].set('state', 'dev=b200')")
    expect(frame.locator("[data-peaks-choice]")).to_contain_text("B200")
    headline = frame.locator("[data-headline]").inner_text()
    other = roofline.what_if(profile, device="b200")
    assert " ".join(headline.split()).removesuffix(".") in " ".join(other.sentence.split())
    frame.locator("[data-fold=device]").click()
    frame.locator("[data-peaks-button]").click()
    assert frame.locator("[data-device-list] .use:disabled").count() == 0


def test_messages_from_elsewhere_and_random_ones_change_nothing(notebook: Page) -> None:
    first, second = frames(notebook)
    other = "parent.frames[0].postMessage({ roofline: 'state', value: 'q=x' }, '*')"
    second.evaluate(other)
    second.evaluate("parent.postMessage({ roofline: 'none', value: 'q=x', ops: [1] }, '*')")
    notebook.evaluate(
        """() => {
          const kinds = ["state", "view", "theme", "select", "ready", "", null, 7];
          const view = { view: "view?dev=h200" };
          const values = ["v=1", "q".repeat(5000), null, 3, {}, [], view, undefined];
          const pick = (all) => all[Math.floor(Math.random() * all.length)];
          const target = document.querySelector("iframe").contentWindow;
          for (let turn = 0; turn < 10_000; turn++)
            target.postMessage({ roofline: pick(kinds), value: pick(values) }, "*");
          for (const value of values) target.postMessage(value, "*");
        }"""
    )
    first.evaluate("new Promise((done) => setTimeout(done, 200))")
    expect(first.locator("#filter-name")).to_have_value("")
    assert trait(notebook, 0, "state") == ""


def test_the_page_is_alone_without_a_host(
    new_page: NewPage, profile: roofline.Profile, tmp_path: Path
) -> None:
    profile.report(tmp_path / "report.html")
    (tmp_path / "frame.html").write_text(
        '<iframe sandbox="allow-scripts" src="report.html"></iframe>'
        "<script>globalThis.heard = []; onmessage = ({ data }) => heard.push(data)</script>"
    )
    page = new_page("file://", offline=True)
    page.goto((tmp_path / "frame.html").as_uri())
    page.frames[1].wait_for_selector("body[data-ready]")
    assert page.evaluate("heard") == []


def test_without_anywidget_the_extra_is_named(
    profile: roofline.Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "roofline.api.widget", raising=False)
    with pytest.raises(roofline.RooflineError, match="widget"):
        profile.widget()


def test_the_kernel_s_side_keeps_ids_and_answers_views(profile: roofline.Profile) -> None:
    pytest.importorskip("anywidget")
    widget = profile.widget()
    ids = list(profile.frame().index)
    widget.set_state({"rows": [2, 999, -1], "state": "sel=2&q=mm"})
    assert widget.selected == [ids[2]]
    widget.selected = [ids[0], ids[1], "nothing"]
    assert (widget.rows, widget.state) == ([0, 1], "q=mm&sel=0,1")
    assert len(repr(widget)) < 600
    sent: list[Any] = []
    widget.send = sent.append
    for content in ({"view": "view?dev=b200"}, {"view": "facts"}, {"view": "x" * 5000}, None, {}):
        widget._asked(widget, content, [])
    assert [one["document"] is None for one in sent] == [False, True]
