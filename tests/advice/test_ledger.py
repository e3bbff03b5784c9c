"""The ledger: accepted findings are read from the term they were to move, and correct advice."""

from dataclasses import replace
from typing import Any

import pytest

from roofline.advice.ledger import (
    ENOUGH,
    Entry,
    Hit,
    Measured,
    document_of,
    entry_from,
    hits_of,
    rates_of,
)
from roofline.analysis.records import RooflineAnalysis
from roofline.compare.comparison import compare
from roofline.compare.from_analysis import run_of
from roofline.errors import BadViewError, CorruptProfileError, FindingNotFoundError
from roofline.exports.advice import render_record
from roofline.exports.advice_decided import corrected, entry_of, measured_by
from roofline.exports.answering import answered
from roofline.exports.ledger import entries_from_lines, entries_to_lines, render_ledger
from roofline.model.compute import ComputeUnit
from tests.advice.test_rules import on_h100, product
from tests.builders import analysed
from tests.moving import waited

GIB100 = 107_374_182
HEAD = "op | category | self_us | flop | bytes | times\n"


def record_of(analysis: RooflineAnalysis) -> dict[str, Any]:
    return answered(analysis).advice


def accepted(analysis: RooflineAnalysis, rule: str) -> Entry:
    record = record_of(analysis)
    finding = next(one["id"] for one in record["findings"] if one["rule"] == rule)
    return entry_of(record, finding, "accepted", profile="before", at="2026-01-01T00:00:00Z")


def measured(entry: Entry, before: RooflineAnalysis, after: RooflineAnalysis) -> Entry:
    found = compare([run_of(before)], [run_of(after)], entry.unit)
    return replace(entry, measured=measured_by(entry, found, profile="after", at=""))


def test_bytes_that_fell_as_promised_are_a_hit_though_closeness_was_lost() -> None:
    before = analysed(HEAD + f"copy | copy | 1250 | 1 | {GIB100} | 10")
    entry = accepted(before, "M2")
    assert entry.term == "traffic" and entry.saving_us == pytest.approx(625)
    # Half the bytes at the same closeness: 625 us. It took 700.
    after = analysed(HEAD + f"copy | copy | 700 | 1 | {GIB100 // 2} | 10")
    found = measured(entry, before, after)
    assert found.measured is not None and found.hit is not None
    assert found.measured.term_us + found.measured.side_us == pytest.approx(700 - 1250)
    assert found.hit == pytest.approx(1.05, abs=0.02)
    assert found.measured.side_us > 0


def test_bytes_that_never_fell_are_a_miss() -> None:
    before = analysed(HEAD + f"copy | copy | 1250 | 1 | {GIB100} | 10")
    entry = accepted(before, "M2")
    after = analysed(HEAD + f"copy | copy | 1100 | 1 | {GIB100} | 10")
    found = measured(entry, before, after)
    assert found.hit == pytest.approx(0)
    assert found.measured is not None and found.measured.side_us == pytest.approx(-150)


def test_the_same_run_again_is_a_hit_of_zero() -> None:
    before = analysed(HEAD + f"copy | copy | 1250 | 1 | {GIB100} | 10")
    assert measured(accepted(before, "M2"), before, before).hit == 0


def test_operations_that_went_away_saved_their_time() -> None:
    rest = f"rest | copy | 1250 | 1 | {GIB100} | 10"
    before = analysed(f"{HEAD}tiny | loop | 8000 | 1 | {GIB100} | 1000\n{rest}")
    entry = accepted(before, "L1")
    found = measured(entry, before, analysed(HEAD + rest))
    assert found.measured is not None and found.measured.term_us == pytest.approx(-8000)


def test_idle_time_is_read_from_the_program() -> None:
    done = f"copy | 1020 | 1 | {GIB100} | 10"
    table = f"{HEAD}done | {done}\nalso | {done}"
    before, after = waited(table, idle_us=500), waited(table, idle_us=100)
    found = measured(accepted(before, "H1"), before, after)
    assert found.hit == pytest.approx(400 / 500)


def on_unit(unit: ComputeUnit, took_us: float) -> RooflineAnalysis:
    return on_h100(
        f"product | matmul | {took_us} | 1099511627776 | 400000000 | 1 | – | – | –", unit
    )


def test_a_faster_number_format_is_read_from_its_term() -> None:
    before = on_unit(ComputeUnit.MATRIX_BF16, 1389.1)
    entry = accepted(before, "G5")
    half = 989.4 / 1978.9
    after = on_unit(ComputeUnit.MATRIX_FP8, 1389.1 * half)
    # 1.77 times are promised, for no program reaches the ratio of both peaks; this one did.
    assert entry.saving_us == pytest.approx(1389.1 * (1 - 1 / 1.77), rel=0.001)
    hit = 1389.1 * (1 - half) / entry.saving_us
    assert measured(entry, before, after).hit == pytest.approx(hit, rel=1e-6)


