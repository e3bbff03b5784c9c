"""Runs one recorded call of PyTorch alone, and times it with warm and with cold caches.

PyTorch is all that it needs. `CALL` says what is run: change it, and run it again.
"""

import contextlib
import importlib
import json
import math
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

Call = dict[str, Any]

# fmt: off
CALL: Any = None  # roofline writes the call here
# fmt: on

TYPES = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "long int": "int64", "long long": "int64", "int": "int32",
    "short": "int16", "short int": "int16", "signed char": "int8", "char": "int8",
    "unsigned char": "uint8", "bool": "bool", "complex<float>": "complex64",
    "complex<double>": "complex128", "unsigned short": "uint16", "unsigned int": "uint32",
    "unsigned long": "uint64", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
    "float8_e4m3fnuz": "float8_e4m3fnuz", "float8_e5m2fnuz": "float8_e5m2fnuz",
}  # fmt: skip
# The library that registers the operators of a namespace, where that is not PyTorch itself.
LIBRARIES = {
    "_C": "vllm", "_C_cache_ops": "vllm", "_moe_C": "vllm", "_rocm_C": "vllm", "vllm": "vllm",
    "sgl_kernel": "sgl_kernel", "sglang": "sglang", "aiter": "aiter", "torchvision": "torchvision",
    "flash_attn": "flash_attn", "xformers": "xformers", "torchao": "torchao",
    "fbgemm": "fbgemm_gpu",
}  # fmt: skip
NAME = re.compile(r"([A-Za-z_]\w{0,63})::([A-Za-z_]\w{0,127})\Z")
# These read or write files, talk to other processes, or change how PyTorch works.
REFUSED = re.compile(
    r"(?:prim|profiler|c10d\w*|_c10d\w*|symm_mem|streams|mlprogram|inductor|\w*custom_ar\w*|\w*allocator\w*)::"
    r"|\w+::(?:\w*(?:from_file|save|load|print|warn|dlopen|library|format)\w*)\Z"
)
# Arguments that hold an address of the process that was captured.
ADDRESS = re.compile(r"(?:\A|_)(?:ptrs?|pointers?|handles?|address|fa)\Z")
INDEXED = re.compile(r"embedding|index|gather|scatter|take|nll_loss")
WORD = re.compile(r"[A-Za-z_]{1,40}\Z|[A-Za-z.,> -]{1,200}\Z")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z|[-+]?(?:inf|nan)\Z")
HIGHEST = 2**48
WARM_UP_S, WARM_UP_CALLS = 0.5, 20
BATCH_S, BATCHES, MOST_S = 0.002, 20, 10.0
SLOWER = 1.05
KEPT = ("float16", "bfloat16", "float32", "float64")


class UnboundError(Exception):
    """The recorded arguments do not fit."""


class RefusedError(Exception):
    """The call is not run, and this is why."""


# ------------------------------------------------------------------------------- which operator


def packet_of(name: str) -> list[tuple[Any, Any]]:
    """All overloads of the operator, in the dispatcher's order."""
    found = NAME.match(name)
    if found is None or REFUSED.match(name):
        raise RefusedError("This is not an operator that can be run alone.")
    import torch

    space, operator = found.groups()
    library = LIBRARIES.get(space)
    if library and not torch._C._jit_get_schemas_for_operator(name):
        with contextlib.suppress(ImportError, OSError, RuntimeError):
            importlib.import_module(library)
    schemas = torch._C._jit_get_schemas_for_operator(name)
    if not schemas and library:
        raise RefusedError(f"Its library is not installed here: {library} registers {space}::.")
    if not schemas:
        raise RefusedError("PyTorch has no operator of this name here.")
    packet = getattr(getattr(torch.ops, space), operator)
    return [(one, getattr(packet, one.overload_name or "default")) for one in schemas]


