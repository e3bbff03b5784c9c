"""Messages between engines and their workers: strings and numbers only, as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from roofline.pods.folders import is_folder
from roofline.pods.report import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """One file of a run.

    `address` is a path or an address such as `s3://bucket/key`; `version` is the ETag or generation
    of an object. `digest` is the SHA-256 of the content where it is known, else empty. `is_named`
    is true where the user named the file, not only its folder. The address of a folder whose files
    are one host ends with `/`.
    """

    address: str
    name: str
    size_bytes: int
    is_named: bool
    version: str = ""
    digest: str = ""

    @property
    def is_folder(self) -> bool:
        """True where the files of a folder are one host."""
        return is_folder(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """How one file was read: `digest` is the SHA-256 of its content.

    `partials` are the keys under which the partials of the file are kept, one for each host in it.
    `was_kept` is true where they were found and not computed. `cpu_seconds` is processor time.
    """

    address: str
    digest: str
    partials: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    cpu_seconds: float
    was_kept: bool


def unread(file: HostFile, reason: str, *, cpu_seconds: float = 0.0, digest: str = "") -> Receipt:
    """The receipt of a file that could not be read."""
    return Receipt(
        address=file.address,
        digest=digest or file.digest,
        partials=(),
        unreadable=(Unreadable(name=file.name, digest=digest or file.digest, reason=reason),),
        cpu_seconds=cpu_seconds,
        was_kept=False,
    )


def to_text(values: "list[HostFile] | list[Receipt]") -> str:
    """Files or receipts as JSON."""
    return json.dumps([asdict(one) for one in values])


def files_from(text: str) -> list[HostFile]:
    """The files in `text`."""
    return [HostFile(**one) for one in json.loads(text)]


def receipts_from(text: str) -> list[Receipt]:
    """The receipts in `text`."""
    return [_receipt(one) for one in json.loads(text)]


def _receipt(fields: Mapping[str, Any]) -> Receipt:
    missing = tuple(Unreadable(**one) for one in fields["unreadable"])
    return Receipt(**{**fields, "partials": tuple(fields["partials"]), "unreadable": missing})
