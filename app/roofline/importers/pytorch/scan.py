"""Chrome trace events from bytes: a compiled scan that builds no object per event.

The text of an event is read once; numbers become numbers, texts become places and hashes, so that
each distinct text is decoded once. The scan is tolerant where JSON is not: events that cannot be
read are skipped and counted, and a file that ends early gives what it holds. Nesting costs no
memory, whatever its depth.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from roofline.importers.kernels import kernel, part
from roofline.importers.pytorch.json_text import (
    ABSENT,
    BAD,
    FNV_PRIME,
    FNV_START,
    INCOMPLETE,
    MAX_NUMBER,
    has_zero,
    hash_of,
    holds,
    lower_hash,
    next_object,
    number,
    skip_space,
    string_end,
    value_end,
)

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]


class Kind(IntEnum):
    """The kind of an event, by its category; `OTHER` is a category that is not listed."""

    IGNORED = 0
    OPERATOR = 1
    KERNEL = 2
    MEMCPY = 3
    MEMSET = 4
    RUNTIME = 5
    STEP = 6
    COUNTERS = 7
    OTHER = 8
    ANNOTATION = 9
    COLLECTIVE = 10
    SCOPE = 11
    FRAME = 12
    DEVICE_ANNOTATION = 13


class Column(IntEnum):
    """Columns of a scanned window. `_AT` and `_LEN` place a text in the window, quotes excluded."""

    KIND = 0
    BEGIN_NS = 1
    DURATION_NS = 2
    PID = 3
    TID = 4
    NAME_AT = 5
    NAME_LEN = 6
    NAME_HASH = 7
    CATEGORY_AT = 8
    CATEGORY_LEN = 9
    CATEGORY_HASH = 10
    CORRELATION = 11
    EXTERNAL_ID = 12
    DEVICE = 13
    BYTES = 14
    FLOP = 15
    KERNEL_BYTES = 16
    ARGS_AT = 17
    ARGS_LEN = 18
    DIMS_AT = 19
    DIMS_LEN = 20
    TYPES_AT = 21
    TYPES_LEN = 22
    STRIDES_AT = 23
    STRIDES_LEN = 24
    VALUES_AT = 25
    VALUES_LEN = 26
    SIGNATURE = 27
    KERNEL_AT = 28  # of a call of a Python function: the line that called it
    KERNEL_LEN = 29
    KERNEL_HASH = 30
    GRID_AT = 31
    GRID_LEN = 32
    BLOCK_AT = 33
    BLOCK_LEN = 34
    SHAPE_HASH = 35
    SEQUENCE = 36
    FORWARD_THREAD = 37


N_COLUMNS = len(Column)
# How a scan of a window ended.
NEED_MORE, END, FULL = 0, 1, 2
# What a scan counts.
_ROWS, _EVENTS, _DAMAGED, _PLACE = range(4)

_MASK = 2**64 - 1


def hash_of_text(text: str) -> np.uint64:
    """FNV-1a, 64 bits; http://www.isthe.com/chongo/tech/comp/fnv/."""
    value = int(FNV_START)
    for byte in text.encode():
        value = ((value ^ byte) * int(FNV_PRIME)) & _MASK
    return np.uint64(value)


def _key(text: str) -> np.uint64:
    return hash_of_text(text.lower())


_PH, _CAT, _NAME, _TS, _DUR = (_key(k) for k in ("ph", "cat", "name", "ts", "dur"))
_PID, _TID, _ARGS = (_key(k) for k in ("pid", "tid", "args"))
_CORRELATION, _EXTERNAL, _DEVICE = (_key(k) for k in ("correlation", "External id", "device"))
_BYTES, _SIZE = _key("bytes"), _key("size")
_FLOP, _FLOPS, _KERNEL_FLOP = (_key(k) for k in ("flop", "flops", "kernel_flop"))
_KERNEL_GB = _key("kernel_num_gb")
_DIMS, _TYPES, _STRIDES = (_key(k) for k in ("Input Dims", "Input type", "Input Strides"))
_TYPES_TOO, _VALUES = _key("Input types"), _key("Concrete Inputs")
_KERNEL, _CALLER = _key("kernel"), _key("CallFrom")
_SEQUENCE, _FORWARD_THREAD = _key("Sequence number"), _key("Fwd thread id")
_GRID, _BLOCK = _key("grid"), _key("block")

