"""Names and units of columns and keys, as people write them.

Units are factors to base units: s, FLOP, byte, FLOP/s, byte/s, FLOP/byte, per cent. k M G T P E are
decimal, Ki Mi Gi Ti Pi binary; GB is never taken for GiB. Names are aliases of fields, memory
levels and precisions.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from roofline.importers.shared.tables_text import header_words, parse_number
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit, Precision
from roofline.model.memory import MemoryLevel
from roofline.model.plain_data import read_beside
from roofline.model.units import GIGA, KIB, KILO


class Dimension(StrEnum):
    """The dimension of a number."""

    TIME = "time"
    FLOP = "flop"
    FLOP_RATE = "flop rate"
    BYTES = "bytes"
    BANDWIDTH = "bandwidth"
    INTENSITY = "intensity"
    COUNT = "count"
    SHARE = "share"


_DECIMAL = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_TIMES = {
    name: seconds
    for seconds, names in (
        (60.0, "min"),
        (1.0, "s sec secs second seconds"),
        (1e-3, "ms msec millisecond milliseconds"),
        (1e-6, "us µs μs usec microsecond microseconds"),
        (1e-9, "ns nsec nanosecond nanoseconds"),
        (1e-12, "ps"),
    )
    for name in names.split()
}
_PREFIX = r"(?P<prefix>[kmgtpe]?)(?P<binary>i?)"
_PER_SECOND = r"(?:/s|/sec|/second|ps)"
_FLOP = re.compile(_PREFIX + r"(?:flops?|ops?)")
_FLOP_RATE = re.compile(_PREFIX + r"(?:flops?/(?:s|sec|second)|flops|ops/s|op/s)")
_BYTES = re.compile(_PREFIX + r"(?:b|bytes?)")
_BANDWIDTH = re.compile(_PREFIX + r"(?:b|bytes?)" + _PER_SECOND + r"|(?:[kmgt]i?bs)")
_INTENSITY = re.compile(r"flops?/(?:b|bytes?)")
_WITH_UNIT = re.compile(
    r"<?\s*+(?P<number>[-+]?[\d.,'  ]*\d[.,]?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s].*)?", re.DOTALL
)


def unit_factor(unit: str, dimension: Dimension) -> float | None:
    """How many base units one `unit` is; `None` if it is not a unit of `dimension`."""
    text = unit.strip().lower().replace(" ", "").replace("per", "/")
    if not text:
        return 1.0
    if dimension is Dimension.TIME:
        return _TIMES.get(text)
    if dimension is Dimension.SHARE:
        return 1.0 if text == "%" else None
    if dimension is Dimension.INTENSITY:
        return 1.0 if _INTENSITY.fullmatch(text) else None
    patterns = {
        Dimension.FLOP: _FLOP,
        Dimension.FLOP_RATE: _FLOP_RATE,
        Dimension.BYTES: _BYTES,
        Dimension.BANDWIDTH: _BANDWIDTH,
    }
    match = patterns[dimension].fullmatch(text) if dimension in patterns else None
    if not match:
        return None
    if match["prefix"] is None:  # "GBs" and "GiBs", as in column names
        return unit_factor(f"{text[:-1]}/s", dimension)
    power = _DECIMAL[match["prefix"]]
    if match["binary"]:
        return float(KIB) ** power if power else None
    return KILO**power


def parse_quantity(
    text: str, dimension: Dimension, *, decimal: str = ".", default: float = 1.0
) -> float | None:
    """A number in base units, with its own unit or `default` base units; `None` if missing.

    Raises `ValueError` for text that is not a number, or has a unit of something else.
    """
    try:
        number, factor = parse_number(text, decimal), default
    except ValueError:
        match = _WITH_UNIT.fullmatch(text.strip())
        own = unit_factor(match["unit"] or "", dimension) if match else None
        if match is None or own is None:
            raise
        number, factor = parse_number(match["number"], decimal), own if match["unit"] else default
    if number is None:
        return None
    value = number * factor
    if not math.isfinite(value):
        raise ValueError(text)
    return value


class Field(StrEnum):
    """The quantities that a column of kernels can hold."""

    NAME = "name"
    VARIANT = "variant"
    TIME = "time"
    TIME_PER_CALL = "time_per_call"
    FLOP = "flops"
    FLOP_RATE = "flops_rate"
    BYTES = "bytes"
    BANDWIDTH = "bandwidth"
    INTENSITY = "intensity"
    CALLS = "calls"
    BUSY = "busy"
    PRECISION = "precision"
    CATEGORY = "category"
    PATH = "framework_path"
    OPERANDS = "operand_shapes"
    RESULTS = "result_shapes"
    TAG = "tag"


DIMENSIONS = {
    Field.TIME: Dimension.TIME,
    Field.TIME_PER_CALL: Dimension.TIME,
    Field.FLOP: Dimension.FLOP,
    Field.FLOP_RATE: Dimension.FLOP_RATE,
    Field.BYTES: Dimension.BYTES,
    Field.BANDWIDTH: Dimension.BANDWIDTH,
    Field.INTENSITY: Dimension.INTENSITY,
    Field.CALLS: Dimension.COUNT,
    Field.BUSY: Dimension.SHARE,
}
_QUANTITIES = frozenset(DIMENSIONS) - {Field.CALLS, Field.TIME_PER_CALL}
NAMES = (Field.NAME, Field.VARIANT)
"""What a kernel is called by, in the order of its words."""
_RATES = frozenset({Field.FLOP_RATE, Field.BANDWIDTH})

_ALIASES = read_beside(__file__, "aliases.json")
_FIELDS = {alias: Field(of) for of, aliases in _ALIASES["fields"].items() for alias in aliases}
# Of a benchmark's table: times of a call where the unit says so, and words before a quantity.
_OF_CALLS = frozenset(
    {"mean", "median", "avg", "average", "latency", "mean latency", "avg latency"}
)
_QUALIFIED = re.compile(
    r"(?:theoretical|ideal|algorithmic|estimated) (?P<count>.+)|(?:achieved|effective) (?P<rate>.+)"
)

# One number for VMEM or CMEM does not say in which direction the bytes moved.
_LEVELS = {name: MemoryLevel(of) for of, names in _ALIASES["levels"].items() for name in names}
_LEVEL_WORD = "|".join(sorted(_LEVELS, key=len, reverse=True))
_PER_LEVEL = {
    Field.BYTES: re.compile(rf"(?P<a>{_LEVEL_WORD}) bytes|bytes (?P<b>{_LEVEL_WORD})"),
    Field.BANDWIDTH: re.compile(
        rf"(?P<a>{_LEVEL_WORD}) (?:bw|bandwidth)|(?:bw|bandwidth) (?P<b>{_LEVEL_WORD})"
    ),
    Field.INTENSITY: re.compile(
        rf"(?P<a>{_LEVEL_WORD}) (?:ai|intensity|operational intensity|arithmetic intensity)"
        rf"|ai (?P<b>{_LEVEL_WORD})"
    ),
}
_BUSY = re.compile(r"busy ?\. ?(?P<unit>.*)")
_CEILINGS = {ceiling.value.replace("_", " "): ceiling for ceiling in Ceiling}
_BRACKETS = re.compile(r"^(?P<base>.*?)\s*[\[(](?P<unit>[^\])]*)[\])]\s*$")
# A column that is called by its unit alone: "GFLOP", "self gflops", "MiB", "GB/s".
_UNIT_ALONE = re.compile(
    r"(?:self |total |[sd]p )?"
    r"(?P<unit>[kmgtpe](?:flops?(?:/s| per s)?|i?(?:b|bytes)(?P<rate>/s| per s)?))"
)
# No known name is this long, and the patterns take the square of the length.
_LONGEST_LABEL = 500

_PRECISIONS = (
    (Precision.FP64, r"fp64|f64|float64|double|\bdp\b"),
    (Precision.TF32, r"tf32|xf32"),
    (Precision.BF16, r"bf16|bfloat16"),
    (Precision.FP16, r"fp16|f16|float16|half"),
    (Precision.FP8, r"fp8|f8|float8|e4m3|e5m2"),
    (Precision.FP4, r"fp4|f4|float4|e2m1"),
    (Precision.INT8, r"u?int8|[su]8|\bi8"),
    (Precision.INT4, r"u?int4|[su]4|\bi4"),
    (Precision.FP32, r"fp32|f32|float32|float|single|\bsp\b"),
)
_MATRIX_WORDS = re.compile(r"tensor|matrix|mfma|wmma|imma|hmma|mxu|xmx|amx|\bmma\b")
_VECTOR_WORDS = re.compile(r"vector|cuda|valu|simd|scalar|non-tensor|vpu")
# Precisions that a device's vector units are quoted for, unless the name says otherwise.
_ON_VECTOR = frozenset({Precision.FP64, Precision.FP32})


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The meaning of a column. `factor` turns its numbers into base units, if the header says so;
    `level` is the memory, where it is about one, `ceiling` the unit that was busy. `is_ambiguous`
    marks a bare "FLOPS"."""

    field: Field
    label: str
    factor: float = 1.0
    level: MemoryLevel | None = None
    ceiling: Ceiling | None = None
    is_ambiguous: bool = False


