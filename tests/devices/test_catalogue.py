"""The catalogue: every number has a source, is plausible and reproduces known ridge points."""

import csv
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from roofline.devices.catalogue import find, parts, sources
from roofline.devices.catalogue import part as part_of
from roofline.devices.parts import FigureStatus, Part
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from tests.narrowing import known
from tests.tools.catalogue import CATALOGUE, laid_out

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "devices"
OTHERS = {
    "sparse",
    *(f"sparse_{name}" for name in ("bf16", "fp16", "fp8", "int8")),
    "processors",
    "clock",
    "memory_bytes",
    "vmem_bytes",
    "cmem_bytes",
    "link_oneway",
    "links",
    "links_oneway",
    "links_bidirectional",
    "pcie_oneway",
    "network_oneway",
    "exp",
    *(f"latency_{name}" for name in ("main", "l2", "shared")),
}
KINDS = {
    "paper",
    "vendor",
    "vendor code",
    "vendor copy",
    "code citing vendor",
    "guide",
    "profiler",
    "secondary",
    "derived",
}
# Saved links and peak files name these devices, so none of them may vanish.
IN_LINKS = """
tpu-v2 tpu-v3 tpu-v4i tpu-v4 tpu-v5e tpu-v5p tpu-v6e tpu-v7x tpu-8i tpu-8t p100-sxm2 v100-sxm2
v100-pcie t4 rtx-2060-6gb rtx-2060-12gb rtx-2060-super rtx-2070 rtx-2070-super rtx-2080
rtx-2080-super rtx-2080-ti a10 a10g a40 a100-40-sxm a100-40-pcie a100-80-sxm a100-80-pcie
rtx-3050-6gb rtx-3050-8gb rtx-3060-8gb rtx-3060-12gb rtx-3060-ti rtx-3070 rtx-3070-ti
rtx-3080-10gb rtx-3080-12gb rtx-3080-ti rtx-3090 rtx-3090-ti l4 l40s h100-sxm h100-sxm-96
h100-pcie h100-nvl h200 gh200-96 gh200-144 b200 gb200 rtx-4060 rtx-4060-ti rtx-4070
rtx-4070-super rtx-4070-ti rtx-4070-ti-super rtx-4080 rtx-4080-super rtx-4090 rtx-4090-d
rtx-5050 rtx-5060 rtx-5060-ti rtx-5070 rtx-5070-ti rtx-5080 rtx-5090 mi210 mi250 mi250x mi300x
mi300a mi325x mi355x intel-13900k intel-max-1550
"""


def of_every_part(test: Callable[[Part], None]) -> Callable[[], None]:
    """A test of one part, as one test of all."""

    def of_all() -> None:
        for part in parts():
            try:
                test(part)
            except AssertionError as error:
                raise AssertionError(part.id) from error

    return of_all


