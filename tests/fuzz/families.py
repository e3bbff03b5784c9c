"""Families of inputs, one per reader: sound files made by this repository's own tools, and how to
break them. Input N of a family is the same on every machine."""

import csv
import gzip
import json
import random
import struct
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from roofline.cli import main
from roofline.importers.xspace.hlo.module import parse_module
from roofline.library.samples import find_samples
from tests.fuzz.database_mutation import bent_database
from tests.fuzz.mutation import Mutator, bend, bytes_of, fields_of
from tests.fuzz.packing import PACKERS, bent_zip
from tests.fuzz.report_mutation import bent_report
from tests.fuzz.seed_files import kept_seeds
from tests.fuzz.text_mutation import JsonMutator, TableMutator, bytes_damaged, hostile_text
from tests.tools import make_generic_samples as generic
from tests.tools import make_kineto_traces as kineto
from tests.tools import make_ncu_samples as ncu
from tests.tools import make_rocprof_folder as rocprof
from tests.tools import make_xprof_exports as xprof
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.gpu_captures import Event, gpu_plane, host_plane, one_kernel_per_instruction
from tests.tools.random_profiles import write_random_corner
from tests.tools.small_profiles import space_bytes
from tests.tools.xprof_json import our_tables
from tests.tools.xspace_wire import Stat

ROOT = Path(__file__).resolve().parents[2]
_TEMPLATES = Path(main.__file__).parent
SAMPLES = ROOT / "sample_profiles"
HLO = ROOT / "tests" / "golden" / "hlo"
CORNERS = 12
SEEDS_OF_FAMILY = 100
LARGEST_SAMPLE_BYTES = 100_000

Upload = list[tuple[str, bytes]]
"""The files of one upload: name and content."""


def xspace(number: int) -> Upload:
    """Captures of every kind of device, and a few of the bundled ones, which take longer."""
    return [("input.pb", xspace_mutator().input(number))]


@cache
def xspace_mutator() -> Mutator:
    """Inputs made from small profiles of every kind, and from the bundled samples."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = [path.read_bytes() for path in _written(Path(folder))]
    seeds.append(_gpu_capture())
    large = [path.read_bytes() for path in sorted(SAMPLES.rglob("*.pb"))]
    return Mutator(seeds, large)


def hlo(number: int) -> Upload:
    """Sound captures of a GPU around bent HLO programs, whose shapes the costs come from."""
    rng = random.Random(number)
    program, names = rng.choice(_programs())
    bent = program if rng.random() < 0.05 else Mutator([program]).small(rng)
    return [("input.pb", one_kernel_per_instruction(bent, names))]


def ncu_report(number: int) -> Upload:
    """Nsight Compute's binary report: damaged bytes, or sound blocks around bent messages."""
    rng = random.Random(number)
    data = rng.choice(_reports())
    if rng.random() < 0.3:
        return [("input.ncu-rep", bytes_damaged(rng, data))]
    return [("input.ncu-rep", bent_report(rng, data))]


def ncu_table(number: int) -> Upload:
    """Its CSV pages, in every unit and locale."""
    return [("input.csv", _ncu_tables()(random.Random(number)))]


def pytorch(number: int) -> Upload:
    """Kineto traces, now and then of two ranks."""
    rng = random.Random(number)
    files = [("rank0.json", _traces()(rng))]
    if rng.random() < 0.1:
        files.append(("rank1.json", _traces()(rng)))
    return files


def xprof_export(number: int) -> Upload:
    """Tables of XProf, as JSON or CSV, alone or two together."""
    rng = random.Random(number)
    tables, documents = _xprof_tables()
    first = documents(rng) if rng.random() < 0.5 else tables(rng)
    if rng.random() < 0.2:
        return [("a.csv", first), ("b.csv", tables(rng))]
    return [("input.csv", first)]


def rocprof_folder(number: int) -> Upload:
    """The CSV files of a workload, most of them sound."""
    rng = random.Random(number)
    files = []
    for at, (name, content) in enumerate(sorted(rocprof.workload().items())):
        if rng.random() < 0.05:
            continue
        is_bent = rng.random() < 0.5
        files.append((name, _rocprof_tables()(rng, at) if is_bent else content.encode()))
    return files or [("pmc_perf.csv", b"")]


def generic_table(number: int) -> Upload:
    """Your own CSV, JSON, JSON Lines, and roofs of ERT."""
    rng = random.Random(number)
    tables, documents = _generic_files()
    files = [("input", documents(rng) if rng.random() < 0.5 else tables(rng))]
    if rng.random() < 0.1:
        files.append(("roofs", tables(rng, 3)))
    return files


