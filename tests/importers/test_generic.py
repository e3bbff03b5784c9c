"""Generic CSV and JSON: many spellings, one meaning; slips are named, nothing is guessed."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.cli import main
from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve
from roofline.errors import (
    CorruptProfileError,
    IncompleteProfileError,
    RooflineError,
    UploadTooLargeError,
)
from roofline.importers import generic
from roofline.importers.generic import documents, tables
from roofline.importers.generic.names import (
    Dimension,
    Field,
    meaning_of,
    parse_quantity,
    precision_named,
    unit_factor,
    unit_named,
)
from roofline.importers.registry import identify
from roofline.importers.source import SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit, Precision
from roofline.model.device import DeviceKind, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile, Provenance
from roofline.pipeline import analyse_files
from tests.builders import analysis_on
from tests.cli.test_main import run
from tests.profiles import imported
from tests.tools import damage

TEMPLATES = Path(main.__file__).parent
SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles" / "generic"
GEMM = "name,flops,dram_bytes,time_s\ngemm_1024,2147483648,150850000,0.00478979\n"


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Profile]:
    """Reads one text, or several by file name."""

    def _read(*texts: str | bytes) -> Profile:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"table{number}"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            paths.append(path)
        return imported(*paths)

    return _read


def note(profile: Profile, code: str) -> str:
    (found,) = [found for found in profile.diagnostics if found.code == code]
    return found.message


def document(**rest: object) -> str:
    kernels = [{"name": "k", "time": 1e-3, "flops": 2e9, "bytes": 1e6}]
    return json.dumps({"schema": "roofline-generic/1", "kernels": kernels, **rest})


@pytest.mark.covers(208)
def test_stated_peaks_make_a_ridge(tmp_path: Path) -> None:
    """A guide's machine: 100 TFLOP/s over 2 TB/s."""
    file = tmp_path / "gemm.csv"
    file.write_text("# peak_fp32: 100 TFLOP/s\n# peak_dram: 2 TB/s\n" + GEMM)
    assert "ridge at 50.0 FLOP/B" in run("analyze", file).stdout.decode()


def test_minimal_table(read: Callable[..., Profile]) -> None:
    profile = read(GEMM)
    ops = profile.ops
    assert ops.name == ("gemm_1024",)
    assert ops.flop.tolist() == [2147483648]
    assert ops.traffic_bytes[MemoryLevel.DRAM].tolist() == [150850000]
    assert ops.time_ps.tolist() == [4_789_790_000]
    assert profile.flop_provenance is profile.bytes_provenance is Provenance.STATED
    assert not profile.diagnostics


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Kernel Name,GFLOP,HBM-Bytes (MB),Duration [us]", "g,2.5,40,125"),
        ("kernel;total flops;hbm bytes [GB];elapsed_ms", "g;2500000000;0.04;0.125"),
        ("op\tflop count\tdram_mb\ttime(ns)", "g\t2.5e9\t40\t125000"),
        ("label,flops_rate,bandwidth,time_us", "g,2e13,320,125"),
        ("function,tflops,memory bandwidth [GB/s],runtime (us)", "g,20,320,125"),
        ("region,ai,performance [TFLOP/s],time us", "g,62.5,20,125"),
        ("name,FLOP/s,dram_bw,flops", "g,2e13,320,2.5e9"),
        ("name,flops,bytes,gflop/s", "g,2500000000,40000000,20000"),
        ("name,time,flops,bytes", "g,125 us,2.5 GFLOP,40 MB"),
        ("Arithmetic Intensity,Total Flops,Time (s),Cycles,Label", "62.5,2.5e9,0.000125,99,g"),
        ("name,Self GFLOP,Self AI,Self Elapsed Time", "g,2.5,62.5,125e-6s"),
        ("Kernel Name,Duration (us),GFLOP,MB", "g,125,2.5,40"),
        ("kernel,time (ms),GFLOPS,GB/s", "g,0.125,20000,320"),
        ("op_name,device_time_us,flops_count,bytes_accessed", "g,125,2.5e9,4e7"),
        # A benchmark: the mean of calls comes before the median, and a deviation is not a time.
        (
            "kernel,stddev_ms,mean_ms,median_ms,achieved_gflops,flops,theoretical_bytes",
            "g,0.01,0.125,0.2,20000,2.5e9,4e7",
        ),
        ("kernel,latency (us),GFLOP,effective GB/s", "g,125,2.5,320"),
    ],
)
def test_spellings_mean_the_same(header: str, row: str, read: Callable[..., Profile]) -> None:
    ops = read(f"{header}\n{row}\n").ops
    assert int(ops.flop[0]) == 2_500_000_000
    assert int(ops.bytes_accessed[0]) == 40_000_000
    assert int(ops.time_ps[0]) == 125_000_000


