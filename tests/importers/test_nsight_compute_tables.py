"""CSV of Nsight Compute's command line: every locale, unit, version and kind of noise is one."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from roofline.errors import IncompleteProfileError, RooflineError, UnknownFormatError
from roofline.importers import nsight_compute
from roofline.importers.nsight_compute import tables
from roofline.importers.nsight_compute.report import read_report
from roofline.importers.nsight_compute.tables import read_tables
from roofline.importers.nsight_compute.work import LaunchWork, launch_work
from roofline.importers.registry import IMPORTERS, import_profile
from roofline.importers.source import SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_ncu_samples import KERNELS, Kernel, Style

REAL = Path(__file__).resolve().parents[3] / "shared" / "samples" / "nsight_compute"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real exports is not there")

AMERICAN = Style(base_units=True, grouping=",")
GERMAN = Style(base_units=True, decimal=",", grouping=".")
SWISS = Style(base_units=True, grouping="’")
FRENCH = Style(base_units=True, decimal=",", grouping="\u202f")
PLAIN = Style(base_units=True)
LOCALES = {"C": PLAIN, "en_US": AMERICAN, "de_DE": GERMAN, "de_CH": SWISS, "fr_FR": FRENCH}


def source(tmp_path: Path, text: str | bytes, name: str = "kernels.csv") -> SourceFile:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return SourceFile(path)


def profile(tmp_path: Path, text: str | bytes) -> Profile:
    return import_profile([source(tmp_path, text)])


def works(tmp_path: Path, text: str | bytes) -> list[LaunchWork]:
    return [launch_work(one) for one in read_tables(source(tmp_path, text)).launches]


def assert_same(found: Sequence[LaunchWork], wanted: Sequence[LaunchWork], rel: float) -> None:
    """Equal but for the digits that a page prints: rates of a column in TB/s lose most."""
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.time_ns is None) == (theirs.time_ns is None)
        assert ours.time_ns is None or ours.time_ns == pytest.approx(theirs.time_ns, rel=1e-6)
        for unit, flop in ours.flop.items():
            assert flop == pytest.approx(theirs.flop[unit], rel=rel, abs=1), unit
        for unit, peak in theirs.peak_flop_s.items():
            assert ours.peak_flop_s[unit] == pytest.approx(peak, rel=1e-6)
        for level, moved in theirs.moved.items():
            assert ours.moved[level].bytes == pytest.approx(moved.bytes, rel=2e-5), level
            assert ours.moved[level].source == moved.source


@pytest.fixture
def exact(tmp_path: Path) -> list[LaunchWork]:
    path = tmp_path / "exact.ncu-rep"
    path.write_bytes(ncu.report())
    return [launch_work(launch) for launch in read_report(SourceFile(path)).launches]


# ------------------------------------------------------------------------------------- real exports


@needs_real
@pytest.mark.parametrize(
    "file", ["raw_auto_by2022.3", "raw_base_by2024.1", "raw_base_deDE_by2024.1"]
)
def test_real_exports_of_one_report_agree(file: str) -> None:
    """Time is exact in all; bytes too. FLOPs come from rates printed with two or six decimals."""
    found = [
        launch_work(x) for x in read_tables(SourceFile(REAL / f"a40_5kernels_{file}.csv")).launches
    ]
    assert [work.time_ns for work in found] == [70464, 9696, 11680, 9408, 4283936]
    dram = [round(work.moved[MemoryLevel.DRAM].bytes) for work in found]
    assert dram == pytest.approx([43319936, 2176000, 2864256, 2220672, 1996068736], rel=1e-8)
    rel = 1e-6 if "auto" in file else 2e-4
    assert sum(found[4].flop.values()) == pytest.approx(6_181_056, rel=rel)


@needs_real
def test_real_locales_are_equal() -> None:
    names = ("a40_5kernels_raw_base_by2024.1.csv", "a40_5kernels_raw_base_deDE_by2024.1.csv")
    one, two = (
        [launch_work(launch) for launch in read_tables(SourceFile(REAL / name)).launches]
        for name in names
    )
    assert one == two


@needs_real
@pytest.mark.parametrize("kind", ["basic_failed", "roofline"])
def test_real_report_and_its_export_agree(kind: str) -> None:
    report = next(REAL.glob(f"a10g_2023.1_{kind}*.ncu-rep"))
    table = next(REAL.glob(f"a10g_{kind}_raw*.csv"))
    wanted = [launch_work(launch) for launch in read_report(SourceFile(report)).launches]
    found = [launch_work(launch) for launch in read_tables(SourceFile(table)).launches]
    assert_same(found, wanted, 1e-6)


# ------------------------------------------------------------------------------------- our exports


@pytest.mark.parametrize("year", [2022, 2024, 2025])
@pytest.mark.parametrize("nvtx", [False, True])
def test_raw_page_of_every_version(
    year: int, nvtx: bool, exact: Sequence[LaunchWork], tmp_path: Path
) -> None:
    text = ncu.raw_page(style=Style(year=year, nvtx=nvtx))
    assert_same(works(tmp_path, text), exact, 2e-6)


@pytest.mark.parametrize("style", LOCALES.values(), ids=LOCALES)
def test_base_units_in_every_locale(
    style: Style, exact: Sequence[LaunchWork], tmp_path: Path
) -> None:
    assert_same(works(tmp_path, ncu.raw_page(style=style)), exact, 1e-3)
    assert works(tmp_path, ncu.raw_page(style=style)) == works(tmp_path, ncu.raw_page(style=PLAIN))


@pytest.mark.parametrize("style", [*LOCALES.values(), Style(), Style(year=2025)], ids=str)
def test_long_form(style: Style, exact: Sequence[LaunchWork], tmp_path: Path) -> None:
    text = ncu.long_page(KERNELS, style)
    rel = 1e-3 if style.base_units else 2e-6
    assert_same(works(tmp_path, text), exact, rel)


def test_noise_of_a_live_capture(tmp_path: Path, exact: Sequence[LaunchWork]) -> None:
    rows = ncu.raw_page().splitlines()
    noise = [
        "==PROF== Connected to process 4242 (/usr/bin/train)",
        "epoch 1, loss 0.7",
        '==PROF== Profiling "k" - 0: 0%....50%....100% - 38 passes',
        '"quoted words of the program", 3',
        '"',
        "1,2,3",
        "",
    ]
    lines = [*noise]
    for row in rows:
        lines += [row, *noise]
    lines.append("==PROF== Disconnected from process 4242")
    assert_same(works(tmp_path, "\n".join(lines)), exact, 2e-6)
    assert_same(works(tmp_path, "\r\n".join(lines)), exact, 2e-6)


def test_a_table_that_another_program_saved_again(
    tmp_path: Path, exact: Sequence[LaunchWork]
) -> None:
    rows = list(csv.reader(ncu.raw_page().splitlines()))
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    assert text.getvalue().startswith("ID,Process ID,")
    assert_same(works(tmp_path, text.getvalue()), exact, 2e-6)


def test_two_tables_in_one_log(tmp_path: Path) -> None:
    text = ncu.raw_page(KERNELS[:1]) + "==PROF== Connected\n" + ncu.raw_page(KERNELS[3:5])
    assert profile(tmp_path, text).ops.name == (ncu.SGEMM, ncu.HGEMM, ncu.STENCIL)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_redirected_by_powershell(
    encoding: str, tmp_path: Path, exact: Sequence[LaunchWork]
) -> None:
    assert_same(works(tmp_path, ncu.raw_page().encode(encoding)), exact, 2e-6)


def test_what_is_missing_is_not_zero(tmp_path: Path) -> None:
    counters = [name for name in ncu.collected(KERNELS[0]) if not name.startswith("device")]
    failed = Kernel(name="failed", time_ns=1, extra=dict.fromkeys(counters, float("nan")))
    kernels = [KERNELS[0], failed]
    for word in ("-nan", "nan", "n/a", ""):
        found = profile(tmp_path, ncu.raw_page(kernels, Style(failed=word)))
        assert found.ops.name == (ncu.SGEMM,)
        assert any(d.code == "failed-kernels" for d in found.diagnostics)


def test_values_per_instance_are_skipped(tmp_path: Path, exact: Sequence[LaunchWork]) -> None:
    text = re.sub(r'"(1571.840000)"', r'"\1 (1.0; 2.0; 3.0)"', ncu.raw_page())
    assert_same(works(tmp_path, text), exact, 2e-6)


def test_grid_stream_and_device_of_a_row(tmp_path: Path) -> None:
    launches = profile(tmp_path, ncu.raw_page()).launches
    assert launches is not None
    assert launches.detail[3] == "grid 32×32×1, block 256×1×1, stream 13"
    launches = profile(tmp_path, ncu.raw_page(style=Style(year=2022))).launches
    assert launches is not None
    assert launches.detail[3] == "stream 13"


def test_details_page_gives_time_and_bandwidth(tmp_path: Path) -> None:
    """Labels instead of metric names: time, bytes of DRAM and shares are there, FLOPs are not."""
    keys = '"0","1","a.out","127.0.0.1","k(int)","1","7","(32, 1, 1)","(8, 1, 1)","0","8.6"'
    text = "\n".join(
        [
            '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
            '"Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit",'
            '"Metric Value","Rule Name","Rule Type","Rule Description"',
            f'{keys},"GPU Speed Of Light Throughput","Memory Throughput","%","65,77",',
            f'{keys},"GPU Speed Of Light Throughput","Duration","usecond","659,06",',
            f'{keys},"Memory Workload Analysis","Memory Throughput","Gbyte/second","417,20",',
            f'{keys},"SpeedOfLight","","","","SOLBottleneck","OPT","65,8 % of ""peak"""',
        ]
    )
    found = profile(tmp_path, text)
    assert found.ops.time_ps[0] == 659_060_000
    assert found.ops.bytes_accessed[0] == pytest.approx(417.20e9 * 659.06e-6, rel=1e-6)
    assert found.ops.busy_ps[Ceiling.MEMORY_OTHER][0] == pytest.approx(0.6577 * 659_060_000)
    assert any(d.code == "busy-without-flops" for d in found.diagnostics)


