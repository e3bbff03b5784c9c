"""Text tables: encodings, delimiters, and numbers of every locale."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import CorruptProfileError, UploadTooLargeError
from roofline.importers.shared.tables_text import (
    TextTable,
    decimal_mark,
    decode,
    first_row,
    header_words,
    parse_number,
    read_table,
)


def table(text: str, max_rows: int = 10) -> TextTable:
    return read_table(text, name="t.csv", max_rows=max_rows)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,234", "5.25"], "."),
        (["1.234", "5,25"], ","),
        (["614.781.108.083,56"], ","),
        (["27.595.520"], ","),
        (["70,464,000"], "."),
        (["147608128.000000"], "."),
        (["0.125"], "."),
        (["0,125"], ","),
        (["1,234"], "."),  # tells nothing
        (["1.234"], "."),
        (["kernel<1,2>", "3,5"], ","),
        ([], "."),
    ],
)
def test_decimal_mark_is_decided_by_what_is_unambiguous(cells: Sequence[str], mark: str) -> None:
    assert decimal_mark(cells) == mark


@pytest.mark.parametrize(
    ("cell", "mark", "number"),
    [
        ("70,464", ".", 70464.0),
        ("70.464", ",", 70464.0),
        ("70 464,5", ",", 70464.5),
        ("70\u202f464", ".", 70464.0),
        ("1'000'000.5", ".", 1000000.5),
        ("1e-05", ".", 1e-5),
        ("1,5E+9", ",", 1.5e9),
        ("-3", ".", -3.0),
        ("n/a", ".", None),
        ("-nan", ".", None),
        ("", ",", None),
    ],
)
def test_numbers(cell: str, mark: str, number: float | None) -> None:
    assert parse_number(cell, mark) == number


@pytest.mark.parametrize(
    "cell", ["1,5", "1.2.3", "12,34,567", "0x10", "1_000", "inf", "fast", "1 s"]
)
def test_what_is_no_number_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_number(cell, ".")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_python_floats_survive(value: float) -> None:
    assert parse_number(repr(value)) == value


@given(st.integers(min_value=0, max_value=10**15))
def test_grouped_integers_survive_in_both_locales(value: int) -> None:
    assert parse_number(f"{value:,}", ".") == value
    assert parse_number(f"{value:,}".replace(",", "."), ",") == value


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_found(delimiter: str) -> None:
    found = table(f"name{delimiter}time\nk{delimiter}1\n")
    assert found.header == ("name", "time")
    assert found.rows == (("k", "1"),)


def test_quotes_protect_delimiters_and_line_breaks() -> None:
    found = table('name;text\n"f(int, int)";"a\nb"\n"g";c\n')
    assert found.rows == (("f(int, int)", "a\nb"), ("g", "c"))
    assert found.lines == (3, 4)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    assert decode("größe,µs".encode(encoding)) == "größe,µs"


def test_comments_and_empty_lines_are_skipped() -> None:
    found = table("# device: A100\n\nname,time\n# note\nk,1\n,\n")
    assert found.comments == ("device: A100", "note")
    assert found.rows == (("k", "1"),)


@pytest.mark.parametrize("text", ["a,b\n1,2\n3", 'a,b\n1,2\n3,"4'])
def test_a_cut_last_row_is_noticed(text: str) -> None:
    assert not table(text).ends_whole
    assert table("a,b\n1,2\n").ends_whole


def test_too_many_rows() -> None:
    with pytest.raises(UploadTooLargeError, match="more than 2 rows"):
        table("a,b\n" + "1,2\n" * 3, max_rows=2)


def test_a_huge_cell_is_refused() -> None:
    with pytest.raises(CorruptProfileError, match="line"):
        table("a,b\n" + "x" * (2 << 20) + ",2\n")


def test_nothing_is_no_table() -> None:
    assert table("").header == ()
    assert first_row(b"\n\n# only\n") == ()


@given(st.binary(max_size=200))
def test_any_bytes_have_a_first_row_or_none(data: bytes) -> None:
    assert isinstance(first_row(data), tuple)


def test_header_words() -> None:
    assert header_words(" Kernel_Name ") == header_words("kernel-name") == "kernel name"
