"""The page of a profile as one file with its data, scripts and styles: no server is asked.

Its policy allows the scripts and styles of the file by their digests, and nothing else: no address
is read, whatever the names in the profile are.
"""

import base64
import gzip
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import orjson

from roofline.api.packaged import assets_dir
from roofline.errors import BadViewError, RooflineError
from roofline.model.units import MEGA
from roofline.presentation.facts_and_view import Document, part_of_page
from roofline.presentation.first_view.view import first_view
from roofline.presentation.text_table import cut
from roofline.storage.records import StoredFile
from roofline.web.offline.assets import StaticFiles, load_static
from roofline.web.offline.calculator_views import CalculatorView, ModelView
from roofline.web.offline.run_view import RunPageView, run_view
from roofline.web.offline.templates import Templates
from roofline.web.offline.views import (
    NOTHING,
    CompareView,
    ProfileView,
    RunView,
    Shown,
    SideView,
    profile_view,
    with_frame,
)

if TYPE_CHECKING:
    from roofline.api.comparing import Comparison
    from roofline.api.profiles import Profile
    from roofline.api.results import ReportWish
    from roofline.presentation.charts.choices import Infeed

_CARET = 'url("../caret.svg")'


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The data of a page as JSON: the page itself, the advice, and details of each operation."""

    page: bytes
    advice: bytes
    ops: Sequence[bytes]


def file_of(result: object, wish: "ReportWish") -> bytes | None:
    """The page of a result that no server keeps; `None` where it has none."""
    from roofline.api.profiles import Profile  # loads numpy

    if isinstance(result, str):
        return _of_calculator(result, wish.most_bytes)
    if isinstance(result, Profile):
        return _of_profile(result, wish)
    from roofline.api.comparing import Comparison  # loads slowly

    if isinstance(result, Comparison):
        if wish.redact != "none":
            raise BadViewError(
                "Names can be replaced in the report of a profile alone.",
                remedy="Leave out --redact, or write a report of each profile.",
            )
        return _of_comparison(result, wish.most_bytes)
    return None


def document_of(profile: "Profile", address: str) -> Any:
    """The view or the charts that a page in a notebook asks its kernel for, under any peaks; `None`
    for what there is not."""
    from roofline.api.exploring import what_if  # these load numpy
    from roofline.presentation.charts import drawn_again
    from roofline.presentation.charts.choices import ChartChoice
    from roofline.presentation.json_text import to_json

    kind, _, query = address.partition("?")
    given = parse_qs(query)
    device, peaks = (given.get("dev") or given.get("device") or [""])[-1], given.get("peak", [])
    infeed: Infeed = "out" if given.get("infeed") == ["out"] else "in"
    try:
        seen = what_if(profile, device=device or None, peaks=peaks) if device or peaks else profile
    except RooflineError:
        return None
    if kind == "view":
        return _view(seen, infeed)
    if kind != "figures":
        return None
    choice = ChartChoice(infeed=infeed, y="share" if given.get("y") == ["share"] else "rate")
    return orjson.loads(to_json(drawn_again(seen.page, choice)))


def _view(profile: "Profile", infeed: "Infeed") -> Any:
    """The document `view` of a profile by its peaks."""
    from roofline.presentation.json_text import to_json

    page = orjson.loads(to_json(profile.page))
    view = _templates().view_of(page, profile.answered.advice, infeed)
    return orjson.loads(to_json(view))


@cache
def _templates() -> Templates:
    return Templates(load_static(assets_dir("static")))


def _under(profile: "Profile", wish: "ReportWish") -> dict[str, Any]:
    """What a file has of other devices: their list, and the views that are in it."""
    from roofline.api.exploring import what_if  # loads numpy
    from roofline.devices.choice import known_part
    from roofline.devices.listing import device_list

    ids = [known_part(name).id for name in wish.devices]
    if not (ids or wish.is_hosted):
        return {}
    seen = [what_if(profile, device=one) for one in ids]
    found: dict[str, Any] = {"devices": device_list(None), "embedded": ids}
    for one, under in zip(ids, seen, strict=True):
        views = (_view(under, infeed) for infeed in _INFEEDS)
        found |= _both(f"view?dev={one}", f"view?dev={one}&infeed=out", *views)
    return found


def _both(name: str, other_name: str, view: Any, other: Any) -> dict[str, Any]:
    """Two views by their addresses, the other one with what differs: the script adds the rest."""
    differing = {key: value for key, value in other.items() if value != view[key]}
    return {name: view, other_name: {"like": name, **differing}}


def _made_at() -> datetime:
    """The time, or that of the source where a build must give the same bytes each time."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(stated), UTC) if stated.isdecimal() else datetime.now(UTC)


