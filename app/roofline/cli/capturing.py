"""`roofline capture`: a profile of programs that run, and what it says."""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.cli import sharing
from roofline.cli.options import add_of, with_of
from roofline.cli.output import print_bytes
from roofline.cli.uploading import add_labels
from roofline.errors import CaptureFailedError
from roofline.model.units import MS_PER_S

if TYPE_CHECKING:
    from roofline.api.captures import CaptureWish
    from roofline.capture.hosts import HostCapture

SCHEMA = "roofline.capture/1"
LEAST_MS, MOST_MS = 10, 60_000
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s)?")


def add_capture(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline capture`."""
    parser.description = (
        "Capture programs that run, and print the first sentence of their profile, or its link."
        " HOST:PORT is the port of `jax.profiler.start_server`, http://HOST:PORT a vLLM or SGLang"
        " server. Several addresses are the hosts of one run. See docs/capture.md."
    )
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="HOST:PORT, or http://…")
    parser.add_argument("--hosts", type=Path, metavar="FILE", help="more addresses, one a line")
    parser.add_argument(
        "--duration",
        type=_milliseconds,
        default=2000,
        metavar="TIME",
        help="record this long: 500ms, 2s (10ms to 60s; 2s)",
    )
    parser.add_argument(
        "--host-level",
        type=int,
        choices=range(4),
        default=2,
        help="how much of the host is recorded, from 0 to 3 (%(default)s)",
    )
    parser.add_argument("--python", action="store_true", help="record Python's functions, too")
    parser.add_argument(
        "--no-hlo", action="store_true", help="leave the compiled programs out: no FLOPs are known"
    )
    parser.add_argument(
        "--at",
        type=_milliseconds,
        metavar="+TIME",
        help="begin so much later, by the hosts' clocks",
    )
    parser.add_argument(
        "--retry", type=int, default=2, metavar="N", help="ask so often again (%(default)s)"
    )
    parser.add_argument(
        "--remote-dir",
        type=Path,
        metavar="DIR",
        help="http://: the folder that the server writes to, as this machine sees it",
    )
    parser.add_argument("--steps", type=int, metavar="N", help="SGLang: record so many steps")
    parser.add_argument("--by-stage", action="store_true", help="SGLang: prefill and decode apart")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep the files there")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    sharing.add_server(parser, is_optional=True)
    add_labels(parser)
    add_of(parser)
    parser.set_defaults(run=_capture)


def _capture(given: argparse.Namespace) -> None:
    from roofline.api.captures import captured

    addresses = _addresses(given)
    with ExitStack() as ends:
        folder = given.output
        if folder is None:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="roofline-")))
        else:
            folder.mkdir(parents=True, exist_ok=True)
        hosts = captured(addresses, _wish(given), folder, _say)
        files = [host.path for host in hosts if host.path is not None]
        problems = [host.problem for host in hosts if host.problem is not None]
        if len(hosts) == 1 and problems:
            raise problems[0]
        for problem in problems:
            _say(f"{problem.message} {problem.remedy}")
        if not files:
            raise CaptureFailedError(
                f"None of {len(hosts)} hosts was captured.", remedy="The lines above say why."
            )
        if len(files) < len(hosts):
            _say(f"{len(files)} of {len(hosts)} hosts.")
        _answer(given, hosts, files)


def _wish(given: argparse.Namespace) -> "CaptureWish":
    from roofline.api.captures import CaptureWish

    return CaptureWish(
        duration_ms=given.duration,
        host_level=given.host_level,
        python=given.python,
        hlo=not given.no_hlo,
        after_ms=given.at,
        retries=given.retry,
        remote_dir=given.remote_dir,
        steps=given.steps,
        by_stage=given.by_stage,
    )


def _answer(
    given: argparse.Namespace, hosts: "Sequence[HostCapture]", files: Sequence[Path]
) -> None:
    sentence, url = None, None
    if given.server:
        url = with_of(send_captures(given, files), given.of)
    else:
        from roofline.api.profiles import open_profile  # loads slowly

        sentence = open_profile(*files, of=given.of).sentence
    if not given.json:
        kept = f"\n{' '.join(map(str, files))}" if given.output else ""
        print_bytes(f"{url or sentence}{kept}\n".encode())
        return
    answer: dict[str, Any] = {
        "schema": SCHEMA,
        "hosts": [_host_record(host) for host in hosts],
        "files": [str(one) for one in files] if given.output else [],
        "sentence": sentence,
        "url": url,
    }
    print_bytes(f"{json.dumps(answer, indent=2)}\n".encode())


def _host_record(host: "HostCapture") -> dict[str, Any]:
    return {
        "address": host.address,
        "bytes": None if host.path is None else host.path.stat().st_size,
        "problem": None if host.problem is None else host.problem.message,
    }


def send_captures(given: argparse.Namespace, files: Sequence[Path]) -> str:
    """The link of what was sent: a profile of one file, a run of several."""
    from roofline.cli.run_client import send_run
    from roofline.cli.upload import Receiver, Upload, read_token, send

    receiver = Receiver(given.server, read_token(given.token_file))
    if len(files) > 1:
        return send_run(files, receiver, title=given.title, visibility=given.visibility)
    upload = Upload(
        files=tuple(files),
        title=given.title,
        note=given.note,
        tags=tuple(given.tag),
        visibility=given.visibility,
    )
    (profile,) = send(upload, receiver, wait_s=60.0)
    return str(profile["url"])


def _addresses(given: argparse.Namespace) -> list[str]:
    """All addresses, each once. Raises `CaptureFailedError` for what is none."""
    from roofline.api.captures import checked

    listed: list[str] = []
    if given.hosts is not None:
        try:
            lines = given.hosts.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CaptureFailedError(
                f"{given.hosts} cannot be read.", remedy="Correct --hosts."
            ) from error
        listed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return checked([*given.addresses, *listed])


def _milliseconds(text: str) -> int:
    """`500ms`, `2s`, `+3s` or a number of seconds, in ms."""
    found = _TIME.fullmatch(text.strip().removeprefix("+"))
    milliseconds = (
        0 if found is None else round(float(found[1]) * (1 if found[2] == "ms" else MS_PER_S))
    )
    if not LEAST_MS <= milliseconds <= MOST_MS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time from 10ms to 60s: write 500ms, 2s"
        )
    return milliseconds


def _say(text: str) -> None:
    sys.stderr.write(f"roofline: {text}\n")
    sys.stderr.flush()
