"""`roofline baseline save` and `roofline check`: the gate of CI.

`roofline ci init` writes the workflow by which GitHub or GitLab checks a pull request.

The main branch and the pull request are captured on one machine, in turns, three times each: so
time is tested, and neither an older machine nor a slow hour is mistaken for a change.
"""

import argparse
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from roofline.cli.comparing import FORMATS, UNITS, read_runs
from roofline.cli.options import add_files, add_of, add_peaks
from roofline.cli.output import answer_once, print_bytes, put_out, write
from roofline.errors import SettingsError

if TYPE_CHECKING:
    from roofline.compare.gate.budget import Budget
    from roofline.compare.gate.check import Report


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline baseline`."""
    parser.description = "Keep a run as a small file, to check later runs against."
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    parser.set_defaults(actions=actions.choices)
    save = actions.add_parser("save", help="write captures of one program as a baseline")
    save.add_argument("baseline", type=Path, metavar="OUT", help="the file to write")
    add_files(save, "one capture each")
    save.add_argument("--note", default="", help="text to keep with it, such as a commit")
    add_of(save)
    add_peaks(save)
    save.set_defaults(run=_save)


def add_check(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline check`."""
    parser.description = (
        "Check captures of one program against a baseline and a budget. FLOPs, bytes, roof time and"
        " the number of operations are exact: one capture is enough. Times are judged from three"
        " captures of each side on. Exit status: 0 passed, 1 a rule is broken, 2 a file cannot be"
        " read, 3 inconclusive or nothing tested."
    )
    add_files(parser, "one capture each")
    parser.add_argument("--against", type=Path, metavar="FILE", help="the baseline")
    parser.add_argument(
        "--budget", type=Path, metavar="FILE", help="limits; roofline.toml where there is one"
    )
    parser.add_argument("--budget-only", action="store_true", help="no baseline: values alone")
    parser.add_argument("--max-regress", metavar="SHARE", help="limit for time, such as 3%%")
    parser.add_argument("--unit", choices=UNITS, help="numbers per step, execution or capture")
    parser.add_argument(
        "--inconclusive", choices=("fail", "pass"), help="pass: exit with 0 where 3 would be"
    )
    parser.add_argument(
        "--require", choices=("time",), help="time: exit with 3 where step time was not tested"
    )
    parser.add_argument(
        "--confirm",
        metavar="COMMAND",
        help="capture again before failing on time: run by the shell, once per capture, which it"
        " leaves in the empty folder $ROOFLINE_CAPTURE_DIR",
    )
    parser.add_argument("--update", action="store_true", help="write the run as the new baseline")
    parser.add_argument("--note", default="", help="with --update: text to keep with it")
    parser.add_argument("--explain", metavar="RULE", help="formula and numbers of one rule")
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("-o", "--output", type=Path, help="write the report to this file")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="also write SARIF")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="append Markdown to this file")
    parser.add_argument(
        "--annotations",
        action="store_true",
        default=os.environ.get("GITHUB_ACTIONS") == "true",
        help="print GitHub's annotations, as in its workflows",
    )
    add_of(parser)
    add_peaks(parser)
    parser.set_defaults(run=_check)


def _save(given: argparse.Namespace) -> None:
    answer_once()
    from roofline.compare.gate.baseline import baseline_of, baseline_to_json
    from roofline.devices.choice import read_choice

    runs = read_runs(given.files, read_choice(given.device, given.peak), given.of)
    write(given.baseline, baseline_to_json(baseline_of(runs, given.note)))


def _check(given: argparse.Namespace) -> None:
    answer_once()
    from roofline.api.comparing import read_baseline
    from roofline.compare.gate.baseline import baseline_of, baseline_to_json
    from roofline.compare.gate.check import check
    from roofline.compare.gate.confirm import confirm
    from roofline.devices.choice import read_choice

    budget = _budget(given)
    path = _baseline_path(given, budget)
    runs = read_runs(given.files, read_choice(given.device, given.peak), given.of)
    baseline = None
    if path is not None and not (given.update and not path.exists()):
        baseline = read_baseline(path, given.files)
    report = check(runs, baseline, budget, today=date.today())
    if given.confirm is not None:
        choice = read_choice(given.device, given.peak)
        again = partial(capture_again, given.confirm, choice=choice, of=given.of)
        report = confirm(report, baseline, budget, again, date.today())
    if given.explain is not None:
        _explain(report, given.explain)
    else:
        _put_out(report, given)
    if given.update and path is not None:
        write(path, baseline_to_json(baseline_of(runs, given.note)))
        sys.exit(0)
    sys.exit(report.status)


def _budget(given: argparse.Namespace) -> "Budget":
    """The budget file, with the options of the command line in place of its own."""
    from roofline.api.comparing import budget_of
    from roofline.compare.gate.budget import Limit, read_percent

    budget = budget_of(given.budget)
    if given.max_regress is not None:
        share = read_percent(given.max_regress, "--max-regress")
        step = replace(budget.time.get("step", Limit()), max_change=share)
        budget = replace(budget, time={**budget.time, "step": step})
    if given.unit is not None:
        budget = replace(budget, unit=given.unit)
    if given.inconclusive is not None:
        budget = replace(budget, inconclusive_passes=given.inconclusive == "pass")
    return replace(budget, needs_time=budget.needs_time or given.require == "time")


def _baseline_path(given: argparse.Namespace, budget: "Budget") -> Path | None:
    if given.budget_only:
        return None
    if given.against is not None:
        return Path(given.against)
    if budget.against is not None:
        return Path(budget.against)
    raise SettingsError(
        "There is no baseline to check against.",
        remedy="Name it with --against, or check values alone with --budget-only.",
    )


def _explain(report: "Report", rule: str) -> None:
    from roofline.exports.gate import explain

    text = explain(report, rule)
    if text is None:
        rules = ", ".join(one.rule for one in report.results)
        raise SettingsError(f"There is no rule {rule}.", remedy=f"The rules are {rules}.")
    print_bytes(text.encode("utf-8", "replace"))


def _put_out(report: "Report", given: argparse.Namespace) -> None:
    from roofline.exports.gate import render_report, report_to_markdown

    if given.junit is not None or given.sarif is not None or given.annotations:
        _write_formats(report, given)
    if given.summary is not None:
        markdown = report_to_markdown(report).encode("utf-8", "replace")
        before = given.summary.read_bytes() if given.summary.is_file() else b""
        write(given.summary, before + markdown)
    put_out(render_report(report, "json" if given.json else given.format), given.output)


def _write_formats(report: "Report", given: argparse.Namespace) -> None:
    from roofline.exports.gate import annotations, report_to_junit, report_to_sarif

    root = Path.cwd()
    if given.junit is not None:
        write(given.junit, report_to_junit(report))
    if given.sarif is not None:
        write(given.sarif, report_to_sarif(report, root))
    if given.annotations and not given.json and given.format == "text":
        print_bytes(annotations(report, root).encode("utf-8", "replace"))


if TYPE_CHECKING:
    from roofline.compare.run import Run
    from roofline.devices.choice import PeakChoice

FOLDER_VARIABLE = "ROOFLINE_CAPTURE_DIR"


def capture_again(
    command: str, captures: int, choice: "PeakChoice | None", of: str | None = None
) -> "list[Run]":
    """Runs `command` by the shell, `captures` times; each leaves the files of one capture.

    Times are those of the subject with the address `of`.

    Raises `SettingsError` where it fails, or leaves no file.
    """
    return [_capture(command, f"{k + 1} of {captures}", choice, of) for k in range(captures)]


def _capture(command: str, which: str, choice: "PeakChoice | None", of: str | None) -> "Run":
    from roofline.compare.from_analysis import run_of_address
    from roofline.pipeline import analyse_files

    with TemporaryDirectory(prefix="roofline-confirm-") as name:
        folder = Path(name)
        sys.stderr.write(f"roofline: capture {which} to confirm a change of time\n")
        done = subprocess.run(
            f"{{ {command}\n}} 1>&2",  # its output must not become a part of the report
            shell=True,
            env={**os.environ, FOLDER_VARIABLE: name},
            check=False,
        )
        if done.returncode:
            raise SettingsError(
                f"The command of --confirm ended with status {done.returncode}.",
                remedy=f"It must capture the program into ${FOLDER_VARIABLE} and end with 0.",
            )
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if not files:
            raise SettingsError(
                "The command of --confirm left no capture.",
                remedy=f"It must write the files of one capture into ${FOLDER_VARIABLE}.",
            )
        analysis = analyse_files(files, choice=choice)
        return run_of_address(analysis, of, f"confirming {which}")


_CAPTURE = 'roofline record --output "$ROOFLINE_CAPTURE_DIR" --require -- python train.py'
_INSTALL = "python -m pip install --no-compile roofline"

# Steps of the shell, which both services run.
_IN_TURNS = """\
git worktree add --force --detach roofline-base "origin/$BASE"
for turn in 1 2 3; do
  for side in base head; do (
    export ROOFLINE_CAPTURE_DIR="$PWD/roofline-out/$side/$turn"
    mkdir -p "$ROOFLINE_CAPTURE_DIR"
    if [ "$side" = base ]; then cd roofline-base; fi
    # Each side imports its own modules: the pull request's may be installed.
    export PYTHONPATH="$PWD/src:$PWD${{PYTHONPATH:+:$PYTHONPATH}}"
    {capture}
  ) done
