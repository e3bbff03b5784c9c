"""The `roofline` command: each of its commands imports only what it needs.

Starting is part of the wait: of the 0.6 s that 1 million events take, `typer` was 0.13 s (0.29.2
imports pydantic to convert arguments), `argparse` is 0.01 s.
"""

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from roofline import __version__
from roofline.cli import (
    advising,
    comparing,
    exploring,
    gating,
    ledger,
    notes,
    run_client,
    runs,
    series,
    sharing,
    watch,
)
from roofline.cli.output import BAD_INPUT, print_bytes, put_out
from roofline.cli.time_range import add_of, read_range, with_of
from roofline.errors import MixedUploadError, RooflineError

if TYPE_CHECKING:
    from roofline.presentation.grouping_choice import Grouping
    from roofline.settings import Settings

FORMATS = ("text", "json", "csv", "generic", "xprof", "html")
GROUPED_FORMATS = ("text", "json", "csv")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line; a `RooflineError` becomes lines on stderr and exit status 2."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser(words[0] if words else None)
    given = parser.parse_args([_not_an_option(word) for word in words])
    if "run" not in given:
        parser.print_help()
        sys.exit(0)
    try:
        given.run(given)
    except RooflineError as error:
        sys.stderr.write(_said(error))
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _not_an_option(word: str) -> str:
    """A shape that begins with a minus sign is told as a wrong shape, not as an unknown option."""
    return f" {word}" if word[:1] == "-" and word[1:2].isdigit() and "x" in word else word


def _said(error: RooflineError) -> str:
    """The error, its remedy, and the files by group where they are not one profile."""
    lines = [f"roofline: {error.message}", f"          {error.remedy}"]
    if isinstance(error, MixedUploadError):
        lines += [f"          {group.label}: {', '.join(group.files)}" for group in error.groups]
        lines += [f"          not readable: {one.name}" for one in error.unreadable]
    return "\n".join([*lines, ""])


def _parser(command: str | None) -> argparse.ArgumentParser:
    """The parser; `command` is the one that was named, whose arguments may be its own module's."""
    parser = argparse.ArgumentParser(
        prog="roofline",
        description="See what bounds an accelerator program: rooflines from real profiles.",
    )
    parser.add_argument("--version", action="version", version=f"roofline {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_serve(commands.add_parser("serve", help="serve the dashboard"))
    _add_analyze(commands.add_parser("analyze", help="print the roofline of a profile"))
    advising.add_advise(commands.add_parser("advise", help="say what would help, and how much"))
    exploring.add_whatif(commands.add_parser("whatif", help="what other number formats would save"))
    comparing.add_compare(commands.add_parser("compare", help="say what changed between two runs"))
    ledger.add_ledger_command(
        commands.add_parser("ledger", help="show advice that was accepted, and what became of it")
    )
    gating.add_baseline(commands.add_parser("baseline", help="keep a run to compare later ones"))
    gating.add_check(commands.add_parser("check", help="fail where a run became worse"))
    series.add_series(commands.add_parser("series", help="show runs of a program over time"))
    _add_devices(commands.add_parser("devices", help="list the hardware catalogue"))
    estimating = commands.add_parser("estimate", help="what an op should cost on a part")
    if command == "estimate":  # its arguments follow from its ops, which other commands do not load
        _add_estimate(estimating)
    predicting = commands.add_parser("predict", help="what a language model should cost on a part")
    if command == "predict":  # its help names the models, which other commands do not load
        _add_predict(predicting)
    _add_calibrate(commands.add_parser("calibrate", help="measure this machine's peaks"))
    _add_template(commands.add_parser("template", help="print an example of the generic format"))
    _add_upload(commands.add_parser("upload", help="send a profile to a server, print its link"))
    run_client.add_import(
        commands.add_parser("import", help="have a server read a run of many hosts")
    )
    run_client.add_push(commands.add_parser("push", help="add hosts to a run on a server"))
    watch.add_watch(commands.add_parser("watch", help="send each capture that appears in a folder"))
    sharing.add_share(commands.add_parser("share", help="share a stored profile by a link"))
    notes.add_notes(commands.add_parser("notes", help="notes on points of a stored profile"))
    _add_upkeep(commands)
    warm_up = commands.add_parser(
        "warm-up", help="compile the kernels that read profiles, once per machine"
    )
    warm_up.set_defaults(run=_warm_up)
    return parser


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Serve the dashboard. Options that are not given come from ROOFLINE_HOST, ROOFLINE_PORT and"
        " ROOFLINE_DATA_DIR."
    )
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on; 0 for any free one")
    parser.add_argument("--data-dir", type=Path, help="where profiles are kept")
    parser.set_defaults(run=_serve)


