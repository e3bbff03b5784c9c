"""The form of each op: the fields that make its shape and its options, and how they are read.

The keys are those of a page's address; those of options are the options' names.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from roofline.devices.topology import ALGORITHMS, LATENCIES, WRAPS
from roofline.errors import BadViewError
from roofline.estimate.ops import OPS, Options, is_size
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


def _sizes(**defaults: tuple[str, int]) -> tuple[Field, ...]:
    return tuple(
        Field(key=key, label=label, default=str(value)) for key, (label, value) in defaults.items()
    )


_DTYPE = Field(key="dtype", label="Element type", kind="type", default="bf16")
_WEIGHTS = Field(key="weights", label="Weights", kind="storage")
_OUT = Field(key="out_dtype", label="Output", kind="storage")
_COMPUTE = Field(key="compute", label="Arithmetic", kind="type")
_SPARSE = Field(key="sparse", label="Sparse 2:4", kind="flag")
_RANKS = Field(key="ranks", label="Devices", default="2")
_AXES = Field(key="axes", label="Axes of a TPU slice", kind="text")
_ALPHA = Field(key="alpha_us", label="µs per ring step", kind="number")
NETWORK_FIELDS = (
    Field(key="nodes", label="Nodes"),
    Field(key="gpus_per_node", label="GPUs per node"),
    Field(key="network", label="Network per GPU", kind="text"),
    _AXES,
    Field(key="wrap", label="Closed axes", kind="choice", default="auto", choices=WRAPS),
    Field(key="latency", label="Latency of", kind="choice", default="hops", choices=LATENCIES),
    _ALPHA,
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
_LAUNCH = (
    Field(key="threads", label="Threads at once"),
    Field(key="load_bytes", label="Bytes of a load", kind="number", default="16"),
    Field(key="loads_in_flight", label="Loads of a thread", default="1"),
)
_PER_NODE = Field(key="per_node", label="Of these per node")
_EACH = Field(key="flops_per_element", label="FLOPs per element", kind="number", default="1")
_INPUTS = Field(key="inputs", label="Tensors read", default="1")
_ANY_SHAPE = Field(key="shape", label="Shape", kind="text", default="4096x8192")

FORMS: Mapping[str, Form] = {
    form.ops[0]: form
    for form in (
        Form(
            title="Matmul",
            ops=("matmul",),
            sizes=_sizes(
                batch=("Batch, with own weights", 1),
                m=("M, rows", 8192),
                k=("K", 4096),
                n=("N", 4096),
            ),
            options=(
                _DTYPE,
                _WEIGHTS,
                _OUT,
                _COMPUTE,
                Field(key="tile", label="Tile", kind="text", default=""),
                _SPARSE,
            ),
            swept="m",
            unit="rows",
        ),
        Form(
            title="Distributed matmul",
            ops=("distributed-matmul",),
            sizes=_sizes(b=("B, rows", 2048), d=("D, divided", 8192), f=("F", 8192)),
            options=(_DTYPE, _WEIGHTS, _OUT, _COMPUTE, _RANKS, _AXES, _ALPHA, _SPARSE),
            swept="d",
            unit="contracted elements",
        ),
        Form(
            title="Attention",
            ops=("attention",),
            sizes=_sizes(
                sequences=("Sequences", 8),
                heads=("Heads", 32),
                tokens=("New tokens", 2048),
                head=("Head size", 128),
            ),
            options=(
                Field(key="kv_heads", label="KV heads"),
                Field(key="context", label="Context, new included"),
                Field(key="window", label="Window"),
                _DTYPE,
                Field(key="kv_dtype", label="Keys, values", kind="storage"),
                Field(key="causal", label="Causal pairs only", kind="flag"),
                Field(key="flash", label="Flash", kind="flag", default="yes"),
            ),
            swept="tokens",
            unit="new tokens",
        ),
        Form(
            title="Convolution",
            ops=("convolution",),
            sizes=_sizes(
                batch=("Batch", 32),
                height=("Height", 56),
                width=("Width", 56),
                channels=("Channels", 256),
                filters=("Filters", 256),
                kernel_height=("Kernel height", 3),
                kernel_width=("Kernel width", 3),
            ),
            options=(
                Field(key="stride", label="Stride", default="1"),
                Field(key="groups", label="Groups", default="1"),
                Field(
                    key="padding",
                    label="Padding",
                    kind="choice",
                    default="same",
                    choices=("same", "valid"),
                ),
                _DTYPE,
                _WEIGHTS,
                _OUT,
                _COMPUTE,
                _SPARSE,
            ),
            swept="batch",
            unit="images",
        ),
        Form(
            title="Norm",
            ops=("norm",),
            sizes=_sizes(rows=("Rows", 8192), hidden=("Hidden", 4096)),
            options=(
                Field(
                    key="kind",
                    label="Kind",
                    kind="choice",
                    default="layer",
                    choices=("layer", "rms"),
                ),
                Field(key="passes", label="Passes over the input", default="2"),
                _DTYPE,
                _OUT,
                *_LAUNCH,
            ),
        ),
        Form(
            title="Softmax",
            ops=("softmax",),
            sizes=_sizes(rows=("Rows", 8192), columns=("Columns", 4096)),
            options=(_DTYPE, _OUT, *_LAUNCH),
        ),
        Form(
            title="Reduction",
            ops=("reduction",),
            sizes=_sizes(rows=("Rows", 8192), columns=("Columns", 4096)),
            options=(_DTYPE, _OUT, *_LAUNCH),
        ),
        Form(
            title="Elementwise",
            ops=("elementwise",),
            sizes=(_ANY_SHAPE,),
            options=(_EACH, _INPUTS, _DTYPE, _OUT, *_LAUNCH),
            swept="flops_per_element",
            unit="FLOPs per element",
        ),
        Form(
            title="Fused chain",
            ops=("chain",),
            sizes=(_ANY_SHAPE,),
            options=(
                Field(key="ops", label="Ops of the chain", default="2"),
                _EACH,
                _INPUTS,
                _DTYPE,
                _OUT,
            ),
            swept="ops",
            unit="ops",
        ),
        Form(title="Dot", ops=("dot",), sizes=_sizes(n=("N", 1_048_576)), options=(_DTYPE, _OUT)),
        Form(
            title="Gather",
            ops=("gather",),
            sizes=_sizes(rows=("Rows", 8192), width=("Width", 4096)),
            options=(_DTYPE, _OUT, *_LAUNCH),
        ),
        Form(
            title="Collective",
            ops=tuple(name for name, op in OPS.items() if op.is_collective),
            sizes=(_ANY_SHAPE,),
            options=(_DTYPE, _RANKS, _PER_NODE, *NETWORK_FIELDS),
        ),
    )
}


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
    low, high = 0, _largest(form)
    if not _reaches(form, high, ridge):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(form, middle, ridge) else (middle, high)
    return high


_FAR = 10**9


def _largest(form: Filled) -> int:
    """New tokens are part of the context, where it is given."""
    context = form.values.get("context", "")
    return int(context) if form.form.swept == "tokens" and context.isdigit() else _FAR


def _reaches(form: Filled, value: int, ridge: float) -> bool:
    found = intensity(form, value)
    return found is not None and found >= ridge