def meaning_of(label: str) -> Meaning:
    """The meaning of a column or key called `label`; a tag if it is none of the known names."""
    if len(label) > _LONGEST_LABEL:
        return Meaning(field=Field.TAG, label=label)
    base, unit = _split_unit(label)
    busy = _BUSY.fullmatch(base)
    if busy:
        return Meaning(field=Field.BUSY, label=label, ceiling=ceiling_named(busy["unit"]))
    known = _known(base)
    if known is None and not unit:
        base, unit = _split_suffix(base)
        known = _known(base)
    if known is None and base in _OF_CALLS and unit_factor(unit, Dimension.TIME) and unit:
        known = Field.TIME_PER_CALL, None, 1.0
    if known is None:
        return Meaning(field=Field.TAG, label=label)
    field, level, own = known
    dimension = DIMENSIONS.get(field)
    if dimension is None or not unit:
        ambiguous = label.strip() == "FLOPS"
        return Meaning(field=field, label=label, factor=own, level=level, is_ambiguous=ambiguous)
    return _with_unit(label, field, level, unit)


def are_of_kernels(fields: Iterable[Field]) -> bool:
    """True for the columns of a table of kernels: a name, and two quantities of a roofline."""
    found = {Field.TIME if one is Field.TIME_PER_CALL else one for one in fields}
    return not found.isdisjoint(NAMES) and len(_QUANTITIES & found) >= 2


