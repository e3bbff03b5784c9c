"""Words and numbers: the golden file that the browser is held to as well, and their rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.causes import CAUSE_LABELS, WHY_ABOVE, Cause
from roofline.analysis.records import Cost
from roofline.model.memory import MemoryLevel
from roofline.presentation.quantities import DASH, NARROW, percent, quantity, share
from roofline.presentation.sentences import Number, Segment, plain_text, say
from roofline.presentation.words import COST_LABELS, bound_words, page_words
from tests.tools.golden_words import GOLDEN, document, templates, written


def test_golden_file_is_current() -> None:
    """Written again by `python -m tests.tools.golden_words`."""
    assert GOLDEN.read_text("utf-8") == written()


def test_golden_file_has_an_example_of_every_sentence() -> None:
    examples = {example["sentence"] for example in document()["examples"]}
    assert examples == set(templates())


def test_every_cause_and_cost_has_its_words() -> None:
    assert set(CAUSE_LABELS) == set(WHY_ABOVE) == set(Cause)
    assert set(COST_LABELS) == set(Cost)
    sentences = page_words()["sentences"]
    assert {f"above_{cause}" for cause in Cause} <= set(sentences)
    json.dumps(page_words())


def test_a_memory_of_two_words_is_what_the_program_is_bound_by() -> None:
    assert bound_words(MemoryLevel.HBM) == "HBM-bound"
    assert bound_words(MemoryLevel.VMEM_WRITE) == "bound by VMEM write"


def test_slots_are_filled_with_numbers_words_and_sentences() -> None:
    link = Segment(kind="link", text="copy", filter={"cat": ["copy"]})
    known = say("stands_known", share=Number(0.5, "ratio"))
    sentence = say("stands", share=link, known=known, bound="")
    assert [one["kind"] for one in sentence] == ["plain", "link", *["plain"] * 6]
    assert plain_text(sentence).replace(NARROW, " ") == "At copy of the roof (50 % known)."
    smaller = [plain_text(say("advice_left_out", count=Number(n, "count"))) for n in (1, 1200)]
    assert smaller == ["1 smaller one. ", "1,200 smaller ones. "]


def test_a_name_from_right_to_left_leaves_the_numbers_in_their_order() -> None:
    name = "\u0637\u0628\u0642\u0629"
    link = [Segment(kind="link", text="the roof")]
    for slot, shown in (("layer_1", "layer_1"), (name, f"\u2068{name}\u2069")):
        assert shown in plain_text(say("stands", share=slot, known="", bound=link))


@pytest.mark.parametrize("unit", ["count", "bytes", "time_us", "gflops", "gibs", "gbs", "number"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_is_not_known_is_a_dash(unit: str, value: float | None) -> None:
    assert quantity(value, unit) == DASH
    assert percent(value) == share(value) == DASH


@given(st.floats(0, 10, exclude_min=True, exclude_max=True))
def test_a_part_is_never_shown_as_none_or_as_all(ratio: float) -> None:
    for text in (percent(ratio), percent(ratio, 0), share(ratio)):
        assert text[0] != "0" or any(digit in "123456789" for digit in text)
        if ratio < 0.999995:
            assert not text.startswith("100")
