"""Realistic TPU profiles of any size: steps, nested containers, collectives, several hosts.

    python -m tests.tools.generate_xspace --out DIR --device v4 --n-events 1000000 \
        --n-steps 20 --n-distinct-ops 400 --mix training --trait hostile_names

writes one file per host, DIR/host_<i>.xplane.pb. Everything is a pure function of the configuration
(its seed included), so runs can be repeated. `python -m tests.tools.generate_xspace --list-traits`
lists what can be mixed in.
"""

import argparse
import dataclasses
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tests.tools import xspace_writer_pb2 as pb
from tests.tools.xspace_wire import (
    CMEM,
    HBM,
    READ,
    VMEM,
    WRITE,
    PlaneBuilder,
    Stat,
    StatCol,
    breakdown,
    encode_events,
)


# Peaks are plausible public figures per core; nothing in the roofline code depends on them.
@dataclass(frozen=True)
class Tpu:
    type_string: str
    tflops: float
    hbm: float  # GB/s
    sram: tuple[float, float] = (0.0, 0.0)  # read, write GB/s
    cmem: tuple[float, float] = (0.0, 0.0)
    vmem: tuple[float, float] = (0.0, 0.0)
    megacore: bool = False
    merged_vmem: bool = False
    cores_per_chip: int = 1


DEVICES = {
    "v4": Tpu("TPU v4", 275.0, 1228.8, (0.0, 0.0), (2150.0, 1900.0), (0.0, 0.0), megacore=True),
    "v5e": Tpu("TPU v5 lite", 197.0, 819.2, vmem=(9830.0, 6550.0), merged_vmem=True),
    "v5p": Tpu("TPU v5", 459.0, 2765.0, vmem=(21000.0, 14000.0), megacore=True, merged_vmem=True),
    "v6e": Tpu("TPU v6 lite", 918.0, 1640.0, vmem=(24500.0, 18400.0), merged_vmem=True),
    "v7x": Tpu(
        "TPU7x", 1153.5, 3690.0, vmem=(36900.0, 27700.0), merged_vmem=True, cores_per_chip=2
    ),
    "v3": Tpu("TPU v3", 61.5, 450.0, sram=(0.0, 0.0), cores_per_chip=2),
}
TRAITS = {
    "incomplete_first": "ops of a step whose start was not captured precede step 0",
    "incomplete_last": "ops of a started but unfinished step follow the last step",
    "idle_gaps": "long gaps between some ops and between steps",
    "hostile_names": "HTML, quotes, control characters, unicode and 4 kB names",
    "shared_names": "several programs use the same op names with different costs",
    "missing_stats": "some ops lack category, flops, bytes, breakdown, ids ...",
    "no_breakdown": "no memory_access_breakdown at all (old dumps)",
    "device_clock": "device_offset_ps/device_duration_ps stats on every event",
    "rich_events": "adds Time Scale Multiplier and dma stall stats to each event",
    "dvfs": "Time Scale Multiplier differs from one on some events",
    "dma_stall": "dma_stall_duration_ps on a part of the events",
    "host_steps": "host plane with step annotations and program launches",
    "no_steps_line": "modules only, no Steps line (typical for inference)",
    "zero_steps": "Steps line exists but is empty, no modules",
    "async_line": "adds an Async XLA Ops line",
    "sparse_core": "adds one SparseCore plane per device, after the TensorCores",
    "framework_ops": "tf_op stat on most ops",
    "sources": "source / source_stack stats on most ops",
    "ref_strings": "string stats are stored as references into stat metadata",
    "long_names": "event metadata name carries a full HLO text line",
    "units": "elementwise work and reductions do no more FLOPs than a vector unit can",
    "partial_overlap": "a few neighbouring ops overlap partially",
    "zero_duration": "a few instant (zero duration) ops",
    "warnings": "XSpace warnings and errors are filled",
    "no_caps": "device plane carries no capability stats",
    "ragged_hosts": "host h misses its first h % 3 steps",
    "coordinator": "the last host has no accelerator at all",
    "sparse_core_first": "as sparse_core, but SparseCore planes come first",
    "pregrouped": "planes already carry group_id stats (step = 40, 41, ...)",
    "host_only": "no device plane in any host",
    "metadata_first": "plane fields out of number order: metadata maps precede the lines",
}


