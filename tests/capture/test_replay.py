"""An operation alone: which ones are replayed, what a script may do, and the words of a result."""

import ast
import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from roofline.api import replays
from roofline.api.replays import Replay, file_name, is_same_device, said_of, script_of
from tests.capture.test_record import TORCH_PYTHON, needs_torch
from tests.cli.test_main import refused, run
from tests.conftest import PYTHON_PATH, SAMPLES
from tests.shared_profiles import SHARED, needs_shared

HOSTILE = '"); import os; os.remove("x'
NAMES = (
    HOSTILE,
    "aten::mm\n__import__('os').system('touch x')",
    "aten::mm#\r\nimport os",
    "'''\nimport os\n'''",
    "\\N{BULLET}\\",
    "aten::\x00mm",
    "aten::\ud800mm",
    "aten::from_file",
    "torch::load_library",
    "prim::Print",
)
# What a PyTorch trace has of an operator: name, dims, types, strides, values.
MM = ("aten::mm", [[64, 32], [32, 16]], ["float", "float"], [[32, 1], [1, 32]], ["", ""])

MM_ROW = "aten::mm [64x32, 32x16] fp32"


def trace_of(*calls: tuple[Any, ...], folder: Path) -> Path:
    """A trace of a CPU with one event for each call."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": name,
            "pid": 1,
            "tid": 1,
            "ts": 1000.0 + 100 * place,
            "dur": 50.0,
            "args": {
                "Input Dims": dims,
                "Input type": types,
                "Input Strides": strides,
                "Concrete Inputs": values,
            },
        }
        for place, (name, dims, types, strides, values) in enumerate(calls)
    ]
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def template(name: str) -> ModuleType:
    """A script as a module, as it is before a call is written into it."""
    spec = importlib.util.spec_from_file_location(name, str(replays._template(name)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def literals_only(script: str, kind: str) -> Any:
    """The call in `script`; all else in it are comments and the script that comes with us."""
    whole = replays._template(kind).read_text("utf-8")
    head, _, rest = whole.partition(replays._MARK)
    assert script.startswith(head)
    assert script.endswith(rest)
    written = ast.parse(script[len(head) : len(script) - len(rest)]).body
    assert len(written) == 1
    (assigned,) = written
    assert isinstance(assigned, ast.AnnAssign)
    assert assigned.value is not None
    assert not any(isinstance(node, ast.Call | ast.Name) for node in ast.walk(assigned.value))
    return ast.literal_eval(assigned.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [replays.PYTORCH, replays.XSPACE])
def test_a_hostile_name_is_a_literal(name: str, kind: str) -> None:
    call = {"name": name, "label": name, "dims": [[name]], "values": [name], "types": [name]}
    one = Replay(op_id="0123456789", name=name, row={}, call=call, notes=[name])
    script = script_of(one, kind)
    script.encode()
    assert literals_only(script, kind) == call
    compile(script, "replay.py", "exec")
    assert file_name(one).replace("_", "").replace(".", "").isalnum()


@pytest.mark.parametrize("name", [one for one in NAMES if one != "aten::mm"])
def test_a_hostile_operator_is_refused_before_pytorch_is_asked(name: str) -> None:
    module = template(replays.PYTORCH)
    with pytest.raises(module.RefusedError, match="not an operator"):
        module.packet_of(name)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int", "__import__('os')"), ("int", "1; 2"), ("float", "1e5.__class__"),
        ("bool", "exit()"),
        ("List[int]", "[1, open('x')]"), ("List[int]", "[1" + ", 1" * 2000 + "]"),
        ("number", "True if 1 else 0"), ("str", "../../etc/passwd"), ("str", "a\nb"),
    ],
)  # fmt: skip
def test_values_are_parsed_and_never_evaluated(kind: str, text: str) -> None:
    module = template(replays.PYTORCH)
    with pytest.raises(module.UnboundError):
        module.plain(kind, text, type("Argument", (), {"name": "it"}))


def test_values_of_a_trace_are_read() -> None:
    module = template(replays.PYTORCH)
    argument = type("Argument", (), {"name": "it"})
    cases: tuple[tuple[str, str, Any], ...] = (
        ("int", "-1", -1), ("float", "0.", 0.0), ("number", "2", 2), ("number", "0.125", 0.125),
        ("List[int]", "[8944, 1024]", [8944, 1024]), ("bool", "False", False),
        ("float", "-inf", float("-inf")), ("str", "none", "none"), ("List[int]", "[]", []),
    )  # fmt: skip
    for kind, text, expected in cases:
        assert module.plain(kind, text, argument) == expected


def test_5000_mutated_calls_are_literals() -> None:
    chance = random.Random(31)
    pieces = [HOSTILE, "\n", "'", '"', "\\", "}", "#", "\x00", "\u2028", "[", "aten::mm", 2**70]

    def mutated(depth: int = 0) -> Any:
        if depth < 3 and chance.random() < 0.4:
            return [mutated(depth + 1) for _ in range(chance.randrange(4))]
        return chance.choice(pieces) if chance.random() < 0.8 else None

    for _ in range(5000):
        name = "".join(str(chance.choice(pieces)) for _ in range(3))
        call = {"name": name, "label": name, "dims": mutated(), "values": mutated()}
        one = Replay(op_id="0123456789", name=name, row={}, call=call, notes=[name])
        assert literals_only(script_of(one, replays.PYTORCH), replays.PYTORCH) == call


def test_the_script_of_a_hostile_trace_removes_nothing(tmp_path: Path) -> None:
    """Whole traces, through the command; whatever Python there is runs what was written."""
    (tmp_path / "x").write_text("here")
    path = trace_of(MM, (HOSTILE + "::mm", *MM[1:]), ("aten::from_file", *MM[1:]), folder=tmp_path)
    run("replay", path, "--top", "9", "-o", tmp_path / "out")
    scripts = sorted((tmp_path / "out").glob("*.py"))
    assert scripts
    for script in scripts:
        subprocess.run(
            (sys.executable, str(script)), cwd=tmp_path, capture_output=True, check=False
        )
    assert (tmp_path / "x").read_text() == "here"


def test_the_command_says_what_can_be_replayed(tmp_path: Path) -> None:
    frame = ("MmBackward0", *MM[1:])
    path = trace_of(MM, frame, folder=tmp_path)
    said = run("replay", path).stdout.decode()
    assert "50.0% not: This is a frame around operators: replay one of those inside." in said
    document = json.loads(run("replay", path, "-f", "json", "--op", MM_ROW, "-o", tmp_path).stdout)
    (one,) = document["replays"]
    assert document["schema"] == "roofline.replays/1"
    assert one["captured_us"] == 50.0
    assert Path(one["file"]).is_file()
    assert "no such" not in said


def test_what_has_no_shapes_is_refused(tmp_path: Path) -> None:
    source = SAMPLES / "generic"
    (file,) = list(source.glob("*.csv"))[:1]
    assert "Replay a PyTorch trace or an XSpace" in refused("replay", file)
    path = trace_of(("aten::mm", None, None, None, None), folder=tmp_path)
    said = run("replay", path, "--top", "1", "-o", tmp_path).stdout.decode()
    assert "use record_shapes=True, or `roofline record`" in said


def result(warm: float, cold: float | None, device: str = "NVIDIA H100 80GB HBM3") -> Any:
    """What a script writes."""
    times = {"median_us": warm, "least_us": warm, "iqr_us": 0.0, "batches": 20, "calls": 1}
    return {
        "schema": "roofline.replay/1",
        "device": device,
        "warm": times,
        "cold": None if cold is None else {**times, "median_us": cold},
    }


H100 = "NVIDIA H100 80GB HBM3"
AS_LONG = "Alone it takes as long"
COLD_AS_LONG = "Alone with cold caches it takes as long"


@pytest.mark.parametrize(
    ("warm", "cold", "sentence", "ratio"),
    [
        (100.0, 130.0, f"{AS_LONG} (100.0 us): the time is in the kernel. 46% of its roof.", 0.462),
        (50.0, 100.0, f"{COLD_AS_LONG}: its operands come from memory.", 0.924),
        (50.0, 60.0, "Alone it is 2.2 times faster, 1.8 times with cold caches: in the program it"
         " waits, shares the device, or runs at another clock.", 0.924),
        (220.0, None, "Alone it is 2.0 times slower here: another device, clock or library than in"
         f" the capture (captured on {H100}, replayed on {H100}).", None),
    ],
)  # fmt: skip
def test_the_sentence_of_a_result(
    warm: float, cold: float | None, sentence: str, ratio: float | None
) -> None:
    said = said_of(result(warm, cold), 110.0, 0.42, H100)
    assert said.sentence == sentence
    assert said.alone_ratio == (None if ratio is None else pytest.approx(ratio))


def test_another_device_has_no_share_of_the_roof() -> None:
    assert said_of(result(100.0, None, "NVIDIA L4"), 110.0, 0.42, H100).alone_ratio is None
    assert not is_same_device("CPU", "CPU of another maker")
    assert is_same_device("NVIDIA H100 80GB HBM3", "nvidia h100 80gb hbm3")
    assert said_of(None, 1.0, None, H100).sentence is None


# ------------------------------------------------------------------------------------------- JAX

CAPTURED = """
import sys, jax, jax.numpy as jnp
@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(w)
w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
w = step(w, x).block_until_ready()
jax.profiler.start_trace(sys.argv[1])
for _ in range(20):
    w = step(w, x)
