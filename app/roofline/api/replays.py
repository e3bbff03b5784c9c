"""Replays: an operation of a profile alone, as a script that is run where the device is.

Names, shapes and values of a profile come from strangers. A script has them as literals, and what
it calls does not depend on them; nothing of a profile is evaluated, here or there.
"""

import base64
import gzip
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from shutil import which
from typing import Any

from roofline.api.agents.reading import Reading, reading_of
from roofline.api.profiles import AnyPath, Op, Profile
from roofline.errors import BadViewError, RooflineError
from roofline.importers.pytorch.recorded_calls import Called, calls_of
from roofline.importers.source import Progress, SourceFile, silent
from roofline.importers.xspace.hlo.alone import cut_out, program_of
from roofline.pipeline import analyse_sources, opened_files

SCHEMA = "roofline.replays/1"
RESULT_SCHEMA = "roofline.replay/1"
PYTORCH, XSPACE = "pytorch", "xspace"
_LIBRARY = {PYTORCH: "torch", XSPACE: "jax"}
_SCRIPT = {PYTORCH: "torch_call.py", XSPACE: "xla_call.py"}
_MARK = "CALL: Any = None  # roofline writes the call here\n"
_WRAPPER = re.compile(r"\w+Backward\d*\Z|autograd::|torch::autograd::|Optimizer\.|ProfilerStep")
_GENERATED = re.compile(r"triton_|CompiledFunction|Torch-Compiled Region|## Call")
_IDLE = "IDLE"
_REPR_LETTERS = 100
RUN_S = 300.0
# Times within this factor are alike.
ALIKE = 1.15
_CHECK_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One operation. `call` is what its script runs, `None` where it is `refused`; `result` is the
    document of a run, `sentence` what it says."""

    op_id: str
    name: str
    row: Mapping[str, Any]
    call: Mapping[str, Any] | None = None
    refused: str | None = None
    has_operator: bool = True
    notes: Sequence[str] = ()
    file: Path | None = None
    result: Mapping[str, Any] | None = None
    failed: str | None = None

    @property
    def captured_us(self) -> float | None:
        """How long one execution took in the program."""
        found: float | None = (
            self.call["captured_us"] if self.call is not None else self.row["avg_time_us"]
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Replays:
    """Operations of one profile. `device` is that of the capture; `python` has its framework."""

    title: str
    device: str
    kind: str
    python: str | None
    replays: Sequence[Replay] = field(default_factory=list)

    @property
    def attributed_us(self) -> float:
        """The self time of operations that have an operator or an instruction."""
        return sum(one.row["self_time_us"] or 0.0 for one in self.replays if one.has_operator)

    @property
    def replayable_us(self) -> float:
        """The part of it that can be replayed."""
        return sum(one.row["self_time_us"] or 0.0 for one in self.replays if one.call is not None)

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline replay --format json`."""
        return {
            "schema": SCHEMA,
            "profile": self.title,
            "device": self.device,
            "attributed_us": self.attributed_us,
            "replayable_us": self.replayable_us,
            "replays": [
                {
                    "op_id": one.op_id,
                    "name": one.name,
                    "self_time_us": one.row["self_time_us"],
                    "captured_us": one.captured_us,
                    "roof_ratio": one.row["nearest_ratio"],
                    "refused": one.refused,
                    "failed": one.failed,
                    "notes": list(one.notes),
                    "file": None if one.file is None else str(one.file),
                    "result": one.result,
                    **asdict(said(one, self.device)),
                }
                for one in self.replays
            ],
        }


@dataclass(frozen=True, slots=True)
class Measured:
    """`sentence` is `None` without a result. `alone_ratio` is the share of the roof that the
    operation reaches alone, where the roof is that of the device that was measured."""

    sentence: str | None
    alone_ratio: float | None = None


def said_of(
    result: Mapping[str, Any] | None,
    captured_us: float | None,
    roof_ratio: float | None,
    device: str,
) -> Measured:
    """The sentence of a result; `roof_ratio` is the share of the roof in the program."""
    if result is None:
        return Measured(None)
    warm = float(result["warm"]["median_us"])
    cold = float(result["cold"]["median_us"]) if result["cold"] else warm
    here = str(result["device"])
    if not captured_us:
        return Measured(f"Alone it takes {warm:,.1f} us; the capture has no time of it.")
    if warm > ALIKE * captured_us:
        names = f"captured on {device}, replayed on {here}"
        return Measured(
            f"Alone it is {warm / captured_us:.1f} times slower here: another device, clock or"
            f" library than in the capture ({names})."
        )
    ratio = None
    if roof_ratio is not None and is_same_device(device, here):
        ratio = roof_ratio * captured_us / warm
    share = "" if ratio is None else f" {ratio:.0%} of its roof."
    if captured_us <= ALIKE * warm:
        text = f"Alone it takes as long ({warm:,.1f} us): the time is in the kernel.{share}"
    elif captured_us <= ALIKE * cold:
        text = "Alone with cold caches it takes as long: its operands come from memory."
    else:
        text = (
            f"Alone it is {captured_us / warm:.1f} times faster, {captured_us / cold:.1f} times"
            " with cold caches: in the program it waits, shares the device, or runs at another"
            " clock."
        )
    return Measured(text, ratio)