def level_named(text: str) -> MemoryLevel | None:
    """The memory level called `text`, in whatever spelling."""
    return _LEVELS.get(header_words(text))


def ceiling_named(text: str) -> Ceiling | None:
    """The unit whose key is `text`, in whatever spelling: "shared_pipe", "Shared pipe"."""
    return _CEILINGS.get(header_words(text))


@lru_cache(maxsize=256)
def precision_named(text: str) -> Precision | None:
    """The precision that `text` mentions; no precision if it mentions none."""
    lower = text.lower()
    return next((p for p, words in _PRECISIONS if re.search(words, lower)), None)


def names_unit(text: str) -> bool:
    """True if `text` says whether it is about the matrix or the vector unit."""
    return bool(_MATRIX_WORDS.search(text.lower()) or _VECTOR_WORDS.search(text.lower()))


@lru_cache(maxsize=256)
def unit_named(text: str, precision: Precision) -> ComputeUnit | None:
    """The compute unit that `text` speaks of at `precision`: as its words say, else the usual one.

    `None` where there is no such unit, as for vector units in TF32.
    """
    lower = text.lower()
    is_matrix = precision not in _ON_VECTOR
    if _MATRIX_WORDS.search(lower):
        is_matrix = True
    if _VECTOR_WORDS.search(lower):
        is_matrix = False
    try:
        return ComputeUnit(f"{'matrix' if is_matrix else 'vector'}_{precision.value}")
    except ValueError:
        return None


def _with_unit(label: str, field: Field, level: MemoryLevel | None, unit: str) -> Meaning:
    factor = unit_factor(unit, DIMENSIONS[field])
    if field is Field.FLOP and factor is None:  # "flops [GFLOP/s]" and "performance" by its unit
        factor, field = unit_factor(unit, Dimension.FLOP_RATE), Field.FLOP_RATE
    if field is Field.BYTES and factor is None:
        factor, field = unit_factor(unit, Dimension.BANDWIDTH), Field.BANDWIDTH
    if factor is None:
        return Meaning(field=Field.TAG, label=label)
    return Meaning(field=field, label=label, factor=factor, level=level)


def _known(words: str) -> tuple[Field, MemoryLevel | None, float] | None:
    """Field, level and factor of a name without its unit."""
    if words in _FIELDS:
        field = _FIELDS[words]
        return field, None, GIGA if field is Field.BANDWIDTH else 1.0
    alone = _UNIT_ALONE.fullmatch(words)
    if alone:
        unit = alone["unit"].replace(" per ", "/")
        if "flop" in unit:
            field = Field.FLOP if unit.endswith("flop") else Field.FLOP_RATE
        else:
            field = Field.BANDWIDTH if alone["rate"] else Field.BYTES
        return field, None, unit_factor(unit, DIMENSIONS[field]) or 1.0
    qualified = _QUALIFIED.fullmatch(words)
    if qualified:
        found = _known(qualified["count"] or qualified["rate"])
        kinds = {Field.FLOP, Field.BYTES} if qualified["count"] else _RATES
        return found if found is not None and found[0] in kinds else None
    for field, pattern in _PER_LEVEL.items():
        match = pattern.fullmatch(words)
        if match:
            level = _LEVELS[match["a"] or match["b"]]
            return field, level, GIGA if field is Field.BANDWIDTH else 1.0
    return None


def _split_unit(label: str) -> tuple[str, str]:
    """The words of a header, and the unit in its brackets."""
    match = _BRACKETS.fullmatch(label)
    return (header_words(match["base"]), match["unit"]) if match else (header_words(label), "")


def _split_suffix(words: str) -> tuple[str, str]:
    """`time us` → `time`, `us`; `dram gb` → `dram bytes`, `gb`."""
    base, _, unit = words.rpartition(" ")
    if not base:
        return words, ""
    if unit_factor(unit, Dimension.TIME) or unit_factor(unit, Dimension.BANDWIDTH):
        return base, unit
    if unit_factor(unit, Dimension.BYTES):
        return (base if _known(base) else f"{base} bytes"), unit
    return base, unit