w.block_until_ready()
jax.profiler.stop_trace()
"""

# Every instruction of a program in turn, each cut out and run alone on what those before it gave:
# the last one gives what the whole program gives.
IN_TURN = """
import sys, numpy as np, jax, jax.numpy as jnp
from roofline.api import replays
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.alone import cut_out
sys.path.insert(0, str(replays._template('xspace').parent))
import xla_call

def layer(x, w, v):
    h = jnp.tanh(x @ w)
    scores = jax.nn.softmax(h @ h.T, axis=-1)
    return (jnp.transpose(scores @ h, (1, 0)).reshape(16, 64) * v).sum(axis=0), h.max()

rng = np.random.default_rng(1)
given = [rng.standard_normal(s).astype(np.float32) for s in ((32, 32), (32, 32), (64,))]
made = jax.jit(layer).lower(*given).compile()
whole = [np.asarray(one) for one in made(*given)]
compiled = made.runtime_executable().hlo_modules()[0]
module = pb.Module.FromString(compiled.as_serialized_hlo_module_proto())
raw = pb.HloProto(hlo_module=module).SerializeToString()
(entry,) = (c for c in module.computations if c.id == module.entry_computation_id)
values, ran = {}, 0
for one in entry.instructions:
    operands = [values[k] for k in one.operand_ids]
    if one.opcode == b'parameter':
        values[one.id] = given[one.parameter_number]
    elif one.opcode == b'tuple':
        values[one.id] = operands
    elif one.opcode == b'get-tuple-element':
        values[one.id] = operands[0][one.tuple_index]
    else:
        alone = cut_out(raw, one.name.decode())
        program = xla_call.compiled(alone.module, jax.devices()[0])
        results = [np.asarray(r) for r in program.execute([jax.device_put(o) for o in operands])]
        values[one.id] = results if len(one.shape.tuple_shapes) else results[0]
        ran += 1
