"""Static files: which modules a module imports."""

from pathlib import Path

import pytest

from roofline.web.http.assets import load_static
from tests.web.conftest import Client


def test_imports_are_followed_once_nearest_first(tmp_path: Path) -> None:
    texts = {
        "js/app/main.js": 'import { a } from "../ui/a.js";\nimport {\n  b,\n} from "./b.js";\n',
        "js/app/b.js": 'export { c } from "../ui/c.js";\nimport "../ui/a.js";\n',
        "js/ui/a.js": 'import { c } from "./c.js";\n/** @type {import("./never.js").Kind} */\n',
        "js/ui/c.js": 'export const path = "./never.js"; // import { x } from "./never.js"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    static = load_static(tmp_path)
    assert static.imported("js/app/main.js") == tuple(
        map(static.url, ("js/ui/a.js", "js/app/b.js", "js/ui/c.js"))
    )
    assert static.imported("js/ui/c.js") == ()


def test_a_packed_file_beside_a_file_is_sent_to_those_who_take_it(client: Client) -> None:
    url = client.parts.static.url("vendor/plotly/plotly-roofline-4.1.1.min.js")
    answer = client.get(url, headers={"accept-encoding": "gzip, br"})
    assert answer.headers["content-encoding"] == "br"
    assert client.get(f"{url}.br").status_code == 404
    plain = client.get(url, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_preloading_a_module_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text('import { a } from "./gone.js";\n')
    with pytest.raises(KeyError):
        load_static(tmp_path).imported("main.js")
