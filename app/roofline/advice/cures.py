"""What to try, per rule in the words of the reader's stack, with a snippet to copy.

A rule has the cure of any stack; `cures.json` those of one stack, and of a form of the rule's text
("M1 copy"), where "" is any stack. A snippet is its lines, or the name of one that several share.
`docs/advice.md` has the sources of the calls that snippets name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from roofline.advice.op_kinds import NCU, NSYS, ROCPROF, TORCH, TPU, XLA_GPU, profiler_of
from roofline.advice.rule import Cure
from roofline.advice.rules import RULES
from roofline.analysis.records import RooflineAnalysis
from roofline.model.plain_data import read_beside

JAX, CUDA, TRITON, SERVER = "jax", "cuda", "triton", "server"
STACKS = {
    TORCH: (TORCH,),
    TPU: (TPU, JAX),
    XLA_GPU: (JAX,),
    NCU: (NCU, CUDA),
    NSYS: (CUDA,),
    ROCPROF: (ROCPROF,),
}
"""Where the words of a stack are looked for, by the profiler that wrote a file."""

# A kernel that a person wrote in Triton: its name ends with its arguments. Those that
# torch.compile wrote begin with what they fuse.
_TRITON = re.compile(r"_\d+d\d+d|^triton_(?!(poi|red|per|tem|for)_)")
_OTHERS = "tensorflow::"
_SERVERS = ("vllm::", "sglang_profiler::", "sgl_kernel::")


def stacks_of(analysis: RooflineAnalysis) -> tuple[str, ...]:
    """Where the words of this profile's stack are looked for, the nearest first."""
    names = analysis.profile.ops.name
    if any(_OTHERS in name for name in names):
        return ()
    written = (TRITON,) if any(map(_TRITON.search, names)) else ()
    served = (SERVER,) if any(name.startswith(_SERVERS) for name in names) else ()
    return *served, *written, *STACKS.get(profiler_of(analysis), ())


def cure_of(rule: str, forms: Sequence[str], stacks: Sequence[str]) -> Cure:
    """The first cure that exists: of a form before the rule, of the reader's stack before any."""
    return next(_cures(rule, forms, stacks), Cure(""))


def _cures(rule: str, forms: Sequence[str], stacks: Sequence[str]) -> Iterator[Cure]:
    for key in (*(f"{rule} {form}" for form in forms if form), rule):
        of = CURES.get(key, {})
        yield from (of[stack] for stack in (*stacks, "") if stack in of)


def _read() -> Mapping[str, Mapping[str, Cure]]:
    """By rule, or rule and form, then by stack; a key of the file may name another's."""
    file = read_beside(__file__, "cures.json")
    shared, entries = file["snippets"], file["cures"]

    def cure(text: str, snippet: str | Sequence[str] = ()) -> Cure:
        return Cure(text, "\n".join(shared[snippet] if isinstance(snippet, str) else snippet))

    cures = {
        key: {stack: cure(**words) for stack, words in entry.items()}
        for key, entry in entries.items()
        if not isinstance(entry, str)
    }
    of_forms = {key: cures[one if isinstance(one, str) else key] for key, one in entries.items()}
    of_rules = {
        rule.id: {"": rule.cure, **cures.get(rule.id, {})} for rule in RULES.values() if rule.cure
    }
    return dict(sorted({**of_forms, **of_rules}.items()))


CURES = _read()