@pytest.mark.parametrize(
    "text",
    [
        "name,time_us,flops\ng,1234.5,1000\nh,2.25,1000\n",
        "name;time_us;flops\ng;1.234,5;1.000\nh;2,25;1.000\n",
        'name,time_us,flops\ng,"1,234.5","1,000"\nh,2.25,"1,000"\n',
        "name;time_us;flops\ng;1 234,5;1 000\nh;2,25;1 000\n",
    ],
)
def test_locales_agree(text: str, read: Callable[..., Profile]) -> None:
    ops = read(text).ops
    assert ops.time_ps.tolist() == [1_234_500_000, 2_250_000]
    assert ops.flop.tolist() == [1000, 1000]


def test_levels_and_precisions(read: Callable[..., Profile]) -> None:
    profile = read(
        "name,flops,precision,hbm_bytes,l2_bytes,l1_bytes,shared_bytes,bytes_l3,time_ms\n"
        "g,1000,fp16 tensor,100,200,300,400,150,1\nh,500,double,10,20,30,40,15,1\n"
    )
    ops = profile.ops
    wanted = [MemoryLevel.HBM, MemoryLevel.LLC, MemoryLevel.L2, MemoryLevel.L1, MemoryLevel.SHARED]
    assert list(ops.traffic_bytes) == wanted
    assert ops.traffic_bytes[MemoryLevel.LLC].tolist() == [150, 15]
    assert ops.unit_flop[ComputeUnit.MATRIX_FP16].tolist() == [1000, 0]
    assert ops.unit_flop[ComputeUnit.VECTOR_FP64].tolist() == [0, 500]


def test_launches_of_one_name_are_one_op(read: Callable[..., Profile]) -> None:
    profile = read("name,calls,time_us,flops,bytes,step\ng,2,10,100,50,1\ng,3,20,200,60,2\n")
    assert profile.ops.occurrences.tolist() == [5]
    assert profile.ops.flop.tolist() == [300]
    assert profile.launches is not None
    assert profile.launches.detail == ("step 1", "step 2")


def test_time_may_be_of_one_call(read: Callable[..., Profile]) -> None:
    text = "name,calls,time_us,flops,bytes\ng,4,10,100,50\n"
    assert read(text).ops.time_ps.tolist() == [10_000_000]
    assert read(f"# time_per: call\n{text}").ops.time_ps.tolist() == [40_000_000]
    average = text.replace("time_us", "avg time us")
    assert read(average).ops.time_ps.tolist() == [40_000_000]


@pytest.mark.parametrize(
    ("stated", "cause"),
    [
        (1000 * 1.073741824, "7.4 %: GiB"),
        (1000 / 1.073741824, "7.4 %: GiB"),
        (1.0, "factor 1,000:"),
        (1e6, "factor 1,000:"),
        (1300.0, "do not describe the same run"),
    ],
)
def test_bandwidths_that_disagree_name_the_slip(
    stated: float, cause: str, read: Callable[..., Profile]
) -> None:
    profile = read(f"name,bytes,time_s,bandwidth\ng,1e12,1,{stated}\n")
    assert cause in note(profile, "columns-disagree")
    assert profile.ops.bytes_accessed.tolist() == [10**12]


@pytest.mark.covers(76)
def test_a_multiply_add_counted_once_is_named(read: Callable[..., Profile]) -> None:
    profile = read("name,flops,time_s,gflops\ng,1e12,1,2000\nh,1e12,1,2000\n")
    message = note(profile, "columns-disagree")
    assert "factor 2" in message
    assert "line 2 and 1 more" in message