def _unstored(title: str, sizes: Mapping[str, int]) -> ProfileView:
    """The page of files that no server keeps: bytes of each by its name."""
    files = [StoredFile(name=name, size_bytes=size, sha256="") for name, size in sizes.items()]
    about = replace(NOTHING, created_at=_made_at().isoformat(timespec="seconds"))
    return replace(profile_view("", title, files, "ready", ""), about=about)


def _of_profile(profile: "Profile", wish: "ReportWish") -> bytes:
    from roofline.exports.redaction import redacted
    from roofline.presentation.json_text import to_json
    from roofline.presentation.op_details import op_details

    shown = replace(profile, analysis=redacted(profile.analysis, wish.redact))
    title, sizes = profile.title, profile.sizes
    if wish.redact == "names":
        title = f"A profile of {profile.device}"
        sizes = {f"capture-{at}": size for at, size in enumerate(sizes.values(), 1)}
    ops = list(op_details(shown.analysis))
    if wish.redact == "names":  # a file without its names has no operation of this name
        ops = [orjson.dumps(orjson.loads(one) | {"replay": ""}) for one in ops]
    content = Content(page=to_json(shown.page), advice=to_json(shown.answered.advice), ops=ops)
    static = load_static(assets_dir("static"))
    view = _unstored(wish.title or title, sizes)
    # A share link is a secret, which the file does not tell.
    is_shown = "/p/" in profile.link and wish.redact != "names"
    more = _under(shown, wish)
    return report(
        Templates(static),
        static,
        replace(view, made_from=profile.link if is_shown else "", has_devices=bool(more)),
        content,
        wish.most_bytes,
        more={"search": _state_of(profile.link) if wish.redact != "names" else "", **more},
    )


def _state_of(link: str) -> str:
    """What a page's address says of its filters, its table and its selection; the rest of it needs
    a server, or is in the numbers already."""
    given = parse_qsl(urlsplit(link).query)
    return urlencode([(key, value) for key, value in given if key in _STATE])


_STATE = (
    "q", "cat", "bound", "part", "finding", "by", "group", "open", "min", "cover", "box", "y",
    "infeed", "op", "sel", "step", "sort", "cols", "pcols", "tab", "page", "pin",
)  # fmt: skip