@dataclass
class Config:
    device: str = "v5e"
    n_devices: int = 1  # TensorCore planes per host
    n_hosts: int = 1
    n_steps: int = 4
    n_distinct_ops: int = 120
    n_events: int = 5_000  # op events over all hosts and devices
    n_programs: int = 1
    mix: str = "training"  # or "inference"
    seed: int = 0
    traits: tuple[str, ...] = ()
    loop_share: float = 0.8  # share of a step that lies inside while loops
    mean_us: float = 20.0  # mean op duration
    compact: bool = False  # short metadata (small files)
    stalled_step: int = -1  # in this step the infeed waits for the host
    stall_us: float = 0.0
    source_files: tuple[str, ...] = (
        "model/attention.py",
        "model/mlp.py",
        "train <loop>.py",
        "/usr/lib/a&b.py",
    )

    def has(self, trait: str) -> bool:
        assert trait in TRAITS, trait
        return trait in self.traits


# category, name stem, archetype, weight in training, weight in inference
TPU_OPS = [
    ("convolution fusion", "fusion", "compute", 18, 14),
    ("convolution", "convolution", "compute", 4, 4),
    ("output fusion", "fusion", "compute", 6, 6),
    ("loop fusion", "fusion", "hbm", 22, 18),
    ("custom fusion", "custom_fusion", "onchip_read", 3, 3),
    ("custom-call", "custom-call", "onchip_read", 4, 6),
    ("data formatting", "copy", "hbm", 6, 6),
    ("data formatting", "transpose", "onchip_write", 4, 4),
    ("reduce", "reduce", "onchip_read", 3, 2),
    ("all-reduce", "all-reduce", "hbm_low", 4, 2),
    ("all-reduce fusion", "all-reduce_fusion", "hbm_low", 2, 0),
    ("all-gather", "all-gather", "hbm_low", 2, 2),
    ("collective-permute", "collective-permute", "none", 1, 1),
    ("copy-start", "copy-start", "async", 3, 3),
    ("copy-done", "copy-done", "async", 3, 3),
    ("async-start", "slice-start", "async", 2, 1),
    ("async-done", "slice-done", "none", 2, 1),
    ("dynamic-update-slice", "dynamic-update-slice", "onchip_write", 2, 5),
    ("broadcast", "broadcast", "onchip_write", 2, 2),
    ("scatter", "scatter", "hbm", 2, 0),
    ("rng-bit-generator", "rng-bit-generator", "none", 1, 1),
    ("host send", "send", "none", 1, 0),
    ("bitcast", "bitcast", "none", 1, 1),
]

# Of the matrix unit's FLOPs at most this share is within the vector unit's rate on every TPU.
VECTOR_SHARE = 1 / 150
VECTOR_CATEGORIES = ("loop fusion", "reduce", "scatter")
FUSION_KINDS = {"loop fusion": "kLoop", "convolution fusion": "kOutput", "output fusion": "kOutput"}

HOSTILE = [
    "<script>alert('roofline')</script>",
    'fusion.1" onmouseover="alert(1)',
    'it\'s a <b>bold</b> & "quoted" op',
    "emoji \U0001f680\U0001f9ea op",
    "\u0440\u0443\u0441\u0441\u043a\u0438\u0439/\u4e2d\u6587/\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "tab\tnewline\nreturn\r backslash\\ nul-free",
    '=HYPERLINK("http://example.invalid","x")',
    "../../etc/passwd",
    "{{constructor.constructor('return 1')()}}",
    "</title><img src=x onerror=alert(2)>",
    "a" * 4000,
    "%s%d%n ${jndi:ldap://x}",
    " leading and trailing ",
    "\u202eright-to-left override",
    "zero\u200bwidth\ufeffmarks",
]


@dataclass
class Op:
    name: str
    category: str
    archetype: str
    duration_ps: float
    program: int
    symbol: int
    flops: int = 0
    model_flops: int | None = None
    bytes_accessed: int = 0
    mem: list[tuple[int, int, int]] = field(default_factory=list)
    container: bool = False
    drop: set[str] = field(default_factory=set)