def _add_analyze(parser: argparse.ArgumentParser) -> None:
    parser.description = "Analyse a profile and print its roofline."
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="one file per host, or archives of them"
    )
    runs.add_run_options(parser)
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        help="generic: to read again, see docs/generic-format.md; xprof: XProf's own table;"
        " html: the page of a run, with --engine",
    )
    parser.add_argument(
        "--about",
        action="store_true",
        help="csv: with columns for the device, the files and the version of Roofline",
    )
    _add_parts(parser)
    _add_peaks(parser)
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_analyze)


def _add_parts(parser: argparse.ArgumentParser) -> None:
    """Options for the part of a profile that is analysed, and for its sums."""
    parser.add_argument(
        "--exclude-infeed-outfeed", action="store_true", help="leave infeed and outfeed ops out"
    )
    parser.add_argument(
        "--group-by",
        metavar="WHAT",
        type=_grouping,
        help="sum ops up: path:3 (three levels of modules), source, category, program, kernel,"
        " dtype, phase or bound; as text, json or csv",
    )
    parser.add_argument(
        "--range",
        metavar="FROM..TO",
        type=read_range,
        help="only this part of the capture's time: 10ms..20ms, 2.5s.. or ..800us; see"
        " docs/timeline.md",
    )
    parser.add_argument(
        "--host", metavar="NAME", help="only this host of several, as the file or the page names it"
    )
    add_of(parser)


def _add_peaks(parser: argparse.ArgumentParser) -> None:
    """Options for the peaks to compare with."""
    parser.add_argument(
        "--dvfs",
        action="store_true",
        help="peaks at the clock that ran, where the capture says how far it was from the default",
    )
    parser.add_argument(
        "--device", metavar="NAME", help="compare with the peaks of this part, or of `this-machine`"
    )
    parser.add_argument(
        "--peak",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a peak: compute=900TFLOP/s, hbm=3.35TB/s, matrix_fp8=1.9PFLOP/s; repeatable",
    )
    parser.add_argument(
        "--sustained",
        action="append",
        default=[],
        metavar="NAME=SHARE",
        help="what programs reach of a peak at best: hbm=92%%, matrix_bf16=0.85; repeatable",
    )


def _grouping(text: str) -> "Grouping":
    from roofline.presentation.grouping_choice import read_grouping

    try:
        return read_grouping(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_devices(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the parts whose peaks are known, or one of them with every source."
    parser.add_argument("name", nargs="?", help="a part's id, name or device name")
    parser.add_argument(
        "--over", nargs="+", type=Path, metavar="FILE", help="hold this profile against the parts"
    )
    parser.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="PART=DOLLARS",
        help="with --over: dollars per device hour; repeatable",
    )
    parser.set_defaults(run=_devices)


def _add_estimate(parser: argparse.ArgumentParser) -> None:
    from roofline.cli.estimate import add_estimate

    add_estimate(parser)
    parser.set_defaults(run=_estimate)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    from roofline.cli.predicting import add_predict

    add_predict(parser)
    parser.set_defaults(run=_predict)


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Measure what this machine's processor and memory can do, and keep it as the device"
        " `this-machine`: the roofs of programs that ran on this CPU. Leave the machine idle"
        " meanwhile."
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds, less exact")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print, do not keep the measurements"
    )
    parser.set_defaults(run=_calibrate)


