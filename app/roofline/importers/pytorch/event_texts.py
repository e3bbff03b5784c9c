"""Texts of one event as what they say: names, arguments, signatures and collectives."""

import json

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.collectives import called_collective, collective_of
from roofline.importers.pytorch.inputs import read_inputs
from roofline.importers.pytorch.scan import Column
from roofline.importers.pytorch.signatures import Signature, read_signature
from roofline.importers.shared.kernel_names import Collective
from roofline.model.op_columns import I64

_MAX_NAME_CHARACTERS = 2_000


def text_of(buffer: NDArray[np.uint8], row: I64, column: Column) -> str:
    """The text whose place stands in `column` and whose length in the next; "" without one."""
    at, length = int(row[column]), int(row[column + 1])
    return buffer[at : at + length].tobytes().decode("utf-8", "replace") if length > 0 else ""


def parsed(text: str) -> object:
    """JSON as Python's objects; `None` where it is damaged or nested too deep."""
    try:
        result: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return result


def called_of(name: str, dims: str, types: str) -> Collective:
    """The collective that a call with these inputs starts."""
    shapes, spelled = (parsed(text) if text else None for text in (dims, types))
    inputs = read_inputs(name, dims=shapes, types=spelled, strides=None, values=None)
    return called_collective(name, inputs.tensors)


def stated_of(name: str, arguments: str) -> Collective:
    """The collective that an operator's own arguments describe."""
    stated = parsed(arguments) if "Collective name" in arguments else None
    return collective_of(name, stated if isinstance(stated, dict) else {})


def name_of(buffer: NDArray[np.uint8], row: I64, column: Column = Column.NAME_AT) -> str:
    """The name as text: escapes resolved where they are valid, and nothing unprintable."""
    raw = text_of(buffer, row, column)
    unescaped = parsed(f'"{raw}"') if "\\" in raw else raw
    shown = unescaped if isinstance(unescaped, str) else raw
    printable = "".join(ch if ch.isprintable() else " " for ch in shown[:_MAX_NAME_CHARACTERS])
    return printable.encode("utf-8", "replace").decode().strip() or "(no name)"


def signature_of(buffer: NDArray[np.uint8], row: I64) -> Signature:
    """The operator of an event, with the costs that follow from its inputs."""

    def value(column: Column) -> object:
        text = text_of(buffer, row, column)
        return parsed(text) if text else None

    return read_signature(
        name_of(buffer, row),
        dims=value(Column.DIMS_AT),
        types=value(Column.TYPES_AT),
        strides=value(Column.STRIDES_AT),
        values=value(Column.VALUES_AT),
        flop=int(row[Column.FLOP]),
        moved_bytes=int(row[Column.KERNEL_BYTES]),
    )