def report(
    templates: Templates,
    static: StaticFiles,
    view: ProfileView,
    content: Content,
    most_bytes: int | None = None,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """The page `view` with `content` and `more` documents in it, as HTML of `most_bytes` at most.

    Raises `BadViewError` where that is too few.
    """
    page = orjson.loads(content.page)
    return _fitted(
        templates,
        static,
        ("profile", _without_server(view, page, content), view.description, view.file_names),
        {**_documents(templates, page, content), **(more or {})},
        most_bytes,
    )


def _of_comparison(result: "Comparison", most_bytes: int | None) -> bytes:
    """The page of a comparison whose captures no server keeps."""
    from roofline.exports.comparison_page import comparison_frame, comparison_page
    from roofline.presentation.json_text import to_json

    found = result.found
    names = found.captures_a.labels, found.captures_b.labels
    sides = [
        SideView(
            letter=letter,
            runs=tuple(
                RunView(id="", title=name, state="ready", url="#main", status_url="")
                for name in own
            ),
        )
        for letter, own in zip("AB", names, strict=True)
    ]
    view = CompareView(
        state="ready", sides=(sides[0], sides[1]), swap_url="", add_url="", is_file=True
    )
    view = with_frame(view, comparison_frame(found), "page")
    said = "".join(text for _, text in view.headline)
    static = load_static(assets_dir("static"))
    shown = ("compare", view, said, [name for own in names for name in own])
    documents = {"page": orjson.Fragment(to_json(comparison_page(found)))}
    return _fitted(Templates(static), static, shown, documents, most_bytes)


def run_file(document: Mapping[str, Any], title: str) -> bytes:
    """The page of the run of `document`, which no server keeps."""
    view = RunPageView(title=title, content=run_view(document, title))
    static = load_static(assets_dir("static"))
    return _as_file(
        Templates(static), static, ("run", view, "A run of many hosts", [title]), {}, ()
    )


def _of_calculator(address: str, most_bytes: int | None) -> bytes:
    """The page of a calculator as its address fills it in. No server is asked."""
    from roofline.web.offline import calculator, model  # their libraries load slowly

    kind, query = urlsplit(address).path.strip("/"), parse_qs(urlsplit(address).query)
    given = {key: values[-1] for key, values in query.items()}
    view: CalculatorView | ModelView
    if kind == "calculator":
        view = calculator.view_of(
            {key: text[: calculator.MOST_TEXT] for key, text in given.items()}
        )
    elif kind == "model" and not given.get("over"):
        view = model.view_of(given, query.get("vs", ()), None)
    else:
        raise BadViewError(
            f"“{address[:200]}” is not the address of a calculator.",
            remedy="Copy the link of /calculator or /model; one over a profile needs its server.",
        )
    if view.error is not None:
        raise BadViewError(view.error.message, remedy=view.error.remedy)
    static = load_static(assets_dir("static"))
    page = kind, replace(view, is_file=True), "", [address]
    return _fitted(Templates(static), static, page, {}, most_bytes)


_SCRIPTS = {"calculator": "costs", "model": "costs"}
View = ProfileView | CompareView | CalculatorView | ModelView | RunPageView
Page = tuple[str, View, str, Sequence[str]]
"""The name of a page, its view, its description, and the names of what it was made of."""

Documents = dict[str, Any]


def _fitted(
    templates: Templates,
    static: StaticFiles,
    page: Page,
    documents: Documents,
    most_bytes: int | None,
) -> bytes:
    """The file, with as little left out as makes it `most_bytes` at most."""
    left_out: list[str] = []
    content = _as_file(templates, static, page, documents, left_out)
    for said, shorten in _SHORTER.items():
        if most_bytes is None or len(content) <= most_bytes:
            return content
        shorter = shorten(documents)
        if shorter != documents:
            documents = shorter
            left_out.append(said)
            content = _as_file(templates, static, page, documents, left_out)
    if most_bytes is not None and len(content) > most_bytes:
        raise BadViewError(
            f"The file cannot be smaller than {len(content):,} bytes.",
            remedy=f"Allow {len(content) / MEGA + 0.005:.2f}MB.",
        )
    return content


def _without_stacks(documents: Documents) -> Documents:
    return _with_ops(documents, lambda op: op | {"source_stack": ""})


def _with_short_names(documents: Documents) -> Documents:
    return _with_ops(documents, lambda op: op | {"long_name": cut(op["long_name"], _NAME_LETTERS)})


def _with_ops(documents: Documents, change: Callable[[Documents], Documents]) -> Documents:
    return {name: change(one) if name.startswith(_OP) else one for name, one in documents.items()}


def _with_few_details(documents: Documents) -> Documents:
    """Operations are in the order of their time."""
    kept = {f"{_OP}{at}" for at in range(_DETAILED)}
    return {
        name: one for name, one in documents.items() if not name.startswith(_OP) or name in kept
    }


def _without_devices(documents: Documents) -> Documents:
    kept = {name: one for name, one in documents.items() if not name.startswith("view?dev=")}
    return kept | ({"embedded": []} if "embedded" in kept else {})


def _without_other_axis(documents: Documents) -> Documents:
    return {name: one for name, one in documents.items() if not name.startswith("figures")}


_OP = "ops/"
_INFEEDS: tuple["Infeed", "Infeed"] = ("in", "out")
_NAME_LETTERS = 120
_DETAILED = 300
_SHORTER: Mapping[str, Callable[[Documents], Documents]] = {
    "stacks of source lines": _without_stacks,
    f"names beyond {_NAME_LETTERS} letters in the details of operations": _with_short_names,
    "other devices": _without_devices,
    f"details of operations after the first {_DETAILED}": _with_few_details,
    "the chart by share of the roof": _without_other_axis,
}


def _as_file(
    templates: Templates,
    static: StaticFiles,
    page: Page,
    documents: Documents,
    left_out: Sequence[str],
) -> bytes:
    name, view, description, made_of = page
    first_script = static.content("js/app/theme-boot.js")
    bundle = _SCRIPTS.get(name, name)
    boot, styles = static.content("js/app/report-boot.js"), _styles(static, bundle)
    chart_styles = static.content("vendor/plotly/plotly.css")
    return templates.text(
        "report.html",
        page_template=f"{name}.html",
        view=view,
        description=description,
        made_of=made_of,
        left_out=left_out,
        policy=_policy((first_script, boot), (styles, chart_styles)),
        first_script=first_script,
        styles=styles,
        chart_styles=chart_styles,
        boot=boot,
        packed=[("documents", _packed(orjson.dumps(documents))), *_scripts(static, bundle)],
        has_actions=name not in _SCRIPTS,
        made_on=_made_at().date().isoformat(),
    ).encode("utf-8", "replace")


def _without_server(view: ProfileView, page: dict[str, Any], content: Content) -> ProfileView:
    """The view whose addresses are names of documents in the file, without what changes it."""
    return replace(
        view,
        shown=Shown(
            cache(lambda: first_view(page)), cache(lambda: orjson.loads(content.advice)), {}
        ),
        facts_url="facts",
        view_url="view",
        figures_url="figures",
        ops_url="ops",
        ops_query="",
        devices_url="devices",
        report_url="",
        whole_url="",
        is_shared=True,
        is_file=True,
        is_by_other_peaks=False,
        may_change=False,
    )


def _documents(templates: Templates, page: dict[str, Any], content: Content) -> Documents:
    """What the page's script reads, by the addresses that it asks for."""
    from roofline.presentation.charts import drawn_again  # these load numpy
    from roofline.presentation.charts.choices import ChartChoice

    advice = orjson.loads(content.advice)
    views = (templates.view_of(page, advice, infeed) for infeed in _INFEEDS)
    return {
        "facts": part_of_page(page, Document.FACTS),
        **_both("view", "view?infeed=out", *views),
        "figures?y=share": drawn_again(page, ChartChoice(y="share")),
        "figures?infeed=out&y=share": drawn_again(page, ChartChoice(infeed="out", y="share")),
        **{f"{_OP}{at}": orjson.loads(one) for at, one in enumerate(content.ops)},
    }


@lru_cache(maxsize=4)
def _scripts(static: StaticFiles, page: str) -> tuple[tuple[str, str], ...]:
    """The chart library and the page's script, the same as the server sends."""
    names = ("vendor/plotly/plotly-roofline-4.1.1.min.js", f"js/app/{page}.bundle.js")
    texts = (static.content(name).encode() for name in names)
    return tuple(zip(("chart", "script"), map(_packed, texts), strict=True))


def _styles(static: StaticFiles, page: str) -> str:
    """The page's style sheet, with its only picture in it."""
    caret = base64.b64encode(static.content("caret.svg").encode()).decode()
    sheet = static.content(f"css/{page}.bundle.css")
    return sheet.replace(_CARET, f"url(data:image/svg+xml;base64,{caret})")


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src blob: {' '.join(_digests(scripts))}",
            f"style-src {' '.join(_digests(styles))}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digests(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        digest = hashlib.sha256(text.encode()).digest()
        yield f"'sha256-{base64.b64encode(digest).decode()}'"