def _add_template(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print a file of kernels and roofs to fill in; docs/generic-format.md."
    parser.add_argument("form", choices=("csv", "json"))
    parser.set_defaults(run=_template)


def _add_upkeep(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Commands that look after the store; `roofline.cli.admin` says what each does."""
    backup = commands.add_parser("backup", help="copy all profiles; the server may go on")
    backup.add_argument("folder", type=Path, help="where to: a folder that does not exist yet")
    restore = commands.add_parser("restore", help="fill an empty server from a backup")
    restore.add_argument("folder", type=Path, help="a folder that backup made")
    gc_parser = commands.add_parser("gc", help="remove what expired or belongs to no profile")
    gc_parser.add_argument(
        "--empty-trash",
        action="store_true",
        help="purge all that is in the trash, not only what is due",
    )
    gc_parser.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    doctor = commands.add_parser("doctor", help="check every profile against its files, repair")
    doctor.add_argument("--quick", action="store_true", help="do not read the files themselves")
    doctor.add_argument("--check", action="store_true", help="repair nothing")
    worker = commands.add_parser("worker", help="run imports for servers that share PostgreSQL")
    worker.add_argument("--concurrency", type=int, default=1, help="imports at the same time")
    worker.add_argument("--metrics-port", type=int, help="numbers for Prometheus, on 127.0.0.1")
    audit = commands.add_parser("audit", help="print the audit table as JSON lines")
    audit.add_argument("--since", default="", metavar="TIME", help="ISO 8601 in UTC, or its start")
    audit.add_argument("--after", type=int, default=0, metavar="N", help="only higher numbers")
    for name in ("backup", "restore", "gc", "doctor", "worker", "audit"):
        commands.choices[name].add_argument("--data-dir", type=Path, help="where profiles are kept")
        commands.choices[name].set_defaults(run=_look_after, command=name)


def _look_after(given: argparse.Namespace) -> None:
    from roofline.cli import admin
    from roofline.settings import Settings

    chosen = {} if given.data_dir is None else {"data_dir": given.data_dir}
    settings = Settings.from_env(**chosen)
    status = {
        "backup": lambda: admin.run_backup(settings, given.folder),
        "restore": lambda: admin.run_restore(settings, given.folder),
        "gc": lambda: admin.run_gc(
            settings, dry_run=given.dry_run, empties_trash=given.empty_trash
        ),
        "doctor": lambda: admin.run_doctor(settings, quick=given.quick, check_only=given.check),
        "audit": lambda: admin.run_audit(settings, after=given.after, since=given.since),
        "worker": lambda: _work(settings, given),
    }[given.command]()
    sys.exit(status)


def _work(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.cli.admin import run_worker
    from roofline.settings import forget_secrets
    from roofline.web.http.logs import configure

    forget_secrets()
    configure(settings.log_format)
    return run_worker(settings, max(1, given.concurrency), given.metrics_port)


def _add_upload(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Send the files of one run to a server and print the link. A server that asks for a token"
        " gets the one in --token-file, ROOFLINE_TOKEN_FILE or ROOFLINE_TOKEN."
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="one file per host, or archives of them"
    )
    sharing.add_server(parser)
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


def _serve(given: argparse.Namespace) -> None:
    # The server collects once when all is loaded: on the way it is 0.2 s for nothing.
    gc.disable()
    from roofline.settings import Settings
    from roofline.web.server import run

    chosen = {"host": given.host, "port": given.port, "data_dir": given.data_dir}
    run(Settings.from_env(**{name: value for name, value in chosen.items() if value is not None}))


def _analyze(given: argparse.Namespace) -> None:
    if given.engine:
        put_out(runs.analyse_run(given), given.output)
        return
    # The process ends with the answer: collecting garbage on the way is 0.08 s for nothing.
    gc.disable()
    from roofline.cli.progress import progress_on_terminal
    from roofline.devices.choice import read_choice
    from roofline.exports.render import render, render_groups
    from roofline.pipeline import analyse_files

    files = [_path(one) for one in given.files]
    if given.group_by and given.format not in GROUPED_FORMATS:
        _refuse_grouped(given.format)
    if given.range and given.format == "xprof":
        sys.stderr.write("roofline: XProf's table is of the whole capture\n")
        sys.stderr.write("          Leave --range out, or use another --format.\n")
        sys.exit(BAD_INPUT)

    if given.dvfs and given.format == "xprof":
        sys.stderr.write("roofline: XProf's table has the peaks of the default clock\n")
        sys.stderr.write("          Leave --dvfs out, or use another --format.\n")
        sys.exit(BAD_INPUT)
    if given.format == "html":
        sys.stderr.write("roofline: only the page of a run of hosts is written as html\n")
        sys.stderr.write("          Add --engine local, or use another --format.\n")
        sys.exit(BAD_INPUT)
    choice = read_choice(given.device, given.peak, given.sustained)
    with progress_on_terminal(files) as progress:
        analysis = analyse_files(
            files,
            xprof_compat=given.format == "xprof",
            choice=choice,
            range_ps=given.range,
            host=given.host,
            dvfs=given.dvfs,
            progress=progress,
        )
    infeed = not given.exclude_infeed_outfeed
    if given.group_by:
        content = render_groups(analysis, given.format, given.group_by, infeed=infeed)
    else:
        content = render(analysis, given.format, infeed=infeed, of=given.of)
    if given.about and given.format == "csv" and not given.group_by:
        from roofline.exports.csv_files import csv_with_about

        names = "; ".join(file.name for file in files)
        content = csv_with_about(content, device=analysis.device.name, profile=names)
    put_out(content, given.output)


def _path(text: str) -> Path:
    if "://" in text:
        sys.stderr.write(f"roofline: {text[:200]} is an address, not a file\n")
        sys.stderr.write("          Add --engine local, or copy the file here.\n")
        sys.exit(BAD_INPUT)
    return Path(text)


def _refuse_grouped(output_format: str) -> NoReturn:
    sys.stderr.write(f"roofline: groups cannot be written as {output_format}\n")
    sys.stderr.write(f"          Use --format {', '.join(GROUPED_FORMATS)}.\n")
    sys.exit(BAD_INPUT)


def _estimate(given: argparse.Namespace) -> None:
    from roofline.cli.estimate import run_estimate

    print_bytes(run_estimate(given))


def _predict(given: argparse.Namespace) -> None:
    from roofline.cli.predicting import run_predict

    put_out(run_predict(given), given.output)


def _devices(given: argparse.Namespace) -> None:
    from roofline.cli.device_text import describe_part, describe_parts

    if given.over:
        names = [given.name] if given.name else []
        print_bytes(exploring.parts_over(given.over, given.price, names).encode())
        return
    print_bytes((describe_part(given.name) if given.name else describe_parts()).encode())


def _calibrate(given: argparse.Namespace) -> None:
    from roofline.cli.calibrate import calibrate

    calibrate(
        quick=given.quick, keep=not given.dry_run, write=lambda text: print_bytes(text.encode())
    )


def _template(given: argparse.Namespace) -> None:
    from roofline.importers.generic.template import TEMPLATES

    print_bytes(TEMPLATES[given.form].encode())


def _upload(given: argparse.Namespace) -> None:
    import json

    from roofline.cli.upload import Receiver, Upload, read_token, send

    upload = Upload(
        files=tuple(given.files),
        title=given.title,
        note=given.note,
        tags=tuple(given.tag),
        visibility=given.visibility,
    )
    receiver = Receiver(given.server, read_token(given.token_file))
    wait_s = max(0.0, min(given.wait, 300.0))
    profiles = send(upload, receiver, wait_s=wait_s, split=given.split)
    for profile in profiles:
        linked = {**profile, "url": with_of(str(profile["url"]), given.of)}
        text = json.dumps(linked, indent=2) if given.json else linked["url"]
        print_bytes(f"{text}\n".encode())


def _warm_up(_given: argparse.Namespace) -> None:
    import compileall

    from roofline.importers.registry import warm_up

    warm_up()
    # Byte code, too, where the environment keeps Python from writing it: 0.05 s of every start.
    compileall.compile_dir(Path(__file__).parents[1], quiet=2)
