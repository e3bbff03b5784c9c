"""NVTX ranges: operators of PyTorch with their shapes, groups of the program, steps, collectives.

`torch.autograd.profiler.emit_nvtx` pushes a range per operator, `NAME[, seq = N][, op_id = N]
[, sizes = [[…], …]][, input_op_ids = …]` (torch/csrc/profiler/util.cpp, `getNvtxStr`). Its element
types are not in the text: the kernel's name tells them, or they stay unknown. NCCL's own ranges
describe the collective that they launch. All others are groups.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from roofline.importers.nsight_systems.tables import START_END, Recording
from roofline.importers.pytorch.collectives import nccl_messages
from roofline.importers.pytorch.signatures import Signature, read_signature
from roofline.importers.pytorch.trace import Step, Trace
from roofline.importers.shared.databases import ABSENT
from roofline.importers.shared.events import Names
from roofline.importers.shared.kernel_names import group_name
from roofline.importers.shared.nesting import nest
from roofline.importers.shared.steps import step_ranges
from roofline.importers.shared.tables_text import json_of
from roofline.model.op_columns import I64, Bools
from roofline.model.profile import distinct_rows

_OPERATOR = re.compile(
    r"(?P<name>[^,]{1,300}?)(?:, (?P<rest>(?:seq|op_id|sizes|input_op_ids) = .*))?"
)
_SIZES = re.compile(r"(?:\A|, )sizes = (\[.*?\])(?=, \w+ = |\Z)")
_CALLED = re.compile(r"[\w.]+::[\w.:]+\Z")
_LIBRARY = re.compile(r"nccl[:A-Z]", re.ASCII)
_MOST_SIZES = 20_000  # characters of shapes that are read
# Element types as the names of kernels spell them; the first that is found counts.
_TYPES = (
    (re.compile(r"bf16|bfloat16|BBS|c10::BFloat16"), "c10::BFloat16"),
    (re.compile(r"f16f16|s16816|s1688f16|fp16|half|HHS|HHH|c10::Half|h884|h1688"), "c10::Half"),
    (re.compile(r"f32f32|tf32|sgemm|s1688gemm|float"), "float"),
    (re.compile(r"f64f64|dgemm|double"), "double"),
)


def add_ranges(trace: Trace, recording: Recording, thread: I64, ran: I64) -> None:
    """All ranges of `recording`, on threads numbered by `thread`, as operators, and as scopes
    around what begins later inside them; those of NCCL as calls. `ran` is the name that each launch
    of the trace ran."""
    table = recording.ranges
    last = max(int(recording.events["end"].max(initial=0)), int(table["start"].max(initial=0)))
    begin, end = table["start"], np.where(table["end"] == ABSENT, last, table["end"])
    if (may_cross := table["eventType"] == START_END).any():
        kept = np.flatnonzero(~(may_cross & _crossing(begin, end, thread)))
        begin, end, thread, table = begin[kept], end[kept], thread[kept], table.selected(kept)
    duration = np.clip(end - begin, 0, last)
    kinds = Names()  # of ranges
    number = kinds.places(map(_plain, recording.range_text))
    texts, number = kinds.texts, number[table["text"]]
    spans = {"begin": begin, "duration": duration, "thread": thread}
    kernels = _kernels_within(spans, number, texts, trace, ran)
    trace.signatures = [_signature(text, kernels.get(k, "")) for k, text in enumerate(texts)]
    found = step_ranges(texts, number, begin, begin + duration, thread).tolist()
    trace.steps = [Step(number=k, begin_ns=b, end_ns=e) for k, (b, e) in enumerate(found)]
    is_call = np.array([bool(_LIBRARY.match(text)) for text in texts], np.bool_)[number]
    calls, plain = np.flatnonzero(is_call), np.flatnonzero(~is_call)
    trace.operators.extend(
        **{name: column[plain] for name, column in spans.items()},
        signature=number[plain],
        external=np.zeros(len(plain), np.int64),
        node=np.full(len(plain), -1),
    )
    trace.scopes.extend(
        begin=begin[plain] + 1,
        duration=np.maximum(duration[plain] - 1, 0),
        thread=thread[plain],
        name=len(trace.names) + number[plain],
    )
    trace.names += [signature.operator for signature in trace.signatures]
    pairs, moved = distinct_rows([number[calls], table["binaryData"][calls]])
    names = [text.removeprefix("nccl:").removeprefix("nccl") for text in texts]
    called = [(names[text], payload) for text, payload in pairs.tolist()]
    trace.calls = [*nccl_messages(called, recording.payloads)]
    trace.called.extend(**{name: column[calls] for name, column in spans.items()}, moved=moved)


def _crossing(begin: I64, end: I64, thread: I64) -> Bools:
    """Ranges that begin within another one of their thread and end after it, and those around them:
    what ran then is not known to be theirs."""
    crosses, no = np.zeros(len(begin), np.bool_), np.zeros(0, np.int64)
    spans = {"begin": begin, "duration": end - begin, "thread": thread}
    parent, *_ = nest(**spans, point_ns=no, point_thread=no)
    inner = np.flatnonzero((parent >= 0) & (end > end[parent]))
    crosses[inner] = crosses[parent[inner]] = True
    return crosses


def _plain(text: str) -> str:
    """A text without the ids of one call, which would make every call another kind."""
    if ", sizes = " not in text:  # most texts: quicker than a pattern
        name = text.partition(", seq = ")[0].partition(", op_id = ")[0]
        if name != text and "," not in name:
            return f"{name}, op_id = 0"
    match = _OPERATOR.fullmatch(text)
    if match is None or match["rest"] is None:
        return text if match is None or _CALLED.match(text) else group_name(text)
    sizes = _SIZES.search(match["rest"])
    return f"{match['name']}, sizes = {sizes[1]}" if sizes else f"{match['name']}, op_id = 0"


def _signature(text: str, kernel: str) -> Signature:
    match = _OPERATOR.fullmatch(text)
    if match is None or not (match["rest"] or _CALLED.match(text)) or _LIBRARY.match(text):
        return Signature(
            operator=text.strip("/") or text, label=text, dtype="", flop=None, moved_bytes=None,
            has_shapes=False, is_uncountable=False, is_scope=True,
        )  # fmt: skip
    sizes = _SIZES.search(match["rest"] or "")
    parsed = json_of(sizes[1]) if sizes and len(sizes[1]) <= _MOST_SIZES else None
    dims = parsed if isinstance(parsed, list) else None
    element = next((spelled for of, spelled in _TYPES if of.search(kernel)), "")
    types = [element if shape else "" for shape in dims] if dims else None
    return read_signature(
        match["name"], dims=dims, types=types, strides=None, values=None, flop=-1, moved_bytes=-1
    )


def _kernels_within(
    spans: Mapping[str, I64], number: I64, texts: Sequence[str], trace: Trace, ran: I64
) -> Mapping[int, str]:
    """A kernel that was launched directly in each text that has shapes, for its element type."""
    shaped, names = np.array([", sizes = " in text for text in texts], np.bool_), trace.names
    if not shaped.any():
        return {}
    calls = trace.launches
    _, around, _ = nest(**spans, point_ns=calls["begin"], point_thread=calls["thread"])
    inside = np.flatnonzero(around >= 0)
    pairs = number[around[inside]] * len(names) + ran[inside]
    _, first = np.unique(pairs, return_index=True)
    found: dict[int, str] = {}
    for pair in pairs[np.sort(first)].tolist():
        text, kernel = divmod(pair, len(names))
        if shaped[text]:
            found[text] = max(found.get(text, ""), names[kernel], key=_tells_type)
    return found


def _tells_type(kernel: str) -> bool:
    return any(of.search(kernel) for of, _ in _TYPES)