def test_short_numbers_are_announced(tmp_path: Path) -> None:
    kernels = [KERNELS[0], Kernel(name="tiny", time_ns=1_000_000, dram_bytes=20_000)]
    text = ncu.raw_page([*kernels, Kernel(name="big", time_ns=1_000_000, dram_bytes=10**9)])
    found = next(d for d in profile(tmp_path, text).diagnostics if d.code == "few-digits")
    assert found.count >= 1
    assert "ncu-rep" in found.remedy


TERMINAL = """M=1024
==PROF== Connected to process 71 (/home/me/a.out)
[71] a.out@node7
  void add<float>(T1 *, int) (8, 2, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    DRAM Frequency          cycle/nsecond         2.61
    Duration                      usecond         3.33
    SM Active Cycles                cycle 2,489,585.13
    Compute (SM) Throughput             %        97.50
    ----------------------- ------------- ------------

    OPT   Compute (SM) Throughput             %        12.00

  sums(int*), 2021-Mar-01 12:00:00, Context 1, Stream 7
    Section: Command line profiler metrics
    ----------------------------- ----------- ------------
    dram__bytes_read.sum                Mbyte         1.50
    dram__bytes_write.sum               Kbyte        99.00
    gpu__time_duration.sum            msecond         0.25
    ----------------------------- ----------- ------------
"""