def bound(call: Call, device: str) -> tuple[str, Any, "Arguments"]:
    """The operator, its arguments on `device`, and notes; `RefusedError` where none fits."""
    reasons, wanted, count = [], call.get("overload"), len(call["types"])
    forms = packet_of(call["name"])
    # One with more arguments was recorded by an older PyTorch.
    for schema, operator in sorted(forms, key=lambda form: len(form[0].arguments) != count):
        overload = schema.overload_name or "default"
        if (wanted and overload != wanted) or count > len(schema.arguments):
            continue
        try:
            made = Arguments(call, schema, device)
        except (UnboundError, ValueError) as reason:
            reasons.append(f"{overload}: {reason}")
            continue
        return overload, operator, made
    told = "; ".join(reasons[:4]) or "no form of it has so many arguments"
    raise RefusedError(f"The recorded arguments fit no form of it: {told}.")


class Arguments:
    """What the call is given: `positional`, `named`, all `tensors`, and `notes` of what is
    assumed."""

    def __init__(self, call: Call, schema: Any, device: str) -> None:
        self.call, self.device = call, device
        self.positional: list[Any] = []
        self.named: dict[str, Any] = {}
        self.tensors: list[Any] = []
        self.notes: list[str] = []
        self._indexed = bool(INDEXED.search(call["name"]))
        # A wrapped number stays on the host, beside tensors on the device.
        self._has_arrays = any(call["dims"][place] for place in range(len(call["dims"])))
        self._axis = self._axis_of(schema)
        for place, argument in enumerate(schema.arguments):
            if place >= len(call["types"]):
                if not argument.has_default_value():
                    raise UnboundError(f"{argument.name} was not recorded")
                continue
            value = self._value(place, argument)
            if isinstance(value, int) and ADDRESS.search(argument.name):
                raise RefusedError(f"{argument.name} is an address in the captured program.")
            self._add(argument, value)
        if len(schema.arguments) > len(call["types"]):
            self.notes.append("The call was recorded by an older PyTorch, with fewer arguments.")

    def _add(self, argument: Any, value: Any) -> None:
        if argument.kwarg_only:
            self.named[argument.name] = value
        else:
            self.positional.append(value)

    def _axis_of(self, schema: Any) -> int:
        """The axis of the first tensor that indices are of."""
        for place, argument in enumerate(schema.arguments[: len(self.call["types"])]):
            if argument.name == "dim" and re.fullmatch(r"-?\d+", self.call["values"][place]):
                return int(self.call["values"][place])
        return 1 if "nll_loss" in self.call["name"] else 0

    def _value(self, place: int, argument: Any) -> Any:
        import torch

        call = self.call
        text, dims, spelled = call["values"][place], call["dims"][place], call["types"][place]
        kind = str(getattr(argument, "real_type", argument.type))
        is_optional = kind.startswith("Optional[") or kind.endswith("?")
        bare = re.sub(r"\AOptional\[(.*)\]\Z", r"\1", kind).rstrip("?")
        if bare == "Device" or bare == "Optional[Device]":
            return torch.device(self.device)
        is_list = "Tensor" in bare and ("[]" in bare or "List" in bare)
        if not is_list and bare == "Tensor":
            if type_of(spelled) is None or text:
                if is_optional and not spelled and not text:
                    return None
                raise UnboundError(f"{argument.name} is a tensor, recorded as “{spelled or text}”")
            return self._tensor(dims, call["strides"][place], spelled, place)
        if is_list:
            return self._tensors(place, argument)
        if type_of(spelled) is not None:
            raise UnboundError(f"{argument.name} is not a tensor")
        if not text and not spelled.endswith("List"):
            if argument.has_default_value():
                if bare == "str":
                    default = argument.default_value
                    self.notes.append(f"PyTorch records no texts: {argument.name} is {default!r}.")
                return argument.default_value
            if is_optional:
                return None
            raise UnboundError(f"{argument.name} was not recorded")
        return plain(bare, text, argument)

    def _tensors(self, place: int, argument: Any) -> list[Any]:
        """A list of tensors; its types are not recorded."""
        dims, strides = self.call["dims"][place], self.call["strides"][place]
        spelled = self.call["types"][place]
        if spelled not in ("TensorList", "GenericList", "") or not isinstance(dims, list):
            raise UnboundError(f"{argument.name} is a list of tensors")
        if not all(isinstance(one, list) for one in dims):
            raise UnboundError(f"{argument.name} is a list of tensors")
        result: list[Any] = []
        for k, one in enumerate(dims):
            own = strides[k] if isinstance(strides, list) and k < len(strides) else None
            if self._indexed:
                if not one:
                    result.append(None)
                    continue
                kind = "long int"
                self._axis = k
            else:
                kind = self.call["list_types"][place]
            if not kind:
                raise RefusedError(
                    "The trace does not say the element type of its list of tensors."
                )
            result.append(self._tensor(one, own if isinstance(own, list) else None, kind, place))
        return result

    def _tensor(self, dims: Any, strides: Any, spelled: str, place: int) -> Any:
        import torch

        sizes = [int(one) for one in dims]
        if strides is None or len(strides) != len(sizes):
            strides = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
            self.notes.append("Strides were not recorded: the tensors lie densely.")
        steps = [int(one) for one in strides]
        if any(not 0 <= one < HIGHEST for one in (*sizes, *steps)) or len(sizes) > 32:
            raise UnboundError("a shape is damaged")
        count = 1 + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))
        count = count if all(sizes) else 0
        if count >= HIGHEST:
            raise RefusedError("A tensor is too large.")
        dtype = getattr(torch, type_of(spelled) or "")
        wraps = not sizes and self._has_arrays and dtype in (torch.float64, torch.int64)
        device = "meta" if self.device == "meta" else "cpu" if wraps else self.device
        flat = self._filled(count, dtype, device, place)
        made = flat.as_strided(sizes, steps)
        self.tensors.append(made)
        return made

    def _filled(self, count: int, dtype: Any, device: str, place: int) -> Any:
        """Numbers as a program has them: zeros would need less power, and be faster."""
        import torch

        if device == "meta":
            return torch.empty(count, dtype=dtype, device=device)
        if dtype == torch.bool:
            return torch.randint(0, 2, (count,), device=device) > 0
        if dtype.is_floating_point or dtype.is_complex:
            name = str(dtype).removeprefix("torch.")
            drawn = name if dtype.is_complex or name in KEPT else "float32"
            kind = getattr(torch, drawn)
            return torch.randn(count, dtype=kind, device=device).mul_(0.02).to(dtype)
        top = 2
        first = self.call["dims"][0]
        if self._indexed and place and first and all(isinstance(one, int) for one in first):
            top = max(
                1, min(first[self._axis % len(first)], 2**15 if dtype != torch.int64 else HIGHEST)
            )
            if dtype in (torch.int8, torch.uint8):
                top = min(top, 2)
        return torch.randint(0, top, (count,), device=device).to(dtype)