root = values[entry.root_id]
assert ran >= 3, ran
for mine, theirs in zip(root, whole, strict=True):
    np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
print(ran)
"""


def python(code: str, *words: str) -> str:
    """What a program of JAX on this CPU prints."""
    done = subprocess.run(
        (sys.executable, "-c", code, *words),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "JAX_PLATFORMS": "cpu"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_instructions_alone_give_what_the_program_gives() -> None:
    assert int(python(IN_TURN)) >= 3


def test_a_jax_program_is_captured_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    python(CAPTURED, str(tmp_path))
    (capture,) = tmp_path.rglob("*.xplane.pb")
    said = run("replay", capture).stdout.decode()
    assert said.startswith("100.0% of the time of operators can be replayed.")
    out = tmp_path / "out"
    words = ("replay", capture, "--top", "2", "--run", "-o", out, "-f", "json")
    document = json.loads(run(*words).stdout)
    assert document["device"] == "CPU"
    for one in document["replays"]:
        assert one["failed"] is None
        assert one["result"]["warm"]["median_us"] > 0
        assert one["result"]["framework"].startswith("jax ")
        assert one["sentence"].startswith("Alone ")
    # The result of another machine, beside the captured time.
    kept = sorted(out.glob("*.json"))
    first = json.loads(kept[0].read_bytes())
    again = run("replay", capture, "--op", first["op_id"], "--add", kept[0]).stdout.decode()
    assert f"alone {first['warm']['median_us']:,.1f} us" in again
    assert "another operation" in refused(
        "replay", capture, "--op", json.loads(kept[1].read_bytes())["op_id"], "--add", kept[0]
    )


# A program whose loop calls back into Python: the address in it is that of another process.
CALLS_BACK = """
import jax, jax.numpy as jnp, numpy as np
from roofline.errors import BadViewError
from roofline.importers.xspace.hlo import hlo_pb2 as pb
from roofline.importers.xspace.hlo.alone import cut_out