def test_what_the_profiler_prints_on_a_terminal(tmp_path: Path) -> None:
    """Columns by the dashes above them, for a value may touch its unit; sizes where they stand."""
    found = profile(tmp_path, TERMINAL)
    assert found.ops.name == ("void add<float>(T1 *, int)", "sums(int*)")
    assert found.ops.time_ps.tolist() == [3_330_000, 250_000_000]
    assert found.ops.busy_ps[Ceiling.SM_OTHER][0] == pytest.approx(0.975 * 3_330_000)
    assert found.ops.traffic_bytes[MemoryLevel.DRAM][1] == 1_599_000
    assert found.hosts[0].hostname == "node7"
    assert found.launches is not None
    assert list(found.launches.detail) == ["grid 8×2×1, block 256×1×1, stream 7", "stream 7"]


@pytest.mark.parametrize("end", ["cycle 2,48", "%        97"])
def test_a_row_of_a_terminal_that_is_cut_is_left_out(end: str, tmp_path: Path) -> None:
    """Half a number looks like a whole one."""
    cut = TERMINAL[: TERMINAL.index(end) + len(end)]
    found = profile(tmp_path, cut)
    assert len(found.ops) == 1 and not found.ops.busy_ps


def test_quotes_within_a_name_that_are_not_doubled(tmp_path: Path) -> None:
    """So the profiler of 2024.1 prints them: cells moved, and the row was of another GPU."""
    doubled = ncu.raw_page()
    assert '""loss.cu""' in doubled
    whole = profile(tmp_path, doubled)
    found = profile(tmp_path, doubled.replace('""loss.cu""', '"loss.cu"'))
    assert found.ops.name == whole.ops.name
    assert found.ops.time_ps.tolist() == whole.ops.time_ps.tolist()
    assert found.hosts[0].core_count == whole.hosts[0].core_count == 1


