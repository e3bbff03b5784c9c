"""The budget file: which numbers may change by how much. TOML, read strictly."""

import difflib
import fnmatch
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from roofline.analysis.verdict_records import VerdictClass
from roofline.compare.run import UNITS
from roofline.errors import SettingsError
from roofline.model.memory import MemoryLevel

Level = Literal["error", "warn"]

TIME_METRICS = ("step", "efficiency", "idle_share", "communication_share", "transfer_share")
EXACT_METRICS = (
    "roof_time",
    "flops",
    "bytes",
    *(f"{level.value}_bytes" for level in MemoryLevel),
    "op_count",
    "recomputed_flops",
    "unknown_cost_share",
    "largest_new_op",
)
VERDICT_METRICS = ("class", "ratio", "idle")
_OP_METRICS = ("roof_time", "flops", "bytes", "hbm_bytes", "dram_bytes", "op_count")
_GATE_KEYS = ("against", "unit", "inconclusive", "require")
_LIMIT_KEYS = ("max_change", "min_change", "max", "min", "level", "per")
_TIME_KEYS = ("max_regress", "captures", "level", "max", "min")
_VALUE_KEYS = ("max", "min", "level")
_ACCEPT_KEYS = ("rule", "reason", "until")
_CLASSES = frozenset(one.value for one in VerdictClass)
_PERCENT = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d+)?)\s*%\s*$")
_LINE = re.compile(r"at line (\d+), column (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The limit of a number: its change as a share of the baseline, or its least and largest value.

    `captures` is how many captures of each side a rule on time needs; `per` is `flop` for a number
    that is divided by the FLOPs first. `one_of` are the texts that a fact may have.
    """

    max_change: float | None = None
    min_change: float | None = None
    most: float | None = None
    least: float | None = None
    level: Level = "error"
    per: str = ""
    captures: int = 3
    one_of: tuple[str, ...] = ()

    @property
    def is_relative(self) -> bool:
        """True where the limit needs a baseline."""
        return self.max_change is not None or self.min_change is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpLimits:
    """Limits on the operations that `matches`; `text` is the pattern as written."""

    text: str
    matches: Callable[[str, str], bool]
    limits: Mapping[str, Limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A known regression, with a reason and the last day on which it is accepted."""

    rule: str
    reason: str
    until: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget file. `is_default` marks the limits that count without a file; with `needs_time`
    a check whose step time was not tested is inconclusive."""

    against: str | None = None
    unit: str | None = None
    inconclusive_passes: bool = False
    needs_time: bool = False
    exact: Mapping[str, Limit] = field(default_factory=dict)
    time: Mapping[str, Limit] = field(default_factory=dict)
    verdict: Mapping[str, Limit] = field(default_factory=dict)
    ops: tuple[OpLimits, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    is_default: bool = False


DEFAULT = Budget(
    exact={
        "flops": Limit(max_change=0.0),
        "roof_time": Limit(max_change=0.005),
        "hbm_bytes": Limit(max_change=0.005),
        "op_count": Limit(max_change=0.0, level="warn"),
    },
    time={"step": Limit(max_change=0.03)},
    is_default=True,
)
"""The budget without a file. Half a percent of bytes is less than one lost fusion or copy."""


def read_budget(content: bytes, name: str) -> Budget:
    """The budget in `content`; `SettingsError` says what is wrong, and where."""
    try:
        document = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} is not UTF-8.", remedy="Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        where = f", line {place[1]}" if place else ""
        raise SettingsError(
            f"{name}{where}: {error}.", remedy="See docs/gate.md for an example."
        ) from error
    return _Reader(name).budget(document)


class _Reader:
    """Reads one file; every error names the file and the table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def budget(self, document: Mapping[str, Any]) -> Budget:
        """The whole file."""
        self._known(document, ("gate", "exact", "time", "verdict", "op", "accept"), "the file")
        gate = self._table(document.get("gate", {}), "[gate]")
        self._known(gate, _GATE_KEYS, "[gate]")
        has_limits = any(document.get(part) for part in ("exact", "time", "verdict", "op"))
        exact = self._table(document.get("exact", {}), "[exact]")
        time = self._table(document.get("time", {}), "[time]")
        self._known(exact, EXACT_METRICS, "[exact]")
        self._known(time, TIME_METRICS, "[time]")
        verdict = self._table(document.get("verdict", {}), "[verdict]")
        self._known(verdict, VERDICT_METRICS, "[verdict]")
        limits = {name: self._limit(value, f"exact.{name}") for name, value in exact.items()}
        times = {name: self._time_limit(value, f"time.{name}") for name, value in time.items()}
        return Budget(
            against=self._text(gate, "against"),
            unit=self._choice(gate, "unit", UNITS),
            inconclusive_passes=self._choice(gate, "inconclusive", ("pass", "fail")) == "pass",
            needs_time=self._choice(gate, "require", ("time",)) == "time",
            exact=limits if has_limits else DEFAULT.exact,
            time=times if has_limits else DEFAULT.time,
            verdict={
                name: self._verdict_limit(name, value, f"verdict.{name}")
                for name, value in verdict.items()
            },
            ops=tuple(self._op(one) for one in self._list(document, "op")),
            accepted=tuple(self._accept(one) for one in self._list(document, "accept")),
            is_default=not has_limits,
        )

    def _op(self, given: Mapping[str, Any]) -> OpLimits:
        metrics = (*_OP_METRICS, "roof_efficiency")
        self._known(given, ("match", *metrics), "[[op]]")
        text = self._text(given, "match")
        if not text:
            raise self._wrong("[[op]]", 'needs match = "path:…" or "name:…"')
        limits = {
            name: self._limit(value, f"op.{name}")
            for name, value in given.items()
            if name != "match"
        }
        return OpLimits(text=text, matches=self._pattern(text), limits=limits)

    def _pattern(self, text: str) -> Callable[[str, str], bool]:
        """The test of a path and a name that `path:*/attn/*` or `name:/regex/` means."""
        kind, colon, pattern = text.partition(":")
        if not colon or kind not in ("path", "name") or not pattern:
            raise self._wrong("[[op]]", f'match = "{text}" is not "path:…" or "name:…"')
        if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
            try:
                found = re.compile(pattern[1:-1])
            except re.error as error:
                raise self._wrong("[[op]]", f'match = "{text}": {error}') from error
        else:
            found = re.compile(fnmatch.translate(pattern))
        if kind == "path":
            return lambda path, _name: bool(path and found.search(path))
        return lambda _path, name: bool(found.search(name))

    def _accept(self, given: Mapping[str, Any]) -> Accepted:
        self._known(given, _ACCEPT_KEYS, "[[accept]]")
        rule, reason = self._text(given, "rule"), self._text(given, "reason")
        until = given.get("until")
        if isinstance(until, datetime):
            until = until.date()
        if not rule or not reason or not isinstance(until, date):
            raise self._wrong("[[accept]]", "needs rule, reason and until, a date: 2027-03-01")
        return Accepted(rule=rule, reason=reason, until=until)

    def _limit(self, value: Any, where: str) -> Limit:
        """A share of the baseline ("+0.5%"), a value, or a table of them."""
        if isinstance(value, str):
            return self._relative(value, where)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Limit(most=float(value))
        given = self._table(value, where)
        self._known(given, _LIMIT_KEYS, where)
        limit = Limit(
            max_change=self._percent(given, "max_change", where),
            min_change=self._percent(given, "min_change", where),
            most=self._number(given, "max", where),
            least=self._number(given, "min", where),
            level=self._level(given),
            per=self._choice(given, "per", ("flop",)) or "",
        )
        if limit == Limit(level=limit.level, per=limit.per):
            raise self._wrong(where, "needs max_change, min_change, max or min")
        return limit

    def _time_limit(self, value: Any, where: str) -> Limit:
        if isinstance(value, str):
            return Limit(max_change=self._read_percent(value, where))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Limit(most=float(value))
        given = self._table(value, where)
        self._known(given, _TIME_KEYS, where)
        captures = given.get("captures", 3)
        if not isinstance(captures, int) or isinstance(captures, bool) or captures < 3:
            raise self._wrong(where, "needs captures = 3 or more: fewer cannot tell noise")
        return Limit(
            max_change=self._percent(given, "max_regress", where),
            most=self._number(given, "max", where),
            least=self._number(given, "min", where),
            level=self._level(given),
            captures=captures,
        )

    def _verdict_limit(self, name: str, value: Any, where: str) -> Limit:
        """The classes that are allowed, or the least and largest value of a share."""
        if name == "class":
            classes = [value] if isinstance(value, str) else value
            if not isinstance(classes, list) or not classes or set(classes) - _CLASSES:
                raise self._wrong(where, f"needs one or more of {', '.join(sorted(_CLASSES))}")
            return Limit(one_of=tuple(classes))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Limit(most=float(value))
        given = self._table(value, where)
        self._known(given, _VALUE_KEYS, where)
        most, least = self._number(given, "max", where), self._number(given, "min", where)
        if most is None and least is None:
            raise self._wrong(where, "needs max or min")
        return Limit(most=most, least=least, level=self._level(given))

    def _relative(self, text: str, where: str) -> Limit:
        """`+1%` limits growth, `-1%` shrinking; without a sign, `0%` allows no change at all."""
        found = _PERCENT.match(text)
        if found is None:
            raise self._wrong(where, f'"{text}" is not a percentage such as "+0.5%"')
        share = float(found[2]) / 100
        if found[1] == "-":
            return Limit(min_change=-share)
        return Limit(max_change=share, min_change=None if found[1] else -share)

    def _percent(self, given: Mapping[str, Any], key: str, where: str) -> float | None:
        return self._read_percent(given[key], f"{where}.{key}") if key in given else None

    def _read_percent(self, value: Any, where: str) -> float:
        return read_percent(value, f"{self._name}, {where}")

    def _number(self, given: Mapping[str, Any], key: str, where: str) -> float | None:
        value = given.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._wrong(where, f"{key} is not a number")
        return float(value)

    def _level(self, given: Mapping[str, Any]) -> Level:
        return "warn" if self._choice(given, "level", ("error", "warn")) == "warn" else "error"

    def _choice(self, given: Mapping[str, Any], key: str, choices: Sequence[str]) -> str | None:
        value = given.get(key)
        if value is not None and value not in choices:
            raise self._wrong(key, f"{value!r} is not one of {', '.join(choices)}")
        return value

    def _text(self, given: Mapping[str, Any], key: str) -> str | None:
        value = given.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "is not a text")
        return value

    def _table(self, value: Any, where: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(where, "is not a table")
        return value

    def _list(self, document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = document.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(f"[[{key}]]", "needs two brackets on each side")
        return [self._table(one, f"[[{key}]]") for one in value]

    def _known(self, given: Iterable[str], known: Sequence[str], where: str) -> None:
        for key in given:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
                hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
                raise SettingsError(f"{self._name}, {where}: {key} is not known.", remedy=hint)

    def _wrong(self, where: str, what: str) -> SettingsError:
        return SettingsError(
            f"{self._name}, {where}: {what}.", remedy="See docs/gate.md for an example."
        )


def read_percent(value: Any, where: str) -> float:
    """`3%` as 0.03; `SettingsError` for anything else."""
    found = _PERCENT.match(value) if isinstance(value, str) else None
    if found is None:
        raise SettingsError(
            f"{where}: {value!r} is not a percentage.", remedy='Write it like "3%".'
        )
    share = float(found[2]) / 100
    return -share if found[1] == "-" else share
