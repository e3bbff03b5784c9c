"""Receipts to the report of a run."""

from collections.abc import Iterable

from roofline.fleet.kept import KeptPartials
from roofline.fleet.receipts import Receipt
from roofline.pods.one_op import OpOnHost, op_on_hosts
from roofline.pods.reduce import reduce_run
from roofline.pods.report import RunReport, Unreadable
from roofline.pods.spool import spool


def op_of_receipts(receipts: Iterable[Receipt], kept: KeptPartials, op: str) -> list[OpOnHost]:
    """The operation with this id on each host. Raises as `reduce_receipts`."""
    partials = (kept.partial(key) for receipt in receipts for key in receipt.partials)
    return op_on_hosts(partials, op)


def file_with(receipts: Iterable[Receipt], kept: KeptPartials, digest: str) -> str | None:
    """The SHA-256 of the file that holds the capture with this one: itself, or an archive.

    `None` where no file does. Raises as `reduce_receipts`.
    """
    for receipt in receipts:
        if any(kept.partial(key).header.file_digest == digest for key in receipt.partials):
            return receipt.digest
    return None


def reduce_receipts(receipts: Iterable[Receipt], kept: KeptPartials) -> RunReport:
    """The document of the run whose files gave `receipts`; their order does not count.

    Raises `ValueError` where a partial of a receipt is missing in `kept`.
    """
    with spool() as found:
        unreadable: list[Unreadable] = []
        for receipt in receipts:
            unreadable += receipt.unreadable
            for key in receipt.partials:
                found.add(kept.partial(key))
        return reduce_run(found.partials(), unreadable, release=found.release)
