"""A trace without most of its kernels says so, and is not given a bound."""

from pathlib import Path

import pytest

from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import build_verdict
from tests.tools.make_kineto_traces import KinetoTrace

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "samples" / "pytorch"


def words(path: Path) -> tuple[str, str]:
    analysis = analyse_files([path])
    verdict = build_verdict(analysis, analysis.with_infeed)
    return plain_text(verdict.headline), plain_text(verdict.lead)


def written(folder: Path, trace: KinetoTrace) -> Path:
    path = folder / "trace.json"
    path.write_text(trace.as_json(), "utf-8")
    return path


def recorded(n_launches: int, n_replayed: int) -> KinetoTrace:
    """A graph of so many kernels was recorded, and one replay ran others; two kernels ran alone."""
    trace = KinetoTrace()
    product = [((512, 512), "float"), ((512, 512), "float")]
    trace.call("aten::mm", product, ("gemm", 20), ("gemm", 20))
    for _ in range(n_launches):
        trace.event("cuda_runtime", "cudaLaunchKernel", trace.host_us, 1.5,
                    args={"correlation": 10_000 + len(trace.events)})  # fmt: skip
        trace.host_us += 2
    if n_replayed:
        trace.graph(*[("gemm", 20.0)] * n_replayed)
    return trace


def test_two_kernels_of_many_launches_bind_nothing(tmp_path: Path) -> None:
    headline, lead = words(written(tmp_path, recorded(40, 0)))
    assert headline == (
        "Most launched kernels (40) are not in the trace, so the bound of this program is unknown"
    )
    assert lead.startswith("They were recorded into a graph, or the profiler dropped them.")
    assert lead.endswith("Capture iterations after the graph was recorded.")


def test_a_graph_that_runs_in_the_same_trace_counts(tmp_path: Path) -> None:
    assert not words(written(tmp_path, recorded(40, 100)))[0].startswith("Most launched kernels")


def test_the_host_of_an_accelerator_is_named(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call("aten::mm", [((512, 512), "float"), ((512, 512), "float")])
    headline, lead = words(written(tmp_path, trace))
    assert headline.startswith("This trace shows only the host of a program")
    assert lead.startswith("Operators have the host’s time to launch work")
    assert "ProfilerActivity.CUDA" in lead


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
@pytest.mark.parametrize(
    ("name", "opening"),
    [
        ("mi300x_sglang_capture", "Most launched kernels (544)"),
        ("mi300x_vllm_graph_capture", "Most launched kernels (421)"),
        ("a100_launches_without_kernels", "This trace shows only the host"),
        ("mtia_inference", "This trace shows only the host"),
    ],
)
def test_real_traces_without_their_kernels(name: str, opening: str) -> None:
    assert words(SHARED / f"{name}.json.gz")[0].startswith(opening)