_KINDS = {
    Kind.OPERATOR: ("cpu_op", "operator"),
    Kind.KERNEL: ("kernel",),
    Kind.MEMCPY: ("gpu_memcpy", "memcpy"),
    Kind.MEMSET: ("gpu_memset", "memset"),
    Kind.RUNTIME: (
        *("cuda_runtime", "cuda_driver", "runtime", "driver", "hip_runtime", "xpu_runtime"),
        *("privateuse1_runtime", "privateuse1_driver"),
    ),
    Kind.STEP: ("user_annotation",),  # ignored unless it is a step or of a server
    Kind.COUNTERS: ("cuda_profiler_range",),
    Kind.FRAME: ("python_function",),  # or the call of a module
    Kind.IGNORED: (
        *("ac2g", "fwdbwd", "overhead", "cuda_sync", "trace"),
        *("gpu_user_annotation", "cpu_instant_event", "async_cpu_to_gpu", "forward_backward"),
    ),
}
_CATEGORY_HASHES = np.array([_key(t) for texts in _KINDS.values() for t in texts], np.uint64)
_CATEGORY_KINDS = np.array([k for k, texts in _KINDS.items() for _ in texts], np.int64)
_STEP_NAME = np.frombuffer(b"ProfilerStep", np.uint8)
# How annotations of servers begin: a step of vLLM and of SGLang, and the capture of a graph.
_EXECUTE_NAME = np.frombuffer(b"execute_", np.uint8)
_BATCH_NAME = np.frombuffer(b"step[", np.uint8)
_CAPTURE_NAME = np.frombuffer(b"capture_", np.uint8)
# How annotations of collectives begin: `nccl:all_reduce`, also where the library is RCCL.
_COLLECTIVE_NAME = np.frombuffer(b"nccl:", np.uint8)
# PyTorch's name of the event of a module's call, among those of Python's functions.
_MODULE_NAME = np.frombuffer(b"nn.Module: ", np.uint8)
# How kernels that Inductor generated begin: their sizes are plain arguments.
_GENERATED_NAME = np.frombuffer(b"triton_", np.uint8)
_ON_DEVICE = _key("gpu_user_annotation")

# Plain numbers for the compiled code, which knows no enums.
_K_IGNORED, _K_OPERATOR, _K_KERNEL, _K_RUNTIME, _K_STEP = 0, 1, 2, 5, 6
_K_OTHER, _K_ANNOTATION = 8, 9
_K_COLLECTIVE, _K_SCOPE, _K_FRAME, _K_DEVICE_ANNOTATION = 10, 11, 12, 13
_C_KIND, _C_BEGIN, _C_DURATION, _C_PID, _C_TID = 0, 1, 2, 3, 4
_C_NAME, _C_NAME_HASH, _C_CATEGORY, _C_CATEGORY_HASH = 5, 7, 8, 10
_C_CORRELATION, _C_EXTERNAL, _C_DEVICE, _C_BYTES, _C_FLOP, _C_KERNEL_BYTES = 11, 12, 13, 14, 15, 16
_C_ARGS, _C_DIMS, _C_TYPES, _C_STRIDES, _C_VALUES, _C_SIGNATURE = 17, 19, 21, 23, 25, 27
_C_KERNEL, _C_KERNEL_HASH = 28, 30
_C_GRID, _C_BLOCK, _C_SHAPE, _C_SEQUENCE, _C_FORWARD = 31, 33, 35, 36, 37


@part
def _identity(buf, start, stop):  # type: ignore[no-untyped-def]
    """A number for a pid or tid, which may be a text; digits in quotes are the number."""
    value = number(buf, start, stop, 0)
    if value >= 0:
        return value
    return np.int64(hash_of(buf, start, stop) | np.uint64(1 << 63))


@part
def _place(row, column, start, stop):  # type: ignore[no-untyped-def]
    row[column] = start
    row[column + 1] = stop - start


@part
def _argument(buf, key, start, stop, row):  # type: ignore[no-untyped-def]
    if key == _CORRELATION:
        row[_C_CORRELATION] = number(buf, start, stop, 0)
    elif key == _EXTERNAL:
        row[_C_EXTERNAL] = number(buf, start, stop, 0)
    elif key == _DEVICE:
        row[_C_DEVICE] = number(buf, start, stop, 0)
    elif key == _SEQUENCE:
        row[_C_SEQUENCE] = number(buf, start, stop, 0)
    elif key == _FORWARD_THREAD:
        row[_C_FORWARD] = number(buf, start, stop, 0)
    elif key in (_BYTES, _SIZE):
        row[_C_BYTES] = number(buf, start, stop, 0)
    elif key in (_FLOP, _FLOPS, _KERNEL_FLOP):
        row[_C_FLOP] = number(buf, start, stop, 0)
    elif key == _KERNEL_GB:
        row[_C_KERNEL_BYTES] = number(buf, start, stop, 9)
    elif key == _DIMS:
        _place(row, _C_DIMS, start, stop)
    elif key in (_TYPES, _TYPES_TOO):
        _place(row, _C_TYPES, start, stop)
    elif key == _STRIDES:
        _place(row, _C_STRIDES, start, stop)
    elif key == _VALUES:
        _place(row, _C_VALUES, start, stop)
    elif key in (_KERNEL, _CALLER) and buf[start] == 34:
        _place(row, _C_KERNEL, start + 1, stop - 1)
    elif key == _GRID and buf[start] == 91:
        _place(row, _C_GRID, start, stop)
    elif key == _BLOCK and buf[start] == 91:
        _place(row, _C_BLOCK, start, stop)


