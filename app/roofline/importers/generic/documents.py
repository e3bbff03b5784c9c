"""JSON of kernels and roofs: the schema `roofline-generic/1`, lists of kernels, JSON Lines, ERT.

Keys are spelt as freely as CSV columns; those that mean nothing here become tags of the launch.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.generic.names import (
    DIMENSIONS,
    Dimension,
    Field,
    Meaning,
    are_of_kernels,
    ceiling_named,
    level_named,
    meaning_of,
    parse_quantity,
    unit_factor,
)
from roofline.importers.generic.stated import (
    Kernel,
    Machine,
    Roof,
    checked,
    ert_roofs,
    roof_of,
    sorted_out,
)
from roofline.importers.generic.tables import MAX_NAME_BYTES, MAX_ROWS, Key, Reading, kernel_of
from roofline.model.profile import Provenance

SCHEMA = "roofline-generic/1"
_BUSY = "busy"
_LISTS = ("kernels", "points", "operators")
_COMPILED = frozenset({"flops", "bytes accessed"})
"""Keys of JAX's `compiled.cost_analysis()`, whose other keys are of single operands."""
_TEMPLATE = "`roofline template json` prints an example."

Json = Mapping[str, object]


def is_document(head: str, *, is_whole: bool) -> bool:
    """True if a text starts like one of the JSON forms read here; `head` may be cut."""
    text = head.lstrip()
    if any(word in text[:4096] for word in ('"traceEvents"', '"cols"', '"CorrId"')):
        return False
    if text.startswith("["):
        return _is_kernel(_first_object(text[1:].lstrip()))
    if not text.startswith("{"):
        return False
    is_ours = SCHEMA.split("/")[0] in text and '"schema"' in text
    if is_ours or ('"empirical"' in text and '"gbytes"' in text):
        return True
    first = _first_object(text)
    if first is None:  # longer than the head
        return not is_whole and any(f'"{key}"' in text for key in _LISTS) and '"flops"' in text
    lists = [value for key in _LISTS if isinstance(value := first.get(key), list)]
    if lists:
        return any(_is_kernel(item) for items in lists for item in items[:10])
    return _is_kernel(first)


def read_json(text: str, name: str) -> Reading:
    """The kernels and roofs of a JSON or JSON Lines document."""
    content = _parsed(text, name)
    if isinstance(content, Mapping) and "empirical" in content:
        return Reading(machine=ert_roofs(content))
    if isinstance(content, list):
        return _read_kernels(content, name, Machine(), per_call=False)
    if not isinstance(content, Mapping):
        raise CorruptProfileError(f"{name} holds no kernels.", remedy=_TEMPLATE)
    lists = [value for key in _LISTS if isinstance(value := content.get(key), list)]
    if not lists and _is_kernel(content):
        lists = [[content]]
    per_call = str(content.get("time_per", "")).lower() == "call"
    kernels = [item for items in lists for item in items]
    found_kernels = _read_kernels(kernels, name, _machine(content), per_call=per_call)
    return replace(found_kernels, provenance=_provenance(content))


def _provenance(content: Json) -> Provenance:
    """The provenance of a file's numbers: a prediction is marked as modelled."""
    is_modelled = content.get("provenance") == Provenance.MODELLED.value
    return Provenance.MODELLED if is_modelled else Provenance.STATED


def _read_kernels(
    items: Sequence[object], name: str, machine: Machine, *, per_call: bool
) -> Reading:
    if len(items) > MAX_ROWS:
        raise UploadTooLargeError(
            f"{name} has more than {MAX_ROWS:,} kernels.",
            remedy="Sum up the launches of each kernel before the export, or split the file.",
        )
    kernels, left_out = [], []
    for number, item in enumerate(items, start=1):
        where = f"kernel {number:,}"
        try:
            kernel = _kernel(item, where, per_call=per_call)
        except ValueError as error:
            left_out.append(f"{where}: {error}")
            continue
        problem = checked(kernel)
        if problem:
            left_out.append(f"{where}: {problem}")
        else:
            kernels.append(kernel)
    return Reading(kernels=tuple(kernels), machine=machine, left_out=tuple(left_out))


def _kernel(item: object, where: str, *, per_call: bool) -> Kernel:
    """One kernel. Raises `ValueError` that says what cannot be read."""
    if not isinstance(item, Mapping):
        raise ValueError("it is not an object")
    values: dict[Key, float] = {}
    texts: dict[Field, str] = {}
    tags: list[str] = []
    by_precision: dict[str, float] = {}
    unknown: list[str] = []
    for key, value in _of_compiler(item).items():
        meaning = meaning_of(str(key))
        if meaning.field is Field.TAG and key == _BUSY and isinstance(value, Mapping):
            values |= _busy(value)
        elif meaning.field is Field.BUSY:
            values |= _busy({str(key).partition(".")[2]: value})
        elif meaning.field is Field.FLOP and isinstance(value, Mapping) and "value" not in value:
            by_precision = _numbers(value, meaning)
        elif meaning.field in DIMENSIONS and isinstance(value, Mapping) and "value" not in value:
            for name, number in _numbers(value, meaning).items():
                level = level_named(name)
                if level is None:
                    unknown.append(name)
                else:
                    values[(meaning.field, level)] = number
        elif meaning.field in DIMENSIONS:
            number_or_none = _number(value, meaning)
            if number_or_none is not None:
                values.setdefault((meaning.field, meaning.level), number_or_none)
        elif meaning.field is Field.TAG:
            tags += _tags(str(key), value)
        elif value is not None:
            texts[meaning.field] = str(value)
    kernel = kernel_of(values, texts, tags, where=where, per_call=per_call)
    return replace(kernel, precision_flop=by_precision, unknown_levels=tuple(unknown))


