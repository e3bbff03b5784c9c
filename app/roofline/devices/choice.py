"""The user's choice: another part, or single peaks; and how they are written on a command line."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from roofline.devices.catalogue import find, fitting, parts, sharing
from roofline.devices.measured import measured_part, read_machine, with_data_sheet
from roofline.devices.parts import MEASURED, THIS_MACHINE, Part
from roofline.devices.topology import NetworkChoice, rate_of
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, KIB, KILO, MEGA, gib_to_gb

NAMES_SHOWN = 5
_MOST_MEANT = 10  # "tpu" is any of these; "nvidia" names none

_PEAK = re.compile(r"(?P<value>[\d.,]+(?:e[+-]?\d+)?)\s*(?P<unit>[a-z/]+)", re.IGNORECASE)
_GFLOPS = {"gflop/s": 1.0, "tflop/s": KILO, "pflop/s": MEGA, "gop/s": 1.0, "top/s": KILO}
_GBS = {"gb/s": 1.0, "tb/s": KILO, "mb/s": 1 / KILO}
_GIBS = {"gib/s": 1.0, "tib/s": float(KIB)}
_UNITS = {unit.value: unit for unit in ComputeUnit}
_LEVELS = {level.value: level for level in MemoryLevel}
_COMPUTE = "compute"
_NETWORK = "network"
_JOINS = ("gpus_per_node", "axes")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakChoice:
    """A part by id, `None` for the profile's own device, and peaks set by hand.

    `gflops` has the main compute peak under `None`; `gbs` is in GB/s (1e9), the main memory under
    `HBM` or `DRAM`, whichever. `sustained` are shares (0 to 1) of the peaks that programs reach, by
    unit or level, the main compute peak's under `None`. `gpus_per_node` chips share links, or they
    are a slice of `axes`.
    """

    part_id: str | None = None
    gflops: Mapping[ComputeUnit | None, float] = field(default_factory=dict)
    gbs: Mapping[MemoryLevel, float] = field(default_factory=dict)
    sustained: Mapping[ComputeUnit | MemoryLevel | None, float] = field(default_factory=dict)
    gpus_per_node: int | None = None
    axes: str | None = None

    @property
    def is_empty(self) -> bool:
        """True where nothing was chosen."""
        joins = self.gpus_per_node or self.axes
        return not (self.part_id or self.gflops or self.gbs or self.sustained or joins)

    @property
    def network(self) -> NetworkChoice:
        """What joins the chips, as far as it was chosen."""
        rate = self.gbs.get(MemoryLevel.DCN)
        return NetworkChoice(
            gpus_per_node=self.gpus_per_node,
            network=f"{rate:.9f}GB/s" if rate else None,
            axes=self.axes,
        )

    @property
    def peaks(self) -> tuple[str, ...]:
        """The peaks set by hand, as `read_choice` takes them: rates first, in their order."""
        rates = [None, *ComputeUnit]
        return (
            *(
                f"{unit.value if unit else _COMPUTE}={self.gflops[unit]!r}GFLOP/s"
                for unit in rates
                if unit in self.gflops
            ),
            *(
                f"{level.value}={self.gbs[level]!r}GB/s"
                for level in MemoryLevel
                if level in self.gbs
            ),
            *(f"{name}={value}" for name in _JOINS if (value := getattr(self, name)) is not None),
        )


def read_choice(
    device: str | None, peaks: Sequence[str], sustained: Sequence[str] = ()
) -> PeakChoice:
    """A choice as given to `--device`, `--peak` and `--sustained`.

    A peak is "compute=900TFLOP/s", "matrix_fp8=1.9 PFLOP/s" or "hbm=3.35TB/s", a sustained share
    "hbm=92%" or "hbm=0.92". "network=400Gbit/s" (the peak `dcn`), "gpus_per_node=72" and "axes=4x4"
    say what joins devices. `BadViewError` says what is not understood.
    """
    gflops: dict[ComputeUnit | None, float] = {}
    gbs: dict[MemoryLevel, float] = {}
    joins: dict[str, str] = {}
    for text in peaks:
        name, _, amount = (piece.strip() for piece in text.partition("="))
        key = name.casefold()
        if key in _JOINS:
            joins[key] = amount
        elif key == _NETWORK:
            gbs[MemoryLevel.DCN] = rate_of(amount) / GIGA
        elif key in _LEVELS:
            gbs[_LEVELS[key]] = _bandwidth(text, amount)
        elif key == _COMPUTE or key in _UNITS:
            gflops[_UNITS.get(key)] = _rate(text, amount)
        else:
            raise _no_such_peak(text, name)
    return PeakChoice(
        part_id=device and part_id_of(device),
        gflops=gflops,
        gbs=gbs,
        sustained=dict(map(_sustained, sustained)),
        gpus_per_node=_chips(joins.get("gpus_per_node")),
        axes=joins.get("axes"),
    )


def _chips(amount: str | None) -> int | None:
    if amount is None:
        return None
    if not amount.isascii() or not amount.isdigit() or not 0 < int(amount[:9]) == int(amount):
        raise _bad_amount(f"gpus_per_node={amount}", "a number of chips such as gpus_per_node=72")
    return int(amount)


def with_unit(name: str, amount: str) -> str:
    """The peak "hbm=3350GB/s" of `name` and an amount as addresses of pages have it.

    Without a unit it is in GB/s, or of a compute unit in GFLOP/s.
    """
    if amount[-1:].isalpha() or name.casefold() in _JOINS:
        return f"{name}={amount}"
    return f"{name}={amount}{'GB/s' if name.casefold() in _LEVELS else 'GFLOP/s'}"


def _sustained(text: str) -> tuple[ComputeUnit | MemoryLevel | None, float]:
    """A peak's key and the share of it that programs reach."""
    name, _, amount = (piece.strip() for piece in text.partition("="))
    key = name.casefold()
    if key != _COMPUTE and key not in _LEVELS and key not in _UNITS:
        raise _no_such_peak(text, name)
    try:
        share = float(amount.removesuffix("%")) / (100 if amount.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise _bad_amount(text, "a share of the peak such as hbm=92% or hbm=0.92")
    return _LEVELS.get(key) or _UNITS.get(key), share


def part_id_of(name: str) -> str:
    """The id of the part that `name` (id, name or device string) means."""
    return THIS_MACHINE if name.strip().casefold() == THIS_MACHINE else known_part(name).id


def known_part(name: str) -> Part:
    """The part that `name` means, as people write it; `BadViewError` lists names near it.

    One that was measured has the data sheet's figures where nothing was measured.
    """
    if name.startswith(MEASURED):
        return with_data_sheet(*measured_part(name))
    if name.strip().casefold() == THIS_MACHINE:
        return _this_machine()
    found = find(name)
    several = (found,) if found else sharing(name) or fitting(name)
    if len(several) == 1:
        return several[0]
    if 0 < len(several) <= _MOST_MEANT:
        raise BadViewError(
            f'"{name}" is the name of several devices.',
            remedy=f"Choose one of: {', '.join(part.id for part in several)}.",
        )
    raise BadViewError(
        f'The catalogue has no device "{name}".',
        remedy=f"{_near(name)} `roofline devices` lists them all.",
    )


def _this_machine() -> Part:
    machine = read_machine()
    if machine is None:
        raise BadViewError(
            "This machine's peaks have not been measured.", remedy="Run `roofline calibrate` first."
        )
    return machine


def _near(name: str) -> str:
    names = {text.casefold(): one for one in parts() for text in (one.id, one.name, *one.aliases)}
    wanted = name.casefold()
    holding = [text for text in names if wanted in text]
    close = [*holding, *difflib.get_close_matches(wanted, names, NAMES_SHOWN, 0.5)]
    ids = list(dict.fromkeys(names[text].id for text in close))[:NAMES_SHOWN]
    return f"Near it: {', '.join(ids)}." if ids else "No name is near it."


def _rate(text: str, amount: str) -> float:
    value, unit = _amount(text, amount)
    if unit not in _GFLOPS:
        raise _bad_amount(text, "a rate such as 900TFLOP/s or 500GFLOP/s")
    return value * _GFLOPS[unit]


def _bandwidth(text: str, amount: str) -> float:
    value, unit = _amount(text, amount)
    if unit in _GIBS:
        return gib_to_gb(value * _GIBS[unit])
    if unit not in _GBS:
        raise _bad_amount(text, "a bandwidth such as 3.35TB/s, 819GB/s or 1525GiB/s")
    return value * _GBS[unit]


def _amount(text: str, amount: str) -> tuple[float, str]:
    found = _PEAK.fullmatch(amount)
    try:
        value = float(found["value"].replace(",", "")) if found else 0.0
    except ValueError:
        value = 0.0
    if found is None or not 0 < value < 1e12:
        raise _bad_amount(text, "a number above 0 with its unit, such as 900TFLOP/s or 819GB/s")
    unit = found["unit"].casefold().replace("flops/s", "flop/s")
    return value, re.sub(r"flops$", "flop/s", unit)


def _bad_amount(text: str, expected: str) -> BadViewError:
    return BadViewError(f'The peak "{text}" cannot be read.', remedy=f"Write {expected}.")


def _no_such_peak(text: str, name: str) -> BadViewError:
    known = [_COMPUTE, *_LEVELS, *_UNITS, _NETWORK, *_JOINS]
    near = difflib.get_close_matches(name.casefold(), known, NAMES_SHOWN, 0.5) or known
    return BadViewError(
        f'"{name}" in "{text}" is not a peak.' if name else f'The peak "{text}" has no name.',
        remedy=f"Name one of: {', '.join(near)}.",
    )
