"""The first lines of a page: of hand-made verdicts of every class, and of every kind of profile."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Kind, Subject
from roofline.analysis.verdict_records import KnownShares, Place, Verdict, VerdictClass
from roofline.exports.answering import answer_of
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity
from roofline.presentation.goal import First
from roofline.presentation.quantities import NARROW, SPACE
from roofline.presentation.sentences import Segment, plain_text
from roofline.presentation.verdict import (
    REASONS,
    Answer,
    Lines,
    bound_clause,
    busy_sentences,
    lines_of,
)
from tests.builders import ABSENT, analysed, reported
from tests.subject_by_hand import subject_of

ORDINARY = str.maketrans({NARROW: " ", SPACE: " "})
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "verdict.md"
COUNTED = KnownShares(flop=1.0, bytes=1.0, both=1.0, busy=1.0)
BY_WORK = KnownShares(flop=1.0, bytes=1.0, both=1.0, busy=0.0)
NOT_RUN = Diagnostic(
    severity=Severity.WARNING,
    code="launches-not-run",
    message="Most launched kernels are missing.",
    remedy="Capture iterations after the graph was recorded.",
)


def texts(lines: Lines) -> tuple[str, str, str]:
    """The three lines with ordinary spaces."""
    three = (lines.headline, lines.do_first, lines.standing)
    first, second, third = (plain_text(one).translate(ORDINARY) for one in three)
    return first, second, third


# ------------------------------------------------------------------------- every class, by hand

KERNELS: Mapping[str, Any] = {
    "of": "kernels",
    "kind": Kind.KERNELS,
    "label": "2 kernels",
    "unit_word": "of kernel time",
}
STEP = analysed("op|self_us|flop|hbm_bytes\na|1|1|1")
WAITING = subject_of(7.1, 4.2, host_wait=62.0, unknown_wait=0.3, unit_word="a prefill step")
LATE = Place(
    kind=VerdictClass.LATENCY, ceiling="l1", ratio=0.50, useful_ratio=0.2, why="few_blocks"
)
HBM = {"hbm": 0.8, "compute": 0.2}


def verdict(kind: VerdictClass, known: KnownShares = BY_WORK, **rest: Any) -> Verdict:
    return Verdict(kind=kind, known=known, **rest)


CLASSES: Sequence[tuple[RooflineAnalysis, Subject, Verdict, tuple[str, str, str]]] = [
    (
        analysed(""),
        subject_of(ops=0),
        verdict(VerdictClass.NOTHING),
        ("No operation was recorded.", "The capture holds no ops of a device.", ""),
    ),
    (
        analysed("op|self_us|flop\na|1|1", format_id="pytorch", device=reported(name="NVIDIA T4")),
        subject_of(unknown=341, kind=Kind.HOST, unit_word="of the host", floor_us=None),
        verdict(VerdictClass.HOST_ONLY),
        (
            "341 ms of the host were recorded, and nothing of the device.",
            "Record the device too: `activities=[CPU, CUDA]`.",
            "",
        ),
    ),
    *(
        (
            STEP,
            subject_of(ops=2, **{**KERNELS, "label": "2 operations"}),
            verdict(kind),
            (
                "Two operations without times: the chart shows where they could lie.",
                "",
                "Each operation stands at its roof: this is the best rate that the device allows "
                "for its work. There is no total.",
            ),
        )
        for kind in (VerdictClass.POINTS, VerdictClass.PREDICTED)
    ),
    (
        STEP,
        subject_of(40, 38, 124, host_wait=145),
        verdict(VerdictClass.UNKNOWN, why="work"),
        (
            "347 ms a step; the cost of 124 of them is not known.",
            "Record what the operations compute and move. The device waits 145 ms for the host.",
            "At 51 % of the roof (39 % known).",
        ),
    ),
    (
        STEP,
        subject_of(unknown=147, has_ceilings=False),
        verdict(VerdictClass.UNKNOWN, why="peaks"),
        ("147 ms a step. Choose the device to see what it could take.", "", ""),
    ),
    (
        analysed("op|self_us|flop\na|1|1", diagnostics=[NOT_RUN]),
        subject_of(0.8, 57, unit_word=""),
        verdict(VerdictClass.UNKNOWN, why="coverage", coverage=0.016),
        (
            "57.8 ms, 1.6 % of the program: the file has no times of the rest.",
            "Its kernels were recorded into a graph, or the profiler dropped them. The trace of a "
            "graph’s capture tells which operators run in its replays: upload both together.",
            "Capture iterations after the graph was recorded.",
        ),
    ),
    (
        STEP,
        subject_of(10, 10, 0, 107.2, roof_ratio=None),
        verdict(VerdictClass.DOUBT, ceiling="hbm", ratio=0.9, held=HBM),
        (
            "127 ms a step. Its numbers cannot all be right, so there is no goal.",
            "Do first: measure this machine's peaks, `roofline calibrate`.",
            "",
        ),
    ),
    (
        STEP,
        subject_of(3.9, 6.6, unit_word="a decode step"),
        verdict(VerdictClass.SERVING, ceiling="hbm", ratio=0.31, held=HBM),
        (
            "10.5 ms a decode step; 3.9 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 37 % of the roof, mostly HBM-bound.",
        ),
    ),
    (
        STEP,
        WAITING,
        verdict(
            VerdictClass.IDLE,
            then=Place(kind=VerdictClass.BOUND, ceiling="hbm", ratio=0.6),
            held=HBM,
        ),
        (
            "73.6 ms a prefill step, 62.0 of them waiting for the host; 7.1 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 63 % of the roof, mostly HBM-bound.",
        ),
    ),
    (
        STEP,
        subject_of(5, 3, links={"ici": 3}),
        verdict(
            VerdictClass.WAITS,
            COUNTED,
            ceiling="ici",
            ratio=0.27,
            waits={"ici": 0.27},
            then=LATE,
            held={"latency": 0.7},
        ),
        (
            "11.0 ms a step; 5.0 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 63 % of the roof. Latency: too few blocks; the busiest unit, L1/TEX, works 50 % "
            "of the time. The device waits 3.0 ms for links.",
        ),
    ),
    (
        STEP,
        subject_of(0.32, 0.89, **KERNELS),
        verdict(
            LATE.kind,
            COUNTED,
            ceiling=LATE.ceiling,
            ratio=LATE.ratio,
            useful_ratio=LATE.useful_ratio,
            why=LATE.why,
            held={"latency": 1.0},
        ),
        (
            "1.21 ms of kernel time; 0.32 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 26 % of the roof. Latency: too few blocks; the busiest unit, L1/TEX, works 50 % "
            "of the time.",
        ),
    ),
    (
        STEP,
        subject_of(16.68, 13.2, 2.02, host_wait=3, roof_ratio=0.558),
        verdict(VerdictClass.BOUND, ceiling="hbm", ratio=0.43, held=HBM),
        (
            "34.9 ms a step; 18.7 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 56 % of the roof (94 % known), mostly HBM-bound.",
        ),
    ),
    (
        STEP,
        subject_of(5.27, 4.16, **KERNELS),
        verdict(
            VerdictClass.MIXED,
            COUNTED,
            ceiling="alu",
            also=("dram",),
            held={"alu": 0.44, "dram": 0.28, "latency": 0.28},
        ),
        (
            "9.43 ms of kernel time; 5.27 would do.",
            "Do first: fuse A, −1.1 ms.",
            "At 56 % of the roof, partly ALU-, partly DRAM-bound.",
        ),
    ),
]


def lines_by_hand(analysis: RooflineAnalysis, subject: Subject, found: Verdict) -> Lines:
    first = First("Fuse A", 1_100) if subject.parts.known > subject.parts.unknown else None
    return lines_of(analysis, Answer(subject=subject, verdict=found, first=first, finding="G1:x"))


@pytest.mark.parametrize(
    ("analysis", "subject", "found", "said"),
    CLASSES,
    ids=[f"{found.kind}-{found.why or found.ceiling}" for _, _, found, _ in CLASSES],
)
def test_lines_of_each_class(
    analysis: RooflineAnalysis, subject: Subject, found: Verdict, said: tuple[str, str, str]
) -> None:
    assert texts(lines_by_hand(analysis, subject, found)) == said


def test_hand_made_verdicts_are_of_every_class() -> None:
    assert {found.kind for _, _, found, _ in CLASSES} == set(VerdictClass)


def documented() -> list[tuple[str, str]]:
    """Classes and sentences of the table "What is said"."""
    table = DOCUMENT.read_text("utf-8").partition("## What is said")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ", 1) for line in table.splitlines() if "`" in line]
    rows = [(classes, said) for classes, said in cells]
    return [(kind, said) for classes, said in rows for kind in re.findall(r"`(\w+)`", classes)]


def test_the_document_says_what_is_said() -> None:
    """Each sentence of the table is one of a hand-made verdict of its class."""
    rows = documented()
    assert {kind for kind, _ in rows} == set(VerdictClass)
    said: dict[str, list[str]] = {}
    for analysis, subject, found, _ in CLASSES:
        first, second, third = texts(lines_by_hand(analysis, subject, found))
        said.setdefault(found.kind, []).extend([first, f"{first} {second}", f"{first} {third}"])
    said[VerdictClass.WAITS] += said[VerdictClass.IDLE]  # one row for both
    assert [row for row in rows if row[1] not in said[row[0]]] == []


def test_the_bound_has_the_colour_of_its_roof() -> None:
    held = {"hbm": 0.6, "vector_fp32": 0.4}
    found = bound_clause(verdict(VerdictClass.BOUND, ceiling="hbm", ratio=0.5, held=held))
    assert found[-1] == Segment(kind="bound", text="HBM-bound", token="--roof-hbm")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"compute": 1.0}, "all compute-bound"),
        ({"compute": 0.93, "hbm": 0.07}, "nearly all compute-bound"),
        ({"l1": 0.6, "issue": 0.4}, "mostly L1-bound"),
        ({"issue": 0.5, "dram": 0.3}, "mostly bound by issue slots"),
        ({"latency": 0.45, "hbm": 0.35, "ici": 0.2}, "partly latency-, partly HBM-bound"),
        ({}, ""),
    ],
)
def test_how_much_of_the_known_time_a_bound_holds(held: Mapping[str, float], said: str) -> None:
    found = bound_clause(verdict(VerdictClass.MIXED, ceiling="x", held=held))
    assert plain_text(found) == said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"ceiling": "l1", "ratio": 0.979, "useful_ratio": 0.121},
         "L1/TEX is busy 98 % of the time, 12 % with useful work."),
        ({"ceiling": "issue", "ratio": 0.658}, "Issue slots are busy 66 % of the time."),
        ({"ceiling": "dram", "ratio": 0.907, "useful_ratio": 0.9},
         "DRAM is busy 91 % of the time."),
        ({"kind": VerdictClass.LATENCY, "ratio": 0.03, "why": "few_blocks",
          "why_words": "four blocks on 24 SMs"},
         "Latency: four blocks on 24 SMs; no unit is busy for more than 3.0 % of the time."),
        ({"kind": VerdictClass.LATENCY, "ceiling": "fp64", "ratio": 0.47,
          "why": "dependency:long_scoreboard"},
         "Latency: warps wait for data or for earlier instructions; the busiest unit, fp64 pipe, "
         "works 47 % of the time."),
    ],
)  # fmt: skip
def test_what_counters_say_of_the_unit(place: dict[str, Any], said: str) -> None:
    found = Verdict(known=COUNTED, **{"kind": VerdictClass.BOUND, **place})
    assert plain_text(busy_sentences(found)).translate(ORDINARY) == said
    assert busy_sentences(Verdict(known=BY_WORK, **{"kind": VerdictClass.BOUND, **place})) == []


def test_each_reason_of_latency_has_words() -> None:
    for why, words in REASONS.items():
        found = Verdict(kind=VerdictClass.LATENCY, ceiling="l1", ratio=0.5, why=why, known=COUNTED)
        assert plain_text(busy_sentences(found)).startswith(f"Latency: {words}; ")


# ------------------------------------------------------------------------ every kind of profile

HEAD = "op|category|self_us|flop|hbm_bytes\n"
NO_PEAKS: Mapping[str, Any] = {"gflops": None, "gibs": {}}
FAST_VMEM = reported(gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_WRITE: 1000.0})
CPU = reported(kind=DeviceKind.CPU, name="", cores=0, **NO_PEAKS)
ONLY_CPU = Diagnostic(
    severity=Severity.WARNING,
    code="no-device",
    message="This capture holds no TPU or GPU plane.",
    remedy="Capture elsewhere.",
)
NO_STEPS = Diagnostic(severity=Severity.WARNING, code="no-steps", message="No step markers.")


def said(table: str, **rest: Any) -> tuple[str, str, str]:
    analysis = analysed(table, **rest)
    return texts(lines_of(analysis, answer_of(analysis)))


CASES: Mapping[str, tuple[str, Mapping[str, Any], str, str]] = {
    "compute and latency": (
        f"{HEAD}dot|convolution|1000|6e8|1e6\nadd|loop fusion|1000|1e8|1e6",
        {},
        "2.00 ms of operation time; 0.70 would do.",
        "At 35 % of the roof, partly latency-, partly compute-bound.",
    ),
    "memory-bound": (
        f"{HEAD}add|loop fusion|1000|1e6|5e7",
        {},
        "1.00 ms of operation time; 0.47 would do.",
        "At 47 % of the roof, all HBM-bound.",
    ),
    "bound by on-chip memory": (
        "op|category|self_us|flop|hbm_bytes|vmem_write_bytes\nx|copy fusion|1000|1e6|1e6|8e8",
        {"device": FAST_VMEM},
        "1.00 ms of operation time; 0.75 would do.",
        "At 75 % of the roof, all bound by VMEM write.",
    ),
    "partly idle": (
        f"{HEAD}dot|convolution|700|7e8|1e6",
        {"idle_us": 300},
        "1.00 ms; 0.70 might do.",
        "At 100 % of the roof, all compute-bound. "
        "Nothing ran for 0.30 ms, and the file does not say why.",
    ),
    "mostly without arithmetic": (
        f"{HEAD}dot|convolution|600|6e8|1e6\ncopy|copy|400|0|1e6",
        {},
        "1.00 ms of operation time; 0.61 would do.",
        "At 61 % of the roof, mostly compute-bound.",
    ),
    "idle": (
        f"{HEAD}dot|convolution|40|4e7|1e3",
        {"idle_us": 960},
        "1.00 ms; nothing ran for 0.96 of them, and the file does not say why.",
        "At 100 % of the roof, all compute-bound.",
    ),
    "idle and uncounted": (
        f"{HEAD}k|custom-call|40|{ABSENT}|{ABSENT}",
        {"idle_us": 960},
        "1.00 ms; nothing ran for 0.96 of them, and the file does not say why.",
        "The cost of 0.04 ms is not known.",
    ),
    "uncounted": (
        f"{HEAD}k|custom-call|40|{ABSENT}|{ABSENT}",
        {},
        "40.0 µs of operation time; the cost is not known.",
        "",
    ),
    "no FLOPs": (
        f"{HEAD}k|copy|1000|0|9e7",
        {},
        "1.00 ms of operation time; 0.84 would do.",
        "At 84 % of the roof, all HBM-bound.",
    ),
    "no peaks": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(**NO_PEAKS)},
        "1.00 ms of operation time. Choose the device to see what it could take.",
        "",
    ),
    "compute peak unknown": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(gflops=None)},
        "1.00 ms of operation time. Choose the device to see what it could take.",
        "",
    ),
    "memory peak unknown": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(gibs={})},
        "1.00 ms of operation time. Choose the device to see what it could take.",
        "",
    ),
    "most of the work unknown": (
        f"{HEAD}dot|convolution|400|2e8|1e6\nk|custom-call|600|{ABSENT}|{ABSENT}",
        {},
        "1.00 ms of operation time; the cost of 0.60 of them is not known.",
        "",
    ),
    "a part of the work unknown": (
        f"{HEAD}dot|convolution|800|4e8|1e6\nk|custom-call|200|{ABSENT}|{ABSENT}",
        {},
        "1.00 ms of operation time; 0.60 might do.",
        "At 50 % of the roof (80 % known), all compute-bound.",
    ),
    "CPU only": (
        "",
        {"device": CPU, "diagnostics": [NO_STEPS, ONLY_CPU]},
        "No operation was recorded.",
        "",
    ),
    "bytes above the peak": (
        "op|category|self_us|flop|bytes\nx|fusion|1000|1|2e8",
        {},
        "1.00 ms of operation time. Its numbers cannot all be right, so there is no goal.",
        "",
    ),
    "two ops above the compute peak": (
        f"{HEAD}k|custom-call|100|2e8|1\nl|custom-call|100|3e8|1\nd|convolution|800|1e8|1",
        {},
        "1.00 ms of operation time; 0.30 would do, including all time of 2 operations with "
        "impossible numbers.",
        "At 13 % of the roof (80 % known).",
    ),
    "a short op above the compute peak": (
        f"{HEAD}k|custom-call|40|4e8|1\nd|convolution|960|4.8e8|1",
        {},
        "1.00 ms of operation time; 0.52 would do.",
        "At 50 % of the roof (96 % known), all compute-bound.",
    ),
    "at what the roof sustains": (
        f"{HEAD}d|convolution|1000|9.2e8|1",
        {},
        "1.00 ms of operation time, and 0.92 is the least it can take.",
        "At 92 % of the roof, all compute-bound.",
    ),
    "tiny": (
        f"{HEAD}d|convolution|0.001|1|1e-6",
        {"device": reported(gflops=2e6), "idle_us": 0.0004},
        "1.40 ns; less than 0.01 might do.",
        "At <1 % of the roof. Nothing ran for 0.40 ns, and the file does not say why.",
    ),
    "several cores": (
        f"{HEAD}d|convolution|4000|4e8|1",
        {"device": reported(kind=DeviceKind.GPU, cores=4)},
        "1.00 ms of kernel time; 0.10 would do.",
        "At 10 % of the roof.",
    ),
    "some communication": (
        f"{HEAD}r|all-reduce|250|0|1e6\nd|convolution|750|4.5e8|1e6",
        {},
        "1.00 ms of operation time; 0.45 would do.",
        "At 60 % of the roof, all compute-bound. The device waits 0.25 ms for links.",
    ),
    "mostly input": (
        f"{HEAD}feed|infeed|600|0|1\nd|convolution|400|2e8|1",
        {},
        "1.00 ms of operation time, 0.60 of them waiting for input; 0.20 would do.",
        "At 50 % of the roof, all compute-bound.",
    ),
    "asynchronous copies of a table": (
        f"{HEAD}c|copy-done|840|0|3e6\nd|loop fusion|160|1e6|1.5e7",
        {},
        "1.00 ms of operation time; the cost of 0.84 of them is not known.",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_first_and_third_line_of_each_kind_of_profile(case: str) -> None:
    table, rest, headline, standing = CASES[case]
    first, _, third = said(table, **rest)
    assert (first, third) == (headline, standing)


def test_a_profile_without_operations_says_why() -> None:
    table, rest, *_ = CASES["CPU only"]
    assert said(table, **rest)[1] == "This capture holds no TPU or GPU plane. Capture elsewhere."
    assert said("", time_us=50, diagnostics=[NO_STEPS])[1] == (
        "The capture holds no ops of a device."
    )


def test_impossible_work_is_not_said_to_be_latency() -> None:
    """Most ops are far below their roofs, and one far above: the picture is in doubt, no more."""
    three = said(f"{HEAD}slow|loop fusion|900|1|1e6\nfast|convolution|100|5e9|1")
    assert "including all time of 1 operation with impossible numbers" in three[0]
    assert "latency" not in " ".join(three).lower()


# -------------------------------------------------------------------------------------- properties

CATEGORY = st.sampled_from(["fusion", "infeed", "while", "custom-call", "copy", "all-reduce"])
COUNT = st.one_of(st.just(ABSENT), st.integers(0, 10**13).map(str))
OPS = st.lists(st.tuples(CATEGORY, st.integers(0, 10**6), COUNT, COUNT), max_size=5)
PEAK = st.one_of(st.none(), st.floats(1e-3, 1e8))
SENTENCE = re.compile(r"(?:[A-Z0-9<≥][^.]*(?:\.\d+[^.]*)*\. ?)*\Z")


@given(ops=OPS, gflops=PEAK, gibs=PEAK, idle=st.integers(0, 10**6))
def test_every_profile_gets_whole_sentences(
    ops: Sequence[tuple[str, int, str, str]], gflops: float | None, gibs: float | None, idle: int
) -> None:
    lines = [
        f"op{k}|{category}|{us}|{flop}|{hbm}" for k, (category, us, flop, hbm) in enumerate(ops)
    ]
    device = reported(gflops=gflops, gibs={MemoryLevel.HBM: gibs} if gibs else {})
    three = said(HEAD + "\n".join(lines), device=device, idle_us=idle)
    assert three[0].endswith(".")
    for line in three:
        assert SENTENCE.match(line), line
        assert not re.search(r"nan|inf\b|None|  ", line)
