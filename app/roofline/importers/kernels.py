"""Compiled kernels: object files that numba makes, loaded without numba.

A kernel is a function in numba's subset of Python, with the types of its arguments. Its first call
loads an object file with llvmlite in a millisecond; numba, which alone takes longer to import than
a small file takes to read, is imported only where no object file fits: in a checkout for the first
read of a version, and on a CPU that is older or of another kind than those the wheel is made for.

The rules of a kernel, because it runs without Python and without numba's runtime:

- Arguments are numbers and C-contiguous arrays, which a wrapper takes apart into a pointer and
  sizes. A kernel allocates nothing: arrays come from the caller.
- It raises nothing: it returns a negative number, and the caller raises. Division follows NumPy.
- Its globals are numbers, small arrays, and functions marked as `part`, `primitive` or `kernel`.

Object files of this very CPU are in `NUMBA_CACHE_DIR`, else `__pycache__` beside this module, else
the user's cache; a wheel has some for every common CPU in `portable_kernels`, which come second.
Each module with kernels has a folder there, with a digest of its sources in its name; a file's name
ends with a digest of the versions of numba and llvmlite and of the CPU, or with the kind of
machine. What compiles a new one deletes the oldest.
"""

import ctypes
import hashlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofline.source_closure import source_closure

VARIABLE = "NUMBA_CACHE_DIR"
# Folders of one module that stay: of the present sources, and of the checkout or release before.
KEPT = 3
# Functions of numba's runtime that the wrapper of each kernel names for errors and for arrays that
# own memory. No kernel reaches them, so they end the process; numba sets its own when it is loaded.
UNREACHED = (
    "numba_do_raise",
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_runtime_build_excinfo_struct",
    "numba_unpickle",
    "NRT_Free",
    "NRT_MemInfo_call_dtor",
)
# What an object file may name besides: functions of the C library, and those of Python for errors,
# which are in every process.
_PRESENT = re.compile(r"llvm\.|mem(?:cpy|move|set|cmp)\Z|_?Py")
_PARAMETER = re.compile(r"(const )?(\w+)(?:\[(,*)\])?")
_C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "float64": ctypes.c_double,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "void": None,
}
_DIGEST_BYTES = 32
PORTABLE = Path(__file__).parent / "portable_kernels"
# By the machine's name of Python: the CPUs that a wheel's object files are for, as LLVM calls them,
# and what one of them has to have. Level 3 is any x86-64 server since 2013 (Intel) or 2017 (AMD).
_LEVELS = {
    "aarch64": ("generic", ()),
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
}


class Part:
    """A function that is compiled into the kernels that call it."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    @cached_property
    def compiled(self) -> Any:
        """What numba compiles into a caller. Imports numba."""
        import numba  # loads slowly

        return numba.njit(error_model="numpy")(self._with_compiled_parts())

    def _with_compiled_parts(self) -> FunctionType:
        """The function with what numba needs in place of the parts that it calls."""
        code, known = self.function.__code__, self.function.__globals__
        names = {name: known[name] for name in code.co_names if name in known}
        parts = {
            name: value.compiled if isinstance(value, Part) else value
            for name, value in names.items()
        }
        return FunctionType(
            code, {"__name__": self.function.__module__, **parts}, self.function.__name__
        )


class Primitive(Part):
    """A part that writes LLVM's code itself: `function` is one for numba's `intrinsic`."""

    @cached_property
    def compiled(self) -> Any:
        """What numba puts into a caller. Imports numba."""
        from numba.extending import intrinsic  # loads slowly

        make: Any = intrinsic
        return make(self.function)


class _Parameter(NamedTuple):
    """A number, or an array of `ndim` dimensions whose elements have NumPy's `typestr`."""

    type_name: str
    ndim: int
    typestr: str
    is_read_only: bool