def test_agreement_within_a_percent_is_silent(read: Callable[..., Profile]) -> None:
    assert not read("name,flops,bytes,time_s,gflops,ai\ng,1e12,1e11,1,1005,9.95\n").diagnostics


def test_bare_flops_is_a_count_unless_no_machine_is_that_fast(read: Callable[..., Profile]) -> None:
    count = read("name,FLOPS,time_s,bytes\ng,1e12,0.5,1e9\n")
    assert count.ops.flop.tolist() == [10**12]
    assert "count of operations" in note(count, "doubtful-table")
    rate = read("# peak_fp32: 10 TFLOP/s\nname,FLOPS,time_us,bytes\ng,8e12,5,1e6\n")
    assert rate.ops.flop.tolist() == [40_000_000]
    assert "a rate in FLOP/s" in note(rate, "doubtful-table")


def test_what_is_missing_is_said_and_stays_unknown(read: Callable[..., Profile]) -> None:
    profile = read("name,flops,bytes,time_s\na,100,,1\nb,n/a,50,1\nc,100,50,-\n")
    codes = {found.code for found in profile.diagnostics}
    assert codes == {"bytes-not-counted", "flop-not-counted", "time-unknown"}
    assert profile.launches is not None
    assert np.isnan(profile.launches.flop[1])
    assert np.isnan(profile.launches.traffic_bytes[MemoryLevel.DRAM][0])
    measures = analysis_on(profile, resolve(profile.device, catalogue=False))
    assert np.isnan(measures.ops.measures.memory_bandwidth_gibs[0])
    assert np.isnan(measures.ops.measures.flop_rate_gflops[1])
    assert np.isnan(measures.ops.measures.flop_rate_gflops[2])


def test_zero_flops_are_known(read: Callable[..., Profile]) -> None:
    profile = read("name,flops,bytes,time_s\ncopy,0,1000,1\n")
    assert not profile.diagnostics
    assert profile.launches is not None
    assert profile.launches.flop.tolist() == [0.0]


def test_impossible_rows_are_left_out_and_named(read: Callable[..., Profile]) -> None:
    profile = read("name,flops,bytes,time_s\na,-5,1,1\nb,fast,1,1\nc,1e30,1,1\nd,8,4,1\n")
    assert profile.ops.name == ("d",)
    message = note(profile, "rows-left-out")
    assert "line 2: a number is negative" in message
    assert "line 3, column flops: “fast” is not a number" in message
    with pytest.raises(CorruptProfileError, match="its row cannot be used"):
        read("name,flops,bytes,time_s\na,-5,1,1\n")


@pytest.mark.parametrize("calls", ["1e999", "1e300", "-3", "2.0e12"])
def test_absurd_numbers_of_calls_are_left_out(calls: str, read: Callable[..., Profile]) -> None:
    rows = f"a,{calls},8,4,1\nb,2,8,4,1\n"
    assert read(f"name,calls,flops,bytes,time_s\n{rows}").ops.name == ("b",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("output of a run", DeviceKind.UNKNOWN),
        ("Google TPU v5p", DeviceKind.TPU),
        ("AMD Instinct MI300X", DeviceKind.GPU),
        ("H100 SXM", DeviceKind.GPU),
        ("Intel Xeon 8480", DeviceKind.CPU),
        ("charm++ farm", DeviceKind.UNKNOWN),
    ],
)
def test_kinds_of_devices(name: str, kind: DeviceKind, read: Callable[..., Profile]) -> None:
    assert read(f"# device: {name}\n{GEMM}").device.kind is kind


def test_times_alone_are_not_enough(read: Callable[..., Profile]) -> None:
    with pytest.raises(IncompleteProfileError, match="neither FLOPs nor bytes"):
        read("name,flops,bytes,time_s\na,,,1\n")


def test_sums_beyond_64_bits_are_refused(read: Callable[..., Profile]) -> None:
    rows = "a,4e18,1,1\n" * 3
    with pytest.raises(CorruptProfileError, match=r"add up to 1\.2e\+19"):
        read(f"name,flops,bytes,time_s\n{rows}")


