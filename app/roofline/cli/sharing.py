"""What others see of a profile: `roofline share` and `roofline notes`."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.cli.output import print_bytes

if TYPE_CHECKING:
    from roofline.api.servers import ServerLink

VISIBILITIES = ("everybody", "link", "owner")


def add_share(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline share`."""
    parser.description = (
        "Make a link that shows a profile of yours without a log-in, and print it: it is not shown"
        " again. Or list such links, revoke one, or choose who sees the profile here. The token is"
        " one of your own with the scope `share`, from the server's page /tokens, given as for"
        " `roofline upload`."
    )
    parser.add_argument("profile", metavar="PROFILE", help="its address on the server, or its id")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list its links, with their last use")
    what.add_argument("--revoke", metavar="ID", help="end one of its links")
    what.add_argument(
        "--visibility",
        choices=VISIBILITIES,
        help="show it to everybody here, to holders of its links, or to its owner alone",
    )
    parser.add_argument(
        "--name", default="", help="name of the new link, such as that of its reader"
    )
    parser.add_argument("--days", type=float, metavar="N", help="how long it lasts; without end")
    add_server(parser)
    parser.set_defaults(run=_share)


def add_server(parser: argparse.ArgumentParser, *, is_optional: bool = False) -> None:
    """The options that name a server, and the file of its token.

    With `is_optional` a command sends nothing where no server is named.
    """
    from roofline.api.servers import HERE  # loads slowly, as do the others

    here = os.environ.get("ROOFLINE_SERVER", None if is_optional else HERE)
    does = "send it there, by the server's home page" if is_optional else "the server's home page"
    parser.add_argument(
        "--server",
        metavar="URL",
        default=here,
        help=f"{does}; ROOFLINE_SERVER if not given, now %(default)s",
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="file with the token")


def linked(given: argparse.Namespace) -> "ServerLink":
    """The server that `add_server` lets a command name, with its token."""
    from roofline.api.servers import Receiver, ServerLink, read_token

    return ServerLink(Receiver(server_of(given), read_token(given.token_file)))


def _share(given: argparse.Namespace) -> None:
    server, path = linked(given), _path(given)
    for line in _lines(server, path, given):
        print_bytes(f"{line}\n".encode())


def _path(given: argparse.Namespace) -> str:
    from urllib.parse import quote

    from roofline.api.servers import profile_id_of

    return f"/api/v1/profiles/{quote(profile_id_of(given.profile), safe='')}"


def _lines(server: "ServerLink", path: str, given: argparse.Namespace) -> list[str]:
    if given.list:
        return [_row(one) for one in server.send("GET", f"{path}/links")["links"]]
    if given.revoke is not None:
        from urllib.parse import quote

        server.send("DELETE", f"{path}/links/{quote(given.revoke, safe='')}")
        return []
    if given.visibility is not None:
        server.send("PATCH", path, {"visibility": given.visibility})
        return []
    wanted = {"name": given.name, "expires_days": given.days}
    return [str(server.send("POST", f"{path}/links", wanted)["url"])]


def _row(link: Mapping[str, Any]) -> str:
    used = link.get("last_used_at", "never used")
    ends = link.get("expires_at", "no end")
    # Names are other people's words: nothing in them reaches the terminal as a command.
    name = "".join(ch for ch in str(link["name"]) if ch.isprintable())
    return "\t".join([str(link["id"]), str(link["created_at"]), str(ends), str(used), name])


def server_of(given: argparse.Namespace) -> str:
    """The server that `--server` or `ROOFLINE_SERVER` names, else that of the profile's address."""
    from roofline.api.servers import HERE

    base, path, _ = str(getattr(given, "profile", "")).partition("/p/")
    is_address = bool(path) and base.startswith(("http://", "https://"))
    named = str(given.server)
    return base if is_address and named == HERE and "ROOFLINE_SERVER" not in os.environ else named


FORMATS = ("text", "json", "csv", "markdown")


def add_notes(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline notes`."""
    parser.description = (
        "Print the notes that are kept with a profile, or keep one, or remove one. Each is on one"
        " operation or one point of the program; the page shows them as pins."
    )
    parser.add_argument("profile", metavar="PROFILE", help="its address on the server, or its id")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--add", metavar="NAME", help="keep a note on the operation of this name")
    what.add_argument("--add-step", metavar="LABEL", help="keep one on this point of the program")
    what.add_argument("--remove", metavar="ID", help="remove the note with this id")
    parser.add_argument("--text", default="", help="what the new note says")
    parser.add_argument(
        "--program", default="", help="program of the operation, where names repeat"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the list")
    add_server(parser)
    parser.set_defaults(run=_notes)


def _notes(given: argparse.Namespace) -> None:
    from urllib.parse import quote

    server, path = linked(given), f"{_path(given)}/notes"
    if given.remove is not None:
        server.send("DELETE", f"{path}/{quote(given.remove, safe='')}")
    elif given.add is not None or given.add_step is not None:
        print_bytes(f"{_keep(server, path, given)}\n".encode())
    else:
        print_bytes(_written(server.send("GET", path), given.format))


def _keep(server: "ServerLink", path: str, given: argparse.Namespace) -> str:
    """Keeps the note; its id."""
    is_step = given.add is None
    new = {
        "kind": "program" if is_step else "operation",
        "name": given.add_step if is_step else given.add,
        "program": given.program,
        "text": given.text,
    }
    return str(server.send("POST", path, new)["id"])


def _written(answer: dict[str, Any], form: str) -> bytes:
    import json

    from roofline.exports.notes import notes_to_csv, notes_to_markdown, notes_to_text

    if form == "json":
        return json.dumps(answer, indent=2).encode() + b"\n"
    write = {"text": notes_to_text, "csv": notes_to_csv, "markdown": notes_to_markdown}[form]
    return write(answer["notes"])
