"""The same program on other parts: least times, what binds, an estimate, and what to know of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.analyse import hold, prepare
from roofline.analysis.records import AnalysisOptions
from roofline.analysis.subjects.choose import choose
from roofline.devices.choice import PeakChoice, known_part
from roofline.devices.parts import Part
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.presentation.other_devices import on_parts, usual_parts
from roofline.presentation.quantities import NARROW
from roofline.presentation.sentences import plain_text
from roofline.presentation.text_table import spaced
from roofline.presentation.verdict import lines_of
from roofline.presentation.what_if import OwnPeaks, what_if_lines
from tests.builders import profile_from_table, reported
from tests.conftest import SAMPLES
from tests.profiles import imported

OPS = """
op     | category    | self_us | flop | hbm_bytes
matmul | fusion      | 500     | 9e8  | 1e6
copy   | copy        | 300     | 0    | 8e6
pallas | custom-call | 200     | –    | –
"""


def lines(profile: Profile, *ids: str, usual: Sequence[Part] = ()) -> dict[str, Any]:
    prepared = prepare(profile, AnalysisOptions())
    own = hold(prepared, resolve(profile.device))
    return on_parts(prepared, own, choose(own), [known_part(name) for name in ids], usual)


def test_known_work_is_scaled_and_all_else_stays() -> None:
    device = reported(gflops=9000.0)
    found = lines(profile_from_table(OPS, idle_us=100, device=device), "t4")
    (line,), here = found["devices"], found["here"]
    assert (here["time_us"], here["change_us"]) == (1100, 0)
    part = known_part("t4")
    gbs = next(peak.gbs for peak in part.memory() if peak.level.is_main)
    gflops = part.compute()[0].gflops
    matmul, copy, *rest = line["us"]
    assert matmul == pytest.approx(max(9e8 / gflops, 1e6 / gbs) / 1e3, rel=1e-4)
    assert copy == pytest.approx(8e6 / gbs / 1e3, rel=1e-4)
    assert rest == [None, None], "without counted work, and idle"
    here_us = 9e8 / 9000 / 1e3, 8e6 / (100 * 1.073741824) / 1e3
    scaled = 500 * matmul / here_us[0] + 300 * copy / here_us[1]
    assert line["time_us"] == pytest.approx(scaled + 100 + 200, rel=1e-4)
    assert line["covered_ratio"] == pytest.approx(900 / 1100, rel=1e-5), "the wait is covered"


def test_a_part_may_be_more_than_ten_times_slower() -> None:
    """900 TFLOP/s on H100 are 13.8 times the 65 of a T4 (fp16 for bf16): 500 us there are at least
    4.5e11 / 65e12 = 6,923 us. The copy does no FLOPs: 1.5 TB/s here are 320 GB/s there."""
    table = """
    op     | category | self_us | flop   | hbm_bytes
    matmul | fusion   | 500     | 4.5e11 | 1e6
    copy   | copy     | 300     | 0      | 4.5e8
    """
    device = reported(kind=DeviceKind.GPU, name="NVIDIA H100 80GB HBM3", gflops=None, gibs={})
    found = lines(profile_from_table(table, device=device), "t4")
    (line,) = found["devices"]
    assert line["us"][0] == pytest.approx(4.5e11 / 65e12 * 1e6, rel=1e-4)
    assert line["covered_ratio"] == 1
    assert found["ops"] == ["matmul", "copy"]
    best = [spaced(text) for text in (*line["best"], *found["here"]["best"])]
    there = ["65.0 TFLOP/s, 100 %, compute", "320 GB/s, HBM"]
    assert best[:3] == [*there, "989 TFLOP/s, 100 %, compute"]


def test_no_total_is_predicted_from_less_than_half_of_the_time() -> None:
    table = """
    op     | category    | self_us | flop | hbm_bytes
    matmul | fusion      | 130     | 9e8  | 1e6
    pallas | custom-call | 870     | –    | –
    """
    profile = profile_from_table(table, device=reported(gflops=9000.0))
    (line,) = lines(profile, "t4")["devices"]
    assert (line["time_us"], line["change_us"]) == (None, None)
    assert line["texts"][:3] == ["cannot be told: 87\u202f% of the time is unknown", "", ""]


def test_kernels_without_times_have_no_prediction(tmp_path: Path) -> None:
    path = tmp_path / "kernels.csv"
    path.write_text("name,flops,bytes\ngemm,2e9,1e6\n")
    found = lines(imported(path), "t4")
    for one in (found["here"], *found["devices"]):
        assert (one["time_us"], one["change_us"]) == (None, None)
        assert one["texts"] == ["cannot be told: the profile has no times", "", "", ""]
    assert not found["here"]["notes"]


def test_a_table_begins_with_the_maker_and_the_newest_of_each_other() -> None:
    h100 = known_part("h100-sxm")
    found = [(part.vendor, part.name) for part in usual_parts(h100)]
    makers = [maker for maker, _ in found]
    assert makers.index("NVIDIA") == 0 and "H200 SXM 141GB" in [name for _, name in found]
    others = makers[makers.count("NVIDIA") :]
    assert "NVIDIA" not in others and len(others) == len(set(others)) > 3
    assert len(usual_parts(None)) == len({part.vendor for part in usual_parts(None)})


def test_a_unit_that_a_part_lacks_has_a_stand_in_and_a_note() -> None:
    kernels = SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep"
    profile = imported(kernels)
    (line,) = lines(profile, "tpu-v5e")["devices"]
    assert any("as long as here" in note for note in line["notes"])
    assert lines(profile, "h100-sxm")["here"]["notes"] == lines(profile, "t4")["here"]["notes"]


def test_a_part_with_less_memory_says_so() -> None:
    kernels = SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep"
    (line,) = lines(imported(kernels), "t4")["devices"]
    assert any(note.startswith("Less memory: ") for note in line["notes"])


def test_the_first_lines_say_under_which_peaks_and_what_changed() -> None:
    profile = profile_from_table(OPS, idle_us=100, device=reported(gibs={MemoryLevel.HBM: 100.0}))
    prepared = prepare(profile, AnalysisOptions())
    own = hold(prepared, resolve(profile.device))

    def said(choice: PeakChoice) -> tuple[str, str]:
        analysis = hold(prepared, resolve(profile.device, choice=choice))
        found = what_if_lines(
            analysis,
            answer_of(analysis),
            OwnPeaks(analysis=own, answer=answer_of(own), choice=choice),
        )
        return plain_text(found.headline), plain_text(found.lead)

    headline, lead = said(PeakChoice(gbs={MemoryLevel.HBM: 1.0}))
    assert headline.startswith("With HBM at 1.00\u00a0GB/s, it is at ")
    assert "; by its own peaks at " in headline
    assert "own peaks: " in lead and "Measured times and rates stay" in lead
    assert said(PeakChoice(part_id="t4"))[0].startswith("With the peaks of T4, it is at ")
    many = PeakChoice(gflops={None: 1e3}, gbs=dict.fromkeys(list(MemoryLevel)[:4], 50.0))
    assert said(many)[0].startswith("With 5 peaks set by you")


def test_the_share_under_other_peaks_stands_beside_that_of_the_first_lines() -> None:
    """It was that of the sums of the program: "79 % instead of 56", below "at 66 % of the roof"."""
    profile = imported(SAMPLES / "pytorch" / "h100-training.json")
    prepared = prepare(profile, AnalysisOptions())
    own, choice = hold(prepared, resolve(profile.device)), PeakChoice(part_id="b200")
    analysis = hold(prepared, resolve(profile.device, choice=choice))
    answers = answer_of(analysis), answer_of(own)
    found = what_if_lines(
        analysis, answers[0], OwnPeaks(analysis=own, answer=answers[1], choice=choice)
    )
    said = plain_text(lines_of(own, answers[1]).standing)
    assert said.replace(NARROW, " ").startswith("At 66 % of the roof")
    assert plain_text(found.headline).replace(NARROW, " ").endswith("; by its own peaks at 66 %")
    gain_us = answers[1].subject.gain_us
    assert gain_us is not None
    assert f"own peaks: {gain_us / 1000:.1f}" in plain_text(found.standing)
