"""Damaged and hostile Nsight Compute files import, or raise an error that helps."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.errors import CorruptProfileError
from tests.profiles import imported
from tests.tools import damage
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import KERNELS, Kernel, Style

HOSTILE = (
    '<script>alert("x")</script>',
    "../../etc/passwd",
    "k\x00\x1b[31m\u202e",
    "=HYPERLINK(1)",
    "a" * 9000,
    "核, \"quoted\", 'kernel'",
    "",
)


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    return {
        "ncu-rep": ncu.report(),
        "csv": ncu.raw_page().encode(),
        "long.csv": ncu.long_page(KERNELS[:2], Style(base_units=True, grouping=",")).encode(),
    }


@pytest.mark.parametrize("kind", ["ncu-rep", "csv", "long.csv"])
def test_cut_anywhere(kind: str, contents: Mapping[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / f"cut.{kind}"
    for part in damage.cuts(contents[kind], 300):
        path.write_bytes(part)
        damage.outcome([path])


def test_a_cut_report_is_refused_but_between_blocks(
    contents: Mapping[str, bytes], tmp_path: Path
) -> None:
    """Nothing in a report says how many blocks there are: a cut between two leaves a whole one."""
    path = tmp_path / "cut.ncu-rep"
    readable = 0
    for part in damage.cuts(contents["ncu-rep"], 1000):
        path.write_bytes(part)
        readable += damage.outcome([path]) is None
    assert readable <= len(KERNELS)


@pytest.mark.parametrize("cells", [1, 30, 60])
def test_half_a_number_is_never_taken_for_a_whole_one(cells: int, tmp_path: Path) -> None:
    text = ncu.raw_page(KERNELS[2:4]).rstrip()
    path = tmp_path / "cut.csv"
    path.write_text(text[: -7 * cells - 2], "utf-8")
    profile = imported(path)
    assert profile.ops.name == (ncu.SGEMM,)
    assert "cut-table" in {found.code for found in profile.diagnostics}
    path.write_text(text, "utf-8")  # whole, but for its last line break
    assert len(imported(path).ops) == 2


def test_half_a_number_of_the_long_form(tmp_path: Path) -> None:
    lines = ncu.long_page(KERNELS[2:3], Style(base_units=True)).splitlines()
    at = next(k for k, line in enumerate(lines) if "gpu__time_duration.sum" in line)
    path = tmp_path / "cut.csv"
    path.write_text("\n".join(lines[:at]) + "\n" + lines[at].rstrip('",')[:-2], "utf-8")
    with pytest.raises(CorruptProfileError, match="lists no kernel"):
        imported(path)


def test_the_error_names_file_and_byte(contents: Mapping[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "half.ncu-rep"
    path.write_bytes(contents["ncu-rep"][: len(contents["ncu-rep"]) // 2])
    with pytest.raises(CorruptProfileError, match=r"half\.ncu-rep .*byte [\d,]+"):
        imported(path)


@pytest.mark.parametrize("kind", ["ncu-rep", "csv", "long.csv"])
def test_flipped(kind: str, contents: Mapping[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / f"flipped.{kind}"
    for damaged in damage.flips(contents[kind], 300, seed=6):
        path.write_bytes(damaged)
        damage.outcome([path])


def test_hostile_names(tmp_path: Path) -> None:
    kernels = [Kernel(name=name, time_ns=1000 + k, dram_bytes=64) for k, name in enumerate(HOSTILE)]
    report, table = tmp_path / "names.ncu-rep", tmp_path / "names.csv"
    report.write_bytes(ncu.report(kernels))
    table.write_text(ncu.raw_page(kernels), "utf-8")
    names = imported(report).ops.name
    assert names[:-1] == HOSTILE[:-1]
    assert names[-1]  # a kernel without a name gets a number
    assert damage.outcome([report]) is None
    assert damage.outcome([table]) is None


def test_absurd_values(tmp_path: Path) -> None:
    path = tmp_path / "absurd.ncu-rep"
    for value in (-5.0, 1e300, float("inf"), 2.0**80, 0.0):
        extra = dict.fromkeys(ncu.collected(KERNELS[0]), value)
        path.write_bytes(ncu.report([KERNELS[0], Kernel(name="k", time_ns=1, extra=extra)]))
        damage.outcome([path])


@given(data=st.binary(max_size=200))
def test_random_bytes_after_the_magic(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "random.ncu-rep"
    path.write_bytes(b"NVR\0" + ncu.prefixed(ncu.whole(1, 7)) + data)
    damage.outcome([path])


@given(text=st.text(max_size=200))
def test_random_text(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "random.csv"
    path.write_text(ncu.raw_page(KERNELS[:1]) + '"' + text, "utf-8", errors="surrogatepass")
    damage.outcome([path])
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    damage.outcome([path])
