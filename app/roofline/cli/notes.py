"""`roofline notes`: notes on single operations and program points of a profile on a server."""

import argparse
from typing import TYPE_CHECKING, Any

from roofline.cli.output import print_bytes
from roofline.cli.sharing import add_server, id_of, server_of

if TYPE_CHECKING:
    from roofline.cli.upload import ServerLink

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

    from roofline.cli.upload import Receiver, ServerLink, read_token

    server = ServerLink(Receiver(server_of(given), read_token(given.token_file)))
    path = f"/api/v1/profiles/{quote(id_of(given.profile), safe='')}/notes"
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