def type_of(spelled: str) -> str | None:
    """PyTorch's name of the element type as C++ spells it; `None` for what is not a tensor."""
    return TYPES.get(spelled.lower().replace("c10::", ""))


def plain(kind: str, text: str, argument: Any) -> Any:
    """A plain argument by its text; nothing in it is evaluated."""
    if kind in ("Layout", "Generator", "Stream", "Storage"):
        return None
    if kind == "str":
        word = text.strip("\"'")
        if not WORD.match(word):
            raise UnboundError(f"{argument.name} is not a word")
        return word
    if "List[" in kind or "[" in kind:
        inner = text.strip()
        if not (inner.startswith("[") and inner.endswith("]")):
            if "int" in kind.lower() and re.fullmatch(r"-?\d+", inner):
                return [int(inner)]
            raise UnboundError(f"{argument.name} is a list")
        parts = [part.strip() for part in inner[1:-1].split(",") if part.strip()]
        if len(parts) > 1000:
            raise UnboundError(f"{argument.name} is too long")
        return [scalar(kind, part, argument) for part in parts]
    return scalar(kind, text, argument)


def scalar(kind: str, text: str, argument: Any) -> Any:
    """One number or truth value."""
    if text in ("True", "False", "true", "false"):
        if "bool" in kind or kind in ("number", "Scalar"):
            return text.lower() == "true"
        raise UnboundError(f"{argument.name} is not a truth value")
    if not NUMBER.match(text) or "bool" in kind:
        raise UnboundError(f"{argument.name} is “{text[:40]}”")
    if re.fullmatch(r"[-+]?\d+", text) and "float" not in kind:
        return int(text)
    if kind in ("number", "Scalar") or "float" in kind:
        return float(text)
    raise UnboundError(f"{argument.name} is not a whole number")


