"""The sentence at the top, read as a user reads it, for every kind of profile."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofline
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity
from roofline.presentation.category_shares import CategoryShare, category_shares
from roofline.presentation.lead import UNKNOWN_WORK
from roofline.presentation.quantities import NARROW, SPACE
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import Verdict, build_verdict
from tests.builders import ABSENT, analysed, reported

HEAD = "op|category|self_us|flop|hbm_bytes\n"
NO_PEAKS: Mapping[str, Any] = {"gflops": None, "gibs": {}}
ORDINARY = str.maketrans({NARROW: " ", SPACE: " "})
CUSTOM_CALL = "For a Pallas or custom call, pass cost_estimate= so that its work is counted."
FAST_VMEM = reported(gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_WRITE: 1000.0})
CPU = reported(kind=DeviceKind.CPU, name="", cores=0, **NO_PEAKS)
ONLY_CPU = Diagnostic(
    severity=Severity.WARNING,
    code="no-device",
    message="This capture holds no TPU or GPU plane.",
    remedy="Capture elsewhere.",
)
IN_GRAPHS = Diagnostic(
    severity=Severity.WARNING,
    code="kernels-in-graphs",
    message="1 of 2 kernels ran in graphs.",
    remedy="Capture without graphs.",
    count=1,
)
NO_STEPS = Diagnostic(severity=Severity.WARNING, code="no-steps", message="No step markers.")


def said(table: str, *, infeed: bool = True, **rest: Any) -> tuple[str, str]:
    """Headline and lead as plain text, with ordinary spaces."""
    verdict = verdict_of(table, infeed=infeed, **rest)
    headline, lead = map(plain_text, (verdict.headline, verdict.lead))
    return headline.translate(ORDINARY), lead.translate(ORDINARY)


def verdict_of(table: str, *, infeed: bool = True, **rest: Any) -> Verdict:
    analysis = analysed(table, **rest)
    view = analysis.view(include_infeed_outfeed=infeed)
    return build_verdict(analysis, view, category_shares(analysis, view))


CASES: Mapping[str, tuple[str, Mapping[str, Any], str, str]] = {
    "compute-bound": (
        f"{HEAD}dot|convolution|1000|6e8|1e6\nadd|loop fusion|1000|1e8|1e6",
        {},
        "Compute-bound at 35 % of the roof",
        "350 GFLOP/s of 1.00 TFLOP/s per TensorCore. More FLOPs per byte cannot help. Largest "
        "saving: loop fusion, 50 % of the time at 10 % of its roof; at the roof it would save "
        "900 µs of "
        "2.00 ms per TensorCore.",
    ),
    "memory-bound": (
        f"{HEAD}add|loop fusion|1000|1e6|5e7",
        {},
        "HBM-bound at 47 % of the roof",
        "50.0 GB/s of 107 GB/s HBM bandwidth per TensorCore. More FLOPs per byte help until "
        "9.31 FLOP/B; this program has 0.0200 FLOP/B. Largest saving: loop fusion, 100 % of "
        "the time at 47 % of its roof; at the roof it would save 534 µs of 1.00 ms per TensorCore.",
    ),
    "bound by on-chip memory": (
        "op|category|self_us|flop|hbm_bytes|vmem_write_bytes\nx|copy fusion|1000|1e6|1e6|8e8",
        {"device": FAST_VMEM},
        "Bound by VMEM write at 75 % of the roof",
        "800 GB/s of 1,074 GB/s VMEM write bandwidth per TensorCore. More FLOPs per byte help "
        "until 0.931 FLOP/B; this program has 0.00125 FLOP/B. Largest saving: copy fusion, "
        "100 % of the time at 75 % of its roof; at the roof it would save 255 µs of 1.00 ms "
        "per TensorCore.",
    ),
    "partly idle": (
        f"{HEAD}dot|convolution|700|7e8|1e6",
        {"idle_us": 300},
        "Compute-bound at 70 % of the roof, and idle 30 % of the time",
        "700 GFLOP/s of 1.00 TFLOP/s per TensorCore. More FLOPs per byte cannot help.",
    ),
    "mostly without arithmetic": (
        f"{HEAD}dot|convolution|600|6e8|1e6\ncopy|copy|400|0|1e6",
        {},
        "Compute-bound at 60 % of the roof, but 40 % of the time does no arithmetic",
        "600 GFLOP/s of 1.00 TFLOP/s per TensorCore. More FLOPs per byte cannot help. Largest "
        "saving: copy, 40 % of the time at 2.3 % of "
        "its roof; at the roof it would save 391 µs of 1.00 ms per TensorCore.",
    ),
    "idle": (
        f"{HEAD}dot|convolution|40|4e7|1e3",
        {"idle_us": 960},
        "Idle 96 % of the time; while it runs, compute-bound at 100 % of the roof",
        "40.0 GFLOP/s of 1.00 TFLOP/s per TensorCore.",
    ),
    "idle and uncounted": (
        f"{HEAD}k|custom-call|40|{ABSENT}|{ABSENT}",
        {"idle_us": 960},
        "Idle 96 % of the time",
        f"FLOPs and bytes were not measured. {CUSTOM_CALL}",
    ),
    "uncounted": (
        f"{HEAD}k|custom-call|40|{ABSENT}|{ABSENT}",
        {},
        "FLOPs and bytes were not measured, so the bound of this program is unknown",
        CUSTOM_CALL,
    ),
    "no work at all": (
        f"{HEAD}k|fusion|40|0|0",
        {},
        "This program does no arithmetic and moves no bytes, so nothing binds it",
        "0 FLOP/s of 1.00 TFLOP/s per TensorCore.",
    ),
    "no FLOPs": (
        f"{HEAD}k|copy|1000|0|9e7",
        {},
        "HBM-bound at 84 % of the roof, but 100 % of the time does no arithmetic",
        "90.0 GB/s of 107 GB/s HBM bandwidth per TensorCore. Largest saving: copy, 100 % of the "
        "time "
        "at 84 % of its roof; at the roof it would save 162 µs of 1.00 ms per TensorCore.",
    ),
    "one category for all ops": (
        f"{HEAD}sgemm_with_a_name_that_no_sentence_could_hold|kernel|600|6e7|1e6\nx|kernel|400|1e8|1e6",
        {},
        "Latency-bound: while they run, operations reach 16 % of their roofs",
        "160 GFLOP/s of 1.00 TFLOP/s per TensorCore. Such operations wait for each other, for data "
        "or for a launch, or do work that was not counted. Largest saving: "
        "sgemm_with_a_name_that_no_sentence_coul…, 60 % of the time at 10 % of its roof; at the "
        "roof it would save 540 µs of 1.00 ms per TensorCore.",
    ),
    "no peaks": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(**NO_PEAKS)},
        "No peak is known for this device, so there is no roof to compare with",
        "Choose the device or enter its peaks: roofs and bounds follow.",
    ),
    "compute peak unknown": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(gflops=None)},
        "No compute peak is known, so the bound of this program is unknown",
        "Enter that peak, or choose the device. "
        "1.00 GB/s of 107 GB/s HBM bandwidth per TensorCore.",
    ),
    "idle, compute peak unknown": (
        f"{HEAD}dot|convolution|100|6e8|0",
        {"device": reported(gflops=None), "idle_us": 900},
        "Idle 90 % of the time",
        "No compute peak is known, so the bound of this program is unknown. "
        "Enter that peak, or choose the device.",
    ),
    "memory peak unknown": (
        f"{HEAD}dot|convolution|1000|6e8|1e6",
        {"device": reported(gibs={})},
        "No peak bandwidth of HBM is known, so the bound of this program is unknown",
        "Enter that peak, or choose the device. 600 GFLOP/s of 1.00 TFLOP/s per TensorCore.",
    ),
    "most of the work unknown": (
        f"{HEAD}dot|convolution|400|2e8|1e6\nk|custom-call|600|{ABSENT}|{ABSENT}",
        {},
        "The bound of this program is unknown: FLOPs and bytes are known for 40 % of its busy time",
        CUSTOM_CALL,
    ),
    "work unknown in graphs": (
        f"{HEAD}dot|convolution|400|2e8|1e6\nk|custom-call|600|{ABSENT}|{ABSENT}",
        {"diagnostics": [IN_GRAPHS]},
        "The bound of this program is unknown: FLOPs and bytes are known for 40 % of its busy time",
        f"Capture without graphs. {CUSTOM_CALL}",
    ),
    "a part of the work unknown": (
        f"{HEAD}dot|convolution|800|4e8|1e6\nk|custom-call|200|{ABSENT}|{ABSENT}",
        {},
        "Compute-bound at 40 % of the roof or more",
        "At least 400 GFLOP/s of 1.00 TFLOP/s per TensorCore. More FLOPs per byte cannot help. "
        "FLOPs and bytes are known for 80 % of the busy time. Largest known saving: "
        "convolution, 80 % of the time at 50 % of its roof; "
        "at the roof it would save 400 µs of 1.00 ms per TensorCore.",
    ),
    "CPU only": (
        "",
        {"device": CPU, "diagnostics": [NO_STEPS, ONLY_CPU]},
        "Nothing to place on a roofline",
        "This capture holds no TPU or GPU plane. Capture elsewhere.",
    ),
    "no ops": (
        "",
        {"time_us": 50, "diagnostics": [NO_STEPS]},
        "Nothing to place on a roofline",
        "The capture holds no ops of a device.",
    ),
    "bytes above the peak, no breakdown": (
        "op|category|self_us|flop|bytes\nx|fusion|1000|1|2e8",
        {},
        "In doubt: operations above their roof take 100 % of the time; held to their roofs, the "
        "program is HBM-bound at 100 % of the roof",
        "200 GB/s counted for HBM, more than the peak of 107 GB/s per TensorCore. "
        "Caution: this share of the roof is too high. This capture does not tell bytes of HBM "
        "from bytes that stayed on the chip, so all count as HBM's.",
    ),
    "bytes above the peak, by memory": (
        f"{HEAD}x|fusion|1000|1|2e8",
        {},
        "In doubt: operations above their roof take 100 % of the time; held to their roofs, the "
        "program is HBM-bound at 100 % of the roof",
        "200 GB/s counted for HBM, more than the peak of 107 GB/s per TensorCore. "
        "Caution: this share of the roof is too high. The compiler's byte counts are estimates "
        "and include bytes that never reach that memory.",
    ),
    "one op above the compute peak": (
        f"{HEAD}k|custom-call|500|1e9|1\nd|convolution|500|1e8|1",
        {},
        "In doubt: operations above their roof take 50 % of the time; held to their roofs, the "
        "program is compute-bound at 60 % of the roof",
        "1.10 TFLOP/s counted, more than the peak of 1.00 TFLOP/s per TensorCore. Caution: "
        "1 op runs above the compute peak (up to 200 %). "
        "Largest saving: convolution, 50 % of the time at 20 % of its roof; at the roof it would "
        "save 400 µs of 1.00 ms per TensorCore.",
    ),
    "two ops above the compute peak": (
        f"{HEAD}k|custom-call|100|2e8|1\nl|custom-call|100|3e8|1\nd|convolution|800|1e8|1",
        {},
        "In doubt: operations above their roof take 20 % of the time; held to their roofs, the "
        "program is compute-bound at 30 % of the roof",
        "600 GFLOP/s of 1.00 TFLOP/s per TensorCore. Caution: 2 ops run above the compute peak "
        "(up to 300 %). Largest saving: convolution, 80 % "
        "of the time at 13 % of its roof; at the roof it would save 700 µs of 1.00 ms "
        "per TensorCore.",
    ),
    "a short op above the compute peak": (
        f"{HEAD}k|custom-call|40|4e8|1\nd|convolution|960|4.8e8|1",
        {},
        "Compute-bound at 88 % of the roof",
        "880 GFLOP/s of 1.00 TFLOP/s per TensorCore. More FLOPs per byte cannot help. Caution: "
        "1 op runs above the compute peak (up to 10×); held to it, the program is at 52 %. "
        "Largest saving: convolution, 96 % of the time at 50 % of its roof; at the roof it would "
        "save 480 µs of 1.00 ms per TensorCore.",
    ),
    "at what the roof sustains": (
        f"{HEAD}d|convolution|1000|9.2e8|1",
        {},
        "Compute-bound at 92 % of the roof",
        "920 GFLOP/s of 1.00 TFLOP/s per TensorCore. That is what this roof sustains, so stop "
        "here: only less work or other hardware helps. Largest saving: convolution, 100 % of the "
        "time at 92 % of its roof; at the roof it would save 80.0 µs of 1.00 ms per TensorCore.",
    ),
    "tiny": (
        f"{HEAD}d|convolution|0.001|1|1e-6",
        {"device": reported(gflops=2e6), "idle_us": 0.0004},
        "Latency-bound: while they run, operations reach <0.1 % of their roofs, and idle 29 % of "
        "the time",
        "714 MFLOP/s of 2.00 PFLOP/s per TensorCore. Such operations wait for each other, for data "
        "or for a launch, or do work that was not counted. Largest saving: convolution, 71 % of "
        "the time at <0.1 % of its roof; at the roof it would save 1.00 ns of 1.40 ns per "
        "TensorCore.",
    ),
    "several cores": (
        f"{HEAD}d|convolution|4000|4e8|1",
        {"device": reported(kind=DeviceKind.GPU, cores=4)},
        "Latency-bound: while they run, operations reach 10 % of their roofs",
        "100 GFLOP/s of 1.00 TFLOP/s per GPU. Such operations wait for each other, for data or for "
        "a launch, or do work that was not counted. Largest saving: convolution, 100 % of the time "
        "at 10 % of "
        "its roof; at the roof it would save 900 µs of 1.00 ms per GPU.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_verdict_reads_well(case: str) -> None:
    table, rest, headline, lead = CASES[case]
    assert said(table, **rest) == (headline, lead)


FED = f"{HEAD}feed|infeed|50|0|1"


def test_program_of_infeed_alone_is_nothing_without_it() -> None:
    assert said(FED, infeed=False) == (
        "Nothing to place on a roofline",
        "All ops are infeed or outfeed; without them nothing is left.",
    )


def test_program_that_takes_no_time_without_infeed_says_so() -> None:
    headline, lead = said(f"{FED}\nd|convolution|10|5|5", infeed=False, time_us=20)
    assert headline == "No time is left without infeed and outfeed, so there is no rate to compare"
    assert lead == ""


def test_asynchronous_copies_alone_above_their_roof_are_no_caution() -> None:
    _, lead = said(f"{HEAD}copy-start|copy-start|1|0|1e6\nd|convolution|999|9e8|1")
    assert "Caution" not in lead


def test_container_above_the_peak_corrects_nothing() -> None:
    _, lead = said(f"{HEAD}loop|while|100|9e9|1\nd|convolution|900|8e8|1")
    assert "Caution" not in lead


def test_words_carry_styles_and_links() -> None:
    verdict = verdict_of(CASES["one op above the compute peak"][0])
    doubt, word = verdict.headline[0], verdict.headline[1]
    assert doubt["kind"] == "plain"
    assert word == {"kind": "bound", "text": "operations above their roof", "token": "--warn"}
    assert {"kind": "bound", "text": "compute-bound", "token": "--roof-compute"} in [
        {**one, "text": one.get("text", "").lower()} for one in verdict.headline
    ]
    assert {"strong", "caution", "link", "plain"} == {one["kind"] for one in verdict.lead}
    links = [one["filter"] for one in verdict.lead if one["kind"] == "link"]
    above = {"bound": ["Compute"], "sort": "-compute_efficiency_ratio"}
    assert links == [above, above, above, {"cat": ["convolution"]}]


def test_impossible_work_is_not_said_to_wait() -> None:
    """Most ops are far below their roofs, and one far above: the picture is in doubt, no more."""
    _, lead = said(f"{HEAD}slow|loop fusion|900|1|1e6\nfast|convolution|100|5e9|1")
    assert "more than the peak" in lead
    assert "wait for each other" not in lead


def test_numbers_travel_raw_with_their_unit() -> None:
    verdict = verdict_of(CASES["memory-bound"][0])
    numbers = [(one["value"], one["unit"]) for one in verdict.lead if "value" in one]
    assert [value for value, _ in numbers[:2]] == pytest.approx([46.566128730773926, 100])
    assert [unit for _, unit in numbers[:2]] == ["gibs", "gibs"]
    assert {unit for _, unit in numbers} == {"gibs", "flop_per_byte", "ratio", "time_us"}


def test_memory_bound_has_the_colour_of_its_roof() -> None:
    verdict = verdict_of(CASES["memory-bound"][0])
    assert verdict.headline[0]["token"] == "--roof-hbm"


def test_remedies_are_those_of_what_is_missing_most() -> None:
    few = replace(IN_GRAPHS, code="no-shapes", count=2, remedy="Record shapes.")
    most = replace(few, code="flop-not-counted", count=30, remedy="Record arguments.")
    longer = replace(most, code="only-times", count=40, remedy="Record arguments. Or counters.")
    table = f"op|category|self_us|flop|hbm_bytes|times\nk|x|600|{ABSENT}|{ABSENT}|50"

    def lead(*diagnostics: Diagnostic) -> str:
        return said(table, diagnostics=diagnostics)[1]

    assert lead(few, most) == "Record arguments."
    assert lead(few, most, longer) == "Record arguments. Or counters."


def test_every_note_on_unknown_work_is_one_that_is_given() -> None:
    app = Path(roofline.__file__).parent
    folders = (app / "analysis", app / "importers")
    source = "".join(path.read_text() for one in folders for path in one.rglob("*.py"))
    assert [code for code in sorted(UNKNOWN_WORK) if f'"{code}"' not in source] == []


# ------------------------------------------------------------------------------- category shares


def shares(table: str, **rest: Any) -> dict[str, CategoryShare]:
    analysis = analysed(table, **rest)
    return {share.name: share for share in category_shares(analysis, analysis.with_infeed)}


def test_categories_are_ordered_by_self_time_and_idle_is_one() -> None:
    found = shares(f"{HEAD}a|b-cat|5|1|1\nb|a-cat|5|1|1\nc|long|9|1|1", idle_us=7)
    assert list(found) == ["long", "IDLE", "a-cat", "b-cat"]


def test_efficiency_is_weighted_by_time_and_an_op_counts_at_most_once() -> None:
    found = shares(f"{HEAD}a|x|750|3.75e8|0\nb|x|250|9e9|0")["x"]
    assert found.efficiency_ratio == pytest.approx(0.75 * 0.5 + 0.25 * 1)
    assert (found.ops, found.self_time_us, found.share_ratio) == (2, 1000, 1)


def test_efficiency_of_uncounted_ops_is_unknown() -> None:
    assert shares(f"{HEAD}a|x|5|{ABSENT}|{ABSENT}")["x"].efficiency_ratio is None


# -------------------------------------------------------------------------------------- properties

CATEGORY = st.sampled_from(["fusion", "infeed", "while", "custom-call", "copy"])
COUNT = st.one_of(st.just(ABSENT), st.integers(0, 10**13).map(str))
OPS = st.lists(st.tuples(CATEGORY, st.integers(0, 10**6), COUNT, COUNT), max_size=5)
PEAK = st.one_of(st.none(), st.floats(1e-3, 1e8))
SENTENCE = re.compile(r"(?:[A-Z0-9<≥][^.]*(?:\.\d+[^.]*)*\. ?)*\Z")


@given(ops=OPS, gflops=PEAK, gibs=PEAK, idle=st.integers(0, 10**6), infeed=st.booleans())
def test_every_profile_gets_whole_sentences(
    ops: Sequence[tuple[str, int, str, str]],
    gflops: float | None,
    gibs: float | None,
    idle: int,
    infeed: bool,
) -> None:
    lines = [
        f"op{k}|{category}|{us}|{flop}|{hbm}" for k, (category, us, flop, hbm) in enumerate(ops)
    ]
    device = reported(gflops=gflops, gibs={MemoryLevel.HBM: gibs} if gibs else {})
    headline, lead = said(HEAD + "\n".join(lines), device=device, idle_us=idle, infeed=infeed)
    assert headline[0].isupper()
    assert not headline.endswith((" ", "."))
    assert SENTENCE.match(lead), lead
    assert not re.search(r"nan|inf\b|None|  ", headline + lead)


def test_a_table_says_that_copies_were_awaited_and_names_no_saving_for_them() -> None:
    headline, lead = said(f"{HEAD}c|copy-done|840|0|3e6\nd|loop fusion|160|1e6|1.5e7")
    assert headline == "Waiting for asynchronous copies for 84 % of the time"
    assert lead.startswith("This table does not say from which memory they come.")
    assert "Largest saving: loop fusion" in lead


def test_a_table_with_some_communication_says_what_binds_the_rest() -> None:
    headline, _ = said(f"{HEAD}r|all-reduce|250|0|1e6\nd|convolution|750|4.5e8|1e6")
    assert headline == (
        "Waiting for communication for 25 % of the time; "
        "otherwise compute-bound at 60 % of the roof"
    )