def make_tpu_ops(cfg: Config, spec: Tpu, rng: Random) -> tuple[list[Op], list[int]]:
    """Distinct ops of all programs; index 0.. are leaves, containers last."""
    weights = np.array([o[3] if cfg.mix == "training" else o[4] for o in TPU_OPS], float)
    weights /= weights.sum()
    programs = [rng.randrange(1, 1 << 64) for _ in range(cfg.n_programs)]
    onchip = CMEM if max(spec.cmem) > 0 else VMEM
    onchip_bw = (
        spec.cmem
        if onchip == CMEM
        else (spec.vmem if max(spec.vmem) > 0 else (4 * spec.hbm, 3 * spec.hbm))
    )
    nprng = np.random.default_rng(rng.randrange(1 << 62))
    ops: list[Op] = []
    counters: dict[tuple[str, int | None], int] = {}
    symbol = 1
    share = cfg.has("shared_names") and cfg.n_programs > 1

    def new_name(stem: str, prog: int) -> str:
        key = (stem, prog if share else None)
        counters[key] = counters.get(key, 0) + 1
        return f"{stem}.{counters[key]}"

    def add(
        category: str, stem: str, arch: str, dur_ps: float, prog: int, container: bool = False
    ) -> Op:
        nonlocal symbol
        op = Op(
            new_name(stem, prog),
            category,
            arch,
            dur_ps,
            programs[prog],
            symbol,
            container=container,
        )
        symbol += 1
        sec = dur_ps * 1e-12
        peak_f, hbm = spec.tflops * 1e12, spec.hbm * 1e9
        rd, wr = onchip_bw[0] * 1e9, onchip_bw[1] * 1e9
        u = nprng.uniform
        f = h = r = w = 0.0
        if arch == "compute":
            f, h, r, w = u(0.35, 0.88), u(0.05, 0.3), u(0.05, 0.3), u(0.05, 0.3)
        elif arch == "hbm":
            f, h, r, w = u(0.002, 0.05), u(0.45, 0.95), u(0.0, 0.3), u(0.0, 0.3)
        elif arch == "hbm_low":
            f, h, r, w = u(0.0, 0.004), u(0.08, 0.4), 0, 0
        elif arch == "onchip_read":
            f, h, r, w = u(0.01, 0.3), u(0.02, 0.3), u(0.4, 0.9), u(0.05, 0.35)
        elif arch == "onchip_write":
            f, h, r, w = 0.0, u(0.02, 0.3), u(0.05, 0.35), u(0.4, 0.85)
        elif arch == "async":
            h, r, w = u(0.3, 2.2), u(0, 0.2), u(0.1, 0.5)  # may exceed the peak
        elif arch == "io":
            h = u(0.05, 0.4)
        is_vector = cfg.has("units") and category in VECTOR_CATEGORIES
        op.flops = int(f * peak_f * sec * (VECTOR_SHARE if is_vector else 1))
        if op.flops and nprng.random() < 0.35:
            op.model_flops = int(op.flops * u(0.5, 1.0))
        mem = []
        if h:
            cut = u(0.3, 0.8)
            mem += [(READ, HBM, h * hbm * sec * cut), (WRITE, HBM, h * hbm * sec * (1 - cut))]
        if r:
            mem.append((READ, onchip, r * rd * sec))
        if w:
            mem.append((WRITE, onchip, w * wr * sec))
        if nprng.random() < 0.06:
            mem.append((READ, 5, 1000.0))  # some other space
        op.mem = [(a, b, int(c)) for a, b, c in mem]
        op.bytes_accessed = sum(c for _, _, c in op.mem)
        ops.append(op)
        return op

    def duration() -> float:
        return float(nprng.lognormal(np.log(cfg.mean_us * 1e6), 0.9))

    for p in range(cfg.n_programs):
        add("infeed", "infeed", "io", duration() * 0.6, p)
        add("outfeed", "outfeed", "io", duration() * 0.3, p)
    n_leaf = max(cfg.n_distinct_ops - 6 * cfg.n_programs, 4)
    picks = nprng.choice(len(TPU_OPS), size=n_leaf, p=weights)
    for i, k in enumerate(picks):
        cat, stem, arch, *_ = TPU_OPS[k]
        add(cat, stem, arch, duration(), i % cfg.n_programs)
    for p in range(cfg.n_programs):
        for cat in ("while", "conditional", "call") + (
            ("megacore fusion",) if spec.megacore else ()
        ):
            op = add(
                cat,
                {"megacore fusion": "megacore_fusion"}.get(cat, cat),
                "hbm_low",
                duration(),
                p,
                container=True,
            )
            op.bytes_accessed *= 3
    return ops, programs


