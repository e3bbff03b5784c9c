"""`roofline calibrate`: measures this machine, and prints each peak as soon as it is known."""

import argparse

from roofline.api.calibration import calibrate
from roofline.cli.output import print_bytes


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline calibrate`."""
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


def _calibrate(given: argparse.Namespace) -> None:
    calibrate(
        quick=given.quick, keep=not given.dry_run, write=lambda text: print_bytes(text.encode())
    )
