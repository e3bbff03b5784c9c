"""The form of each op: the fields that make its shape and its options, and how they are read.

The keys are those of a page's address; those of options are the options' names.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from roofline.devices.topology import ALGORITHMS, LATENCIES, WRAPS
from roofline.errors import BadViewError
from roofline.estimate.ops import OPS, Options, is_size, least
from roofline.model.plain_data import read_beside
from roofline.model.units import plain_number

Kind = Literal["count", "number", "type", "storage", "choice", "flag", "text"]

TYPES = ("bf16", "fp16", "fp32", "tf32", "fp64", "fp8", "int8", "nvfp4", "mxfp4", "fp4", "int4")
STORAGE = (*TYPES, "int4:g128", "int4:g64", "int8:g128", "fp8:b128")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field. `default` is what an empty one means; `choices` are those of a `choice`."""

    key: str
    label: str
    kind: Kind = "count"
    default: str = ""
    choices: tuple[str, ...] = ()

    @property
    def offered(self) -> tuple[str, ...]:
        """The values to choose from; nothing for a field to write in."""
        return {"type": TYPES, "storage": STORAGE}.get(self.kind, self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The fields of an op. `sizes` make its shape, in order; `ops` are those that share the form.

    `swept` is the field over which intensity is drawn, `unit` what counts it.
    """

    title: str
    ops: tuple[str, ...]
    sizes: tuple[Field, ...]
    options: tuple[Field, ...]
    swept: str = ""
    unit: str = ""

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields."""
        return (*self.sizes, *self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A form as it was filled in. `values` has a text for every field."""

    op: str
    form: Form
    values: Mapping[str, str]

    @property
    def shape(self) -> str:
        """The shape as `estimate` takes it."""
        return "x".join(self.values[one.key] for one in self.form.sizes)

    @property
    def options(self) -> Options:
        """The options; `BadViewError` for a value that an option cannot have."""
        given = {one.key: _value(one, self.values[one.key]) for one in self.form.options}
        return Options(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]

    def is_wrong(self, one: Field) -> bool:
        """Whether the value of this field cannot be read; whole shapes are not tried."""
        text = self.values[one.key]
        if one in self.form.sizes:
            return one.kind == "count" and not is_size(text)
        try:
            _value(one, text)
        except BadViewError:
            return True
        return False

    def check_sizes(self) -> None:
        """`BadViewError` names the sizes that cannot be read."""
        wrong = [one for one in self.form.sizes if self.is_wrong(one)]
        if wrong:
            said = " and ".join(
                f'{one.label} ("{self.values[one.key][:_MOST_SHOWN]}")' for one in wrong
            )
            raise BadViewError(f"{said} cannot be read.", remedy="Write whole numbers above 0.")

    def replaced(self, key: str, value: object) -> "Filled":
        """The same with another value of one field."""
        return Filled(op=self.op, form=self.form, values={**self.values, key: str(value)})


NETWORK_FIELDS = (
    Field(key="nodes", label="Nodes"),
    Field(key="gpus_per_node", label="GPUs per node"),
    Field(key="network", label="Network per GPU", kind="text"),
    Field(key="axes", label="Axes of a TPU slice", kind="text"),
    Field(key="wrap", label="Closed axes", kind="choice", default="auto", choices=WRAPS),
    Field(key="latency", label="Latency of", kind="choice", default="hops", choices=LATENCIES),
    Field(key="alpha_us", label="µs per ring step", kind="number"),
    Field(
        key="algorithm",
        label="Algorithm",
        kind="choice",
        default="two-level",
        choices=ALGORITHMS,
    ),
    Field(key="in_switch", label="Reduction in the switch", kind="flag"),
)
"""What a user may say of the network: the fields of `NetworkChoice`, but for `per_node`."""


def _read() -> Iterator[Form]:
    """The forms of `forms.json`, whose options are named there, or fields of the network."""
    file = read_beside(__file__, "forms.json")
    options = {one.key: one for one in (*map(field_of, file["options"]), *NETWORK_FIELDS)}
    for form in file["forms"]:
        sizes = tuple(map(field_of, form.pop("sizes")))
        named = tuple(options[key] for key in form.pop("options"))
        yield Form(sizes=sizes, options=named, ops=tuple(form.pop("ops")), **form)


def field_of(words: Mapping[str, Any]) -> Field:
    """A field, as a file has it."""
    return Field(**{**words, "choices": tuple(words.get("choices", ()))})


FORMS: Mapping[str, Form] = {form.ops[0]: form for form in _read()}


def form_of(op: str) -> Form:
    """The form of the op `op`; `BadViewError` names the ops."""
    found = next((form for form in FORMS.values() if op in form.ops), None)
    if found is None:
        raise BadViewError(f'"{op[:60]}" is not an op.', remedy=f"Name one of: {', '.join(OPS)}.")
    return found


def filled(op: str, given: Mapping[str, str]) -> Filled:
    """The form of `op` with the values `given`, defaults for the others."""
    form = form_of(op)
    values = {one.key: written(one, given.get(one.key, "")) or one.default for one in form.fields}
    return Filled(
        op=op,
        form=form,
        values=values,
    )


_MOST_TEXT = 100
_MOST_SHOWN = 30


def written(one: Field, text: str) -> str:
    """The text of a field, cleaned; a number as the code reads it."""
    text = text.strip()[:_MOST_TEXT]
    return plain_number(text) if one.kind in ("count", "number") else text


def _value(one: Field, text: str) -> object:
    """The value of the option; `None` for its default."""
    if one.kind == "flag":
        return text in ("yes", "true", "1", "on")
    if not text:
        return None
    if one.kind in ("count", "number"):
        return _number(one, text)
    return text


_MOST_DIGITS = 15


def _number(one: Field, text: str) -> float:
    is_whole = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if is_whole:
        return int(text)
    try:
        value = float(text) if one.kind == "number" else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise BadViewError(
            f"{one.label} cannot be read.",
            remedy="Write a number." if one.kind == "number" else "Write a whole number.",
        )
    return value


def intensity(form: Filled, value: float) -> float | None:
    """FLOP per byte with `value` in the swept field; of a link where the op has one.

    `None` where the op moves nothing, and beyond a size that the other fields allow.
    """
    if value > _largest(form):
        return None
    swept = next(one for one in form.form.fields if one.key == form.form.swept)
    one = form.replaced(swept.key, int(value) if swept.kind == "count" else f"{value:.12g}")
    op = OPS[form.op]
    work = op.work(op.read(one.shape), one.options)
    moved = work.link_bytes or work.memory_bytes
    return (work.matrix_flop or work.vector_flop) / moved if moved else None


def crossing(form: Filled, ridge: float) -> int | None:
    """The least whole value of the swept field whose intensity reaches `ridge`; `None`: never.

    Intensity does not fall as the field grows.
    """
    return least(lambda value: _reaches(form, value, ridge), _largest(form))


_FAR = 10**9


def _largest(form: Filled) -> int:
    """New tokens are part of the context, where it is given."""
    context = form.values.get("context", "")
    return int(context) if form.form.swept == "tokens" and context.isdigit() else _FAR


def _reaches(form: Filled, value: int, ridge: float) -> bool:
    found = intensity(form, value)
    return found is not None and found >= ridge
