"""The page of a run as one file that needs no server: styles, scripts and data are in it."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from roofline.api.packaged import assets_dir
from roofline.web.http import bundles
from roofline.web.pages.run_view import run_view

_STYLES = ("tokens", "base", "page", "working", "compare", "run", "narrow")


def run_file(document: Mapping[str, Any], title: str) -> bytes:
    """The run of `document`, as HTML."""
    environment = Environment(
        loader=FileSystemLoader(assets_dir("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = "{:,}".format
    content = environment.get_template("run_file.html").render(
        view=run_view(document, title),
        chart_styles=_read("vendor/plotly/plotly.css"),
        chart_script=_read("vendor/plotly/plotly-roofline-4.1.1.min.js"),
        styles="".join(_read(f"css/{name}.css") for name in _STYLES),
        first_script=_read("js/app/theme-boot.js"),
        script=bundles.script(("js/ui/theme.js", "js/app/run.js"), _read),
    )
    return content.encode("utf-8", "replace")


def _read(name: str) -> str:
    return (assets_dir("static") / name).read_text("utf-8")