def checked(call: Call) -> tuple[str, list[str]]:
    """The overload and the notes of a call that fits: shapes are tried without memory."""
    import torch

    overload, operator, made = bound(call, "meta")
    try:
        operator(*made.positional, **made.named)
    except NotImplementedError:
        made.notes.append("Its shapes were not tried before: they depend on data.")
    except Exception as error:
        if not re.search("meta tensor|expects CPU tensor", str(error)):
            said = str(error).strip().splitlines()[0][:200] if str(error) else type(error).__name__
            raise RefusedError(f"PyTorch {torch.__version__} refuses it: {said}") from error
        made.notes.append("Its shapes were not tried before: they depend on data.")
    return overload, list(dict.fromkeys(made.notes))


def check_all(calls: list[Call]) -> list[Call]:
    """What can be run of `calls`: `overload` and `notes`, or `refused`."""
    found = []
    for call in calls:
        try:
            overload, notes = checked(call)
            found.append({"overload": overload, "notes": notes, "refused": None})
        except (RefusedError, KeyError, TypeError, ValueError, OverflowError) as reason:
            found.append({"overload": None, "notes": [], "refused": str(reason)})
    return found


# ------------------------------------------------------------------------------------- measuring


def size_of(tensors: list[Any]) -> int:
    """Bytes of the storage of `tensors`."""
    return sum(one.untyped_storage().nbytes() for one in tensors)


def free_bytes(device: str) -> int:
    """Memory that is free."""
    import os

    import torch

    if device.startswith(("cuda", "xpu")):
        return int(getattr(torch, device.partition(":")[0]).mem_get_info()[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 2**31


def cache_bytes(device: str) -> int:
    """The last cache before memory, at least."""
    import torch

    if device.startswith("cuda"):
        return getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) or 2**26
    sizes = [2**25]
    for level in ("2", "3"):
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size") as file,
        ):
            text = file.read().strip()
            sizes.append(int(text[:-1]) * {"K": 2**10, "M": 2**20, "G": 2**30}[text[-1]])
    return max(sizes)


def clock_mhz(device: str) -> int | None:
    """The clock of the GPU, where a library that reads it is there."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        return int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM))
    except Exception:
        return None


class Clock:
    """Times batches of calls: with the GPU's own events, or with the host's clock."""

    def __init__(self, device: str) -> None:
        import torch

        self._of = getattr(torch, device.partition(":")[0], None) if device != "cpu" else None

    def seconds(self, run: Callable[[], Any], calls: int) -> float:
        """How long one of `calls` calls takes, in a batch."""
        if self._of is None:
            started = time.perf_counter()
            for _ in range(calls):
                run()
            return (time.perf_counter() - started) / calls
        begin, end = (self._of.Event(enable_timing=True) for _ in range(2))
        self._of.synchronize()
        begin.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3 / calls


def measured(run: Callable[[], Any], clock: Clock) -> dict[str, float]:
    """Median, least and interquartile range of batches of calls, in us."""
    begin, done = time.perf_counter(), 0
    while done < WARM_UP_CALLS and time.perf_counter() - begin < WARM_UP_S:
        clock.seconds(run, 1)
        done += 1
    once = max(min(clock.seconds(run, 1) for _ in range(3)), 1e-9)
    calls = max(1, min(10_000, math.ceil(BATCH_S / once)))
    found: list[float] = []
    begin = time.perf_counter()
    while len(found) < BATCHES and (len(found) < 3 or time.perf_counter() - begin < MOST_S):
        found.append(clock.seconds(run, calls) * 1e6)
    low, _, high = statistics.quantiles(found, n=4)
    return {
        "median_us": statistics.median(found),
        "least_us": min(found),
        "iqr_us": high - low,
        "batches": len(found),
        "calls": calls,
    }


def device_here() -> str:
    """The accelerator of this machine, else its processor."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        return "xpu"
    return "cpu"