class Kernel(Part):
    """A part that Python can call. It runs without the GIL.

    `signature` is `RESULT(PARAMETER, …)`: `int64(uint64[], const uint8[,], bool)` takes arrays of
    one and two dimensions and a truth value. An array is `const` where Python may not write to it.
    """

    def __init__(self, function: FunctionType, signature: str) -> None:
        super().__init__(function)
        self.name = f"{function.__module__}.{function.__name__}"
        self._result, _, listed = signature.rstrip(") ").partition("(")
        self._parameters = tuple(
            _Parameter(
                match[2],
                0 if match[3] is None else len(match[3]) + 1,
                np.dtype(match[2]).str,
                match[1] is not None,
            )
            for match in _PARAMETER.finditer(listed)
        )
        self._native: Callable[..., Any] | None = None
        _KERNELS.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run it. Raises `TypeError` where an array is not as the signature says."""
        native = self._native or self.load()
        words: list[int] = []
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            if not parameter.ndim:
                words.append(argument)
                continue
            # One dictionary says all there is to check; each attribute would cost as much.
            array = argument.__array_interface__
            address, is_read_only = array["data"]
            if (
                array["typestr"] != parameter.typestr
                or array["strides"] is not None
                or len(array["shape"]) != parameter.ndim
                or (is_read_only and not parameter.is_read_only)
            ):
                raise TypeError(f"{self.name} takes {parameter}, not {array}")
            words.append(address)
            words += array["shape"]
        return native(*words)

    def load(self) -> Callable[..., Any]:
        """The machine code, as a function of C; compiled where this machine has not yet."""
        with _LOCK:
            if self._native is None:
                address = _loaded(self.name, _object_file(self))
                sizes = [
                    _C_TYPES[parameter.type_name] if not parameter.ndim else ctypes.c_size_t
                    for parameter in self._parameters
                    for _ in range(1 + parameter.ndim)
                ]
                self._native = ctypes.CFUNCTYPE(_C_TYPES[self._result], *sizes)(address)
            return self._native

    def compile(self, cpu: tuple[str, str]) -> bytes:
        """An object file for a CPU, with one function of this kernel's name. Imports numba."""
        import llvmlite.binding as llvm  # loads slowly
        import numba

        entry, signature = self._entry()
        compiled = numba.cfunc(signature, error_model="numpy")(entry)
        module = llvm.parse_assembly(compiled.inspect_llvm())
        module.get_function(compiled.native_name).name = self.name
        named = {each.name for each in module.functions if each.is_declaration}
        if missing := sorted(one for one in named - {*UNREACHED} if not _PRESENT.match(one)):
            raise TypeError(f"{self.name} is not a kernel: it needs {', '.join(missing)}")
        machine_code: bytes = _target_machine(*cpu).emit_object(module)
        return machine_code

    def _entry(self) -> tuple[FunctionType, Any]:
        """The function that C calls, with pointers and sizes for arrays, and its signature."""
        import numba  # loads slowly

        library: Any = numba
        types = library.types

        names: list[str] = []
        values: list[str] = []
        kinds: list[Any] = []
        for number, parameter in enumerate(self._parameters):
            name, kind = f"a{number}", getattr(types, parameter.type_name.replace("bool", "bool_"))
            sizes = [f"{name}_{axis}" for axis in range(parameter.ndim)]
            names += [name, *sizes]
            values.append(f"carray({name}, ({', '.join(sizes)},))" if sizes else name)
            kinds += [types.CPointer(kind), *(types.intp for _ in sizes)] if sizes else [kind]
        # A function of C has a fixed list of parameters, which differs from kernel to kernel.
        scope: dict[str, Any] = {"carray": library.carray, "kernel": self.compiled}
        text = f"def entry({', '.join(names)}):\n    return kernel({', '.join(values)})\n"
        exec(text, scope)
        result = getattr(types, self._result.replace("bool", "bool_"))
        return scope["entry"], result(*kinds)


def kernel(signature: str) -> Callable[[Any], Any]:
    """A decorator that makes a `Kernel`."""
    return lambda function: Kernel(function, signature)


part: Any = Part
primitive: Any = Primitive
_KERNELS: list[Kernel] = []
BEFORE_COMPILING: list[Callable[[], None]] = []
"""Functions that are called once before the first kernel is compiled, which takes long."""
_LOCK = RLock()


def address_of(buf: NDArray[np.uint8]) -> int:
    """Where the bytes are. The caller keeps `buf` alive while a kernel reads."""
    address: int = buf.__array_interface__["data"][0]
    return address if len(buf) else 0


def _reads(bits: int, *, swaps: bool = False) -> Any:
    """A function of kernels: so many bits at an address, aligned or not, as a 64-bit word."""

    def read(typing_context, address):  # type: ignore[no-untyped-def]
        from llvmlite import ir  # loads slowly
        from numba import types

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            word = builder.load(pointer, align=1)
            return builder.bswap(word) if swaps else builder.zext(word, ir.IntType(64))

        return types.uint64(types.uint64), generate

    return primitive(read)


byte_at, word_at, big_word_at = _reads(8), _reads(64), _reads(64, swaps=True)
"""In kernels: a byte; eight bytes, little-endian; eight bytes, big-endian."""


@primitive
def trailing_zeros(typing_context, word):  # type: ignore[no-untyped-def]
    """In kernels: the number of zero bits below the lowest set bit."""
    from llvmlite import ir  # loads slowly
    from numba import types

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def load_kernels() -> None:
    """Load every kernel of the modules that are imported; compile those that never were."""
    for each in _KERNELS:
        each.load()


def _loaded(name: str, content: bytes) -> int:
    """Address of the function `name` of an object file, which stays in memory."""
    import llvmlite.binding as llvm  # loads slowly

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    address: int = engine.get_function_address(name)
    return address


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm  # loads slowly

    machine = _target_machine(*_cpu())
    ends = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
    for name in UNREACHED:
        if llvm.address_of_symbol(name) is None:
            llvm.add_symbol(name, ends)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