def test_an_option_has_nothing_to_accept() -> None:
    weights = 2 * 8192 * 8192
    record = record_of(on_h100(product(16, 8192, 8192, weights / 3.35e6 / 0.8)))
    option = next(one["id"] for one in record["findings"] if one["rule"] == "G3")
    with pytest.raises(BadViewError):
        entry_of(record, option, "accepted", profile="x", at="")
    assert entry_of(record, option, "dismissed", profile="x", at="").saving_us == 0
    with pytest.raises(FindingNotFoundError):
        entry_of(record, "M9:none", "accepted", profile="x", at="")


def hits(*ratios: float, rule: str = "M1", device: str = "TPU v0") -> list[Hit]:
    return [Hit(rule=rule, device=device, ratio=one) for one in ratios]


FIVE = (0.4, 0.6, 0.7, 0.8, 0.9)


RAW = 2000 - 1000 / 0.9
"""The saving of a copy at half of its roof, in us."""


def test_five_hits_correct_a_prediction_and_four_do_not() -> None:
    analysis = analysed(HEAD + f"copy | copy | 2000 | 1 | {GIB100} | 10")
    raw = record_of(analysis)
    assert len(FIVE) == ENOUGH
    assert corrected(raw, [], hits(*FIVE[1:]))["findings"] == raw["findings"]
    assert corrected(raw, [], hits(*FIVE, device="other"))["findings"] == raw["findings"]
    found = corrected(raw, [], hits(*FIVE))
    (one,) = found["findings"]
    assert one["predicted"]["raw_saving_us"] == pytest.approx(RAW)
    assert one["predicted"]["saving_us"] == pytest.approx(RAW * 0.7)
    assert one["predicted"]["range_us"] == pytest.approx([RAW * 0.6, RAW * 0.8])
    assert found["after_us"] == pytest.approx(2000 - RAW * 0.7)
    assert one["verify"]["expect"]["change_us"] == pytest.approx(-RAW * 0.7)
    assert " 5 " in one["why"] and one["saves"] == "−0.62\u00a0ms"
    again = entry_of(found, one["id"], "accepted", profile="x", at="")
    assert again.saving_us == pytest.approx(RAW)  # hits are of what the rule says


def test_no_correction_ends_above_a_roof() -> None:
    analysis = analysed(HEAD + f"copy | copy | 2000 | 1 | {GIB100} | 10")
    raw = record_of(analysis)
    (one,) = corrected(raw, [], hits(1.5, 1.5, 1.5, 1.5, 1.5))["findings"]
    assert one["predicted"]["saving_us"] == raw["findings"][0]["predicted"]["saving_us"]
    (one,) = corrected(raw, [], hits(-1, -1, -1, -1, -1))["findings"]
    assert one["predicted"]["saving_us"] == 0


def test_a_dismissed_finding_is_hidden_counted_and_can_come_back() -> None:
    analysis = analysed(HEAD + f"copy | copy | 2000 | 1 | {GIB100} | 10")
    raw = record_of(analysis)
    entry = replace(accepted(analysis, "M1"), state="dismissed", reason="no time for it")
    found = corrected(raw, [entry], [])
    assert found["findings"] == [] and found["after_us"] == found["now_us"]
    assert found["dismissed"][0]["decision"]["reason"] == "no time for it"
    assert render_record(found, "text", 5).endswith(b"1 dismissed.\n")
    assert corrected(raw, [], [])["dismissed"] == []


def test_lines_can_be_read_again() -> None:
    later = Measured(profile="b", at="2026-01-02T00:00:00Z", term_us=-300.0, side_us=20.0)
    analysis = analysed(HEAD + f"=copy | copy | 1250 | 1 | {GIB100} | 10")
    entry = replace(accepted(analysis, "M2"), measured=later, reason="=1+1")
    assert entries_from_lines(entries_to_lines([entry, entry])) == [entry, entry]
    assert rates_of(hits_of([entry]))["M2", "TPU v0"].median == pytest.approx(300 / 625)
    rows = render_ledger([entry], "csv").decode().splitlines()
    assert rows[1].endswith(",-300.0,20.0,0.48,'=1+1")


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"{}", b'{"state": "accepted"}', b"null", b"3"],
)
def test_other_files_are_not_a_ledger(content: bytes) -> None:
    with pytest.raises(CorruptProfileError):
        entries_from_lines(content)


def test_numbers_that_are_not_finite_are_refused() -> None:
    analysis = analysed(HEAD + f"copy | copy | 1250 | 1 | {GIB100} | 10")
    document = document_of(accepted(analysis, "M2"))
    assert entry_from(document).saving_us == pytest.approx(625)
    with pytest.raises(CorruptProfileError):
        entry_from({**document, "saving_us": float("nan")})
