"""JSON in the attributes of templates."""

import pytest
from jinja2 import Environment

from roofline.web.offline.templates import Templates


class Stub:
    """Stands for the static files: templates of this test use none."""

    url = build = ""


@pytest.mark.parametrize("value", [{"a": "<'&>"}, {1: 2}, ["\ud800"], [1.5, None, True]], ids=ascii)
def test_json_in_an_attribute_reads_as_jinja_writes_it(value: object) -> None:
    """Half of a surrogate pair in a stranger's name and keys that are numbers among it."""
    ours = Templates(Stub())._environment  # type: ignore[arg-type]
    texts = [
        one.from_string("{{ value | tojson }}").render(value=value)
        for one in (ours, Environment(autoescape=True))
    ]
    assert texts[0] == texts[1].replace(": ", ":").replace(", ", ",") or texts[0] == texts[1]
