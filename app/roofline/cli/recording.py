"""`roofline record -- COMMAND` and `roofline capture`: profiles of programs while they run."""

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.capture.recorder import said_of
from roofline.cli import sharing
from roofline.cli.options import add_of
from roofline.cli.output import BAD_INPUT, print_bytes
from roofline.cli.runs import seconds
from roofline.cli.uploading import add_labels
from roofline.errors import CaptureFailedError, RooflineError
from roofline.model.plain_data import alike
from roofline.model.units import MS_PER_S

if TYPE_CHECKING:
    from roofline.capture.profiler_service import HostCapture
    from roofline.capture.recorder import Recorded, Try


SCHEMA = "roofline.record/1"
TRACKERS = {"wandb": "W&B", "mlflow": "MLflow"}


def add_record(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline record`."""
    parser.description = (
        "Run a command, and record a few steady steps of the PyTorch or JAX program in it, without"
        " a change of its code. Prints the first sentence of the profile, or its link, while the"
        " command goes on; ends with the status of the command. See docs/capture.md."
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="behind --")
    parser.add_argument(
        "--steps", type=int, default=3, metavar="N", help="record so many steps (%(default)s)"
    )
    parser.add_argument(
        "--skip", type=int, metavar="N", help="begin after N steps; else when steps are steady"
    )
    parser.add_argument(
        "--after",
        type=seconds,
        default=15.0,
        metavar="TIME",
        help="a program without an optimizer is recorded so long after its start (15s)",
    )
    parser.add_argument(
        "--duration",
        type=seconds,
        default=2.0,
        metavar="TIME",
        help="a program without steps is recorded so long (2s)",
    )
    parser.add_argument(
        "--ranks", type=_ranks, metavar="LIST", help="record these ranks: 0,3-5; else up to 64"
    )
    parser.add_argument(
        "--stack",
        action="store_true",
        help="record modules and source lines, too: the steps of the window take 1.5 to 1.7 times",
    )
    parser.add_argument("--stop", action="store_true", help="end the command when it is recorded")
    parser.add_argument(
        "--require", action="store_true", help="end with status 2 where nothing was recorded"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep the files there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was recorded there")
    for tracker, name in TRACKERS.items():
        parser.add_argument(
            f"--{tracker}",
            action="store_true",
            help=f"log to the run {tracker.upper()}_RUN_ID of {name} when the command has ended",
        )
    sharing.add_server(parser, is_optional=True)
    add_labels(parser)
    add_of(parser)
    parser.set_defaults(run=_record)


def _record(given: argparse.Namespace) -> None:
    from roofline.capture.recorder import Recorder, RecordOptions

    options = alike(RecordOptions, given, after_s=given.after, duration_s=given.duration)
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="roofline-record-")))
        teller = _Teller(given)
        recorded = Recorder(
            command=given.command,
            options=options,
            folder=folder,
            say=say,
            recorded=teller.tell,
            stop=given.stop,
        ).run()
        for line in recorded.said:
            say(line)
        teller.track()
        if given.json is not None:
            document = json.dumps(_document(recorded, teller), indent=2)
            given.json.write_text(f"{document}\n", "utf-8")
    if given.require and recorded.best is None and recorded.exit_status == 0:
        sys.exit(BAD_INPUT)
    sys.exit(recorded.exit_status)


class _Teller:
    """Says what was recorded, sends it, and keeps it where the user wants it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self.files: tuple[Path, ...] = ()
        self.sentence: str | None = None
        self.url: str | None = None
        self.problem: str | None = None

    def tell(self, best: "Try") -> None:
        """Called as soon as the best try is there; nothing may end the command."""
        for line in said_of(best):
            say(line)
        self.files = best.files
        try:
            if self._given.output is not None:
                self._given.output.mkdir(parents=True, exist_ok=True)
                self.files = tuple(Path(shutil.copy(one, self._given.output)) for one in best.files)
            if self._given.server:
                self.url = send_captures(self._given, self.files)
            else:
                from roofline.api.profiles import open_profile  # loads slowly

                self.sentence = open_profile(*self.files, of=self._given.of).sentence
            say(str(self.url or self.sentence))
        except (RooflineError, OSError) as error:
            self.problem = str(error)
            say(f"{error} {getattr(error, 'remedy', '')}".strip())

    def track(self) -> None:
        """Logs to the runs that the user's trackers have of the command, which has left them."""
        wanted = [tracker for tracker in TRACKERS if getattr(self._given, tracker)]
        if not (wanted and self.files):
            return
        from roofline.api.profiles import open_profile  # these load slowly
        from roofline.api.trackers import log_to_named_run

        profile = open_profile(*self.files, of=self._given.of)
        for tracker in wanted:
            try:
                run_id = log_to_named_run(tracker, profile, url=self.url or "")
                say(f"sent to the run {run_id} of {TRACKERS[tracker]}")
            except RooflineError as error:
                say(f"{error} {error.remedy}".strip())


def _document(recorded: "Recorded", teller: _Teller) -> dict[str, object]:
    best = recorded.best
    said = [*recorded.said, *([teller.problem] if teller.problem else [])]
    return {
        "schema": SCHEMA,
        "exit_status": recorded.exit_status,
        "framework": recorded.framework,
        "ranks": [] if best is None else list(best.ranks),
        "tries": recorded.tries,
        "verdict": None if best is None else best.verdict,
        "steps": None if best is None else best.worst["steps"],
        "slowdown": None if best is None else best.worst["slowdown"],
        "files": [str(one) for one in teller.files] if teller.files and best else [],
        "sentence": teller.sentence,
        "url": teller.url,
        "said": [*said, *(said_of(best)[1:] if best else [])],
    }


def _ranks(text: str) -> tuple[int, ...] | None:
    """`all`, or `0,3-5`."""
    if text == "all":
        return None
    ranks: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of ranks: write 0,3-5")
        ranks += range(int(first), int(last or first) + 1)
    return tuple(ranks)


def say(text: str) -> None:
    """A line of ours: standard output and error are the command's own."""
    sys.stderr.write(f"roofline: {text}\n")
    sys.stderr.flush()


CAPTURE_SCHEMA = "roofline.capture/1"
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
        dest="duration_ms",
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
        "--no-hlo",
        dest="hlo",
        action="store_false",
        help="leave the compiled programs out: no FLOPs are known",
    )
    parser.add_argument(
        "--at",
        dest="after_ms",
        type=_milliseconds,
        metavar="+TIME",
        help="begin so much later, by the hosts' clocks",
    )
    parser.add_argument(
        "--retry",
        dest="retries",
        type=int,
        default=2,
        metavar="N",
        help="ask so often again (%(default)s)",
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
    from roofline.api.captures import CaptureWish, captured

    addresses = _addresses(given)
    with ExitStack() as ends:
        folder = given.output
        if folder is None:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="roofline-")))
        else:
            folder.mkdir(parents=True, exist_ok=True)
        hosts = captured(addresses, alike(CaptureWish, given), folder, say)
        files = [host.path for host in hosts if host.path is not None]
        problems = [host.problem for host in hosts if host.problem is not None]
        if len(hosts) == 1 and problems:
            raise problems[0]
        for problem in problems:
            say(f"{problem.message} {problem.remedy}")
        if not files:
            raise CaptureFailedError(
                f"None of {len(hosts)} hosts was captured.", remedy="The lines above say why."
            )
        if len(files) < len(hosts):
            say(f"{len(files)} of {len(hosts)} hosts.")
        _answer(given, hosts, files)


def _answer(
    given: argparse.Namespace, hosts: "Sequence[HostCapture]", files: Sequence[Path]
) -> None:
    sentence, url = None, None
    if given.server:
        url = send_captures(given, files)
    else:
        from roofline.api.profiles import open_profile  # loads slowly

        sentence = open_profile(*files, of=given.of).sentence
    if not given.json:
        kept = f"\n{' '.join(map(str, files))}" if given.output else ""
        print_bytes(f"{url or sentence}{kept}\n".encode())
        return
    answer: dict[str, Any] = {
        "schema": CAPTURE_SCHEMA,
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
    from roofline.api.servers import Receiver, read_token, send, with_of
    from roofline.cli.runs import send_run
    from roofline.cli.uploading import labelled

    receiver = Receiver(given.server, read_token(given.token_file))
    if len(files) > 1:
        url = send_run(files, receiver, title=given.title, visibility=given.visibility)
    else:
        (profile,) = send(labelled(files, given), receiver, wait_s=60.0)
        url = str(profile["url"])
    return with_of(url, given.of)


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