def device_name(device: str) -> str:
    """As its maker calls it."""
    import torch

    if device != "cpu":
        return str(getattr(torch, device.partition(":")[0]).get_device_name(0))
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def outputs_of(result: Any) -> list[Any]:
    """All tensors of a result."""
    import torch

    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [one for part in result for one in outputs_of(part)]
    return []


def replayed(call: Call, device: str) -> Call:
    """The call's time alone, as a document."""
    import torch

    checked(call)
    _, operator, shapes = bound(call, "meta")
    needed = size_of(shapes.tensors)
    with contextlib.suppress(Exception):
        needed += size_of(outputs_of(operator(*shapes.positional, **shapes.named)))
    free = free_bytes(device)
    if needed > 0.8 * free:
        raise RefusedError(
            f"It needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free here."
        )
    _, operator, made = bound(call, device)
    clock, before = Clock(device), clock_mhz(device)
    with torch.no_grad():
        result = operator(*made.positional, **made.named)
        floats = [one for one in outputs_of(result) if one.is_floating_point() and one.numel()]
        largest = max((float(one.float().abs().max()) for one in floats), default=None)
        del result, floats
        warm = measured(lambda: operator(*made.positional, **made.named), clock)
        copies = min(
            math.ceil(4 * cache_bytes(device) / max(size_of(made.tensors), 1)),
            int(free / 4 / max(needed, 1)),
            4096,
        )
        cold = None
        if made.tensors and size_of(made.tensors) and copies >= 2:
            sets = [made] + [bound(call, device)[2] for _ in range(copies - 1)]
            turn = [0]

            def next_set() -> None:
                one = sets[turn[0]]
                turn[0] = (turn[0] + 1) % len(sets)
                operator(*one.positional, **one.named)

            cold = measured(next_set, clock)
        elif made.tensors:
            cold = warm  # its operands are larger than the caches, or memory holds them once
    after = clock_mhz(device)
    return {
        "schema": "roofline.replay/1",
        "op_id": call["op_id"],
        "op": call["name"],
        "label": call["label"],
        "device": device_name(device),
        "framework": f"torch {torch.__version__}",
        "threads": torch.get_num_threads() if device == "cpu" else None,
        "captured_us": call["captured_us"],
        "warm": warm,
        "cold": cold,
        "clock_mhz": None if before is None or after is None else [before, after],
        "max_abs": largest if largest is None or math.isfinite(largest) else None,
        "compiled": None,
        "notes": list(dict.fromkeys(made.notes)),
        "profile_digest": call["profile_digest"],
    }


def main() -> None:
    """Measure `CALL`; `--check` reads calls from standard input and says which can run."""
    import torch

    if sys.argv[1:2] == ["--check"]:
        sys.stdout.write(json.dumps(check_all(json.load(sys.stdin))))
        return
    given = sys.argv[1:] or [device_here()]
    if given[0] == "cpu" and len(given) > 1:
        torch.set_num_threads(int(given[1]))
    try:
        found = replayed(CALL, given[0])
    except (RefusedError, RuntimeError, MemoryError) as reason:
        sys.exit(f"{CALL['name']} was not replayed: {reason}")
    print(json.dumps(found))
    times = f"alone {found['warm']['median_us']:.1f} us warm"
    if found["cold"]:
        times += f", {found['cold']['median_us']:.1f} us with cold caches"
    captured = found["captured_us"]
    told = f"{captured:.1f} us in the program; " if captured else ""
    sys.stderr.write(f"{found['label']}: {told}{times}, on {found['device']}.\n")
    clocks = found["clock_mhz"]
    if clocks and clocks[0] > SLOWER * clocks[1]:
        sys.stderr.write(f"The clock fell from {clocks[0]} to {clocks[1]} MHz meanwhile.\n")


if __name__ == "__main__":
    main()
