"""Bundles: modules and style sheets as one file each."""

import subprocess
from pathlib import Path

import pytest

from roofline.api.packaged import assets_dir
from roofline.web.offline import assets
from roofline.web.offline.assets import BUNDLES
from tests.web.conftest import Client

MODULES = {
    "js/app/main.js": 'import "../ui/side.js";\n'
    'import {\n  twice as two,\n  Sum,\n} from "../ui/a.js";\n'
    "console.log(new Sum(two(4)).value, seen.join());\n",
    "js/app/other.js": 'import { twice } from "../ui/a.js";\nconsole.log(twice(1));\n',
    "js/ui/a.js": '/** Doubles. */\nimport { factor } from "./b.js";\n'
    "export const twice = (x) => x * factor; // not // a comment line\n"
    "export class Sum {\n  constructor(value) {\n    this.value = value;\n  }\n}\n"
    'globalThis.seen = [...(globalThis.seen ?? []), "a"];\n',
    "js/ui/b.js": "// A comment.\nexport const factor = 2;\n",
    "js/ui/side.js": 'globalThis.seen = [...(globalThis.seen ?? []), "side"];\n',
}


def run(text: str) -> str:
    command = ["node", "--input-type=module", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def test_a_bundle_does_what_its_modules_do_each_once() -> None:
    text = assets.script(("js/app/main.js", "js/app/other.js"), MODULES.__getitem__)
    assert run(text) == "8 side,a\n2\n"
    assert "Doubles" not in text
    assert "A comment" not in text


@pytest.mark.parametrize(
    "text",
    [
        'import * as all from "./b.js";\n',
        'export { x } from "./b.js";\n',
        "export default 3;\n",
        "export let counter = 0;\n",
        'import one from "./b.js";\n',
    ],
)
def test_a_form_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be bundled"):
        assets.script(("js/a.js",), {"js/a.js": text, "js/b.js": ""}.__getitem__)


def test_indents_are_left_out_and_templates_over_several_lines_are_an_error() -> None:
    text = assets.script(("js/a.js",), {"js/a.js": "if (x) {\n  call(`  ${x}`);\n}\n"}.__getitem__)
    assert "{\ncall(`  ${x}`);\n}" in text
    with pytest.raises(ValueError, match="template over several lines: const a = `first"):
        assets.script(("js/a.js",), {"js/a.js": "const a = `first\n  second`;\n"}.__getitem__)


def test_modules_that_import_each_other_are_an_error() -> None:
    modules = {
        "js/a.js": 'import { b } from "./b.js";\nexport const a = 1;\n',
        "js/b.js": 'import { a } from "./a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(ValueError, match=r"js/a.js → js/b.js → js/a.js"):
        assets.script(("js/a.js",), modules.__getitem__)


def test_styles_keep_their_order_and_their_folder() -> None:
    sheets = {"css/a.css": "a {}\n", "css/b.css": "b {}\n", "other/c.css": ""}
    assert assets.styles(("css/b.css", "css/a.css"), sheets.__getitem__) == "b {}\na {}\n"
    commented = "/* About\n   b. */\n\nb {\n  --of: 1; /* of it */\n}\n"
    assert assets.styles(("css/b.css",), lambda _: commented) == "b {\n--of: 1; \n}\n"
    with pytest.raises(ValueError, match="one folder"):
        assets.styles(("css/a.css", "other/c.css"), sheets.__getitem__)


@pytest.mark.parametrize("name", BUNDLES)
def test_bundles_of_pages_are_served_small(client: Client, name: str) -> None:
    static = client.parts.static
    forms = {}
    for encoding in ("identity", "gzip", "zstd"):
        answer = client.get(static.url(name), headers={"accept-encoding": encoding})
        assert answer.status_code == 200
        assert answer.headers.get("content-encoding", "identity") == encoding
        assert "immutable" in answer.headers["cache-control"]
        forms[encoding] = (answer.headers["etag"], answer.content)
    assert len({etag for etag, _ in forms.values()}) == 3
    assert len({content for _, content in forms.values()}) == 1
    last = (assets_dir("static") / BUNDLES[name][-1]).read_text("utf-8").splitlines()[-1]
    assert last.strip() in forms["gzip"][1].decode()


def test_a_page_is_sent_packed(client: Client) -> None:
    for encoding in ("zstd", "gzip"):
        answer = client.get("/", headers={"accept-encoding": encoding})
        assert answer.headers["content-encoding"] == encoding
        assert "<title>" in answer.text
    plain = client.get("/", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "accept-encoding"


def test_every_module_of_a_bundle_is_a_file() -> None:
    folder: Path = assets_dir("static")
    assert all((folder / part).is_file() for parts in BUNDLES.values() for part in parts)