@cache
def _target_machine(name: str, features: str) -> Any:
    import llvmlite.binding as llvm  # loads slowly

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, codemodel="jitdefault", jit=True
    )


def _cpu() -> tuple[str, str]:
    """LLVM's name of this CPU, and its features; none where LLVM does not know them."""
    import llvmlite.binding as llvm  # loads slowly

    try:
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        return "", ""


def _object_file(of: Kernel) -> bytes:
    """The object file of a kernel: from the first folder that has it, else a new one."""
    place = _place(of, _machine_digest())
    for base in _bases():
        if content := _read(base / place):
            return content
    if (kind := _kind_of_machine()) and (content := _read(PORTABLE / _place(of, kind))):
        return content
    while BEFORE_COMPILING:
        BEFORE_COMPILING.pop()()
    content = of.compile(_cpu())
    for base in _bases():
        if _write(base / place, content):
            break
    return content


def _place(of: Kernel, cpus: str) -> Path:
    module, _, function = of.name.rpartition(".")
    return Path(kernel_folder_name(module), f"{function}-{cpus}.o")


def _kind_of_machine() -> str | None:
    """What ends the names of a wheel's object files that run here; `None` where none do."""
    import llvmlite.binding as llvm  # loads slowly

    level, needed = _LEVELS.get(platform.machine(), ("", ()))
    if not level or sys.platform != "linux":
        return None
    try:
        has = llvm.get_host_cpu_features()
    except RuntimeError:
        return None
    return f"{sys.platform}-{platform.machine()}" if all(map(has.get, needed)) else None


def write_portable_kernels() -> None:
    """Compile every kernel of the modules that are imported for a wheel: in a process of its own.

    Raises `OSError` where the CPU of this machine does not reach the level of its kind itself.
    """
    name = _kind_of_machine()
    if name is None:
        raise OSError(f"No level of CPUs is known for {sys.platform} on {platform.machine()}.")
    level, needed = _LEVELS[platform.machine()]
    features = ",".join(f"+{each}" for each in needed)
    # numba asks for them when it is imported: it may not use more in what LLVM then compiles.
    os.environ |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": features}
    shutil.rmtree(PORTABLE, ignore_errors=True)
    for each in _KERNELS:
        if not _write(PORTABLE / _place(each, name), each.compile((level, features))):
            raise OSError(f"{PORTABLE} cannot be written to.")


def _read(path: Path) -> bytes | None:
    """The object file at `path`; `None` where there is none, or a damaged one."""
    with suppress(OSError):
        content = path.read_bytes()
        digest, rest = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(rest).digest() == digest:
            return rest
    return None


def _write(path: Path, content: bytes) -> bool:
    """Keep an object file, whole or not at all; false where the folder cannot be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part_of_it = path.with_suffix(f".{os.getpid()}")
        part_of_it.write_bytes(hashlib.sha256(content).digest() + content)
        part_of_it.replace(path)
    except OSError:
        return False
    _drop_old(path.parent)
    return True


@cache
def kernel_folder_name(module: str) -> str:
    """The name of the folder of a module's kernels.

    It has a digest of the module and of all that it imports from this package, because constants
    and parts of other modules are compiled in.
    """
    digest = hashlib.sha256()
    for path, source in sorted(source_closure(module, with_packages=False).items()):
        digest.update(f"{path.name}\0{len(source)}\0".encode())
        digest.update(source)
    return f"{module.rpartition('.')[2]}-{digest.hexdigest()[:16]}"


@cache
def _machine_digest() -> str:
    """Of what decides about machine code besides the sources: the compiler and the CPU."""
    import llvmlite  # loads slowly

    # The installed package's folder is beside one that names its version: importing numba, or
    # asking `importlib.metadata`, would cost more than loading the kernels.
    found = find_spec("numba")
    origin = Path(found.origin).parents[1] if found and found.origin else Path()
    versions = sorted(path.name for path in origin.glob("numba-*"))
    words = (*versions, llvmlite.__version__, *_cpu())
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _bases() -> Iterator[Path]:
    """Where folders of kernels may be, best first."""
    if chosen := os.environ.get(VARIABLE):
        yield Path(chosen)
        return
    yield Path(__file__).parent / "__pycache__" / "kernels"
    user = os.environ.get("XDG_CACHE_HOME") or Path(os.path.expanduser("~")) / ".cache"
    yield Path(user) / "roofline" / "kernels"


def _drop_old(folder: Path) -> None:
    """Delete folders of other sources of the same module, but the newest of them."""
    module = folder.name.rpartition("-")[0]
    with suppress(OSError):  # another process does the same
        others = [other for other in folder.parent.glob(f"{module}-*") if other != folder]
        others.sort(key=lambda other: other.stat().st_mtime, reverse=True)
        for other in others[KEPT - 1 :]:
            shutil.rmtree(other, ignore_errors=True)
