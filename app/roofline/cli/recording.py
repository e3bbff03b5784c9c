"""`roofline record -- COMMAND`: a profile of a program while it runs, and what it says."""

import argparse
import json
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.cli import sharing
from roofline.cli.capturing import send_captures
from roofline.cli.options import add_of, with_of
from roofline.cli.output import BAD_INPUT
from roofline.cli.runs import seconds
from roofline.cli.uploading import add_labels
from roofline.errors import RooflineError
from roofline.model.units import MS_PER_S

if TYPE_CHECKING:
    from roofline.capture.recorder import Recorded, Try

SCHEMA = "roofline.record/1"
_SLOWER = 1.1


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
    sharing.add_server(parser, is_optional=True)
    add_labels(parser)
    add_of(parser)
    parser.set_defaults(run=_record)


def _record(given: argparse.Namespace) -> None:
    from roofline.capture.recorder import Recorder, RecordOptions

    options = RecordOptions(
        steps=given.steps,
        skip=given.skip,
        after_s=given.after,
        duration_s=given.duration,
        ranks=given.ranks,
        stack=given.stack,
    )
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
        for line in _lines(best):
            say(line)
        self.files = best.files
        try:
            if self._given.output is not None:
                self._given.output.mkdir(parents=True, exist_ok=True)
                self.files = tuple(Path(shutil.copy(one, self._given.output)) for one in best.files)
            if self._given.server:
                self.url = with_of(send_captures(self._given, self.files), self._given.of)
            else:
                from roofline.api.profiles import open_profile  # loads slowly

                self.sentence = open_profile(*self.files, of=self._given.of).sentence
            say(str(self.url or self.sentence))
        except (RooflineError, OSError) as error:
            self.problem = str(error)
            say(f"{error} {getattr(error, 'remedy', '')}".strip())


def _lines(best: "Try") -> list[str]:
    """The recording in words, and its defects."""
    worst = best.worst
    ranks = f" of {len(best.ranks)} ranks" if len(best.ranks) > 1 else ""
    steps = worst["steps"]
    each = f", {worst['step_s'] * MS_PER_S:.3g} ms each" if worst["step_s"] else ""
    what = (
        f"{steps} {'step' if steps == 1 else 'steps'}" if worst["wanted"] else "a stretch of time"
    )
    tried = "first try" if best.number == 1 else "second try"
    took = f"{worst['seconds']:.1f} s of the program's time"
    lines = [f"recorded {what}{ranks}{each}, {tried}; {took}"]
    defects = {
        "cold": f"Cold: the longest step took {worst['longest'] or 0:.1f} times the median."
        if worst["longest"]
        else "Cold: the program compiled in the window.",
        "truncated": f"The program ended in the window: {steps} of {worst['wanted']} steps."
        if worst["wanted"]
        else "The program ended in the window.",
        "no shapes": "No operator has the shapes of its inputs.",
        "no kernels": "No kernel was recorded: is CUPTI in use by another profiler, such as ncu,"
        " nsys or DCGM?",
    }
    if best.verdict in defects:
        lines.append(defects[best.verdict])
    if worst["slowdown"] and worst["slowdown"] > _SLOWER:
        lines.append(
            f"Steps in the window took {worst['slowdown']:.1f} times those before it, so waits for"
            " the host look longer than they are."
        )
    return lines


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
        "said": [*said, *(_lines(best)[1:] if best else [])],
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
