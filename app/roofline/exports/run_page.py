"""A run of hosts as its page draws it: packed columns of the run's document, with words and roofs.

A page of 4,096 hosts and 1,000 operations stays below 1 MB: numbers of hosts and operations are
columns of 32-bit floats, whose seven digits are more than the page shows, as base64; NaN is
unknown. Long names are cut in the middle.
"""

import base64
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofline.devices.catalogue import find
from roofline.figures.figure import six_digits
from roofline.model.units import GIGA, US_PER_S, gib_to_gb
from roofline.pods.report import State
from roofline.presentation.charts.host_values import HostValues
from roofline.presentation.charts.run_figures import run_roofline_figure, steps_figure
from roofline.presentation.palette import category_styles

Record = dict[str, Any]
Row = Mapping[str, Any]

MOST_OPS = 1_000
"""Operations of the page: those that lose the most time. The document has all."""
_LONGEST_NAME = 160
_STATES = {State.READ: 0, State.NO_ACCELERATOR: 1, State.UNREADABLE: 2, State.OTHER_PROGRAM: 3}
_NEVER = -1
_HOST_COLUMNS = {
    "step_us": "step_us",
    "work_us": "work_us",
    "wait_us": "wait_us",
    "ratio": "same_work_ratio",
    "score": "score",
    "slow_steps": "slow_steps",
}
_OP_COLUMNS = ("min_us", "median_us", "p95_us", "max_us", "imbalance_ratio")
_STEP_COLUMNS = ("min_work_us", "median_work_us", "p95_work_us", "max_work_us", "max_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """How much of a run has been read: `read` of `total` hosts (0: not known yet)."""

    read: int
    total: int


def run_page(document: Row, *, arriving: Arriving | None = None) -> Record:
    """The data for the page of the run of `document`; `arriving` while hosts are being read."""
    places = {one["host"]: k for k, one in enumerate(document["hosts"])}
    ops = document["ops"][:MOST_OPS]
    outliers = [] if arriving else document["outliers"]
    styles = _styles(list(dict.fromkeys(one["category"] for one in ops)))
    return {
        "hosts": _hosts(document["hosts"]),
        **_metrics(document, [places[one["host"]] for one in outliers]),
        "outliers": [
            {"at": places[one["host"]], "kind": one["kind"], "sentence": one["sentence"]}
            for one in outliers
        ],
        "deviations": {
            str(k): [_deviation(each) for each in one["deviations"]]
            for k, one in enumerate(document["hosts"])
            if one["deviations"]
        },
        "step_us": document.get("step_us"),  # earlier releases stored none
        "representative": places.get(document["representative"], _NEVER),
        "ops": {
            "names": [short_name(one["name"]) for one in ops],
            "categories": [one["category"] for one in ops],
            "lost_us": _packed([one["time_lost_us"] for one in ops]),
            "max_host": [places.get(one["max_host"], _NEVER) for one in ops],
            "total": len(document["ops"]),
            "gflops": _packed([_gflops(one) for one in ops]),
            "intensity": _packed([_intensity(one) for one in ops]),
            **{name: _packed([one[name] for one in ops]) for name in _OP_COLUMNS},
        },
        "steps": {
            "labels": [short_name(one["step"]) for one in document["steps"]],
            "critical": [places.get(one["critical_host"], _NEVER) for one in document["steps"]],
            **{name: _packed([one[name] for one in document["steps"]]) for name in _STEP_COLUMNS},
        },
        "collectives": [
            {**one, "name": short_name(one["name"]), "group": short_name(one["group"] or "")}
            for one in document["collectives"][:MOST_OPS]
        ],
        "styles": styles,
        "figures": {
            "steps": six_digits(steps_figure(document["steps"], [*places])),
            "roofline": six_digits(run_roofline_figure(ops, roofs_of(document), styles)),
        },
        "arriving": None if arriving is None else {"read": arriving.read, "total": arriving.total},
    }


def _metrics(document: Row, outliers: Sequence[int]) -> Record:
    """For each metric the shade of every host, a digit, or a sign where none is; its histogram."""
    hosts = document["hosts"]
    found = {
        name: HostValues(
            metric=name,
            values=[read(one) for one in hosts],
            names=[short_name(one["host"]) for one in hosts],
            outliers=outliers,
            is_judged=document["no_verdict"] is None,
        )
        for name, read in _METRICS.items()
    }
    unread = [one["state"] != State.READ for one in hosts]
    return {
        "shades": {
            name: "".join(
                "x" if is_unread else "-" if shade is None else str(shade)
                for shade, is_unread in zip(values.shades, unread, strict=True)
            )
            for name, values in found.items()
        },
        "histograms": {name: values.figure() for name, values in found.items()},
    }


def _bandwidth_gbs(host: Row) -> float | None:
    gibs = host["memory_bandwidth_gibs"]
    return None if gibs is None else gib_to_gb(gibs)


_METRICS: Mapping[str, Callable[[Row], float | None]] = {
    "ratio": lambda host: host["same_work_ratio"],
    "work": lambda host: host["work_us"],
    "wait": lambda host: host["wait_us"],
    "bandwidth": _bandwidth_gbs,
}


def roofs_of(document: Row) -> Record:
    """The main compute peak in GFLOP/s and that of the main memory in GB/s per core; null: unknown.

    They are those of the catalogue, and only where all hosts have one device that it knows.
    """
    devices = {one["device"] for one in document["hosts"] if one["state"] == State.READ}
    part = find(devices.pop()) if len(devices) == 1 else None
    compute = next(iter(part.compute()), None) if part else None
    main = next((one for one in part.memory() if one.level.is_main), None) if part else None
    return {
        "gflops": compute.gflops if compute else None,
        "unit": compute.label if compute else None,
        "gbs": main.gbs if main else None,
        "memory": main.level.label if main else None,
    }


def _hosts(hosts: Sequence[Row]) -> Record:
    chips = [chip for one in hosts for chip in one["chips"]]
    return {
        "names": [short_name(one["host"]) for one in hosts],
        "states": [_STATES[one["state"]] for one in hosts],
        "reasons": {str(k): one["reason"] for k, one in enumerate(hosts) if one["reason"]},
        "wait_is": next((one["wait_is"] for one in hosts if one["wait_is"]), None),
        "bandwidth_gbs": _packed([_bandwidth_gbs(one) for one in hosts]),
        **{name: _packed([one.get(of) for one in hosts]) for name, of in _HOST_COLUMNS.items()},
        "chips": {
            "counts": [len(one["chips"]) for one in hosts],
            "ratio": _packed([one["same_work_ratio"] for one in chips]),
            "slow": [k for k, one in enumerate(chips) if one["is_slow"]],
            "names": _chip_names(hosts),
        },
    }


def _gflops(op: Row) -> float | None:
    """The rate on the median host, GFLOP/s."""
    return (
        op["flop"] / op["median_us"] * US_PER_S / GIGA if op["flop"] and op["median_us"] else None
    )


def _intensity(op: Row) -> float | None:
    """FLOP per byte of all memories."""
    return op["flop"] / op["bytes"] if op["flop"] and op["bytes"] else None


def _chip_names(hosts: Sequence[Row]) -> list[str]:
    """The names of the chips of the host that has the most: hosts name theirs alike."""
    longest: Sequence[Row] = max((one["chips"] for one in hosts), key=len, default=[])
    return [short_name(chip["chip"]) for chip in longest]


def _deviation(one: Row) -> Record:
    return {
        "name": short_name(one["name"]),
        "category": one["category"],
        "time_us": one["time_us"],
        "representative_us": one["representative_us"],
    }


def _styles(categories: Sequence[str]) -> dict[str, Record]:
    styles = zip(categories, category_styles(categories), strict=True)
    return {name: {"token": style.token, "symbol": style.symbol} for name, style in styles}


def _packed(values: Sequence[float | None]) -> str:
    """Little-endian 32-bit floats as base64; NaN is unknown."""
    known = (math.nan if one is None else one for one in values)
    return base64.b64encode(struct.pack(f"<{len(values)}f", *known)).decode()


def host_called(document: Row, name: str) -> Row | None:
    """The host of that name, also as the page shortens it; `None` where there is none."""
    hosts = document["hosts"]
    return next((one for one in hosts if name in (one["host"], short_name(one["host"]))), None)


def short_name(name: str) -> str:
    """The name as the page shows it: without its middle where it is long."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = _LONGEST_NAME // 2
    return f"{name[:half]}…{name[-half + 1 :]}"
