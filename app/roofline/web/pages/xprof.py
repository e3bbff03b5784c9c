"""XProf's page of a profile: `view=xprof` in the address of a profile, or of a share link."""

from dataclasses import dataclass
from typing import Annotated

import orjson
from fastapi import Depends, Query, Request, Response

from roofline.library.reader import ProfileReader
from roofline.presentation.xprof_view import XprofChoice, XprofView, xprof_view
from roofline.storage.results import XPROF
from roofline.web.offline.views import ProfileView
from roofline.web.parts import ServerParts

_Text = Annotated[str, Query(max_length=2000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class XprofPage:
    """The page: the way back, the table as a file, and what is shown."""

    title: str
    profile_url: str
    csv_url: str
    xprof: XprofView


async def _choice(
    view: _Text = "",
    cols: _Text = "",
    infeed_program: _Text = "in",
    infeed: _Text = "in",
    cat: _Text = "",
    bound: _Text = "",
    q: _Text = "",
    roofline_op_name: _Text = "",
    sort: _Text = "",
) -> XprofChoice | None:
    """The choice of an address of this page; links of earlier releases say `cols=xprof`."""
    if "xprof" not in (view, cols):
        return None
    return XprofChoice(
        program_infeed=infeed_program,
        infeed=infeed,
        category=cat,
        bound=bound,
        name=q or roofline_op_name,
        sort=sort,
    )


WantedXprof = Annotated[XprofChoice | None, Depends(_choice)]


def xprof_page(
    request: Request,
    parts: ServerParts,
    reader: ProfileReader,
    profile: ProfileView,
    choice: XprofChoice,
) -> Response:
    """XProf's page of a ready profile; raises as `reader.result`."""
    tables = orjson.loads(reader.result(profile.id, XPROF).plain())
    page = XprofPage(
        title=profile.title,
        profile_url=profile.whole_url,
        csv_url=profile.xprof_csv_url,
        xprof=xprof_view(tables, choice),
    )
    return parts.templates.page("xprof.html", page, request)
