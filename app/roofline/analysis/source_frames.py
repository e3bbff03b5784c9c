"""Which line of an operation's Python stack is the user's own.

The innermost frame is where a library calls its primitive: `flax/linen/linear.py:287` of every
layer. The user's line is the innermost frame outside installed packages and the standard library.
PyTorch leaves out the folders of `sys.path`, so that `torch/nn/functional.py` is all there is of a
path: such files are known by the first folder.
"""

import re
import sys
from functools import lru_cache
from typing import NamedTuple

_FRAMES = (
    re.compile(r"(?P<file>.+?)\((?P<line>\d{1,9})\): .+\Z"),  # PyTorch: `net.py(17): forward`
    re.compile(r"(?P<file>.+?):(?P<line>\d{1,9})(?::\d+)?(?: in .+)?\Z"),  # XLA
)
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/|/lib/python\d[\d.]*/|^<.*>$")
_FRAMEWORKS = frozenset(
    {
        *("accelerate", "deepspeed", "diffusers", "einops", "equinox", "fairscale", "fbgemm_gpu"),
        *("flash_attn", "flax", "haiku", "jax", "keras", "lightning", "megatron", "numpy", "optax"),
        *("orbax", "peft", "pytorch_lightning", "sglang", "tensorflow", "timm", "torch"),
        *("torch_xla", "torchaudio", "torchrec", "torchvision", "transformers", "triton", "vllm"),
        *("xformers",),
    }
)
_STANDARD = sys.stdlib_module_names - {"code", "test"}  # folders of users have these names


class Source(NamedTuple):
    """The user's line, -1 where unknown, and the `file:line` of the library that it calls.

    Where no frame is the user's, `file` is that of the innermost frame and `is_own` is false.
    """

    file: str
    line: int
    library: str = ""
    is_own: bool = True


@lru_cache(maxsize=65_536)
def own_source(file: str, line: int, stack: str) -> Source:
    """The source of an operation at `file`, `line`, under `stack`, the innermost frame first."""
    if not file or is_own(file):
        return Source(file, line)
    library = f"{file}:{line}" if line >= 0 else file
    for text in stack.split("\n"):
        frame = next((found for one in _FRAMES if (found := one.match(text.strip()))), None)
        if frame is not None and is_own(frame["file"]):
            return Source(frame["file"], int(frame["line"]), library)
    return Source(file, line, is_own=False)


def is_own(file: str) -> bool:
    """True for a file outside installed packages and the standard library."""
    path = file.replace("\\", "/")
    if _INSTALLED.search(path):
        return False
    first = path.removesuffix(".py").partition("/")[0]
    return first not in _FRAMEWORKS and first not in _STANDARD
