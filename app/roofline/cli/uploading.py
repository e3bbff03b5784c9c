"""`roofline upload`: files of one run to a server."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from roofline.api.servers import (
    Receiver,
    Upload,
    profile_id_of,
    read_token,
    send_found,
    with_of,
)
from roofline.cli import sharing
from roofline.cli.options import add_files, add_of
from roofline.cli.output import print_bytes
from roofline.model.plain_data import alike


def add_upload(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline upload`."""
    parser.description = (
        "Send the files of one run to a server and print the link. A server that asks for a token"
        " gets the one in --token-file, ROOFLINE_TOKEN_FILE or ROOFLINE_TOKEN."
    )
    add_files(parser)
    sharing.add_server(parser)
    add_labels(parser)
    parser.add_argument(
        "--with",
        dest="joined",
        default="",
        metavar="PROFILE",
        help="the link or the id of a profile on the server that is of the same program: the new"
        " profile has its files, too",
    )
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="S", help="wait this long for the import"
    )
    parser.add_argument(
        "--split",
        action="store_true",
        help="make a profile of each group where the files are several profiles, without files"
        " that cannot be read; print a link for each",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the whole answer, with the delete token"
    )
    add_of(parser)
    parser.set_defaults(run=_upload)


def add_labels(parser: argparse.ArgumentParser) -> None:
    """The options for labels and visibility of an upload."""
    parser.add_argument("--title", default="", help="name to show")
    parser.add_argument("--note", default="", help="plain text to show beside it")
    parser.add_argument(
        "--tag", action="append", default=[], help="word to find it by; may be repeated"
    )
    parser.add_argument(
        "--visibility",
        choices=sharing.VISIBILITIES,
        default="",
        help="show it to everybody here, to holders of its share links, or to its owner;"
        " if not given, as the server is set",
    )


def labelled(files: Sequence[Path], given: argparse.Namespace, *, joined: str = "") -> Upload:
    """An upload of `files` with the labels of the command line."""
    return alike(Upload, given, files=files, tags=given.tag, joined=joined)


def _upload(given: argparse.Namespace) -> None:
    upload = labelled(given.files, given, joined=profile_id_of(given.joined))
    receiver = Receiver(given.server, read_token(given.token_file))
    wait_s = max(0.0, min(given.wait, 300.0))
    profiles = send_found(
        upload,
        receiver,
        wait_s=wait_s,
        say=lambda line: sys.stderr.write(f"{line}\n"),
        split=given.split,
    )
    for profile in profiles:
        linked = {**profile, "url": with_of(str(profile["url"]), given.of)}
        text = json.dumps(linked, indent=2) if given.json else linked["url"]
        print_bytes(f"{text}\n".encode())
