"""The ledger of advice as a file: `roofline ledger`, and what other commands do with it."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.cli.output import put_out, write
from roofline.errors import BadViewError, UploadRejectedError

if TYPE_CHECKING:
    from roofline.advice.ledger import Entry, State
    from roofline.compare.run import Run

DEFAULT = Path("roofline-ledger.jsonl")
_FORMATS = ("text", "json", "jsonl", "csv")


class LedgerFile:
    """The ledger in a file; empty where there is none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path or DEFAULT
        self.entries: list[Entry] = _read(self.path) if path or self.path.exists() else []

    def of(self, profile: str) -> "list[Entry]":
        """The entries of one profile, by the name of its file."""
        return [one for one in self.entries if one.profile == profile]

    def put(self, entry: "Entry") -> None:
        """Adds an entry, or replaces the one of its finding."""
        from roofline.advice.ledger import with_entry

        self.entries = with_entry(self.entries, entry)

    def forget(self, profile: str, finding: str) -> bool:
        """Removes the entry of a finding; false where there is none."""
        kept = [one for one in self.entries if one.key != (profile, finding)]
        found = len(kept) < len(self.entries)
        self.entries = kept
        return found

    def save(self) -> None:
        """Writes the file."""
        from roofline.exports.ledger import entries_to_lines

        write(self.path, entries_to_lines(self.entries))

    def measure(
        self, a: Sequence[Path], b: Sequence[Path], before: "list[Run]", after: "list[Run]"
    ) -> "list[Entry]":
        """Accepted findings of the captures `a`, measured by the captures `b`, and kept.

        Findings per a unit that a capture does not have stay as they are.
        """
        names = {path.name for path in a}
        found = [one for one in self.entries if one.profile in names and one.state == "accepted"]
        if not found:
            return []
        from roofline.advice.ledger import measured
        from roofline.compare.comparison import common_units, compare
        from roofline.exports.advice_decided import measured_by

        units = {one.unit for one in found} & {*common_units((*before, *after))}
        by_unit = {unit: compare(before, after, unit) for unit in units}
        told = [
            measured(one, measured_by(one, by_unit[one.unit], profile=b[0].name, at=_now()))
            for one in found
            if one.unit in by_unit
        ]
        for one in told:
            self.put(one)
        self.save()
        return told


def decide(
    record: dict[str, Any], ledger: LedgerFile, name: str, given: argparse.Namespace
) -> dict[str, Any]:
    """The advice with what the ledger says, after noting what `given` decides of it."""
    from roofline.advice.ledger import hits_of
    from roofline.exports.advice_decided import corrected, entry_of, with_done

    done = [one for one in ledger.entries if one.measured and one.measured.profile == name]

    def shown() -> dict[str, Any]:
        return with_done(corrected(record, ledger.of(name), hits_of(ledger.entries)), done)

    listed = shown()
    for finding in given.restore:
        if not ledger.forget(name, finding):
            raise BadViewError("Nothing was decided of this finding.", remedy="Copy its id.")
    decisions: tuple[tuple[State, list[str]], ...] = (
        ("accepted", given.accept),
        ("dismissed", given.dismiss),
    )
    for state, findings in decisions:
        for finding in findings:
            ledger.put(
                entry_of(
                    listed,
                    _id(listed, finding),
                    state,
                    profile=name,
                    at=_now(),
                    reason=given.reason if state == "dismissed" else "",
                )
            )
    if given.accept or given.dismiss or given.restore:
        ledger.save()
    return shown()


def _id(record: dict[str, Any], finding: str) -> str:
    """The id of a finding that was given by its place in the list, or by its id."""
    number = int(finding) - 1 if finding.isdecimal() else -1
    known = record["findings"]
    return str(known[number]["id"]) if 0 <= number < len(known) else finding


def add_ledger_command(parser: argparse.ArgumentParser) -> None:
    """The options of `roofline ledger`."""
    parser.description = (
        "Show findings that were accepted or dismissed, what was measured of them, and how often"
        " each rule is right."
    )
    parser.add_argument("file", nargs="?", type=Path, help=f"the ledger ({DEFAULT})")
    parser.add_argument(
        "--add", action="append", default=[], type=Path, metavar="FILE", help="add its entries"
    )
    parser.add_argument("-f", "--format", choices=_FORMATS, default="text")
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_show)


def _show(given: argparse.Namespace) -> None:
    from roofline.exports.ledger import render_ledger

    ledger = LedgerFile(given.file)
    for path in given.add:
        for entry in _read(path):
            ledger.put(entry)
    if given.add:
        ledger.save()
    put_out(render_ledger(ledger.entries, given.format), given.output)
    if not ledger.entries:
        sys.stderr.write("roofline: the ledger is empty.\n")


def _read(path: Path) -> "list[Entry]":
    from roofline.exports.ledger import entries_from_lines

    try:
        return entries_from_lines(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UploadRejectedError(
            f"{path} cannot be read: {error.strerror}.", remedy="Name a ledger that can be read."
        ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