def is_same_device(captured: str, measured: str) -> bool:
    """True where both are one part, as far as their names tell."""
    one, other = captured.casefold().strip(), measured.casefold().strip()
    return bool(one) and (one in other or other in one) and one != "cpu"


def said(one: Replay, device: str) -> Measured:
    """What a measured replay says of the captured time."""
    return said_of(one.result, one.captured_us, one.row["nearest_ratio"], device)


def replays_of(
    paths: Sequence[Path],
    wanted: Sequence[str],
    *,
    top: int = 0,
    python: str | None = None,
    progress: Progress,
) -> Replays:
    """The operations `wanted` (by id, rank, or a name that only one has), and the `top` with most
    to gain; all where neither is given.

    `python` is an interpreter that has the framework: with PyTorch, it says which calls fit.
    Raises `BadViewError` where there is no such operation, or where the profile has no calls.
    """
    with opened_files(paths, progress) as (sources, notes):
        analysis = analyse_sources(sources, notes=notes, progress=progress)
        kind = analysis.profile.format_id
        if kind not in _SCRIPT:
            raise BadViewError(
                f"{analysis.profile.format_label}: the profile has no shapes to run again.",
                remedy="Replay a PyTorch trace or an XSpace of the same program.",
            )
        reading = reading_of(Profile(paths[0].name, analysis, files=paths))
        chosen = _chosen(reading, wanted, top)
        made = _calls(sources, chosen) if kind == PYTORCH else _modules(sources, chosen)
    digest = f"sha256:{reading.digest}" if reading.digest else None
    made = [
        one if one.call is None else replace(one, call={**one.call, "profile_digest": digest})
        for one in made
    ]
    interpreter = _interpreter(_LIBRARY[kind], python)
    if kind == PYTORCH and interpreter:
        made = _checked(made, interpreter)
    return Replays(
        title=paths[0].name,
        device=analysis.device.name,
        kind=kind,
        python=interpreter,
        replays=made,
    )


@dataclass(frozen=True, slots=True)
class Script:
    """The script that runs one operation of a profile alone, and its result once it was run."""

    found: Replays

    @property
    def replay(self) -> Replay:
        """The operation, its captured time, and `result`, the document of a run."""
        return self.found.replays[0]

    @property
    def text(self) -> str:
        """The script: one file, which runs where the device is."""
        return script_of(self.replay, self.found.kind)

    @property
    def sentence(self) -> str | None:
        """What the time alone says of the captured one; `None` before it was run."""
        return said(self.replay, self.found.device).sentence

    def run(self, *, on: str | None = None, threads: int | None = None) -> "Script":
        """Runs it here, on "cpu", "cuda", "gpu" or "tpu": this script with its result.

        Raises `BadViewError` without a Python that has the framework, and where it fails.
        """
        made = run(self.replay, self.found, arguments(on, threads))
        if made.failed is not None:
            raise BadViewError(f"{made.name} did not run: {made.failed}", remedy="Try elsewhere.")
        return Script(replace(self.found, replays=[made]))

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes the script, and beside it the result; where it is."""
        path = written(self.replay, self.found.kind, Path(folder)).file
        assert path is not None  # a refused operation has no script, and no `Script`
        return path

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline replay --format json`."""
        return self.found.to_dict()

    def __repr__(self) -> str:
        return f"<roofline Script: {self.replay.name[:_REPR_LETTERS]!r}>"


def replay(profile: Profile | AnyPath, op: Op | str | int, *, python: str | None = None) -> Script:
    """The script that runs one operation alone: `op` is one of `profile.ops`, an id, a rank, or a
    name that only one has.

    `python` is the interpreter of the program, where this one has no PyTorch or JAX. Raises
    `BadViewError` for what cannot be replayed, with the reason.
    """
    paths = profile.files if isinstance(profile, Profile) else [Path(profile)]
    if not paths:
        raise BadViewError(
            "The files of this profile are not here.", remedy="Name the path of the profile."
        )
    wanted = op.op_id if isinstance(op, Op) else str(op)
    made = Script(replays_of(paths, [wanted], python=python, progress=silent))
    _ = made.text  # says why there is none
    return made