@part
def _field(buf, key, start, stop, row):  # type: ignore[no-untyped-def]
    """Take one of an event's own fields into `row`."""
    is_text = buf[start] == 34
    if key == _PH:
        row[_C_KIND] = stop - start == 3 and buf[start + 1] == 88
    elif key == _NAME and is_text:
        _place(row, _C_NAME, start + 1, stop - 1)
    elif key == _CAT and is_text:
        _place(row, _C_CATEGORY, start + 1, stop - 1)
    elif key == _TS:
        row[_C_BEGIN] = number(buf, start, stop, 3)
    elif key == _DUR:
        row[_C_DURATION] = number(buf, start, stop, 3)
    elif key == _PID:
        row[_C_PID] = _identity(buf, start, stop)
    elif key == _TID:
        row[_C_TID] = _identity(buf, start, stop)


@part
def _event(buf, i, end, row):  # type: ignore[no-untyped-def]
    """Read the event that opens at `i` into `row`; the place behind it.

    Sets `row[_C_KIND]` to 1 for a complete event (`ph` is X), to 0 for any other.
    """
    i, in_args, args_at = i + 1, False, 0
    while True:
        i = skip_space(buf, i, end)
        if i >= end:
            return INCOMPLETE
        if buf[i] == 44:
            i += 1
            continue
        if buf[i] == 125:
            i += 1
            if not in_args:
                return i
            _place(row, _C_ARGS, args_at, i)
            in_args = False
        else:
            key_at, close = i + 1, string_end(buf, i, end) if buf[i] == 34 else BAD
            if close < 0:
                return close
            i = skip_space(buf, close + 1, end)
            if i < end and buf[i] != 58:
                return BAD
            i = skip_space(buf, i + 1, end)
            if i >= end:
                return INCOMPLETE
            key, start = lower_hash(buf, key_at, close), i
            if key == _ARGS and buf[i] == 123 and not in_args:
                in_args, args_at, i = True, i, i + 1
                continue
            i = value_end(buf, i, end)
            if i < 0:
                return i
            if in_args:
                _argument(buf, key, start, i, row)
            else:
                _field(buf, key, start, i, row)
        i = skip_space(buf, i, end)
        if i >= end:
            return INCOMPLETE
        if buf[i] != 44 and buf[i] != 125:  # an unescaped quote ended a text too early
            return BAD


@part
def _begins(buf, start, length, prefix):  # type: ignore[no-untyped-def]
    return length > len(prefix) and holds(buf, start, start + len(prefix), prefix)


@part
def _is_of_server(buf, start, length):  # type: ignore[no-untyped-def]
    return (
        _begins(buf, start, length, _EXECUTE_NAME)
        or _begins(buf, start, length, _BATCH_NAME)
        or _begins(buf, start, length, _CAPTURE_NAME)
    )


@part
def _kind(buf, row):  # type: ignore[no-untyped-def]
    """The kind of the event. Legacy traces have no categories: then it is an operator."""
    name = row[_C_NAME]
    length = row[_C_NAME + 1]
    is_step = _begins(buf, name, length, _STEP_NAME)
    start, count = row[_C_CATEGORY], row[_C_CATEGORY + 1]
    if count <= 0:
        return _K_STEP if is_step else _K_OPERATOR
    hashed = lower_hash(buf, start, start + count)
    row[_C_CATEGORY_HASH] = np.int64(hashed)
    for k in range(len(_CATEGORY_HASHES)):
        if _CATEGORY_HASHES[k] == hashed:
            kind = _CATEGORY_KINDS[k]
            if kind == _K_OPERATOR and is_step:
                return _K_STEP
            if kind == _K_STEP and not is_step:
                if _begins(buf, name, length, _COLLECTIVE_NAME):
                    return _K_COLLECTIVE
                return _K_ANNOTATION if _is_of_server(buf, name, length) else _K_SCOPE
            if kind == _K_FRAME and _begins(buf, name, length, _MODULE_NAME):
                return _K_SCOPE
            if hashed == _ON_DEVICE and _is_of_server(buf, name, length):
                return _K_DEVICE_ANNOTATION
            return kind
    return _K_OTHER


@part
def _mixed(value, other):  # type: ignore[no-untyped-def]
    return (value ^ other) * FNV_PRIME + (value >> np.uint64(29))


