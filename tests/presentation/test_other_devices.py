"""The same program on other parts: least times, what binds, an estimate, and what to know of it."""

from typing import Any

import pytest

from roofline.analysis.analyse import hold, prepare
from roofline.analysis.records import AnalysisOptions
from roofline.devices import PeakChoice, catalogue, resolve
from roofline.devices.choice import known_part
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.presentation.other_devices import other_devices, with_stand_ins
from roofline.presentation.sentences import plain_text
from roofline.presentation.what_if import OwnPeaks, what_if_lines
from tests.builders import profile_from_table, reported
from tests.conftest import SAMPLES

OPS = """
op     | category    | self_us | flop | hbm_bytes
matmul | fusion      | 500     | 9e8  | 1e6
copy   | copy        | 300     | 0    | 8e6
pallas | custom-call | 200     | –    | –
"""


def lines(profile: Profile, *ids: str) -> dict[str, Any]:
    prepared = prepare(profile, AnalysisOptions())
    own = resolve(profile.device)
    others = [
        (
            known_part(name),
            hold(
                prepared,
                with_stand_ins(resolve(profile.device, choice=PeakChoice(part_id=name))),
            ),
        )
        for name in ids
    ]
    return other_devices(hold(prepared, own), others, catalogue.find(own.part_id or ""), "in")


def test_a_line_sums_what_each_operation_needs_there() -> None:
    profile = profile_from_table(OPS, idle_us=100, device=reported(gibs={MemoryLevel.HBM: 100.0}))
    (line,) = lines(profile, "t4")["devices"]
    part = known_part("t4")
    gbs = next(peak.gbs for peak in part.memory() if peak.level.is_main)
    gflops = part.compute()[0].gflops
    matmul, copy, *rest = line["us"]
    assert matmul == pytest.approx(max(9e8 / gflops, 1e6 / gbs) / 1e3, rel=1e-4)
    assert copy == pytest.approx(8e6 / gbs / 1e3, rel=1e-4)
    assert rest == [None, None], "without counted work, and idle"
    assert line["bound_us"] == pytest.approx(matmul + copy, rel=1e-5)
    assert line["measured_us"] == 800
    assert sum(one["ratio"] for one in line["limits"]) == pytest.approx(1)
    assert line["covered_ratio"] == pytest.approx(800 / 1100, rel=1e-5)
    notes = " ".join(line["notes"])
    assert "1 operation (18.2\u202f% of the time: pallas) without counted work is left out" in notes
    assert "Idle time (9.1\u202f%) is left out." in notes


def test_a_unit_that_a_part_lacks_has_a_stand_in_and_a_note() -> None:
    kernels = SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep"
    profile = import_profile([SourceFile(kernels)])
    (line,) = lines(profile, "tpu-v5e")["devices"]
    assert any("left out" in note for note in line["notes"])
    assert lines(profile, "h100-sxm")["here"]["notes"] == lines(profile, "t4")["here"]["notes"]


def test_a_part_with_less_memory_says_so() -> None:
    kernels = SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep"
    (line,) = lines(import_profile([SourceFile(kernels)]), "t4")["devices"]
    assert any(note.startswith("Less memory: ") for note in line["notes"])


def test_the_first_lines_say_under_which_peaks_and_what_changed() -> None:
    profile = profile_from_table(OPS, idle_us=100, device=reported(gibs={MemoryLevel.HBM: 100.0}))
    prepared = prepare(profile, AnalysisOptions())
    own = hold(prepared, resolve(profile.device))

    def said(choice: PeakChoice) -> tuple[str, str]:
        analysis = hold(prepared, resolve(profile.device, choice=choice))
        found = what_if_lines(analysis, OwnPeaks(analysis=own, choice=choice), infeed=True)
        return plain_text(found.headline), plain_text(found.lead)

    headline, lead = said(PeakChoice(gbs={MemoryLevel.HBM: 1.0}))
    assert headline.startswith("With HBM at 1.00\u00a0GB/s, the program is HBM-bound")
    assert "own peaks: " in lead and "Measured times and rates stay" in lead
    assert said(PeakChoice(part_id="t4"))[0].startswith("With the peaks of T4, the program is")
    many = PeakChoice(gflops={None: 1e3}, gbs=dict.fromkeys(list(MemoryLevel)[:4], 50.0))
    assert said(many)[0].startswith("With 5 peaks set by you")