RAW_TEXT = """[71] a.out@127.0.0.1
  add(int*) (8, 2, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
  Metric Name                                          Metric Unit   Metric Value
  -------------------------------------------------- ------------- --------------
  device__attribute_display_name                                      NVIDIA H800
  dram__bytes_read.sum                                       Mbyte           1.50
  dram__bytes_write.sum                                      Kbyte          99.00
  gpu__time_duration.sum                                   msecond           0.25

"""


def test_the_raw_page_as_text(tmp_path: Path) -> None:
    """It begins with a bracket, as JSON may."""
    found = profile(tmp_path, RAW_TEXT)
    assert found.ops.name == ("add(int*)",)
    assert found.ops.time_ps.tolist() == [250_000_000]
    assert found.ops.traffic_bytes[MemoryLevel.DRAM].tolist() == [1_599_000]
    assert found.device.name == "NVIDIA H800"


def test_a_launch_without_blocks_could_not_be_profiled(tmp_path: Path) -> None:
    """`--print-fp` prints the counters that such a launch lacks as 0."""
    failed = RAW_TEXT.replace("add(int*) (8, 2, 1)", "failed(int*) (0, 0, 0)")
    for value in ("1.50", "99.00", "0.25"):
        failed = failed.replace(value, "0.00")
    found = profile(tmp_path, RAW_TEXT + failed)
    assert found.ops.name == ("add(int*)",)
    assert [one.code for one in found.diagnostics if one.code.startswith("failed")]


# ---------------------------------------------------------------------------------------- not read

SUMMARY = (
    '"Process ID","Kernel Name","Invocations","Section Name","Metric Name","Average"\n"7","k"\n'
)
SUMMARY_TEXT = """[71] a.out@127.0.0.1
  add(int*) (8, 2, 1)x(256, 1, 1), Device 0, CC 8.6, Invocations 2
    Section: GPU Speed Of Light
    ------------ ----------- ------- ------- -------
    Metric Name  Metric Unit Minimum Maximum Average
    ------------ ----------- ------- ------- -------
    Duration     usecond        3.20    3.40    3.30
"""
SOURCE = '"Kernel Name","add(int *)",\n"Address","Source","Executed"\n"0x7f","RET","1"\n'
SOURCE_TEXT = "----\nAddress            Source                  Sampling Data (All)\n"
SESSION_TEXT = "Session Info\n------ -----\nSession Attribute      Value\n------ -----\n"
SESSION = '"Launch Attribute","Value"\n"Process","a.out"\n'
MESSAGES = "==PROF== Connected to process 3\n==ERROR== ERR_NVGPUCTRPERM - no permission\n"


