"""Twenty questions of an engineer, answered from the texts of the tools alone.

The answers were fixed beforehand from the files. Each has its certainty; where the right answer is
"not known", no other is given.
"""

import re
from typing import Any, NamedTuple

import pytest

from tests.agents.test_server import called

V6E = "xspace/v6e-training.xplane.pb"
H100 = "pytorch/h100-training.json"
UNFUSED = "pytorch/h100-training-unfused.json"
DECODE = "pytorch/h100-decode.json"
KERNELS = "nsight_compute/a100-kernels.ncu-rep"
GRAPHS = "nsight_systems/a100-graphs.sqlite"
RANKS = "nsight_systems/a100-two-ranks.sqlite"
SOLVER = "rocprof_compute/mi250x-solver"
CPU = "xspace/jax-cpu-transformer.xplane.pb"


class Task(NamedTuple):
    """A question, the call that answers it, the words that must be there and those that may not."""

    question: str
    tool: str
    given: dict[str, Any]
    says: tuple[str, ...]
    never: str = r"\A\Z"


# Of a verdict, a saving, a column of operations, or where numbers are from.
SAYS_HOW_SURE = re.compile(
    r"\(certain: |confidence|\tsure\t|from: |^flops=\w+ bytes=\w+", re.MULTILINE
)
TASKS = (
    Task(
        "What binds the training step?",
        "summary",
        {"profile": V6E},
        (r"partly HBM-, partly compute-bound.*\(certain: modelled\)",),
    ),
    Task(
        "What should be done first?",
        "advise",
        {"profile": V6E},
        (r"1\. \*\*Fill the chip in fusion\.52.*0\.60 ms · confidence: low",),
    ),
    Task(
        "Is the second run faster?",
        "compare",
        {"before": UNFUSED, "after": H100},
        (r"0\.9 ms less.*\(certain: in doubt, fewer than three captures",),
        "certain: measured",
    ),
    Task(
        "Why are the FLOPs unknown?",
        "why",
        {"profile": GRAPHS, "of": "flops"},
        (r"records when work ran, not what it computed",),
    ),
    Task(
        "Is this capture good for a verdict?",
        "summary",
        {"profile": CPU},
        (r"\(certain: unknown\)", "names no peak of its device"),
        r"\w-bound",
    ),
    Task(
        "Which bandwidth is the HBM roof?",
        "why",
        {"profile": V6E, "of": "peak:hbm"},
        (r"hbm: 1527 GiB/s per core, from: profile",),
    ),
    Task(
        "Would fp8 storage help?",
        "what_if",
        {"profile": H100, "storage": "fp8"},
        (r"\(certain: modelled\)", r"saving_us\t152"),
    ),
    Task(
        "What would settle the verdict?",
        "why",
        {"profile": RANKS},
        (r"what would settle it: Give the peak of the link",),
    ),
    Task(
        "Which kernel is the longest, and what is it held by?",
        "top_ops",
        {"profile": KERNELS, "limit": 1},
        (r"\t4714\t0\.576\tfma\t0\.764\t1308\tmeasured\t\"void sgemm_tiled",),
    ),
    Task(
        "Where in the source is all-gather.1?",
        "explain",
        {"profile": V6E, "op": "all-gather.1"},
        (r"source \"model/attention\.py:84\"",),
    ),
    Task(
        "How far is fusion.52 from its roof?",
        "explain",
        {"profile": V6E, "op": "fusion.52"},
        (r"at 0\.359 of matrix_bf16 \(certain: modelled\)", r"3845 ÷ 10714 = 0\.359"),
    ),
    Task(
        "How much of a step waits for the interconnect?",
        "summary",
        {"profile": V6E},
        (r"links\.ici\t1445\t0\.103",),
    ),
    Task(
        "What would it take on a B200?",
        "what_if",
        {"profile": H100, "device": "b200"},
        (r"\(certain: modelled\)", r"\"B200.*\"\t8\.6 ms"),
        "certain: measured",
    ),
    Task(
        "Which category takes the most time?",
        "top_ops",
        {"profile": H100, "group": "category"},
        (r"matmul +\d+ +14\.7",),
    ),
    Task(
        "Is decoding bound by memory?",
        "summary",
        {"profile": DECODE},
        (r"all HBM-bound.*\(certain: modelled\)",),
    ),
    Task(
        "Why was the device idle?",
        "summary",
        {"profile": RANKS},
        (
            r"The device waits 0.38 ms for the host",
            r"Nothing ran for 0.15 ms, and the file does not say why",
        ),
    ),
    Task(
        "Which FLOP rate does an operation without counters have?",
        "top_ops",
        {"profile": GRAPHS, "limit": 1},
        (r"\t(unknown|measured)\t",),
        r"\tmodelled\t",
    ),
    Task(
        "Are these peaks possible?",
        "what_if",
        {"profile": H100, "peaks": ["hbm=1TB/s"]},
        (r"4 operations with impossible numbers.*\(certain: in doubt\)",),
        r"\w-bound",
    ),
    Task(
        "What binds the solver, by its counters?",
        "summary",
        {"profile": SOLVER},
        (r"mostly HBM-bound.*\(certain: measured\)",),
    ),
    Task(
        "How was that saving calculated?",
        "why",
        {"profile": V6E, "of": "K1:fusion.52+12"},
        (r"rule K1: T' = min\(T, ρ ÷ η\)", r"\(certain: low confidence\)"),
    ),
)


@pytest.mark.covers(2, 43, 116, 131)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.question)
def test_a_question_is_answered_from_the_text_alone(task: Task) -> None:
    text, failed = called(task.tool, **task.given)
    assert not failed, text
    for words in task.says:
        assert re.search(words, text), f"{words!r} is not in:\n{text}"
    assert not re.search(task.never, text), text
    assert SAYS_HOW_SURE.search(text), f"nothing says how sure this is:\n{text}"
