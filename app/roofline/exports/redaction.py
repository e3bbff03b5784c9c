"""A profile without its names, for a report that leaves the house: each has a number in its place.

Equal names stay equal, and numbers in them stay, so that layers and instances are still found:
`model/layer_3/attention` becomes `name-1/name-2_3/name-3`. Numbers, categories and shapes stay as
they are.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.model.profile import OpTable, Profile

What = Literal["names", "sources", "none"]

# Words that JAX itself puts into paths, and any other word.
_JAX = (
    "rematted_computation|custom_[jv][jv]p_call|custom_[jv][jv]p|closed_call|shard_map|linearize"
    "|checkpoint|transpose|branch|remat|while|vmap|pmap|pjit|body|cond|jit|jvp"
)
_WORD = re.compile(rf"(?<![^\W_])(?:{_JAX})(?![^\W_])|([^\W\d_]+)")
# A name, its number among its sisters, and shapes: `fusion.52`, `aten::mm [32x4096] bf16`.
_NAME = re.compile(r"(.+?)(_backward)?((?:[._]\d+)*(?: \[[\dx, ]*\](?: (?:bf|f|s|u)\d+)?)?)")
_FRAME_LINE = re.compile(r"[:( ]+(?:line )?(\d+)")
_SHORTEST = 4  # letters of a name that is looked for in sentences: "add" is a word of ours, too


@dataclass(slots=True)
class _Numbered:
    """Numbers for texts, by their first appearance: `kind`-1, `kind`-2 …"""

    kind: str
    known: dict[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        if not text:
            return text
        return self.known.setdefault(text, f"{self.kind}-{len(self.known) + 1}")


def redacted(analysis: RooflineAnalysis, what: What) -> RooflineAnalysis:
    """The analysis of the same profile with other names; "sources" replaces source files alone."""
    if what == "none":
        return analysis
    profile = _Names().without_sources(analysis.measured)
    if what == "names":
        profile = _Names().without_names(profile)
    return analyse(profile, analysis.device, AnalysisOptions())


class _Names:
    def __init__(self) -> None:
        self._op, self._part = _Numbered("op"), _Numbered("name")
        self._file, self._host = _Numbered("file"), _Numbered("host")
        self.names: dict[str, str] = {}  # of ops

    def without_sources(self, profile: Profile) -> Profile:
        ops = profile.ops
        table = replace(
            ops,
            source_file=tuple(map(self._file, ops.source_file)),
            source_stack=tuple(map(self._stack, ops.source_stack)),
        )
        left = replace(profile, ops=table, by_host=(), next_steps=())
        return self._said(left, [*self._file.known, *map(_last, self._file.known)], self._file)

    def _stack(self, stack: str) -> str:
        """Frames as `file-1:88`, the names of functions left out."""
        return "\n".join(filter(None, map(self._frame, stack.split("\n"))))

    def _frame(self, frame: str) -> str:
        found = _FRAME_LINE.search(frame)
        if found is None:
            return self._file(frame)
        return f"{self._file(frame[: found.start()])}:{found[1]}"

    def without_names(self, profile: Profile) -> Profile:
        ops, timeline, instances = profile.ops, profile.timeline, profile.instances
        program = _Numbered("program")
        left = replace(
            profile,
            ops=self._ops(ops),
            hosts=tuple(
                replace(one, file_name=f"capture-{number}", hostname=self._host(one.hostname))
                for number, one in enumerate(profile.hosts, 1)
            ),
            host=self._host(profile.host),
            all_hosts=tuple(map(self._host, profile.all_hosts)),
            program_names={key: program(name) for key, name in profile.program_names.items()},
            program=program(profile.program),
            environment={},
            kernels=None,
            graphs=None,
            cells=None,
            stated=(),
            timeline=timeline
            and replace(timeline, cores=tuple(f"core {at}" for at, _ in enumerate(timeline.cores))),
            instances=instances
            and replace(
                instances,
                name=tuple(map(self._path, instances.name)),
                path=tuple(map(self._path, instances.path)),
            ),
        )
        secrets = [
            *self.names,
            *self._op.known,
            *self._part.known,
            *self._host.known,
            *program.known,
        ]
        return self._said(left, secrets, self._part)

    def _ops(self, ops: OpTable) -> OpTable:
        return replace(
            ops,
            name=tuple(map(self._named, ops.name)),
            long_name=("",) * len(ops),
            framework_path=tuple(map(self._path, ops.framework_path)),
            operand_names=tuple(
                "; ".join(map(self._named, filter(None, names.split("; "))))
                for names in ops.operand_names
            ),
        )

    def _named(self, name: str) -> str:
        """A name of an op: what tells its sisters apart, and that it computes gradients, stays."""
        found = _NAME.fullmatch(name)
        if found is None:
            return self._op(name)
        stem, backward, rest = found.groups()
        return self.names.setdefault(name, f"{self._op(stem)}{backward or ''}{rest}")

    def _path(self, path: str) -> str:
        """Each word of a path has a number; what stands between them stays."""
        return _WORD.sub(lambda word: self._part(word[1]) if word[1] else word[0], path)

    def _said(self, profile: Profile, secrets: Iterable[str], number: _Numbered) -> Profile:
        """Sentences of importers, long names and details of launches without any of the secrets."""
        longest = sorted({one for one in secrets if len(one) >= _SHORTEST}, key=len, reverse=True)
        if not longest:
            return profile
        found = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest))})(?!\w)")

        known = self._op.known | self.names

        def said(text: str) -> str:
            return found.sub(lambda one: known.get(one[0]) or number(one[0]), text)

        long = tuple(map(said, profile.ops.long_name))
        return replace(
            profile,
            ops=replace(profile.ops, long_name=long),
            **{name: _mapped(getattr(profile, name), said) for name in _SENTENCES},
        )


_SENTENCES = ("diagnostics", "limits", "launches", "steps")


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _mapped(value: Any, said: Callable[[str], str]) -> Any:
    """A copy of a value with each text in it replaced."""
    if type(value) is str:  # not a member of an enumeration
        return said(value)
    if isinstance(value, tuple):
        return tuple(_mapped(one, said) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        texts = {
            one.name: _mapped(getattr(value, one.name), said)
            for one in fields(value)
            if isinstance(getattr(value, one.name), str | tuple) and one.init
        }
        return replace(value, **texts)
    return value