def test_limits(read: Callable[..., Profile], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.importers.generic.tables.MAX_ROWS", 2)
    with pytest.raises(UploadTooLargeError, match="more than 2 rows"):
        read("name,flops,bytes,time_s\n" + "a,1,1,1\n" * 3)
    monkeypatch.setattr("roofline.importers.generic.documents.MAX_ROWS", 0)
    with pytest.raises(UploadTooLargeError, match="more than 0 kernels"):
        read(document())
    monkeypatch.setattr("roofline.importers.generic.reader.MAX_BYTES", 10)
    with pytest.raises(UploadTooLargeError, match="larger than"):
        read(GEMM)
    assert (
        len(tables.kernel_of({}, {Field.NAME: "x" * 9999}, (), where="", per_call=False).name)
        == 4096
    )


def test_comments_name_the_device_and_its_peaks(read: Callable[..., Profile]) -> None:
    device = read(
        "# device: NVIDIA A100 80GB PCIe\n# peak_fp64: 9.7 TFLOP/s\n# peak_fp16_tensor = 312e12\n"
        "# peak_hbm_bw: 1935 GB/s\n# peak_l2: 5e12\n# peak_speed: very\n" + GEMM
    ).device
    assert (device.kind, device.name) == (DeviceKind.GPU, "NVIDIA A100 80GB PCIe")
    assert device.unit_gflops[ComputeUnit.VECTOR_FP64] == pytest.approx(9700)
    assert device.unit_gflops[ComputeUnit.MATRIX_FP16] == pytest.approx(312_000)
    assert device.bandwidth_gbs == pytest.approx({MemoryLevel.HBM: 1935, MemoryLevel.L2: 5000})


def test_json_of_the_schema(read: Callable[..., Profile]) -> None:
    profile = read((TEMPLATES / "template.json").read_text())
    assert profile.ops.name == ("gemm_1024", "softmax", "weights_to_device")
    assert profile.ops.occurrences.tolist() == [10, 10, 1]
    assert profile.ops.unit_flop[ComputeUnit.MATRIX_FP16].tolist() == [21474836480, 0, 0]
    assert profile.ops.traffic_bytes[MemoryLevel.L2].tolist() == [251658240, 0, 0]
    assert profile.ops.traffic_bytes[MemoryLevel.HOST].tolist() == [0, 0, 4194304]
    assert profile.ops.category[0] == "gemm"
    assert profile.device.unit_gflops[ComputeUnit.MATRIX_FP16] == 312_000.0
    assert profile.device.bandwidth_gbs[MemoryLevel.DRAM] == 1935.0
    assert profile.device.bandwidth_gbs[MemoryLevel.HOST] == 32.0
    assert profile.launches is not None
    assert profile.launches.detail[0] == "step 3"


@pytest.mark.covers(87)
@pytest.mark.parametrize("flop", [2**31, -1])
def test_cost_analysis_of_jax_is_one_program_without_a_time(
    flop: float, read: Callable[..., Profile]
) -> None:
    counted = {"flops": flop, "bytes accessed": 12582912.0, "bytes accessed0{}": 4194304.0}
    for text in (json.dumps(counted), json.dumps([counted])):  # older releases of JAX: a list
        profile = read(text)
        assert profile.ops.name == ("compiled program",)
        assert profile.ops.traffic_bytes[MemoryLevel.DRAM].tolist() == [12582912]
        assert "time-unknown" in {one.code for one in profile.diagnostics}
        noted = "flop-not-counted" in {one.code for one in profile.diagnostics}
        assert noted == (flop < 0)  # XLA does not know them


def test_csv_template_is_read_without_a_word(read: Callable[..., Profile]) -> None:
    assert not read((TEMPLATES / "template.csv").read_text()).diagnostics


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "k", "time_us": 5, "flops": 100, "bytes": 10}]',
        '{"points": [{"label": "k", "time": "5 us", "gflop": 1e-7, "dram_bytes": 10}]}',
        '{"operators": [{"name": "k", "time": {"value": 5, "unit": "us"}, "flops": 100,'
        ' "bytes": 10}]}',
        '{"name": "k", "time_us": 5, "flops": 100, "bytes": 10}\n',
        '{"name": "k", "time_us": 2, "flops": 60, "bytes": 4}\n'
        '{"name": "k", "time_us": 3, "flops": 40, "bytes": 6}\n',
    ],
)
def test_json_forms(text: str, read: Callable[..., Profile]) -> None:
    ops = read(text).ops
    assert (ops.flop.tolist(), ops.bytes_accessed.tolist()) == ([100], [10])
    assert ops.time_ps.tolist() == [5_000_000]