@part
def _is_among(hashed, ordered):  # type: ignore[no-untyped-def]
    at = np.searchsorted(ordered, hashed)
    return at < len(ordered) and ordered[at] == hashed


@part
def _signature(buf, row, valued):  # type: ignore[no-untyped-def]
    """Equal for operators of one name, with inputs that cost the same.

    Strides count only where a dimension is broadcast (elsewhere those of the first call are kept,
    as a description), argument values only where a formula reads
    them: every other value would make each learning rate an operator of its own.
    """
    value = np.uint64(row[_C_NAME_HASH])
    for column in (_C_DIMS, _C_TYPES):
        start, count = row[column], row[column + 1]
        value = _mixed(
            value, hash_of(buf, start, start + count) if count > 0 else np.uint64(column)
        )
    start, count = row[_C_STRIDES], row[_C_STRIDES + 1]
    if count > 0 and has_zero(buf, start, start + count):
        value = _mixed(value, hash_of(buf, start, start + count))
    start, count = row[_C_VALUES], row[_C_VALUES + 1]
    name = row[_C_NAME]
    generated = _begins(buf, name, row[_C_NAME + 1], _GENERATED_NAME)
    if count > 0 and (generated or _is_among(np.uint64(row[_C_NAME_HASH]), valued)):
        value = _mixed(value, hash_of(buf, start, start + count))
    else:
        row[_C_VALUES + 1] = 0
    for column in (_C_FLOP, _C_KERNEL_BYTES):
        if row[column] >= 0:
            value = _mixed(value, np.uint64(row[column] * 2 + 1))
    return value


@part
def _complete(buf, row, valued):  # type: ignore[no-untyped-def]
    """Fill in what follows from the fields of an event that is kept."""
    row[_C_DURATION] = max(row[_C_DURATION], 0)
    name = row[_C_NAME]
    row[_C_NAME_HASH] = np.int64(hash_of(buf, name, name + row[_C_NAME + 1]))
    if row[_C_KIND] == _K_OPERATOR:
        row[_C_SIGNATURE] = np.int64(_signature(buf, row, valued))
    elif row[_C_KIND] == _K_KERNEL and row[_C_GRID] >= 0 and row[_C_BLOCK] >= 0:
        grid, block = row[_C_GRID], row[_C_BLOCK]
        row[_C_SHAPE] = np.int64(
            _mixed(
                hash_of(buf, grid, grid + row[_C_GRID + 1]),
                hash_of(buf, block, block + row[_C_BLOCK + 1]),
            )
        )
    elif row[_C_KERNEL + 1] > 0:
        launched = row[_C_KERNEL]
        row[_C_KERNEL_HASH] = np.int64(hash_of(buf, launched, launched + row[_C_KERNEL + 1]))


@kernel("int64(const uint8[], int64, int64, int64[,], uint64[], int64[])")
def scan_events(buf, pos, end, out, valued, counts):  # type: ignore[no-untyped-def]
    """Rows of the events from `pos` on into `out`. `valued` are hashes of operators, in order.

    Returns how it ended: `NEED_MORE`, `END` (the list of events is closed) or `FULL` (`out` is).
    `counts` gets the number of rows, of events read, of events skipped as damaged, and the place to
    go on from.
    """
    counts[:3] = 0
    while True:
        pos = skip_space(buf, pos, end)
        counts[_PLACE] = pos
        if pos >= end:
            return NEED_MORE
        if buf[pos] == 93:
            counts[_PLACE] = pos + 1
            return END
        if buf[pos] == 44:
            pos += 1
            continue
        if counts[_ROWS] == out.shape[0]:
            return FULL
        row = out[counts[_ROWS]]
        row[:] = ABSENT
        row[_C_KIND] = 0
        behind = _event(buf, pos, end, row) if buf[pos] == 123 else BAD
        if behind == INCOMPLETE:
            return NEED_MORE
        if behind == BAD:
            counts[_DAMAGED] += 1
            resumed = next_object(buf, pos + 1, end)
            if resumed <= pos:
                return NEED_MORE
            pos = resumed
            if pos < end and buf[pos] == 125:  # what follows is not read yet
                pos += 1
            continue
        pos = behind
        counts[_EVENTS] += 1
        if row[_C_KIND] == 0 or row[_C_NAME] < 0:
            continue
        row[_C_KIND] = _kind(buf, row)
        if row[_C_KIND] == _K_IGNORED:
            continue
        if row[_C_BEGIN] < 0 or row[_C_DURATION] >= MAX_NUMBER // 10:
            counts[_DAMAGED] += 1
            continue
        _complete(buf, row, valued)
        counts[_ROWS] += 1