def arguments(on: str | None, threads: int | None) -> Sequence[str]:
    """What a script is started with: a device, and threads of a CPU."""
    if threads is not None:
        return ("cpu", str(threads))
    return (on,) if on else ()


def written(one: Replay, kind: str, folder: Path) -> Replay:
    """The replay with its script in the folder, and beside it the result; not of one refused."""
    if one.call is None:
        return one
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(one)
    path.write_text(script_of(one, kind), "utf-8")
    if one.result is not None:
        path.with_suffix(".json").write_text(f"{json.dumps(one.result, indent=2)}\n", "utf-8")
    return replace(one, file=path)


def _chosen(reading: Reading, wanted: Sequence[str], top: int) -> list[Replay]:
    rows = {key: row for key, row in reading.ids.items() if row["category"] != _IDLE}
    if not wanted and not top:
        keys = [key for key, row in rows.items() if row["self_time_us"]]
    else:
        keys = [_key(reading, rows, one) for one in wanted]
        by_gain = sorted(rows, key=lambda key: -(rows[key]["gain_us"] or 0.0))
        keys += by_gain[:top]
    return [Replay(op_id=key, name=rows[key]["name"], row=rows[key]) for key in dict.fromkeys(keys)]


def _key(reading: Reading, rows: Mapping[str, Mapping[str, Any]], wanted: str) -> str:
    if wanted.isdecimal() and len(wanted) < 7:
        by_rank = [key for key, row in rows.items() if str(row["rank"]) == wanted.lstrip("0")]
        if by_rank:
            return by_rank[0]
    same = [key for key, row in rows.items() if row["name"] == wanted]
    if len(same) > 1:
        raise BadViewError(
            f"{len(same)} operations have this name.",
            remedy=f"Name one of them by its id: {', '.join(same[:5])}.",
        )
    key, _ = reading.op(wanted)
    if key not in rows:
        raise BadViewError("Idle time is not an operation.", remedy="Name an operation.")
    return key


# --------------------------------------------------------------------------------- what is replayed


def _calls(sources: Sequence[SourceFile], chosen: Sequence[Replay]) -> list[Replay]:
    """The recorded call of each operation of PyTorch."""
    called = calls_of(sources, {one.name for one in chosen})
    return [_call(one, called.get(one.name)) for one in chosen]


def _call(one: Replay, called: Called | None) -> Replay:
    operator = called.operator if called else one.name
    if _GENERATED.match(operator):
        reason = (
            "Compiled code has no recorded call. TORCHINDUCTOR_BENCHMARK_KERNEL=1 writes a"
            " benchmark of each generated kernel."
        )
        return replace(one, refused=reason, has_operator=called is not None)
    if called is None:
        reason = "The trace does not say which operator launched this kernel."
        return replace(one, refused=reason, has_operator=False)
    if _WRAPPER.match(operator) or "::" not in operator:
        reason = "This is a frame around operators: replay one of those inside."
        return replace(one, refused=reason)
    if called.call is None:
        reason = "No shapes were recorded: use record_shapes=True, or `roofline record`."
        return replace(one, refused=reason)
    notes = []
    captured = one.row["avg_time_us"]
    if called.share < 1:
        captured = called.time_us
        notes.append(f"The row sums up several calls; this one has {called.share:.0%} of its time.")
    call = {"op_id": one.op_id, "label": one.name, "captured_us": captured, "overload": None}
    return replace(one, call=call | asdict(called.call), notes=notes)


def _modules(sources: Sequence[SourceFile], chosen: Sequence[Replay]) -> list[Replay]:
    """The instruction of each operation of XLA."""
    programs: dict[int, bytes] = {}
    made = []
    for one in chosen:
        number = int(one.row["program_id"] or 0)
        if number not in programs:
            programs[number] = program_of(sources, number)
        if not programs[number]:
            reason = "The capture does not have the compiled program of it."
            made.append(replace(one, refused=reason, has_operator=False))
            continue
        try:
            alone = cut_out(programs[number], one.name)
        except RooflineError as error:
            made.append(replace(one, refused=error.message))
            continue
        notes = ["The compiler fuses it again, perhaps otherwise."] if alone.is_apart else []
        call = {
            "op_id": one.op_id,
            "label": one.name,
            "name": one.name,
            "captured_us": one.row["avg_time_us"],
            "opcode": alone.opcode,
            "inputs": [[kind, list(dims)] for kind, dims in alone.inputs],
            "notes": notes,
            "module": base64.b64encode(gzip.compress(alone.module, mtime=0)).decode(),
        }
        made.append(replace(one, call=call, notes=notes))
    return made