def test_json_roofs_in_many_spellings(read: Callable[..., Profile]) -> None:
    roofs = {
        "compute": {"fp64": "1.2 TFLOP/s", "bf16 tensor": 9e13},
        "memory": [
            {"level": "dram", "value": 2e11, "kind": "measured"},
            {"level": "attic", "value": 1},
        ],
    }
    profile = read(document(roofs=roofs, device="AMD EPYC 9654"))
    assert profile.device.kind is DeviceKind.CPU
    assert profile.device.unit_gflops == pytest.approx(
        {ComputeUnit.VECTOR_FP64: 1200, ComputeUnit.MATRIX_BF16: 90_000}
    )
    assert profile.device.bandwidth_gbs[MemoryLevel.DRAM] == pytest.approx(200)
    assert "attic" in note(profile, "roofs-left-out")


def test_sparse_rates_are_left_out(read: Callable[..., Profile]) -> None:
    sparse = {"precision": "fp8", "value": 4e15, "sparsity": "sparse"}
    profile = read(document(roofs={"compute": [sparse]}))
    assert not profile.device.unit_gflops
    assert "a sparse rate" in note(profile, "roofs-left-out")


@pytest.mark.parametrize("rate", [1e-320, 1e300])
def test_roofs_that_no_device_has_are_left_out(rate: float, read: Callable[..., Profile]) -> None:
    """Bytes over 1e-320 GB/s have no time."""
    profile = read(document(roofs={"memory": [{"level": "ici", "value": rate}]}))
    assert not profile.device.bandwidth_gbs
    assert "a rate that no device has" in note(profile, "roofs-left-out")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_lacks_are_refused_politely(
    word: str, read: Callable[..., Profile]
) -> None:
    text = document().replace("0.001", word)
    with pytest.raises(CorruptProfileError, match="which JSON does not have: write null"):
        read(text)


ERT = {
    "empirical": {
        "gflops": {"data": [["FP64 GFLOPs", 2772.78]]},
        "gbytes": {"data": [["L1", 8259.44], ["L2", 3100.0], ["DRAM", 200.3]]},
        "metadata": {},
    },
    "metadata": {"HOSTNAME": "node-7"},
    "spec": {"gflops": {"data": [["FP64 GFLOPs", 9999.0]]}, "gbytes": {"data": []}},
}


@pytest.mark.covers(223, 254)
def test_ert_roofs_join_a_table_of_kernels(read: Callable[..., Profile]) -> None:
    device = read(GEMM, json.dumps(ERT)).device
    assert device.peak_origin is PeakOrigin.MEASURED
    assert device.unit_gflops == pytest.approx({ComputeUnit.VECTOR_FP64: 2772.78})
    assert device.bandwidth_gbs[MemoryLevel.DRAM] == pytest.approx(200.3)
    assert device.traits.hostname == "node-7"
    assert "measured in the file" in device.derivation["l1"]


def test_roof_table_joins_a_table_of_kernels(read: Callable[..., Profile]) -> None:
    roofs = (
        "roof,level_or_precision,value,unit,kind\nmemory,dram,1935,GB/s,theoretical\n"
        "compute,fp64,9.7,TFLOP/s,theoretical\ncompute,fp64,oops,TFLOP/s,\n"
    )
    profile = read(roofs, GEMM)
    assert profile.device.bandwidth_gbs == {MemoryLevel.DRAM: 1935.0}
    assert profile.device.unit_gflops == pytest.approx({ComputeUnit.VECTOR_FP64: 9700})
    assert [host.file_name for host in profile.hosts] == ["table1"]
    assert "oops" in note(profile, "roofs-left-out")
    with pytest.raises(IncompleteProfileError, match="without any kernel"):
        read(roofs)


