"""The page of a profile in a notebook whose selection is Python's, too: a widget of anywidget."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

import anywidget
import traitlets

from roofline.api.packaged import assets_dir
from roofline.api.results import ReportWish, WithPage, writer
from roofline.exports.records import op_ids

_MOST_LETTERS = 4096
_MOST_OPS = 5000
_CHOICE = {"sel", "op", "box"}


class Widget(anywidget.AnyWidget):
    """`state` is what the address of the page would say, `selected` the ids of the operations that
    are chosen, or in the area that is: each follows the page, and the page follows it.

    The view under another device is computed here. `theme` is "light", "dark" or "system".
    """

    _esm = assets_dir("static") / "js" / "app" / "notebook-widget.js"
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    theme = traitlets.Enum(("system", "light", "dark"), "system").tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)
    rows = traitlets.List(traitlets.Int()).tag(sync=True)
    selected = traitlets.List(traitlets.Unicode())

    def __init__(self, profile: WithPage, **look: Any) -> None:
        content = writer().file_of(profile, ReportWish(is_hosted=True))
        super().__init__(page=content.decode(), **look)
        self._profile = profile
        self._ids = op_ids(profile.rows())
        self.observe(self._from_page, names="rows")
        self.observe(self._to_page, names="selected")
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        return f"<roofline Widget: {len(self.selected)} selected>"

    def _from_page(self, _change: object) -> None:
        known = range(len(self._ids))
        self.selected = [self._ids[one] for one in self.rows[:_MOST_OPS] if one in known]

    def _to_page(self, _change: object) -> None:
        places = {op_id: place for place, op_id in enumerate(self._ids)}
        rows = [places[one] for one in self.selected if one in places]
        if rows == [*self.rows]:
            return
        kept = [(key, value) for key, value in parse_qsl(self.state) if key not in _CHOICE]
        chosen = [("sel", ",".join(map(str, rows)))] if rows else []
        self.rows, self.state = rows, urlencode([*kept, *chosen], safe=",")

    def _asked(self, _widget: object, content: object, _buffers: object) -> None:
        view = content.get("view") if isinstance(content, dict) else None
        if isinstance(view, str) and len(view) <= _MOST_LETTERS:
            self.send({"view": view, "document": writer().document_of(self._profile, view)})