def _busy(shares: Json) -> dict[Key, float]:
    """Shares in per cent by unit. Raises `ValueError` for names of none."""
    result: dict[Key, float] = {}
    for name, share in shares.items():
        ceiling = ceiling_named(str(name))
        if ceiling is None:
            raise ValueError(f"“{str(name)[:40]}” is not a unit that can be busy")
        number = _number(share, Meaning(field=Field.BUSY, label=f"busy.{name}"))
        if number is not None:
            result[Field.BUSY, ceiling] = number
    return result


def _numbers(value: Json, meaning: Meaning) -> dict[str, float]:
    numbers = {str(key): _number(number, meaning) for key, number in value.items()}
    return {key: number for key, number in numbers.items() if number is not None}


def _number(value: object, meaning: Meaning) -> float | None:
    """A number, `{value, unit}` or text with a unit, in base units; booleans are not numbers."""
    dimension = DIMENSIONS[meaning.field]
    factor = meaning.factor
    if isinstance(value, Mapping):
        unit = value.get("unit", "")
        own = unit_factor(unit, dimension) if isinstance(unit, str) else None
        if own is None:
            raise ValueError(f"{meaning.label} has the unknown unit “{str(unit)[:40]}”")
        value, factor = value.get("value"), own
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{meaning.label} is not a number")
    try:
        if isinstance(value, str):
            return parse_quantity(value, dimension, default=factor)
        number = float(value) * factor
    except (ValueError, OverflowError):
        raise ValueError(f"{meaning.label} “{str(value)[:40]}” is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{meaning.label} is too large")
    return number


def _tags(key: str, value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{inner} {content}" for inner, content in value.items() if content is not None]
    return [] if value is None else [f"{key} {str(value)[:MAX_NAME_BYTES]}"]


def _machine(content: Json) -> Machine:
    device, stated = content.get("device"), content.get("roofs")
    if isinstance(device, str):
        device = {"name": device}
    known: Json = device if isinstance(device, Mapping) else {}
    count = known.get("count", 1)
    stated = stated if isinstance(stated, Mapping) else {}
    sections = [(stated.get(key), key != "compute") for key in ("compute", "memory", "links")]
    sections.append((known.get("links"), True))
    roofs, skipped = sorted_out(
        _roof(item, memory=memory) for section, memory in sections for item in _items(section)
    )
    return Machine(
        name=str(known.get("name") or "")[:MAX_NAME_BYTES],
        count=count if isinstance(count, int) and 0 < count <= 1_000_000 else 1,
        hostname=str(known.get("hostname") or "")[:MAX_NAME_BYTES],
        roofs=roofs,
        skipped=skipped,
    )


def _items(value: object) -> list[object]:
    """A list as it is; a mapping of name → value as a list of roofs; one value as one roof."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping) and "value" not in value:
        return [
            {"name": str(key), "level": str(key), "precision": str(key), "value": item}
            for key, item in value.items()
        ]
    return [] if value is None else [{"value": value}]


def _roof(item: object, *, memory: bool) -> Roof | str:
    if not isinstance(item, Mapping):
        return "a roof that is not an object"
    texts = {key: str(item.get(key) or "") for key in ("name", "level", "kind", "sparsity")}
    precision = str(item.get("precision") or "")
    dimension = Dimension.BANDWIDTH if memory else Dimension.FLOP_RATE
    field = Field.BANDWIDTH if memory else Field.FLOP_RATE
    value = item.get("value")
    if "unit" in item and not isinstance(value, Mapping):
        value = {"value": value, "unit": item["unit"]}
    try:
        number = _number(value, Meaning(field=field, label=texts["name"] or dimension.value))
    except ValueError as error:
        return str(error)
    return roof_of(
        what=texts["level"] if memory else precision,
        value=number or 0.0,
        kind=texts["kind"] or str(item.get("compute_kind") or ""),
        sparsity=texts["sparsity"],
        name=texts["name"],
        memory=memory,
    )


def _parsed(text: str, name: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _lines(text, name)
        raise CorruptProfileError(
            f"{name} is not a whole JSON document: {error.msg} in line {error.lineno:,}.",
            remedy=f"Export it again. {_TEMPLATE}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, str(error)) from error


def _lines(text: str, name: str) -> list[object]:
    """JSON Lines: one kernel per line."""
    items: list[object] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            items += [json.loads(line, parse_constant=_refuse)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise CorruptProfileError(
                f"{name}, line {number:,}: {error.msg}.", remedy=f"Export it again. {_TEMPLATE}"
            ) from error
        except (ValueError, RecursionError) as error:
            raise _unreadable(f"{name}, line {number:,}", str(error)) from error
    return items


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"holds {word}, which JSON does not have: write null for what is unknown")


def _unreadable(name: str, why: str) -> CorruptProfileError:
    text = why if why.startswith("holds") else "is nested too deeply or holds a number out of range"
    return CorruptProfileError(f"{name} {text}.", remedy=_TEMPLATE)


def _first_object(text: str) -> Json | None:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _is_kernel(item: object) -> bool:
    """True for an object with a name and two quantities of a roofline."""
    if not isinstance(item, Mapping):
        return False
    fields = {meaning_of(str(key)).field for key in _of_compiler(item)}
    if isinstance(item.get(_BUSY), Mapping):
        fields.add(Field.BUSY)
    return are_of_kernels(fields)


def _of_compiler(item: Json) -> Json:
    """A kernel for a program that was compiled; XLA says −1 for what it does not know."""
    if not item.keys() >= _COMPILED:
        return item
    counts = {"flops": item["flops"], "bytes": item["bytes accessed"]}
    known = {key: None if count == -1 else count for key, count in counts.items()}
    return {"name": item.get("name", "compiled program"), **known}