def test_work_of_a_precision_goes_to_the_unit_with_a_roof(read: Callable[..., Profile]) -> None:
    peak = "# peak_fp64_tensor: 19.5 TFLOP/s\n"
    text = "name,flops,bytes,time_s,precision\ng,100,10,1,fp64\n"
    assert list(read(peak + text).ops.unit_flop) == [ComputeUnit.MATRIX_FP64]
    assert list(read(text).ops.unit_flop) == [ComputeUnit.VECTOR_FP64]
    odd = read(text.replace("fp64", "posit32"))
    assert not odd.ops.unit_flop
    assert "posit32" in note(odd, "precision-unknown")


def test_samples_give_their_numbers() -> None:
    cpu = imported(SAMPLES / "cfd-cpu.csv")
    assert cpu.ops.time_ps.sum() == 31_330 * 10**9
    assert int(cpu.ops.flop[0]) == 812_400_000_000
    assert int(cpu.ops.traffic_bytes[MemoryLevel.DRAM][0]) == 1_310_000_000_000
    gpu = imported(SAMPLES / "attention-h100.json")
    analysis = analysis_on(gpu, resolve(gpu.device, catalogue=False))
    qkv = 3 * 2 * 2 * 4096**3 / 1430e-6 / 1e9
    assert analysis.ops.measures.flop_rate_gflops[0] == pytest.approx(qkv)
    assert analysis.ops.measures.roofline_efficiency_ratio[0] == pytest.approx(qkv / 989_400)


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_damaged_samples(sample: Path, tmp_path: Path) -> None:
    data, path = sample.read_bytes(), tmp_path / "damaged"
    for content in (*damage.cuts(data, 80), *damage.flips(data, 70)):
        path.write_bytes(content)
        damage.outcome([path])


@given(st.text(max_size=120))
def test_any_text_below_a_header_is_survived(text: str) -> None:
    path = Path(__file__).with_name("no-such-file")
    try:
        tables.read_csv(f"name,flops,bytes,time_s\n{text}", path.name)
    except RooflineError as error:
        assert error.remedy


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "kernels", "flops", "bytes", "time", "value", "unit", "x"])
                | st.text(max_size=3),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_survived(
    value: Mapping[str, Any]
    | float
    | Sequence[
        Sequence[float | str | Mapping[str, Any] | None] | float | str | Mapping[str, Any] | None
    ]
    | str
    | None,
) -> None:
    try:
        documents.read_json(json.dumps(value), "any.json")
    except RooflineError as error:
        assert error.remedy


def test_hostile_names_survive(read: Callable[..., Profile]) -> None:
    name = "<script>alert(1)</script>\u202e" + "é" * 4000
    ops = read(json.dumps([{"name": name, "flops": 1, "bytes": 1, "time": 1}])).ops
    assert ops.name[0].startswith("<script>")
    assert len(ops.name[0].encode()) <= 4096


@pytest.mark.parametrize(
    "head",
    [
        b'"Step","Operation","Bottleneck Operational Intensity (FLOP/Byte)","Total Time (us)"\n',
        b'"Rank","Host/device","Operation","Total time (us)","Operational Intensity"\n',
        b"Dispatch_ID,Kernel_Name,time,flops\n",
        b'{"traceEvents": [{"name": "k", "ts": 1, "dur": 2}]}',
        b"name,age\nx,3\n",
        b"name,time_s\nx,3\n",
        b'{"a": 1}',
        b"[1, 2]",
        b"hello, world\n",
        b"",
        b"\xff\xfe\x00\x01",
    ],
)
def test_tables_of_others_are_left_to_them(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(head)
    assert not generic.recognises(SourceFile(path))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_templates_are_recognised(form: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text((TEMPLATES / f"template.{form}").read_text())
    assert identify(SourceFile(path)) is generic


@pytest.mark.parametrize(
    ("unit", "dimension", "factor"),
    [
        ("GB", Dimension.BYTES, 1e9),
        ("GiB", Dimension.BYTES, 2**30),
        ("MBytes/s", Dimension.BANDWIDTH, 1e6),
        ("GiB/s", Dimension.BANDWIDTH, 2**30),
        ("gbs", Dimension.BANDWIDTH, 1e9),
        ("B", Dimension.BYTES, 1),
        ("TFLOP/s", Dimension.FLOP_RATE, 1e12),
        ("GFLOPS", Dimension.FLOP_RATE, 1e9),
        ("GFLOP", Dimension.FLOP, 1e9),
        ("µs", Dimension.TIME, 1e-6),
        ("GHz", Dimension.TIME, None),
        ("GB", Dimension.TIME, None),
    ],
)
def test_units(unit: str, dimension: Dimension, factor: float | None) -> None:
    assert unit_factor(unit, dimension) == factor


def test_quantities() -> None:
    assert parse_quantity("1.2 ms", Dimension.TIME) == pytest.approx(1.2e-3)
    assert parse_quantity("<0.5s", Dimension.TIME) == 0.5
    assert parse_quantity("3", Dimension.TIME, default=1e-9) == pytest.approx(3e-9)
    assert parse_quantity("n/a", Dimension.TIME) is None
    with pytest.raises(ValueError, match="3 GB"):
        parse_quantity("3 GB", Dimension.TIME)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("FP64 tensor", ComputeUnit.MATRIX_FP64),
        ("double", ComputeUnit.VECTOR_FP64),
        ("bfloat16", ComputeUnit.MATRIX_BF16),
        ("fp16 vector", ComputeUnit.VECTOR_FP16),
        ("int8", ComputeUnit.MATRIX_INT8),
        ("tf32 vector", None),
    ],
)
def test_units_of_precisions(text: str, unit: ComputeUnit | None) -> None:
    precision = precision_named(text)
    assert precision is not None
    assert unit_named(text, precision) is unit


