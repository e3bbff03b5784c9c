"""A profile as agents read it: its document, its operations by id, and how sure all of it is."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from roofline.analysis.launch_times import launch_records
from roofline.api.profiles import Profile
from roofline.errors import BadViewError
from roofline.exports.certainty import Certainty, certainty_of, certainty_of_op
from roofline.exports.records import op_ids

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A roof: its peak per core in `unit`, and where that is from."""

    label: str
    peak: float
    unit: str
    origin: str
    source: str


@dataclass(frozen=True, eq=False)
class Reading:
    """`name` is how a caller names the profile, `digest` the SHA-256 of its file, or ""."""

    profile: Profile
    name: str
    digest: str = ""

    @cached_property
    def document(self) -> Record:
        """The document of `roofline analyze --format json`."""
        return self.profile.to_dict()

    @cached_property
    def ids(self) -> Mapping[str, Record]:
        """Every operation by its id, the one of the longest self time first."""
        return dict(zip(op_ids(self.rows), self.rows, strict=True))

    @cached_property
    def rows(self) -> Sequence[Record]:
        """Every operation with the columns of the CSV."""
        return self.profile.rows()

    def op(self, wanted: str) -> tuple[str, Record]:
        """The operation with this id, or the longest with this name.

        Raises `BadViewError` where there is none.
        """
        found = self.ids.get(wanted)
        if found is not None:
            return wanted, found
        for op_id, row in self.ids.items():
            if row["name"] == wanted:
                return op_id, row
        raise BadViewError(
            f"No operation has the id or the name “{wanted[:100]}”.",
            remedy="Ids are in the first column of the operations: top_ops, or"
            " `roofline analyze --find TEXT --format markdown`.",
        )

    def launch_times(self, op_id: str) -> Record:
        """Percentiles of an operation's launches; empty where the files do not tell each."""
        analysis, place = self.profile.analysis, list(self.ids).index(op_id)
        return launch_records(analysis)(int(analysis.with_infeed.every.op[place]))

    @cached_property
    def certainty(self) -> Certainty:
        """How sure the verdict of the profile is."""
        return certainty_of(self.profile.analysis, self.profile.answered.answer)

    @cached_property
    def sure(self) -> Mapping[str, str]:
        """How sure it is what binds each operation, by its id."""
        analysis = self.profile.analysis
        ops = analysis.with_infeed.every.op.tolist()
        return {key: certainty_of_op(analysis, op) for key, op in zip(self.ids, ops, strict=True)}

    @cached_property
    def roofs(self) -> Mapping[str, Roof]:
        """Every roof by its id."""
        roofs = self.document["roofs"]
        flops = [(one["id"], one, "peak_gflops", "GFLOP/s") for one in roofs["compute"]]
        memory = [(one["level"], one, "peak_gibs", "GiB/s") for one in roofs["memory"]]
        links = [(one["level"], one, "peak_gbs", "GB/s") for one in roofs["links"]]
        return {
            name: Roof(
                label=one["label"],
                peak=one[key],
                unit=unit,
                origin=one["origin"],
                source=one["source"],
            )
            for name, one, key, unit in (*flops, *memory, *links)
        }


def reading_of(profile: Profile) -> Reading:
    """The profile by the path of its first file, else by its title."""
    if not profile.files:
        return Reading(profile, profile.title)
    path = profile.files[0]
    return Reading(profile, str(path), digest_of(path))


def digest_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal, or "" of a folder and of a file that is gone."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