def _checked(made: Sequence[Replay], python: str) -> list[Replay]:
    """The overload of each call, chosen by the PyTorch of `python`; refused where none fits."""
    calls = [one.call for one in made if one.call is not None]
    if not calls:
        return list(made)
    answer = subprocess.run(
        (python, str(_template(PYTORCH)), "--check"),
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        timeout=_CHECK_S,
        check=False,
    )
    if answer.returncode:
        last = (answer.stderr.strip().splitlines() or ["no output"])[-1]
        raise BadViewError(f"{python} could not check the calls: {last}", remedy="Use --python.")
    found = iter(json.loads(answer.stdout))
    return [one if one.call is None else _answered(one, next(found)) for one in made]


def _answered(one: Replay, found: Mapping[str, Any]) -> Replay:
    if found["refused"] is not None:
        return replace(one, call=None, refused=found["refused"])
    call = {**(one.call or {}), "overload": found["overload"]}
    return replace(one, call=call, notes=[*one.notes, *found["notes"]])


# ---------------------------------------------------------------------------------------- scripts


def script_of(one: Replay, kind: str) -> str:
    """The script that runs it: one file, with the call as a literal."""
    if one.call is None:
        raise BadViewError(f"{one.name} is not replayed: {one.refused}", remedy="Name another one.")
    lines = "".join(f"    {key!a}: {value!a},\n" for key, value in one.call.items())
    told = "".join(f"# {note!a}\n" for note in (one.name, *one.notes))
    head, mark, rest = _template(kind).read_text("utf-8").partition(_MARK)
    assert mark
    return f"{head}{told}CALL: Any = {{\n{lines}}}\n{rest}"


def file_name(one: Replay) -> str:
    """The name of its script."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", one.name.split(" ")[0]).strip("_")[:60]
    return f"replay_{word or 'op'}_{one.op_id[:6]}.py"


def _template(kind: str) -> Path:
    return Path(str(files("roofline.capture.replay") / _SCRIPT[kind]))


def _interpreter(library: str, named: str | None) -> str | None:
    """A Python that has `library`: the one that is named, this one, or that of the path."""
    if named is not None:
        if not _has(named, library):
            raise BadViewError(
                f"{named} has no {library}.", remedy="Name the Python of your program: --python."
            )
        return named
    if importlib.util.find_spec(library) is not None:
        return sys.executable
    found = [path for name in ("python", "python3") if (path := which(name))]
    return next((path for path in found if _has(path, library)), None)


def _has(python: str, library: str) -> bool:
    words = f"import importlib.util as u, sys; sys.exit(u.find_spec({library!r}) is None)"
    try:
        ran = subprocess.run((python, "-c", words), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def run(one: Replay, found: Replays, arguments: Sequence[str] = ()) -> Replay:
    """The replay with the result of running its script here; `failed` has the reason of none."""
    if one.call is None:
        return one
    if found.python is None:
        library = _LIBRARY[found.kind]
        raise BadViewError(
            f"No Python with {library} was found.",
            remedy="Name the Python of your program: --python PATH.",
        )
    with tempfile.TemporaryDirectory(prefix="roofline-replay-") as folder:
        path = Path(folder) / file_name(one)
        path.write_text(script_of(one, found.kind), "utf-8")
        try:
            ran = subprocess.run(
                (found.python, str(path), *arguments),
                capture_output=True,
                text=True,
                timeout=RUN_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return replace(one, failed=f"It did not end within {RUN_S:g} s.")
    if ran.returncode:
        return replace(one, failed=(ran.stderr.strip().splitlines() or ["It ended early."])[-1])
    return replace(one, result=json.loads(ran.stdout))


def with_result(one: Replay, path: Path) -> Replay:
    """The replay with a result that was measured elsewhere."""
    try:
        document = json.loads(path.read_bytes())
        is_sound = document["schema"] == RESULT_SCHEMA and document["warm"]["median_us"] > 0
        op_id, digest = document["op_id"], document["profile_digest"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadViewError(f"{path.name} is not a result.", remedy="Run the script.") from error
    expected = one.call and one.call["profile_digest"]
    if not is_sound or op_id != one.op_id or digest != expected:
        raise BadViewError(
            f"{path.name} was measured for another operation or another profile.",
            remedy="Run the script that was written for this one.",
        )
    return replace(one, result=document)