def test_headers() -> None:
    assert meaning_of("Operations").field is Field.FLOP
    assert meaning_of("Operation").field is Field.NAME
    assert meaning_of("Memory bandwidth [MBytes/s]").factor == 1e6
    assert meaning_of("shoe size").field is Field.TAG
    assert precision_named("E4M3") is Precision.FP8


# ------------------------------------------------------------------------------------------- links

LINKED = """\
# device: TPU v6e
# peak_ici: 45 GB/s
name,time_us,flops,hbm_bytes,ici_bytes,host_bytes
gemm,100,1e9,1e6,,
reduce,50,,,1000000,
copy,40,0,1e6,,640000
fused,100,1e9,1e6,4000000,
"""


def test_links_bind_kernels_that_move_over_them(read: Callable[..., Profile]) -> None:
    profile = read(LINKED)
    analysis = analysis_on(profile)
    bounds = [analysis.bound_label(code) for code in analysis.ops.measures.bound[:4].tolist()]
    assert bounds == ["Compute", "ICI", "Host link", "ICI"]
    share = analysis.ops.measures.roofline_efficiency_ratio
    assert share[1:4] == pytest.approx([20 / 45, 16 / 32, 40 / 45])
    intensity = analysis.with_infeed.program.measures.intensity
    assert intensity[MemoryLevel.ICI][0] == pytest.approx(2e9 / 5e6)


@pytest.mark.parametrize(
    "stated",
    [
        {"roofs": {"links": [{"level": "nvlink", "value": 450, "unit": "GB/s"}]}},
        {"roofs": {"memory": {"nvlink": "450 GB/s"}}},
        {"device": {"name": "thing", "links": {"nvlink": "450 GB/s"}}},
    ],
)
def test_peaks_of_links_in_json(stated: dict[str, object], read: Callable[..., Profile]) -> None:
    kernels = [{"name": "k", "time": 1e-3, "bytes": {"nvlink": 225e6}}]
    profile = read(document(kernels=kernels, **stated))
    device = resolve(profile.device)
    assert device.link_gbs(MemoryLevel.NVLINK) == pytest.approx(450)
    analysis = analysis_on(profile, device)
    assert analysis.ops.measures.roofline_efficiency_ratio[0] == pytest.approx(0.5)
    assert analysis.bound_label(int(analysis.ops.measures.bound[0])) == "NVLink"


def test_an_unknown_level_drops_that_level_and_not_the_kernel(read: Callable[..., Profile]) -> None:
    kernels = [{"name": "k", "time": 1e-3, "flops": 2e9, "bytes": {"hbm": 1e6, "attic": 5}}]
    profile = read(document(kernels=kernels))
    assert profile.ops.traffic_bytes[MemoryLevel.HBM].tolist() == [1_000_000]
    assert "“attic”" in note(profile, "levels-left-out")