@pytest.mark.parametrize(
    ("text", "error", "says", "remedy"),
    [
        (SUMMARY, UnknownFormatError, "--print-summary", "--csv --page raw"),
        (SUMMARY_TEXT, UnknownFormatError, "--print-summary", "--csv --page raw"),
        (SESSION, UnknownFormatError, "session page", "--csv --page raw"),
        (SESSION_TEXT, UnknownFormatError, "session page", "--csv --page raw"),
        (SOURCE, UnknownFormatError, "source page", "--csv --page raw"),
        (SOURCE_TEXT, UnknownFormatError, "source page", "--csv --page raw"),
        (MESSAGES, IncompleteProfileError, "no kernel", "==ERROR=="),
        (ncu.raw_page().splitlines()[0], RooflineError, "no kernel", "copied"),
    ],
    ids=[
        *("summary", "summary as text", "session", "session as text", "source", "source as text"),
        *("messages", "header"),
    ],
)
def test_other_pages_are_refused_with_the_command_that_helps(
    text: str, error: type[RooflineError], says: str, remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as raised:
        profile(tmp_path, text)
    assert says in raised.value.message
    assert remedy in raised.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        *(TERMINAL, RAW_TEXT, SUMMARY, SUMMARY_TEXT, SESSION, SESSION_TEXT, SOURCE, SOURCE_TEXT),
        *(MESSAGES, ncu.raw_page()),
    ],
)
def test_text_is_recognised_by_one_importer(text: str, tmp_path: Path) -> None:
    found = source(tmp_path, text)
    assert [i.FORMAT_ID for i in IMPORTERS if i.recognises(found)] == ["nsight_compute"]


@pytest.mark.parametrize(
    "head",
    [b"", b"ID,name\n1,2\n", b'"ID","Metric"\n', b"\x00" * 64, b"==12== NVPROF is profiling"],
)
def test_other_text_is_not_ours(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(head)
    assert not nsight_compute.recognises(SourceFile(path))


# ---------------------------------------------------------------------------------- numbers, units


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["659,062", "628.03"], "."),
        (["659.062", "628,03"], ","),
        (["70.464", "1.996.068.736"], ","),
        (["70,464", "4,283,936"], "."),
        (["147608128.000000"], "."),
        (["614.781.108.083,56"], ","),
        (["70.464"], ","),  # never three decimals: it groups
        (["70464", "n/a", "k(int)"], "."),
    ],
)
def test_decimal_mark(cells: Sequence[str], mark: str) -> None:
    assert tables.decimal_mark(cells) == mark


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("1.310.489.728", ",", 1310489728),
        ("0,42", ",", 0.42),
        ("70’464", ".", 70464),
        ("1 234,5", ",", 1234.5),
        ("146880 (23760; 17568)", ".", 146880),
        ("-0.10", ".", -0.1),
        ("1e+06", ".", 1e6),
        ("-nan", ".", None),
        ("n/a", ".", None),
        ("inf", ".", None),
        ("", ".", None),
        ("1.2.3", ".", None),
    ],
)
def test_parse(cell: str, decimal: str, value: float | None) -> None:
    assert tables.parse(cell, decimal) == value


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("nsecond", 1), ("usecond", 1e3), ("msecond", 1e6), ("second", 1e9), ("ns", 1), ("us", 1e3),
        ("ms", 1e6), ("s", 1e9), ("cycle/nsecond", 1e9), ("cycle/usecond", 1e6), ("Ghz", 1e9),
        ("Mhz", 1e6), ("hz", 1), ("cycle/second", 1), ("/nsecond", 1e9), ("Gbyte/second", 1e9),
        ("Tbyte/s", 1e12), ("Kbyte/cycle", 1e3), ("byte/cycle", 1), ("Mbyte", 1e6), ("Tbyte", 1e12),
        ("%", 1), ("", 1), ("inst/cycle", 1), ("register/thread", 1), ("sector/nsecond", 1e9),
        ("Minst", 1e6),
    ],
)  # fmt: skip
def test_units(unit: str, factor: float) -> None:
    assert tables.factor(unit) == factor