done"""
_CHECK = """\
{begun}roofline baseline save roofline-out/base.json roofline-out/base/*{options}
roofline check roofline-out/head/* --against roofline-out/base.json --require time{options} \\
  --junit roofline-report/junit.xml --sarif roofline-report/roofline.sarif{summary}"""

_REPORT = "mkdir -p roofline-report\n"
_BEGUN = _REPORT + "echo '<!-- roofline -->' > roofline-report/comment.md\n"
_SUMMARY = " \\\n  --summary roofline-report/comment.md"

_SERVICES = {
    "github": (Path(".github/workflows/roofline.yml"), 10),
    "gitlab": (Path(".gitlab/roofline.yml"), 6),
}


def add_ci(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline ci`."""
    parser.description = "Set up the check of pull requests; see docs/gate.md."
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    parser.set_defaults(actions=actions.choices)
    init = actions.add_parser("init", help="write the workflow for a service")
    init.add_argument("service", choices=tuple(_SERVICES))
    init.add_argument(
        "--capture",
        metavar="COMMAND",
        default=_CAPTURE,
        help="what leaves the files of one capture in $ROOFLINE_CAPTURE_DIR (%(default)s)",
    )
    init.add_argument(
        "--install",
        metavar="COMMAND",
        default=_INSTALL,
        help="what installs Roofline and your program (%(default)s)",
    )
    init.add_argument("--device", metavar="NAME", help="hold both sides against this part")
    init.add_argument("--force", action="store_true", help="overwrite a file that is there")
    init.set_defaults(run=_init)


def _init(given: argparse.Namespace) -> None:
    path, _ = _SERVICES[given.service]
    if path.exists() and not given.force:
        raise SettingsError(
            f"{path} is there already, and was left as it is.",
            remedy="Overwrite it with --force.",
        )
    device = f" --device {given.device}" if given.device else ""
    content = workflow(given.service, given.capture, given.install, device)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, content.encode())
    said = f"{path} is written. It installs by: {given.install}\nEach turn runs: {given.capture}\n"
    if given.install == _INSTALL:
        said += "Roofline is in no public index yet: name another command with --install --force.\n"
    print_bytes(said.encode())


def workflow(
    service: str, capture: str = _CAPTURE, install: str = _INSTALL, options: str = ""
) -> str:
    """The workflow of `service` as YAML; `options` are those of `check` and `baseline save`."""
    _, spaces = _SERVICES[service]
    template = Path(__file__).with_name(f"ci-{service}.yml").read_text("utf-8")
    parts = {
        "install": install,
        "in_turns": _IN_TURNS.format(capture=capture),
        "check": _CHECK.format(
            options=options,
            begun=_BEGUN if service == "github" else _REPORT,
            summary=_SUMMARY if service == "github" else "",
        ),
    }
    return template.format(
        **{name: textwrap.indent(text, " " * spaces) for name, text in parts.items()}
    )
