"""`roofline ci init`: writes the workflow by which GitHub or GitLab checks a pull request.

The main branch and the pull request are captured on one machine, in turns, three times each: so
time is tested, and neither an older machine nor a slow hour is mistaken for a change.
"""

import argparse
import textwrap
from pathlib import Path

from roofline.cli.output import print_bytes, write
from roofline.errors import SettingsError

_CAPTURE = 'roofline record --output "$ROOFLINE_CAPTURE_DIR" --require -- python train.py'
_INSTALL = "python -m pip install roofline"

# Steps of the shell, which both services run.
_IN_TURNS = """\
git worktree add --force --detach roofline-base "origin/$BASE"
for turn in 1 2 3; do
  for side in base head; do
    export ROOFLINE_CAPTURE_DIR="$PWD/roofline-out/$side/$turn"
    mkdir -p "$ROOFLINE_CAPTURE_DIR"
    if [ "$side" = base ]; then cd roofline-base; fi
    {capture}
    if [ "$side" = base ]; then cd ..; fi
  done
done"""
_CHECK = """\
mkdir -p roofline-report
roofline baseline save roofline-out/base.json roofline-out/base/*{options}
roofline check roofline-out/head/* --against roofline-out/base.json --require time{options} \\
  --junit roofline-report/junit.xml --sarif roofline-report/roofline.sarif{summary}"""

_SUMMARY = ' \\\n  --summary "$GITHUB_STEP_SUMMARY"'

_GITHUB = """\
# Written by `roofline ci init github`. The main branch is captured in the folder roofline-base.
name: Roofline
on: pull_request
permissions:
  contents: read
defaults:
  run:
    shell: bash
jobs:
  roofline:
    runs-on: ubuntu-latest # or the labels of a runner with your accelerator
    env:
      BASE: ${{{{ github.base_ref }}}}
      NUMBA_CACHE_DIR: ${{{{ github.workspace }}}}/.roofline-kernels
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install
        run: |
{install}
      - uses: actions/cache@v4
        with:
          path: .roofline-kernels
          key: roofline-${{{{ runner.arch }}}}-${{{{ hashFiles('**/pyproject.toml') }}}}
      - name: Compile the readers
        run: roofline warm-up
      - name: Capture in turns
        run: |
{in_turns}
      - name: Check
        run: |
{check}
      - if: always()
        uses: actions/upload-artifact@v4
        with:
          name: roofline-report
          path: roofline-report
"""
_GITLAB = """\
# Written by `roofline ci init gitlab`. The main branch is captured in the folder roofline-base.
# Add to .gitlab-ci.yml: include: {{local: .gitlab/roofline.yml}}
roofline:
  stage: test
  image: python:3.12 # or one with your accelerator's libraries
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: "0"
    BASE: $CI_MERGE_REQUEST_TARGET_BRANCH_NAME
    NUMBA_CACHE_DIR: $CI_PROJECT_DIR/.roofline-kernels
  cache:
    key: roofline-kernels
    paths: [.roofline-kernels]
  script:
    - |
{install}
    - roofline warm-up
    - |
{in_turns}
    - |
{check}
  allow_failure:
    exit_codes: 3 # inconclusive
  artifacts:
    when: always
    paths: [roofline-report]
    reports:
      junit: roofline-report/junit.xml
"""
_SERVICES = {
    "github": (_GITHUB, Path(".github/workflows/roofline.yml"), 10),
    "gitlab": (_GITLAB, Path(".gitlab/roofline.yml"), 6),
}


def add_ci(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline ci`."""
    parser.description = "Set up the check of pull requests; see docs/gate.md."
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
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
    _, path, _ = _SERVICES[given.service]
    if path.exists() and not given.force:
        raise SettingsError(
            f"{path} is there already, and was left as it is.",
            remedy="Overwrite it with --force.",
        )
    device = f" --device {given.device}" if given.device else ""
    content = workflow(given.service, given.capture, given.install, device)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, content.encode())
    print_bytes(f"{path} is written. Each turn runs: {given.capture}\n".encode())


def workflow(
    service: str, capture: str = _CAPTURE, install: str = _INSTALL, options: str = ""
) -> str:
    """The workflow of `service` as YAML; `options` are those of `check` and `baseline save`."""
    template, _, spaces = _SERVICES[service]
    parts = {
        "install": install,
        "in_turns": _IN_TURNS.format(capture=capture),
        "check": _CHECK.format(options=options, summary=_SUMMARY if service == "github" else ""),
    }
    return template.format(
        **{name: textwrap.indent(text, " " * spaces) for name, text in parts.items()}
    )