def wrong_file(number: int) -> Upload:
    """Files that are not profiles: Perfetto traces, pictures, databases, other tools' tables."""
    rng = random.Random(number)
    data = rng.choice(_OTHER_FILES)
    fields = fields_of(data)
    if fields and rng.random() < 0.5:
        for _ in range(rng.choice((1, 3))):
            bend(rng, fields)
        data = bytes_of(fields)
    elif rng.random() < 0.3:
        run = hostile_text(rng).encode("utf-8", "surrogatepass")
        at = rng.randrange(len(data) + 1)
        data = data[:at] + run * rng.choice((1, 1, 2_000 // (len(run) + 1) + 1)) + data[at:]
    return [("input.bin", bytes_damaged(rng, data) if rng.random() < 0.6 else data)]


def archive(number: int) -> Upload:
    """Profiles in gzip, Zstandard, zip and tar, nested, damaged, with false sizes and odd names."""
    rng = random.Random(number)
    content = _any_profile(rng)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        content = rng.choice(PACKERS)(rng, content)
    if rng.random() < 0.4:
        content = bytes_damaged(rng, content)
    return [("input" + rng.choice((".zip", ".gz", ".tar.gz", ".zst", ".ncu-repz", "")), content)]


def database(number: int) -> Upload:
    """Databases of Nsight Systems and rocprofv3, damaged or hostile."""
    return [("input.sqlite", bent_database(number))]


def sample(number: int) -> Upload:
    """A bundled sample of any format, one of its files damaged: new formats are fuzzed, too."""
    rng = random.Random(number)
    files = rng.choice(_samples())
    at = rng.randrange(len(files))
    return [
        (name, _sample_damaged(rng, data) if k == at else data)
        for k, (name, data) in enumerate(files)
    ]


def _sample_damaged(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.5:
        return bytes_damaged(rng, data)
    run = hostile_text(rng).encode("utf-8", "surrogatepass")
    begin = rng.randrange(len(data) + 1)
    end = begin if rng.random() < 0.5 else min(len(data), begin + rng.randrange(1, 40))
    return data[:begin] + run + data[end:]


def mixture(number: int) -> Upload:
    """Files of several hosts and formats together, some of them sound."""
    rng = random.Random(number)
    if rng.random() < 0.5:
        capture, report = xspace_mutator().small(rng), _matching_report()
        report = bent_report(rng, report) if rng.random() < 0.7 else report
        capture = _gpu_capture() if rng.random() < 0.7 else capture
        return [("host.xplane.pb", capture), ("kernels.ncu-rep", report)]
    makers = (xspace, xspace, xspace, ncu_report, ncu_table, pytorch, xprof_export, generic_table)
    first = rng.choice(makers)
    others = [first if rng.random() < 0.8 else rng.choice(makers) for _ in range(2)]
    return [
        (f"{at}-{name}", content)
        for at, make in enumerate((first, *others))
        for name, content in make(rng.randrange(2**40))
    ]


FAMILIES: dict[str, Callable[[int], Upload]] = {
    "xspace": xspace,
    "hlo": hlo,
    "ncu-report": ncu_report,
    "ncu-table": ncu_table,
    "pytorch": pytorch,
    "xprof-export": xprof_export,
    "rocprof": rocprof_folder,
    "generic": generic_table,
    "wrong-file": wrong_file,
    "archive": archive,
    "database": database,
    "sample": sample,
    "mixture": mixture,
}


def seeds_of(family: str) -> list[bytes]:
    """Single files that a guided run of `family` starts from: sound, broken, and kept ones."""
    sound = {"ncu-report": list(_reports()), "xspace": list(xspace_mutator().seeds)}
    make = FAMILIES[family]
    broken = [max((content for _, content in make(n)), key=len) for n in range(SEEDS_OF_FAMILY)]
    return [*sound.get(family, []), *broken, *kept_seeds(family)]


def upload_of(family: str, data: bytes) -> Upload:
    """`data` as the one hostile file of an upload; a workload of rocprof-compute needs others."""
    if family != "rocprof":
        return [("input", data)]
    workload = {name: content.encode() for name, content in rocprof.workload().items()}
    return list({**workload, "pmc_perf.csv": data}.items())


def changed(family: str, rng: random.Random, data: bytes) -> bytes:
    """`data` with a few changes that keep the form of its family, where it has that form."""
    try:
        match family:
            case "ncu-report":
                return bent_report(rng, data)
            case "xspace" | "hlo":
                return Mutator([data]).small(rng)
            case "archive":
                return rng.choice(PACKERS)(rng, data) if rng.random() < 0.2 else bent_zip(rng, data)
            case _:
                text = data.decode()
                is_json = text.lstrip()[:1] in ("{", "[")
                return JsonMutator([text])(rng) if is_json else TableMutator([text])(rng)
    except (ValueError, LookupError, RecursionError, StopIteration, struct.error, csv.Error):
        return bytes_damaged(rng, data or b"x")


# ------------------------------------------------------------------------------------------- seeds


def _written(folder: Path) -> Iterator[Path]:
    for number in range(CORNERS):
        (folder / str(number)).mkdir()
        yield from write_random_corner(number, folder / str(number))
    for device in ("v4", "v5e", "v6e"):
        config = Config(device=device, n_events=60, n_steps=2, n_distinct_ops=10)
        (folder / device).mkdir()
        yield from write_profile(config, folder / device)


def _gpu_capture() -> bytes:
    us = 1_000_000
    launch: list[Event] = [
        ("cuLaunchKernel", at * us, us, [("correlation_id", at)]) for at in range(1, 6)
    ]
    stats: list[Stat] = [("hlo_op", "fusion.1"), ("hlo_module", "m"), ("program_id", 7)]
    kernels: list[Event] = [
        ("gemm", at * 10 * us, 5 * us, [*stats, ("correlation_id", at)]) for at in range(1, 6)
    ]
    return space_bytes([gpu_plane([kernels, kernels[:2]]), host_plane(launch)])


@cache
def _samples() -> tuple[Upload, ...]:
    """The files of every bundled sample but the large ones."""
    found = find_samples(SAMPLES)
    return tuple(
        [(path.name, path.read_bytes()) for path in one.files]
        for one in found
        if one.size_bytes <= LARGEST_SAMPLE_BYTES
    )


@cache
def _programs() -> tuple[tuple[bytes, tuple[str, ...]], ...]:
    """HLO programs, and the names of their instructions."""
    contents = [gzip.decompress(path.read_bytes()) for path in sorted(HLO.glob("*.pb.gz"))]
    modules = [(content, parse_module(content)) for content in contents]
    return tuple((content, tuple(module.by_name)) for content, module in modules if module)


@cache
def _reports() -> tuple[bytes, ...]:
    return (
        ncu.report(),
        ncu.report(ncu.KERNELS[2:4]),
        ncu.report(ncu.KERNELS[3:4], others=(ncu.session_block("2022.1.1.0"),)),
    )


@cache
def _matching_report() -> bytes:
    names = ("gemm(float*)", "fusion.1", "void gemm<4>(int)")
    work = {"ffma": 500, "fadd": 24, "fmul": 0}
    return ncu.report(
        [
            ncu.Kernel(name=name, time_ns=2_000, instructions=work, dram_bytes=4_096)
            for name in names
        ]
    )


@cache
def _ncu_tables() -> TableMutator:
    kernels = ncu.KERNELS[2:5]
    styles = (
        ncu.Style(),
        ncu.Style(base_units=True, year=2025),
        ncu.Style(decimal=",", grouping=".", year=2022),
        ncu.Style(nvtx=True, base_units=True, grouping=","),
    )
    raw = [ncu.raw_page(kernels, style) for style in styles]
    long = [ncu.long_page(kernels[:2], style) for style in styles]
    said = "==PROF== Connected to process 4242\nhello\n" + raw[0] + "==PROF== Disconnected\n"
    return TableMutator([*raw, *long, said])


@cache
def _traces() -> JsonMutator:
    small = []
    for device, is_hip in ((kineto.H100, False), (kineto.MI300X, True), (None, False)):
        trace = kineto.KinetoTrace(device=device, is_hip=is_hip)
        begin = trace.host_us
        kineto.layer(trace, kineto.H100_TIMES)
        trace.step(5, begin)
        trace.events = trace.events[:24] + trace.events[-2:]
        small.append(trace.as_json())
    bare = json.dumps(json.loads(small[0])["traceEvents"])
    words = (
        "distributedInfo", "Process Group Name", "bytes", "Kernel", "Input Strides", "Ev Idx",
        "Fwd thread id", "Sequence number", "stream", "blocks per SM", "Input type", "id", "cbid",
        "Concrete Inputs", "grid", "block", "est. achieved occupancy %", "In msg nelems", "s", "f",
    )  # fmt: skip
    return JsonMutator([*small, bare], words)


@cache
def _xprof_tables() -> tuple[TableMutator, JsonMutator]:
    with tempfile.TemporaryDirectory() as folder:
        config = Config(device="v5e", n_events=60, n_steps=2, n_distinct_ops=5)
        tpu = our_tables(write_profile(config, folder))
    gpu = xprof.gpu_tables()
    stats = xprof.hlo_stats(gpu[0])
    tables = [xprof.as_csv(gpu[0]), xprof.as_csv(stats)]
    return TableMutator(tables), JsonMutator([json.dumps(tpu), json.dumps(gpu), json.dumps(stats)])


@cache
def _rocprof_tables() -> TableMutator:
    return TableMutator([content for _, content in sorted(rocprof.workload().items())])


_ROOFS = """\
# device: Some part
roof,level or precision,value,unit,kind,sparsity
memory,dram,1935,GB/s,theoretical,
memory,l2,5.5,TB/s,measured,
compute,fp64,9.7,TFLOP/s,theoretical,dense
compute,fp16 tensor,312,TFLOP/s,theoretical,sparse
"""
_RATES = """\
kernel;GFLOP/s;AI [FLOP/B];dram bw;time_us;#calls;time per call
gemm;912,5;12,4;100,2;8,25;3;2,75
copy;0;0;1.200,5;1;1;1
"""
_ERT = {
    "empirical": {
        "gflops": {"data": [["FP64 GFLOPs", 9300.5]]},
        "gbytes": {"data": [["L1", 12900.0], ["DRAM", 828.8]]},
        "metadata": {},
    },
    "metadata": {"HOSTNAME": "node-7"},
}
_PACKETS = b"".join(
    ncu.nested(1, ncu.whole(8, 10**12 + at), ncu.nested(11, ncu.nested(11, "x")), ncu.whole(10, 1))
    for at in range(50)
)
_OTHER_FILES = (
    ncu.nested(1, ncu.nested(6, ncu.nested(1, ncu.whole(1, 6), ncu.whole(2, 10**12)))) + _PACKETS,
    _PACKETS,
    b"RIFF\x10\x00\x00\x00WEBPVP8 ",
    b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00\x3e\x00" + bytes(40),
    b"SQLite format 3\x00" + bytes(80) + b"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT)",
    struct.pack("<Q", 60) + b'{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}',
    struct.pack("<QI", 24, 7) + b"\x09\x00\x00\x40\xc5\x8d\x5c\xd9\x41\x1a\x0dbrain.Event:2",
    b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
    b"\n<!-- saved --><!DOCTYPE html><title>login</title>",
    b'<?xml version="1.0"?><svg width="1"/>',
    b'{"displayTimeUnit": "ns", "traceEvents": [{"ph": "X", "name": "XLA Ops", "ts": 1}]}',
    b'{"cols": [{"id": "rank"}, {"id": "kernel_name"}], "rows": []}',
    b'{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}',
    b"# LIKWID\nGroup 1 Metric,FLOPS_DP\n",
    b'"Time (%)","Total Time (ns)","Instances","Name"\n1,2,3,f\n',
    b"\xff\xfe" + "name,x\n".encode("utf-16-le"),
)


@cache
def _generic_files() -> tuple[TableMutator, JsonMutator]:
    template = (_TEMPLATES / "template.json").read_text()
    table = (_TEMPLATES / "template.csv").read_text()
    document = json.loads(template)
    lines = "\n".join(json.dumps(kernel) for kernel in document["kernels"])
    spaced = "# device: x\n# time_per: call\n# count: 4\n" + table.partition("gB/s\n")[0]
    tables = TableMutator([table, generic.cpu_csv(), _RATES, _ROOFS, spaced])
    documents = [template, generic.gpu_json(), lines, json.dumps(_ERT)]
    words = (
        "time_per",
        "points",
        "operators",
        "ai",
        "flop_rate",
        "bandwidth",
        "l1_bytes",
        "gflop/s",
    )
    return tables, JsonMutator(documents, words)


def _any_profile(rng: random.Random) -> bytes:
    family = rng.choice(("ncu-report", "generic", "xspace", "pytorch", "wrong-file", "ncu-table"))
    return FAMILIES[family](rng.randrange(2**40))[0][1]
