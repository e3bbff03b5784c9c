"""CSV of kernels (points) and CSV of roofs, with what their comments say."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.generic.names import (
    DIMENSIONS,
    NAMES,
    Dimension,
    Field,
    Meaning,
    are_of_kernels,
    meaning_of,
    parse_quantity,
    precision_named,
)
from roofline.importers.generic.stated import (
    LABEL_LENGTH,
    Kernel,
    Machine,
    Roof,
    checked,
    merged,
    roof_of,
    sorted_out,
)
from roofline.importers.shared.tables_text import (
    TextTable,
    decimal_mark,
    header_words,
    is_missing,
    parse_number,
    read_table,
)
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Provenance

MAX_ROWS = 200_000
MAX_NAME_BYTES = 4_096
# Characters of a path or of shapes: operands of a large program's loop have thousands.
MAX_TEXT = 200_000
# No machine of one file does more: a bare "FLOPS" column above it must be a rate.
_FASTEST_FLOP_RATE = 1e17
_PEAK_MARGIN = 10.0

_COMMENT = re.compile(r"(?P<key>[A-Za-z][\w -]*+)\s*+[:=]\s*+(?P<value>.+)")
# Columns that other tools' tables have, whatever else theirs share with ours.
_OTHERS = frozenset(
    {"host/device", "hlo op name", "bottleneck operational intensity (flop/byte)", "counter name",
     "dispatch id", "corrid", "metric name", "process id", "metric value"}
)  # fmt: skip


Key = tuple[Field, MemoryLevel | Ceiling | None]
"""A quantity, and the memory or unit that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The content of one file: kernels, the machine, and what was left out or doubtful, in words.

    `left_out` are rows with their reason, `notes` sentences about the whole file. `provenance` is
    what the file says about its numbers.
    """

    kernels: tuple[Kernel, ...] = ()
    machine: Machine = field(default_factory=Machine)
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = Provenance.STATED


def is_points(header: Sequence[str]) -> bool:
    """True for a table of kernels: a name, and two quantities that a roofline needs."""
    if {header_words(cell) for cell in header} & _OTHERS:
        return False
    return are_of_kernels(meaning_of(cell).field for cell in header)


def is_roofs(header: Sequence[str]) -> bool:
    """True for a table of roofs."""
    return {"roof", "value"} <= {header_words(cell) for cell in header}


def read_csv(text: str, name: str) -> Reading:
    """The kernels or roofs of a CSV file."""
    table = read_table(text, name=name, max_rows=MAX_ROWS)
    return _read_roofs(table, name) if is_roofs(table.header) else _Points(table, name).read()


class _Points:
    """A table of kernels while it is read."""

    def __init__(self, table: TextTable, name: str) -> None:
        self._table, self._name = table, name
        self._options = _options(table.comments)
        self._machine = _commented_machine(self._options)
        self._meanings = [meaning_of(cell) for cell in table.header]
        numeric = [k for k, m in enumerate(self._meanings) if m.field in DIMENSIONS]
        cells = (row[k] for row in table.rows for k in numeric if k < len(row))
        self._decimal = decimal_mark(cells)
        self._notes: list[str] = []
        self._per_call = self._options.get("time per", "total").strip().lower() == "call"

    def read(self) -> Reading:
        fields = {meaning.field for meaning in self._meanings}
        if fields.isdisjoint(NAMES):
            raise IncompleteProfileError(
                f"{self._name} has no column that names the kernels.",
                remedy="Call it “name”; `roofline template csv` prints an example.",
            )
        for meaning in self._meanings:
            if meaning.field is Field.BUSY and meaning.ceiling is None:
                raise CorruptProfileError(
                    f"{self._name}: column “{meaning.label[:LABEL_LENGTH]}” names no unit that can"
                    " be busy.",
                    remedy=f"The units are {', '.join(Ceiling)}.",
                )
        if not self._table.rows:
            raise CorruptProfileError(
                f"{self._name} has a header and no rows.", remedy="Export the table again."
            )
        self._settle_flops()
        if not self._table.ends_whole:
            self._notes.append("The last row is cut: it has fewer cells than the header.")
        kernels, left_out = [], []
        for row, line in zip(self._table.rows, self._table.lines, strict=True):
            kernel = self._kernel(row, line)
            if isinstance(kernel, Kernel):
                kernels.append(kernel)
            else:
                left_out.append(kernel)
        return Reading(
            kernels=tuple(kernels),
            machine=self._machine,
            left_out=tuple(left_out),
            notes=tuple(self._notes),
        )

    def _settle_flops(self) -> None:
        """A bare "FLOPS" may be a count or a rate: a count, unless no machine is that fast."""
        at = next((k for k, m in enumerate(self._meanings) if m.is_ambiguous), None)
        if at is None:
            return
        time = next((k for k, m in enumerate(self._meanings) if m.field is Field.TIME), None)
        fastest = max((self._rate(row, at, time) for row in self._table.rows), default=0.0)
        peaks = [roof.value for roof in self._machine.roofs if roof.level is None]
        limit = _PEAK_MARGIN * max(peaks) if peaks else _FASTEST_FLOP_RATE
        is_rate = fastest > limit
        read_as = "a rate in FLOP/s" if is_rate else "a count of operations"
        if is_rate:
            self._meanings[at] = Meaning(field=Field.FLOP_RATE, label="FLOPS")
        self._notes.append(
            f"Column FLOPS can be a count or a rate: it was read as {read_as}. "
            "Name it “flops” for a count, “flop/s” for a rate."
        )

    def _rate(self, row: Sequence[str], flop: int, time: int | None) -> float:
        if time is None or max(flop, time) >= len(row):
            return 0.0
        try:
            count = parse_quantity(row[flop], Dimension.FLOP, decimal=self._decimal)
            factor = self._meanings[time].factor
            seconds = parse_quantity(
                row[time], Dimension.TIME, decimal=self._decimal, default=factor
            )
        except ValueError:
            return 0.0
        return count / seconds if count and seconds else 0.0

    def _kernel(self, row: Sequence[str], line: int) -> Kernel | str:
        where = f"line {line:,}"
        values: dict[Key, float] = {}
        texts: dict[Field, str] = {}
        tags: list[str] = []
        for meaning, cell in zip(self._meanings, row, strict=False):
            if meaning.field in DIMENSIONS:
                try:
                    number = self._number(cell, meaning)
                except ValueError:
                    return f"{where}, column {meaning.label}: “{cell[:40]}” is not a number"
                if number is not None:
                    values.setdefault((meaning.field, meaning.ceiling or meaning.level), number)
            elif meaning.field is Field.TAG:
                tags += [] if is_missing(cell) else [f"{meaning.label.strip()} {cell.strip()}"]
            elif not texts.get(meaning.field):
                texts[meaning.field] = cell.strip()
        kernel = kernel_of(values, texts, tags, where=where, per_call=self._per_call)
        problem = checked(kernel)
        return f"{where}: {problem}" if problem else kernel

    def _number(self, cell: str, meaning: Meaning) -> float | None:
        return parse_quantity(
            cell, DIMENSIONS[meaning.field], decimal=self._decimal, default=meaning.factor
        )


def kernel_of(
    values: Mapping[Key, float],
    texts: Mapping[Field, str],
    tags: Sequence[str],
    *,
    where: str,
    per_call: bool,
) -> Kernel:
    """The kernel that these numbers, in base units, and texts describe."""

    per_level: dict[Field, dict[MemoryLevel, float]] = {
        Field.BYTES: {},
        Field.BANDWIDTH: {},
        Field.INTENSITY: {},
    }
    busy: dict[Ceiling, float] = {}
    for (kind, of), value in values.items():
        if isinstance(of, Ceiling):
            busy[of] = value
        elif kind in per_level:
            per_level[kind][of or MemoryLevel.DRAM] = value
    stated = values.get((Field.CALLS, None), 1.0)
    calls = round(stated) if stated < 0 else max(1, round(stated))
    time_s, each_s = values.get((Field.TIME, None)), values.get((Field.TIME_PER_CALL, None))
    if time_s is not None and per_call:
        time_s *= calls
    elif time_s is None and each_s is not None:
        time_s = each_s * calls
    name = " ".join(texts[of] for of in NAMES if texts.get(of)) or "unnamed"
    return Kernel(
        name=name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore"),
        where=where,
        category=texts.get(Field.CATEGORY, ""),
        detail=", ".join(tags)[:MAX_NAME_BYTES],
        framework_path=texts.get(Field.PATH, "")[:MAX_TEXT],
        operands=texts.get(Field.OPERANDS, "")[:MAX_TEXT],
        results=texts.get(Field.RESULTS, "")[:MAX_TEXT],
        calls=calls,
        time_s=time_s,
        flop=values.get((Field.FLOP, None)),
        precision=texts.get(Field.PRECISION, ""),
        flop_rate=values.get((Field.FLOP_RATE, None)),
        moved=per_level[Field.BYTES],
        bandwidth=per_level[Field.BANDWIDTH],
        intensity=per_level[Field.INTENSITY],
        busy=busy,
    )


def _options(comments: Sequence[str]) -> dict[str, str]:
    """`#key: value` lines, by the words of the key."""
    matches = (_COMMENT.fullmatch(comment) for comment in comments)
    return {header_words(match["key"]): match["value"].strip() for match in matches if match}


def _commented_machine(options: Mapping[str, str]) -> Machine:
    """Device and peaks of comments: `#device: …`, `#peak_fp64: 9.7 TFLOP/s`, `#peak_dram: …`."""
    roofs, skipped = sorted_out(
        _peak(re.sub(r" (?:bw|bandwidth|flops?|rate)$", "", key.removeprefix("peak ")), value)
        for key, value in options.items()
        if key.startswith("peak ")
    )
    count = options.get("count", "1")
    return Machine(
        name=options.get("device", "")[:MAX_NAME_BYTES],
        count=min(int(count[:7]), 1_000_000) or 1 if count.isascii() and count.isdigit() else 1,
        roofs=roofs,
        skipped=skipped,
    )


def _peak(what: str, value: str) -> Roof | str:
    for dimension, memory in ((Dimension.FLOP_RATE, False), (Dimension.BANDWIDTH, True)):
        try:
            number = parse_quantity(value, dimension)
        except ValueError:
            continue
        if number is None or (not memory and _is_bare(value) and not precision_named(what)):
            continue
        return roof_of(what=what, value=number, name=f"peak {what}", memory=memory)
    return f"peak {what[:LABEL_LENGTH]} (“{value[:40]}” is not a rate)"


def _is_bare(value: str) -> bool:
    """True for a number without a unit: then the name decides what it is a peak of."""
    try:
        return parse_number(value) is not None
    except ValueError:
        return False


def _read_roofs(table: TextTable, name: str) -> Reading:
    columns = {header_words(cell): k for k, cell in enumerate(table.header)}
    decimal = decimal_mark(
        row[columns["value"]] for row in table.rows if len(row) > columns["value"]
    )
    found: list[Roof | str] = []
    for row, line in zip(table.rows, table.lines, strict=True):

        def cell(*names: str, of: Sequence[str] = row) -> str:
            at = next((columns[key] for key in names if key in columns), len(of))
            return of[at].strip() if at < len(of) else ""

        roof = _roof_row(cell, decimal)
        found.append(roof if isinstance(roof, Roof) else f"line {line:,}: {roof}")
    roofs, skipped = sorted_out(found)
    if not roofs:
        raise CorruptProfileError(
            f"{name} lists no usable roof{': ' + skipped[0] if skipped else ''}.",
            remedy="A row reads like “memory,dram,1935,GB/s,theoretical”.",
        )
    commented = _commented_machine(_options(table.comments))
    return Reading(machine=merged([commented, Machine(roofs=roofs, skipped=skipped)]))


def _roof_row(cell: Callable[..., str], decimal: str) -> Roof | str:
    memory = cell("roof").lower().startswith(("mem", "band"))
    dimension = Dimension.BANDWIDTH if memory else Dimension.FLOP_RATE
    what, value = cell("level or precision", "level", "precision"), cell("value")
    shown = what[:LABEL_LENGTH] or "roof"
    try:
        number = parse_quantity(f"{value} {cell('unit')}".strip(), dimension, decimal=decimal)
    except ValueError:
        return f"{shown} (“{value[:40]} {cell('unit')[:20]}” is not a rate)"
    if number is None:
        return f"{shown} (no value)"
    return roof_of(
        what=what,
        value=number,
        kind=cell("kind"),
        sparsity=cell("sparsity"),
        name=cell("name"),
        memory=memory,
    )