def cases(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def value(part: Part, of: str, source: str) -> float:
    """The number of `of` that `source` gives, else the chosen one."""
    wanted = [f for f in part.figures if f.of == of and f.source.key == source]
    figure = wanted[0] if source else part.figure(of)
    return known(figure).value


@of_every_part
def test_every_number_is_of_something_known_and_has_a_source(part: Part) -> None:
    known = OTHERS | set(ComputeUnit) | set(MemoryLevel)
    for figure in part.figures:
        assert figure.of in known
        assert figure.source.title
        assert figure.source.kind in KINDS
        assert figure.source.kind != "derived" or figure.note
        assert figure.scope in ("chip", "link")


@of_every_part
def test_one_number_is_chosen_of_each_thing(part: Part) -> None:
    chosen = [f.of for f in part.figures if f.status is FigureStatus.CHOSEN]
    assert len(chosen) == len(set(chosen))


@of_every_part
def test_units_fit_what_is_measured(part: Part) -> None:
    for figure in part.figures:
        if figure.of in {*ComputeUnit, "exp"}:
            assert figure.unit in ("FLOP/s", "op/s")
        elif figure.of in ("links", "processors"):
            assert figure.unit == "count"
        elif figure.of == "clock":
            assert figure.unit == "Hz"
        elif figure.of.startswith("sparse"):
            assert figure.unit == "ratio"
        elif figure.of.startswith("latency"):
            assert figure.unit == "s"
        else:
            assert figure.unit == ("B" if figure.of.endswith("_bytes") else "B/s")


@of_every_part
def test_numbers_have_the_right_magnitude(part: Part) -> None:
    for figure in part.figures:
        # GeForce parts do 4 FLOP of fp64 per processor and cycle.
        lowest = 5e10 if figure.of == "vector_fp64" else 1e12
        low, high = {
            "FLOP/s": (lowest, 2e16),
            "op/s": (1e12, 2e16),
            "B/s": (1e9, 5e14),
            "B": (1e7, 1e12),
            "count": (2, 32) if figure.of == "links" else (6, 320),
            "Hz": (1.1e9, 3.0e9),
            "ratio": (1.5, 4),
            "s": (1e-8, 1e-6),
        }[figure.unit]
        assert figure.value == 0 or low <= figure.value <= high, figure


@of_every_part
def test_fewer_bits_are_never_slower(part: Part) -> None:
    rates = {peak.unit: peak.gflops for peak in part.compute()}
    # Equal where a part has no faster mode: fp8 on TPU v5p, fp64 on MI355X.
    order = ("matrix_fp64", "matrix_tf32", "matrix_bf16", "matrix_fp8", "matrix_fp4")
    present = [rates[ComputeUnit(unit)] for unit in order if ComputeUnit(unit) in rates]
    assert present == sorted(present)
    if {ComputeUnit.VECTOR_FP64, ComputeUnit.VECTOR_FP32} <= set(rates):
        assert rates[ComputeUnit.VECTOR_FP64] <= rates[ComputeUnit.VECTOR_FP32]


@of_every_part
def test_memory_nearer_to_the_unit_is_faster(part: Part) -> None:
    gbs = {one.level: one.gbs for one in part.memory()}
    main = [gbs[level] for level in gbs if level.is_main]
    assert len(main) <= 1
    assert all(value > main[0] for level, value in gbs.items() if main and not level.is_main)


@of_every_part
def test_links_add_up(part: Part) -> None:
    links, one = part.figure("links"), part.figure("link_oneway")
    total, both = part.figure("links_oneway"), part.figure("links_bidirectional")
    if links and one and total:
        assert links.value * one.value == pytest.approx(total.value)
    if total and both:
        assert both.value == pytest.approx(2 * total.value)


def test_names_mean_one_part_each() -> None:
    names = [
        name.casefold()
        for part in parts()
        for name in {part.id.casefold(), part.name.casefold(), *map(str.casefold, part.aliases)}
    ]
    assert len(names) == len(set(names))
    ids = [part.id for part in parts()]
    assert len(set(ids)) == len(ids)
    assert set(IN_LINKS.split()) <= set(ids)


def test_the_catalogue_is_laid_out() -> None:
    """Written by `python -m tests.tools.catalogue`."""
    text = CATALOGUE.read_text("utf-8")
    assert text == laid_out(text)


@pytest.mark.covers(261)
def test_every_source_can_be_opened_or_says_what_it_is() -> None:
    unopenable = {key for key, source in sources().items() if not source.address}
    assert unopenable == {"DER", "EX-tpu", "EX-all", "EX-llm", "XP-v7x", "NCU", "GUIDE-sustained"}
    assert all(
        s.address.startswith(("https://", "http://")) for s in sources().values() if s.address
    )


@pytest.mark.parametrize("case", cases("published.csv"), ids=lambda c: f"{c['part']} {c['of']}")
def test_derived_rates_are_the_published_ones(case: Mapping[str, str]) -> None:
    value_here = known(known(part_of(case["part"])).value(case["of"]))
    assert value_here / 1e12 == pytest.approx(float(case["published_tera"]), rel=0.004)


def test_rates_follow_from_processors_cycles_and_clock() -> None:
    derived = known(part_of("rtx-4070")).figure("matrix_fp16")
    assert known(derived).value == 46 * 512 * 2.475e9
    assert known(derived).note == "46 SMs × 512 FLOP per cycle × 2.475 GHz, fp32 accumulation"
    assert known(known(part_of("rtx-2080")).figure("matrix_bf16")).note == "not supported"
    assert known(known(part_of("rtx-3070")).figure("matrix_int8")).unit == "op/s"


def test_stated_rates_come_before_derived_ones() -> None:
    figures = [f.value for f in known(part_of("a40")).figures if f.of == "matrix_int8"]
    assert figures == [299.3e12]
    assert known(part_of("a40")).value("shared") == 84 * 128 * 1.74e9


@pytest.mark.covers(49, 50, 51, 107, 141, 142, 143, 144, 145, 146, 195, 197, 199, 205)
@pytest.mark.parametrize("case", cases("ridges.csv"), ids=lambda case: case["case"])
def test_ridge_points_are_reproduced(case: Mapping[str, str]) -> None:
    part = known(part_of(case["part"]))
    compute = value(part, case["compute"], case["compute_source"])
    memory = value(part, case["memory"], case["memory_source"])
    expected, tolerance = float(case["ridge_flop_per_byte"]), float(case["tolerance"])
    assert compute / memory == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "part_id"),
    [
        ("TPU v5", "tpu-v5p"),
        ("TPU v5 Lite", "tpu-v5e"),
        ("tpu v6 lite", "tpu-v6e"),
        ("TPU v4 lite", "tpu-v4i"),
        ("TPU7x", "tpu-v7x"),
        ("v5litepod", "tpu-v5e"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L40", "l40"),
        ("AMD Radeon RX 7900 XTX", "rx-7900-xtx"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA B200", "b200"),
        ("  NVIDIA  A100-SXM4-80GB ", "a100-80-sxm"),
        ("h100-sxm", "h100-sxm"),
        ("AMD Instinct MI300X VF", "mi300x"),
        ("AMD Instinct MI300A", "mi300a"),
        ("AMD Instinct MI250", "mi250"),
        ("NVIDIA GH200 480GB", "gh200-96"),
        ("NVIDIA GH200 144G HBM3e", "gh200-144"),
        ("Tesla V100-DGXS-32GB", "v100-sxm2"),
        ("NVIDIA A100-PG509-200", "a100-40-sxm"),
        ("NVIDIA A40", "a40"),
        ("GeForce RTX 2080 Ti", "rtx-2080-ti"),
        ("NVIDIA GeForce RTX 2060 SUPER", "rtx-2060-super"),
        ("NVIDIA GeForce RTX 2070", "rtx-2070"),
        ("NVIDIA GeForce RTX 2070 SUPER", "rtx-2070-super"),
        ("NVIDIA GeForce RTX 2080", "rtx-2080"),
        ("NVIDIA GeForce RTX 2080 SUPER", "rtx-2080-super"),
        ("NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"),
        ("NVIDIA GeForce RTX 3060 Ti", "rtx-3060-ti"),
        ("NVIDIA GeForce RTX 3070", "rtx-3070"),
        ("NVIDIA GeForce RTX 3070 Ti", "rtx-3070-ti"),
        ("NVIDIA GeForce RTX 3080 Ti", "rtx-3080-ti"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA GeForce RTX 3090 Ti", "rtx-3090-ti"),
        ("NVIDIA GeForce RTX 4060", "rtx-4060"),
        ("NVIDIA GeForce RTX 4060 Ti", "rtx-4060-ti"),
        ("NVIDIA GeForce RTX 4070", "rtx-4070"),
        ("NVIDIA GeForce RTX 4070 SUPER", "rtx-4070-super"),
        ("NVIDIA GeForce RTX 4070 Ti", "rtx-4070-ti"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "rtx-4070-ti-super"),
        ("NVIDIA GeForce RTX 4080", "rtx-4080"),
        ("NVIDIA GeForce RTX 4080 SUPER", "rtx-4080-super"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 4090 D", "rtx-4090-d"),
        ("NVIDIA GeForce RTX 5050", "rtx-5050"),
        ("NVIDIA GeForce RTX 5060", "rtx-5060"),
        ("NVIDIA GeForce RTX 5060 Ti", "rtx-5060-ti"),
        ("NVIDIA GeForce RTX 5070", "rtx-5070"),
        ("NVIDIA GeForce RTX 5070 Ti", "rtx-5070-ti"),
        ("NVIDIA GeForce RTX 5080", "rtx-5080"),
        ("NVIDIA GeForce RTX 5090", "rtx-5090"),
    ],
)
def test_name_means_its_part(name: str, part_id: str) -> None:
    assert known(find(name)).id == part_id


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA L40G",
        "NVIDIA A100",
        "NVIDIA H100",
        "NVIDIA GeForce RTX 3080",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 5090 D",
        "L40S-48C",
        "NVIDIA L4 24GB",
        "TPU v55",
        "Nvidia GPU (Ampere)",
        "AMD GPU - gfx942",
        "GPU",
        "CPU",
        "",
    ],
)
def test_name_that_is_not_listed_means_no_part(name: str) -> None:
    assert find(name) is None


def test_peaks_are_per_profiler_device() -> None:
    half, whole = part_of("tpu-v7x"), known(part_of("tpu-v7x")).compute(devices=1)
    assert known(half).compute()[0].gflops == pytest.approx(1153500)
    assert whole[0].gflops == pytest.approx(2307000)
    assert known(half).memory()[0].gbs == pytest.approx(3690)
    assert known(half).memory_bytes == 206158430208 / 2


def test_zero_is_a_missing_unit_and_blank_is_unknown() -> None:
    v100, p100 = part_of("v100-sxm2"), part_of("p100-sxm2")
    assert known(v100).absent_units == (ComputeUnit.MATRIX_BF16,)
    assert ComputeUnit.MATRIX_BF16 not in {peak.unit for peak in known(v100).compute()}
    assert known(p100).absent_units == ()


@pytest.mark.parametrize(
    ("part_id", "unit"),
    [
        ("tpu-v5e", ComputeUnit.MATRIX_BF16),
        ("h100-sxm", ComputeUnit.MATRIX_BF16),
        ("v100-sxm2", ComputeUnit.MATRIX_FP16),
        ("t4", ComputeUnit.MATRIX_FP16),
        ("p100-sxm2", ComputeUnit.VECTOR_FP32),
        ("intel-13900k", ComputeUnit.VECTOR_FP32),
    ],
)
def test_main_peak_is_the_one_programs_are_held_against(part_id: str, unit: ComputeUnit) -> None:
    assert known(part_of(part_id)).compute()[0].unit == unit


def test_kinds_are_told() -> None:
    kinds = {part.vendor: part.kind for part in parts() if part.vendor != "Intel"}
    gpus = {"NVIDIA": DeviceKind.GPU, "AMD": DeviceKind.GPU}
    assert kinds == {"Google": DeviceKind.TPU, **gpus, "AWS": DeviceKind.ACCELERATOR}
    assert known(part_of("gaudi3")).kind is DeviceKind.ACCELERATOR
    assert known(part_of("intel-13900k")).kind is DeviceKind.CPU


@pytest.mark.parametrize(
    ("part_id", "ridge"),
    [
        ("b300", 281.25),
        ("gb300", 312.5),
        ("h20", 37.0),
        ("mi350x", 288.4),
        ("trainium2", 230.0),
        ("gaudi3", 453.2),
    ],
)
def test_ridge_of_a_part_added_later(part_id: str, ridge: float) -> None:
    part = known(part_of(part_id))
    rate = known(part.value("matrix_bf16")) / known(part.value("hbm"))
    assert rate == pytest.approx(ridge, abs=0.05)


def test_exponentials_follow_from_the_matrix_rate() -> None:
    """16 per clock and SM at the clock behind the matrix peak: 4,096 FLOP per clock on H100."""
    h100 = known(part_of("h100-sxm"))
    assert known(h100.value("exp")) == known(h100.value("matrix_bf16")) / 4096 * 16
    assert known(part_of("mi300x")).value("exp") is None


def test_devices_of_the_documents_are_in_the_catalogue() -> None:
    """Their commands are copied as they stand."""
    root = Path(__file__).resolve().parents[2]
    texts = [path.read_text("utf-8") for path in (root / "README.md", *root.glob("docs/*.md"))]
    command = re.compile(
        r'^roofline (?:devices|.*--device) +(?:"([^"]+)"|([a-z0-9-]+)\b(?!:))', re.M
    )
    found = command.findall("\n".join(texts))
    names = {quoted or plain for quoted, plain in found} - {"this-machine"}
    assert len(names) > 3
    assert not [name for name in names if not name.startswith("-") and find(name) is None]


@pytest.mark.parametrize(
    ("part_id", "tflops"),
    [
        ("mi210", 45.26),
        ("mi250", 45.26),  # of one of two dies
        ("mi250x", 47.87),
        ("mi300a", 122.6),
        ("mi300x", 163.4),
        ("mi325x", 163.4),
        ("mi355x", 157.3),
    ],
)
def test_matrix_cores_of_amd_multiply_fp32(part_id: str, tflops: float) -> None:
    peaks = {peak.unit: peak.gflops for peak in known(part_of(part_id)).compute()}
    assert peaks[ComputeUnit.MATRIX_FP32] / 1000 == pytest.approx(tflops, rel=1e-3)