def f(x):
    def body(_, y):
        return y + jax.pure_callback(np.sin, jax.ShapeDtypeStruct(y.shape, y.dtype), y)
    return jax.lax.fori_loop(0, 3, body, x)

made = jax.jit(f).lower(jnp.ones(8)).compile().runtime_executable().hlo_modules()[0]
module = pb.Module.FromString(made.as_serialized_hlo_module_proto())
raw = pb.HloProto(hlo_module=module).SerializeToString()
refused = set()
for computation in module.computations:
    for one in computation.instructions:
        try:
            cut_out(raw, one.name.decode())
        except BadViewError as error:
            refused.add((one.opcode.decode(), "function of the captured" in error.message))
print(sorted(kind for kind, calls in refused if calls))
"""


def test_no_address_of_the_captured_program_is_called() -> None:
    said = python(CALLS_BACK)
    assert "custom-call" in said
    assert "while" in said


@needs_shared
@pytest.mark.parametrize("name", ["jax-cpu-transformer", "amd-mi300x-conv-jax08"])
def test_instructions_of_captures_are_read_by_the_compiler(name: str) -> None:
    code = f"""
import json
from pathlib import Path
from jaxlib import _hlo
from base64 import b64decode
from gzip import decompress
from roofline.api.replays import replays_of
found = replays_of([Path({str(SHARED / "profiles" / name / "host_0.xplane.pb")!r})], [],
                   progress=lambda *_: None)
for one in found.replays:
    if one.call is not None:
        text = _hlo.XlaComputation(decompress(b64decode(one.call['module']))).as_hlo_text()
        _hlo.hlo_module_from_text(text)
print(found.replayable_us / found.attributed_us, sum(one.call is not None for one in found.replays))
"""
    share, count = python(code).split()
    assert float(share) == pytest.approx(1.0)
    assert int(count) >= 4


# --------------------------------------------------------------------------------------- PyTorch


@needs_torch
@needs_shared
@pytest.mark.parametrize("name", ["h100_qwen_causal", "mi300x_qwen_causal"])
def test_95_percent_of_attributed_time_can_be_replayed(name: str) -> None:
    path = SHARED / "samples" / "pytorch" / f"{name}.json.gz"
    document = json.loads(run("replay", path, "--python", TORCH_PYTHON, "-f", "json").stdout)
    assert document["replayable_us"] >= 0.95 * document["attributed_us"]


# Calls with known arguments, recorded by the profiler, and bound again from what it recorded.
KNOWN = """
import json, sys, random, torch
from torch.profiler import profile, ProfilerActivity
random.seed(7)
known = []
def t(*shape, dtype=torch.float32, transposed=False):
    made = torch.ones(shape, dtype=dtype)
    return made.transpose(-1, -2) if transposed else made
d = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
for k in range(200):
    n, m, q = (random.randrange(1, 9) for _ in range(3))
    dt = random.choice(d)
    flip = random.random() < .5
    known.append(random.choice([
        ("aten::mm", "default", (t(n, m, dtype=dt), t(q, m, dtype=dt, transposed=True)), {}),
        ("aten::addmm", "default", (t(q, dtype=dt), t(n, m, dtype=dt), t(m, q, dtype=dt)),
         {"beta": 2, "alpha": 3}),
        ("aten::bmm", "default", (t(2, n, m, dtype=dt, transposed=flip),
                                  t(2, n if flip else m, q, dtype=dt)), {}),
        ("aten::add", "Tensor", (t(n, m, dtype=dt), t(n, 1, dtype=dt)), {"alpha": 2}),
        ("aten::mean", "dim", (t(n, m, dtype=dt), [-1], True), {}),
        ("aten::clamp", "default", (t(n, m, dtype=dt), 0.25, None), {}),
        ("aten::softmax", "int", (t(n, m, dtype=torch.float32), -1), {}),
        ("aten::gelu", "default", (t(n, m),), {"approximate": "none"}),
        ("aten::embedding", "default", (t(n + 3, m), torch.zeros(q, dtype=torch.int64)), {}),
        ("aten::native_layer_norm", "default", (t(n, m), [m], t(m), t(m), 1e-5), {}),
        ("aten::transpose", "int", (t(n, m, q), 0, 2), {}),
        ("aten::pow", "Tensor_Scalar", (t(n, m), 2), {}),
        ("aten::where", "self", (t(n, m) > 0, t(n, m), t(n, m)), {}),
    ]))
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
    for name, overload, args, named in known:
        space, op = name.split("::")
        getattr(getattr(getattr(torch.ops, space), op), overload)(*args, **named)
p.export_chrome_trace(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import torch_call
events = json.load(open(sys.argv[1]))["traceEvents"]
top = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))
end, outer = 0, []
for e in top:
    if e["ts"] >= end:
        outer.append(e)
        end = e["ts"] + e["dur"]
outer = [e for e in outer if e["name"] in {k[0] for k in known}]
assert len(outer) == 200, len(outer)
for e, (name, overload, args, named) in zip(outer, known):
    a = e["args"]
    call = {"name": e["name"], "dims": a["Input Dims"], "types": a["Input type"],
            "strides": a["Input Strides"], "values": a["Concrete Inputs"],
            "list_types": [""] * len(a["Input type"])}
    found, _, made = torch_call.bound(call, "cpu")
    assert (name == "aten::gelu") == any("records no texts" in one for one in made.notes)
    assert e["name"] == name and found == overload, (name, overload, found)
    for mine, theirs in zip(made.positional, args):
        if isinstance(theirs, torch.Tensor):
            assert mine.shape == theirs.shape and mine.stride() == theirs.stride(), name
            assert mine.dtype == theirs.dtype, name
        else:
            assert mine == theirs, (name, mine, theirs)
    for key, value in named.items():
        assert made.named[key] == value, (name, key, made.named)
print("equal", len(outer))
"""


@needs_torch
def test_200_recorded_calls_come_back_equal(tmp_path: Path) -> None:
    folder = replays._template(replays.PYTORCH).parent
    words = (str(TORCH_PYTHON), "-c", KNOWN, str(tmp_path / "trace.json"), str(folder))
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-2:] == ["equal", "200"]


@needs_torch
def test_a_recorded_product_is_replayed(tmp_path: Path) -> None:
    size = 256
    call = (
        "aten::mm", [[size, size], [size, size]], ["float", "float"],
        [[size, 1], [1, size]], ["", ""],
    )  # fmt: skip
    path = trace_of(call, folder=tmp_path)
    words = ("--python", TORCH_PYTHON, "--run", "--threads", "1", "-f", "json")
    document = json.loads(run("replay", path, "--op", "1", *words).stdout)
    (one,) = document["replays"]
    assert one["failed"] is None
    assert one["result"]["threads"] == 1
    assert one["result"]["max_abs"] > 0
    assert one["result"]["warm"]["least_us"] <= one["result"]["warm"]["median_us"]
    too_large = (call[0], [[2**20, 2**20], [2**20, 2**20]], *call[2:3], [[2**20, 1]] * 2, call[4])
    path = trace_of(too_large, folder=tmp_path)
    (one,) = json.loads(run("replay", path, "--op", "1", *words).stdout)["replays"]
    assert "GB are free here" in one["failed"]