def apply_name_traits(cfg: Config, ops: Sequence[Op], rng: Random) -> None:
    if cfg.has("hostile_names"):
        leaves = [o for o in ops if not o.container]
        for text, op in zip(
            HOSTILE, rng.sample(leaves, min(len(HOSTILE), len(leaves))), strict=False
        ):
            op.name = text
    if cfg.has("missing_stats"):
        keys = [
            "hlo_category",
            "flops",
            "bytes_accessed",
            "memory_access_breakdown",
            "program_id",
            "symbol_id",
        ]
        leaves = [o for o in ops if not o.container and o.category not in ("infeed", "outfeed")]
        for op in rng.sample(leaves, max(2, len(leaves) // 6)):
            op.drop = set(rng.sample(keys, rng.choice([1, 1, 2])))


def tpu_event_metadata(cfg: Config, plane: PlaneBuilder, ops: Sequence[Op]) -> NDArray[np.int64]:
    ids = np.zeros(len(ops), np.int64)
    r = random.Random(cfg.seed + 17)
    for i, op in enumerate(ops):
        st: list[Stat] = [("hlo_category", op.category), ("symbol_id", op.symbol)]
        st.append(("program_id", op.program))
        if op.flops:
            st.append(("flops", op.flops))
        if op.model_flops is not None:
            st.append(("model_flops", op.model_flops))
        if op.bytes_accessed:
            st.append(("bytes_accessed", op.bytes_accessed))
            if not cfg.compact:
                st.append(("raw_bytes_accessed", op.bytes_accessed + 64))
        if op.mem and not cfg.has("no_breakdown"):
            st.append(("memory_access_breakdown", breakdown(op.mem)))
        if cfg.has("framework_ops") and r.random() < 0.85:
            st.append(
                (
                    "tf_op",
                    f"jit(train_step)/transformer/layer_{i % 12}/{op.category.replace(' ', '_')}:",
                )
            )
        if cfg.has("sources") and r.random() < 0.8:
            file = r.choice(
                ["model/attention.py", "model/mlp.py", "train <loop>.py", "/usr/lib/a&b.py"]
            )
            st.append(("source", f"{file}:{10 + i}"))
            if r.random() < 0.6:
                st.append(("source_stack", f"{file}:{10 + i}\nmain.py:{i}\n<module 'x'>"))
        if not cfg.compact:
            st.append(("deduplicated_name", op.name.split(".")[0]))
            st.append(("shape_with_layout", "bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}"))
        st = [x for x in st if x[0] not in op.drop]
        if cfg.has("long_names"):
            shape = "bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}"
            kind = FUSION_KINDS.get(op.category) if cfg.has("units") else None
            opcode = "fusion" if kind else op.category.replace(" ", "-")
            text = (
                f"%{op.name} = {shape} {opcode}(bf16[8,2048,4096]{{2,1,0}} %p.{i}, f32[] %c.{i}), "
                f"{f'kind={kind}, ' if kind else ''}"
                'metadata={op_name="jit(f)"}'
            )
        else:
            text = f"%{op.name} = {i}"
        ids[i] = plane.event_meta(("op", i), text, op.name, st)
    return ids


LEAF, ENTER, EXIT = 0, 1, 2

EVENT_STATS = (
    "device_offset_ps",
    "device_duration_ps",
    "Time Scale Multiplier",
    "dma_stall_duration_ps",
)


def step_template(
    cfg: Config, ops: Sequence[Op], n_tokens: int, rng: Random, program: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Token arrays (kind, op index, matching exit) with about n_tokens events."""
    prog_id = sorted({o.program for o in ops})[0] if program is None else program
    mine = [i for i, o in enumerate(ops) if o.program == prog_id]
    leaves = [
        i for i in mine if not ops[i].container and ops[i].category not in ("infeed", "outfeed")
    ]
    cont = {ops[i].category: i for i in mine if ops[i].container}
    infeed = [i for i in mine if ops[i].category == "infeed"]
    outfeed = [i for i in mine if ops[i].category == "outfeed"]
    kind, op, match = [], [], []

    def put(k: int, o: int) -> int:
        kind.append(k)
        op.append(o)
        match.append(-1)
        return len(kind) - 1

    cursor = 0

    def leaf(n: int) -> None:
        nonlocal cursor
        for _ in range(n):
            put(LEAF, leaves[cursor % len(leaves)])
            cursor += 1

    def close(enter: int) -> None:
        match[enter] = put(EXIT, op[enter])

    budget = max(n_tokens, 4)
    put(LEAF, infeed[0])
    n_loop = int(budget * cfg.loop_share)
    n_flat = budget - n_loop - 2
    leaf(n_flat // 2)
    if n_loop >= 4 and "while" in cont:
        w = put(ENTER, cont["while"])
        inner = n_loop - 1
        if inner > 12 and "conditional" in cont:
            a = inner // 3
            leaf(a)
            c = put(ENTER, cont["conditional"])
            leaf(max(1, inner // 10))
            if "megacore fusion" in cont:
                m = put(ENTER, cont["megacore fusion"])
                leaf(2)
                close(m)
            close(c)
            k = put(ENTER, cont["call"])
            leaf(max(1, inner // 10))
            close(k)
            leaf(max(1, inner - a - 2 * (inner // 10) - 5))
        else:
            leaf(inner)
        close(w)
    else:
        leaf(n_loop)
    leaf(n_flat - n_flat // 2)
    put(LEAF, outfeed[0])
    return np.array(kind), np.array(op), np.array(match)


@dataclass(frozen=True)
class Timeline:
    """One device's op events in time order and its step windows (begin, length), all in ps."""

    op: np.ndarray
    offset_ps: np.ndarray
    duration_ps: np.ndarray
    windows: list[tuple[int, int]]
    seed: int


def simulate_device(
    cfg: Config,
    ops: Sequence[Op],
    templates: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
    seed: int,
    t0_ps: int,
    host: int,
) -> Timeline:
    """Run all steps of one device; with `ragged_hosts`, host h records none of its first h % 3."""
    rng = np.random.default_rng(seed)
    skip = host % 3 if cfg.has("ragged_hosts") else 0
    first = int(cfg.has("incomplete_first"))
    total = cfg.n_steps + first + cfg.has("incomplete_last")
    recorded, windows = [], []
    t = t0_ps
    for s in range(total):
        template = templates[s % len(templates)]
        begin, length, duration = simulate_step(cfg, ops, template, rng, t, s - first)
        kind, op, _ = template
        place = np.arange(len(kind))
        keep = kind != EXIT
        end = int(begin[-1] + length[-1])
        if first and s == 0:
            # Only the tail was captured: containers that began earlier are unknown.
            keep &= place > len(kind) // 2
        elif s - first < skip:
            keep[:] = False
        elif cfg.has("incomplete_last") and s == total - 1:
            keep &= (place < len(kind) // 3) & (kind != ENTER)
        else:
            windows.append((t, end - t))
        recorded.append((op[keep], begin[keep], duration[keep]))
        t = end + int(rng.uniform(200_000, 900_000))
        if cfg.has("idle_gaps"):
            t += int(rng.uniform(5, 30) * cfg.mean_us * 1e6)
    op, off, dur = (np.concatenate(column) for column in zip(*recorded, strict=True))
    order = np.lexsort((-dur, off))
    return Timeline(op[order], off[order], dur[order], windows, seed)


def simulate_step(
    cfg: Config,
    ops: Sequence[Op],
    template: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    rng: Generator,
    begin_ps: int,
    step: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Begin, length with the gap after it, and duration of every token, in ps."""
    kind, op, match = template
    n = len(kind)
    leaf = kind == LEAF
    base = np.array([o.duration_ps for o in ops])
    dur = np.where(leaf, base[op] * rng.lognormal(0, 0.08, n), 150_000.0)
    gap = np.where(leaf, rng.uniform(0, 300_000, n), 0.0)
    if cfg.has("idle_gaps"):
        gap += np.where(rng.random(n) < 0.02, rng.uniform(1, 6, n) * cfg.mean_us * 1e6, 0)
    if cfg.has("zero_duration"):
        dur = np.where(leaf & (rng.random(n) < 0.01), 0, dur)
    if step == cfg.stalled_step:
        dur[0] += cfg.stall_us * 1e6  # the first op is the infeed, which waits for the host
    length = np.floor(dur + gap).astype(np.int64) + 1
    begin = begin_ps + np.concatenate(([0], np.cumsum(length)[:-1]))
    duration = np.floor(dur).astype(np.int64)
    enter = kind == ENTER
    duration[enter] = begin[match[enter]] + 140_000 - begin[enter]
    if cfg.has("partial_overlap"):
        over = leaf & (rng.random(n) < 0.01)
        over &= np.concatenate((kind[1:], [EXIT])) == LEAF
        duration[over] += length[over] - duration[over] + 5_000
    return begin, length, duration


def tpu_caps(plane: PlaneBuilder, spec: Tpu, device: int, cfg: Config) -> None:
    if cfg.has("no_caps"):
        return
    plane.plane_stat("device_type_string", spec.type_string)
    plane.plane_stat("peak_teraflops_per_second", spec.tflops)
    plane.plane_stat("peak_hbm_bw_gigabytes_per_second", spec.hbm)
    for key, pair in (("sram", spec.sram), ("cmem", spec.cmem), ("vmem", spec.vmem)):
        plane.plane_stat(f"peak_{key}_rd_bw_gigabytes_per_second", float(pair[0]))
        plane.plane_stat(f"peak_{key}_wr_bw_gigabytes_per_second", float(pair[1]))
    plane.plane_stat("has_megacore", int(spec.megacore), "i64")
    plane.plane_stat("has_merged_vmem", int(spec.merged_vmem), "i64")
    chip, core = divmod(device, spec.cores_per_chip)
    plane.plane_stat(
        "core_details",
        pb.CoreDetails(
            device_ordinal=device,
            core_num=core,
            local_chip_id=chip,
            global_chip_id=chip,
            global_core_id=device,
        ).SerializeToString(),
    )


def build_tpu_host(cfg: Config, spec: Tpu, host: int, out: Path) -> None:
    """Write one host: its TensorCore planes, SparseCore planes and host plane."""
    rng = random.Random(cfg.seed)  # same population on each host
    ops, programs = make_tpu_ops(cfg, spec, rng)
    apply_name_traits(cfg, ops, rng)
    n_run = cfg.n_steps + cfg.has("incomplete_first") + cfg.has("incomplete_last")
    per_device = cfg.n_events // (cfg.n_devices * cfg.n_hosts)
    per_step = max(6, per_device // max(n_run, 1))
    templates = [step_template(cfg, ops, per_step, rng, p) for p in sorted(programs)]
    line_ts = 1_000 + 37 * host  # ns, already normalised to the session start
    planes, launches, windows = [], [], []
    for d in range(cfg.n_devices):
        plane = PlaneBuilder(f"/device:TPU:{d}", d, cfg.has("ref_strings"))
        if cfg.has("ref_strings"):
            for name in EVENT_STATS:  # before the texts, which take many ids: these fit a byte
                plane.sid(name)
            if cfg.has("pregrouped"):
                plane.sid("group_id")
        tpu_caps(plane, spec, d, cfg)
        ids = tpu_event_metadata(cfg, plane, ops)
        seed = (cfg.seed * 1_000_003 + host * 1009 + d) & 0xFFFFFFFF
        timeline = simulate_device(cfg, ops, templates, seed, 2_000_000 + 10_000 * d, host)
        windows = timeline.windows
        launches += tpu_lines(cfg, plane, ops, ids, sorted(programs), timeline, line_ts, d)
        planes.append(plane)
        if cfg.has("sparse_core") or cfg.has("sparse_core_first"):
            planes.append(sparse_core_plane(d, windows, line_ts))
    planes.sort(key=lambda p: ("SparseCore" in p.plane.name) != cfg.has("sparse_core_first"))
    planes.append(
        host_plane(launches, windows, line_ts)
        if cfg.has("host_steps")
        else idle_host_plane(line_ts)
    )
    if cfg.has("pregrouped"):
        for p in planes:
            p.sid("group_id")
    write_space(cfg, host, planes, out)


def tpu_lines(
    cfg: Config,
    plane: PlaneBuilder,
    ops: Sequence[Op],
    ids: NDArray[np.int64],
    programs: Sequence[int],
    timeline: Timeline,
    line_ts: int,
    device: int,
) -> list[tuple[int, int, int]]:
    """Add the lines of one TensorCore; returns its program launches (step, device, begin)."""
    erng = np.random.default_rng(timeline.seed ^ 0x5EED)
    base_ps = line_ts * 1000
    stats = op_event_stats(cfg, plane, timeline, base_ps, erng)
    launches = []

    def clock(o: int, n: int, step: int | None = None) -> list[Stat]:
        return event_stats(cfg, o + base_ps, n, step)

    if not cfg.has("no_steps_line"):
        line = plane.line(1, "Steps", line_ts)
        if not cfg.has("zero_steps"):
            for k, (o, n) in enumerate(timeline.windows):
                plane.event(line, plane.event_meta(("step", k), str(k)), o, n, clock(o, n, k))
    if not cfg.has("zero_steps"):
        line = plane.line(2, "XLA Modules", line_ts)
        for k, (o, n) in enumerate(timeline.windows):
            p = k % len(programs)
            module = plane.event_meta(("module", p), f"jit_train_step({programs[p]})")
            run: list[Stat] = [("run_id", 1000 + k), ("queue_id", 0, "i64")]
            plane.event(line, module, o + 1000, n - 2000, clock(o + 1000, n - 2000, k) + run)
            launches.append((k, device, o))
    events = encode_events(ids[timeline.op], timeline.offset_ps, timeline.duration_ps, stats)
    plane.raw_line(3, "XLA Ops", line_ts, events)
    if cfg.has("async_line"):
        async_line(cfg, plane, ops, ids, timeline, line_ts, erng, clock)
    return launches


def event_stats(cfg: Config, begin_ps: int, duration_ps: int, step: int | None) -> list[Stat]:
    """Stats of a step, module or async event: its group and its device clock, where asked for."""
    stats: list[Stat] = []
    if cfg.has("pregrouped") and step is not None:
        stats.append(("group_id", 40 + step, "i64"))
    if cfg.has("device_clock") or cfg.has("rich_events"):
        stats.append(("device_offset_ps", int(begin_ps)))
        stats.append(("device_duration_ps", int(duration_ps)))
    return stats


def op_event_stats(
    cfg: Config, plane: PlaneBuilder, timeline: Timeline, base_ps: int, erng: Generator
) -> list[StatCol]:
    """Stat columns of the op line."""
    off, dur = timeline.offset_ps, timeline.duration_ps
    rich = cfg.has("rich_events")
    stats = []
    if cfg.has("device_clock") or rich:
        stats.append(StatCol(plane.sid("device_offset_ps"), "u64", off + base_ps))
        stats.append(StatCol(plane.sid("device_duration_ps"), "u64", dur))
    if cfg.has("dvfs") or rich:
        clocks = [1.0, 1.0, 0.75, 0.9]
        mult = erng.choice(clocks, len(off)) if cfg.has("dvfs") else np.ones(len(off))
        stats.append(StatCol(plane.sid("Time Scale Multiplier"), "f64", mult))
    if cfg.has("dma_stall") or rich:
        stall = (dur * erng.uniform(0, 0.4, len(off))).astype(np.int64)
        mask = None if rich else erng.random(len(off)) < 0.3
        stats.append(StatCol(plane.sid("dma_stall_duration_ps"), "i64", stall, mask))
    if cfg.has("pregrouped"):
        starts = np.array([w[0] for w in timeline.windows])
        ends = np.array([w[0] + w[1] for w in timeline.windows])
        which = np.searchsorted(starts, off, side="right") - 1
        inside = (which >= 0) & (off < ends[np.maximum(which, 0)])
        stats.append(StatCol(plane.sid("group_id"), "i64", 40 + which, inside))
    return stats


def async_line(
    cfg: Config,
    plane: PlaneBuilder,
    ops: Sequence[Op],
    ids: NDArray[np.int64],
    timeline: Timeline,
    line_ts: int,
    erng: Generator,
    clock: Callable[[int, int], list[Stat]],
) -> None:
    """Add up to 200 asynchronous copies, spread over the whole capture."""
    line = plane.line(4, "Async XLA Ops", line_ts)
    sources = [i for i, o in enumerate(ops) if o.category in ("copy-start", "async-start")] or [0]
    if not len(timeline.op):  # a host that recorded none of its steps
        return
    lo = int(timeline.offset_ps.min())
    hi = int((timeline.offset_ps + timeline.duration_ps).max())
    count = min(200, len(timeline.op) // 5)
    for k in range(count):
        n = int(erng.uniform(1, 4) * cfg.mean_us * 1e6)
        o = lo + int((hi - lo - n) * (k + 0.5) / max(1, count))
        if o > lo:
            source = int(ids[sources[k % len(sources)]])
            plane.event(line, source, o, n, [*clock(o, n), ("_a", 1, "i64")])


def sparse_core_plane(
    device: int, windows: Sequence[tuple[int, int]], line_ts: int
) -> PlaneBuilder:
    plane = PlaneBuilder(f"/device:TPU:{device} SparseCore 0", 100 + device)
    steps = plane.line(1, "Sparse Core Steps", line_ts)
    mods = plane.line(2, "Sparse Core Modules", line_ts)
    line = plane.line(3, "Sparse Core Ops", line_ts)
    for k, (o, n) in enumerate(windows):
        plane.event(steps, plane.event_meta(("s", k), str(k)), o, n)
        plane.event(
            mods,
            plane.event_meta("m", "sc_module(1)"),
            o + 100,
            n // 2,
            [("offload_core_id", device), ("tc_offload_start_id", 7)],
        )
        for j in range(4):
            m = plane.event_meta(
                ("o", j),
                f"%sc.{j} = gather",
                f"sc-gather.{j}",
                [
                    ("hlo_category", "sparse-core op"),
                    ("program_id", 1),
                    ("symbol_id", 9000 + j),
                    ("flops", 1000 * j),
                    ("bytes_accessed", 5000),
                ],
            )
            plane.event(line, m, o + 200 + j * (n // 10), n // 12)
    return plane


def idle_host_plane(line_ts: int) -> PlaneBuilder:
    plane = PlaneBuilder("/host:CPU", 500)
    line = plane.line(1, "python", line_ts)
    plane.event(line, plane.event_meta("p", "PjitFunction(train_step)"), 5_000, 100_000)
    return plane


def host_plane(
    launches: Sequence[tuple[int, int, int]], windows: Sequence[tuple[int, int]], line_ts: int
) -> PlaneBuilder:
    """Step annotations (roots) that contain the launches of device programs."""
    plane = PlaneBuilder("/host:CPU", 500)
    line = plane.line(1, "python", line_ts)
    for k, (o, n) in enumerate(windows):
        span = min(n // 3, 900_000)
        plane.event(
            line,
            plane.event_meta("t", "train"),
            o - 900_000,
            span,
            [("_r", 1, "i64"), ("step_num", 100 + k), ("step_name", f"train {100 + k}")],
        )
        j = 0
        for step, device, _ in launches:
            if step != k:
                continue
            plane.event(
                line,
                plane.event_meta("e", "DoEnqueueProgram"),
                o - 890_000 + 3_000 * j,
                2_000,
                [("run_id", 1000 + k), ("queue_id", 0, "i64"), ("device_ordinal", device)],
            )
            j += 1
    return plane


# files
def write_space(cfg: Config, host: int, planes: Sequence[PlaneBuilder], out: Path) -> None:
    with open(out, "wb") as f:
        for p in planes:
            p.write(f, cfg.has("metadata_first"))
        tail = pb.XSpace(hostnames=[f"host-{host}"])
        if cfg.has("warnings"):
            tail.warnings.append("synthetic warning")
            tail.errors.append("synthetic error")
        f.write(tail.SerializeToString())


def write_profile(cfg: Config, directory: Path | str) -> list[Path]:
    """Write all hosts of a profile; returns the file paths in host order."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    spec = DEVICES[cfg.device]
    files = []
    for h in range(cfg.n_hosts):
        path = directory / f"host_{h}.xplane.pb"
        bare = cfg.has("host_only") or (cfg.has("coordinator") and h == cfg.n_hosts - 1)
        if bare:
            write_space(cfg, h, [idle_host_plane(1_000 + h)], path)
        else:
            build_tpu_host(cfg, spec, h, path)
        files.append(path)
    return files


def main() -> None:
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("--out", required=True)
    for f in dataclasses.fields(Config):
        if f.name in ("traits", "compact", "source_files"):
            continue
        ap.add_argument(
            "--" + f.name.replace("_", "-"),
            default=f.default,
            type=type(f.default),
            choices=sorted(DEVICES) if f.name == "device" else None,
        )
    ap.add_argument("--trait", action="append", default=[], choices=sorted(TRAITS))
    ap.add_argument("--compact", action="store_true")
    ap.add_argument("--list-traits", action="store_true")
    a = vars(ap.parse_args())
    if a.pop("list_traits"):
        for k, v in TRAITS.items():
            sys.stdout.write(f"{k:18s} {v}\n")
        return
    out, traits = a.pop("out"), tuple(a.pop("trait"))
    for p in write_profile(Config(traits=traits, **a), out):
        sys.stdout.write(f"{p} {p.stat().st_size}\n")


if __name__ == "__main__":
    main()