def test_busy_shares_of_units(read: Callable[..., Profile]) -> None:
    profile = read(
        "name,time_us,flops,bytes,busy.l1,Busy.Shared pipe [%],busy.issue\n"
        "a,1,8,4,97.9,12 %,100.04\na,3,8,4,50,,-\nb,2,8,4,,,\n"
    )
    busy = profile.ops.busy_ps
    assert list(busy) == [Ceiling.L1, Ceiling.ISSUE, Ceiling.SHARED_PIPE]
    assert busy[Ceiling.L1][0] == pytest.approx(0.979e6 + 1.5e6)
    # Less than half of the time of "a" has this share; rounding is no more than all of the time.
    assert np.isnan(busy[Ceiling.SHARED_PIPE]).all()
    assert np.isnan(busy[Ceiling.ISSUE]).all()
    assert np.isnan(busy[Ceiling.L1][1])
    assert not profile.diagnostics


def test_busy_shares_alone_are_enough(read: Callable[..., Profile]) -> None:
    profile = read("name,time_us,busy.l1\na,2,98\n")
    assert profile.ops.busy_ps[Ceiling.L1].tolist() == pytest.approx([1.96e6])
    text = json.dumps([{"name": "a", "time": "2 us", "busy": {"l1": 98, "issue": "16.8 %"}}])
    busy = read(text).ops.busy_ps
    assert busy[Ceiling.L1].tolist() == pytest.approx([1.96e6])
    assert busy[Ceiling.ISSUE].tolist() == pytest.approx([0.336e6])
    of_key = read('[{"name": "a", "time": 2e-6, "busy.l1": {"value": 98, "unit": "%"}}]')
    assert of_key.ops.busy_ps[Ceiling.L1].tolist() == pytest.approx([1.96e6])


def test_impossible_busy_shares_are_named(read: Callable[..., Profile]) -> None:
    with pytest.raises(CorruptProfileError, match=r"“busy\.l9” names no unit") as caught:
        read("name,time_us,flops,busy.l9\na,2,1,98\n")
    assert "shared_pipe" in caught.value.remedy
    profile = read("name,time_us,flops,busy.l1\na,2,1,98\nb,2,1,101\nc,2,1,-1\nd,2,1,much\n")
    assert profile.ops.name == ("a",)
    message = note(profile, "rows-left-out")
    assert "line 3: a busy share is not between 0 and 100 %" in message
    assert "line 4: a busy share is not between 0 and 100 %" in message
    assert "line 5, column busy.l1: “much” is not a number" in message
    kernel = {"name": "a", "time": 1, "flops": 1}
    profile = read(json.dumps([{**kernel, "busy": {"l9": 1}}, kernel]))
    assert "kernel 1: “l9” is not a unit that can be busy" in note(profile, "rows-left-out")
    # A column of that name alone says nothing about a unit: it stays a tag.
    assert read("name,time_us,flops,busy\na,2,1,98\n").ops.busy_ps == {}


def test_a_variant_stands_behind_the_name_and_can_be_it(read: Callable[..., Profile]) -> None:
    """One line per kernel and how it was written; one per library."""
    rows = "gemm,naive,9,1e9,1e6\ngemm,tiled,1,1e9,1e6"
    both = read(f"kernel,variant,avg_ms,flops,bytes\n{rows}")
    assert both.ops.name == ("gemm naive", "gemm tiled")
    alone = read("backend,avg_ms,tflops\ncublas,1,13.4")
    assert (alone.ops.name, int(alone.ops.flop[0])) == (("cublas",), 13_400_000_000)


def test_flops_of_no_stated_precision_are_said_to_be_held_against_the_matrix_unit(
    tmp_path: Path,
) -> None:
    def codes(columns: str, row: str) -> set[str]:
        path = tmp_path / "table.csv"
        path.write_text(f"{columns}\n{row}\n")
        choice = PeakChoice(part_id="h100-sxm")
        return {one.code for one in analyse_files([path], choice=choice).diagnostics}

    assert "precision-not-stated" in codes("name,time_us,flops,bytes", "g,9,1e9,1e6")
    stated = codes("name,time_us,flops,bytes,precision", "g,9,1e9,1e6,fp32")
    assert "precision-not-stated" not in stated
    assert "precision-not-stated" not in codes("name,time_us,flops,bytes", "copy,9,0,1e6")
