"""Make the programs of tests/golden/hlo, and what XProf says of them.

    python make_hlo_golden.py programs FOLDER      needs jax (tried: 0.10.2, CPU)
    python make_hlo_golden.py references FOLDER    needs xprof 2.24.2 and this repository

Run the first as tests/golden/hlo/README.md says, so that no path of your machine ends in the
programs' source locations.
"""

import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))


def as_hlo_proto(module: bytes) -> bytes:
    """A serialized HloModuleProto as field 1 of an HloProto."""
    return b"\x0a" + varint(len(module)) + module


def functions() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Small programs, each with its arguments."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    x, y = jnp.ones((64, 128)), jnp.ones((128, 96))
    image, kernel = jnp.ones((2, 3, 17, 19)), jnp.ones((5, 3, 3, 3))
    indices, rows = jnp.array([1, 2, 3]), jnp.ones((3, 128))

    def conv(**options: Any) -> Callable[..., Any]:
        return lambda a, b: lax.conv_general_dilated(a, b, **options)

    def loss(weights: Any, batch: Any) -> Any:
        hidden = jnp.tanh(batch @ weights[0])
        return ((hidden - hidden.mean(-1, keepdims=True)) @ weights[1]).mean()

    dilated = conv(window_strides=(2, 3), padding=[(1, 2), (0, 1)], rhs_dilation=(2, 1))
    transposed = conv(window_strides=(1, 1), padding=[(2, 2)] * 2, lhs_dilation=(2, 2))
    grouped = conv(window_strides=(1, 1), padding="VALID", feature_group_count=3)
    pool = {"window_dimensions": (1, 1, 3, 3), "window_strides": (1, 1, 2, 2), "padding": "SAME"}
    return {
        "dot": (lambda a, b: a @ b, (x, y)),
        "conv_dilated": (dilated, (image, kernel)),
        "conv_transposed": (transposed, (image, kernel)),
        "conv_grouped": (grouped, (image, jnp.ones((6, 1, 3, 3)))),
        "reduce": (lambda a: (a.sum(0), a.max(1), a.sum(), jnp.argmax(a, 1)), (x,)),
        "scatter": (lambda a, i, u: (a.at[i].add(u), a.at[i].mul(u)), (x, indices, rows)),
        "gather": (lambda a, i: a[i], (x, indices)),
        "sort": (lambda a: (jnp.sort(a, 0), lax.top_k(a, 5)), (x,)),
        "while": (lambda a: lax.fori_loop(0, 9, lambda i, c: c @ a + i, a), (x[:, :64],)),
        "cond": (lambda p, a: lax.cond(p, lambda z: z @ z, jnp.sin, a), (True, x[:, :64])),
        "window": (lambda a: (lax.reduce_window(a, 0.0, lax.add, **pool), a.cumsum(2)), (image,)),
        "fft": (lambda a: jnp.fft.rfft(a).real, (x,)),
        "update": (lambda a, i: lax.dynamic_update_slice(a * 2, rows, (i, 0)), (x, 3)),
        "train": (jax.grad(loss), ((x.T, x), x[:16])),
    }


def write_programs(folder: Path) -> None:
    import jax
    from jax._src.lib import xla_client

    for name, (function, arguments) in functions().items():
        lowered = jax.jit(function).lower(*arguments)
        compiled = lowered.compile().runtime_executable().hlo_modules()[0]
        modules = {"": lowered.compiler_ir("hlo"), "_compiled": compiled}
        for suffix, module in modules.items():
            save(folder / f"{name}{suffix}", module.as_serialized_hlo_module_proto())
    for source in sorted(folder.glob("*.hlo")):
        module = xla_client.hlo.hlo_module_from_text(source.read_text())
        save(source.with_suffix(""), module.as_serialized_hlo_module_proto())


def save(path: Path, module: bytes) -> None:
    path.with_suffix(".pb.gz").write_bytes(gzip.compress(as_hlo_proto(module), 9, mtime=0))


def write_references(folder: Path) -> None:
    """For each program a GPU capture with one kernel per instruction, and XProf's view of it."""
    expected = {}
    for path in sorted(folder.glob("*.pb.gz")):
        expected[path.name.removesuffix(".pb.gz")] = xprof_costs(gzip.decompress(path.read_bytes()))
    text = json.dumps(expected, separators=(",", ":"), sort_keys=True)
    (folder / "xprof.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def xprof_costs(program: bytes) -> dict[str, list[Any]]:
    """category, FLOPs, model FLOPs, bytes, HBM bytes and source of each instruction."""
    # Not through the package: its compiled kernels are not installed beside xprof.
    sys.path.insert(
        0,
        str(
            Path(__file__).resolve().parents[2]
            / "app"
            / "roofline"
            / "importers"
            / "xspace"
            / "hlo"
        ),
    )
    import hlo_pb2
    from xprof.convert import raw_to_tool_data

    from tests.tools.gpu_captures import one_kernel_per_instruction

    computations = hlo_pb2.HloProto.FromString(program).hlo_module.computations
    names = [inner.name.decode() for made in computations for inner in made.instructions]

    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "host.xplane.pb"
        capture.write_bytes(one_kernel_per_instruction(program, names))
        answer, _ = raw_to_tool_data.xspace_to_tool_data(
            [str(capture)], "roofline_model", {"use_saved_result": False}
        )
    table = json.loads(answer)[0]
    ids = [column["id"] for column in table["cols"]]
    rows = ({k: c["v"] for k, c in zip(ids, row["c"], strict=True)} for row in table["rows"])
    return dict(costs_of_rows(rows))


def costs_of_rows(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Rates of kernels that last a nanosecond are counts; GiB/s are 1.073741824 bytes then."""
    for row in rows:
        if row["include_infeed_outfeed"] and row["category"] != "Program":
            counts = [
                row["measured_flop_rate"],
                row["model_flop_rate"],
                row["measured_memory_bw"] * 1.073741824,
                row["hbm_bw"] * 1.073741824,
            ]
            yield row["operation"], [row["category"], *map(round, counts), row["source_info"]]


if __name__ == "__main__":
    {"programs": write_programs, "references": write_references}[sys.argv[1]](Path(sys.argv[2]))
