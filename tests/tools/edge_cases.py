"""Hand-made corners of the format, each a small profile that is compared with XProf's output."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tools.gpu_captures import HOPPER, Event, gpu_plane
from tests.tools.small_profiles import (
    CAPABILITIES,
    MICROSECOND_PS,
    SmallOp,
    add_ops,
    add_steps,
    hbm,
    space_bytes,
    tpu_plane,
)
from tests.tools.xspace_wire import CMEM, HBM, READ, VMEM, WRITE, PlaneBuilder, Stat

US = MICROSECOND_PS
EdgeCase = Callable[[Path], list[Path]]
EDGE_CASES: dict[str, EdgeCase] = {}

Hosts = Sequence[Sequence[PlaneBuilder]]


def _edge_case(build: Callable[[], Hosts]) -> Callable[[], Hosts]:
    """Register a function that returns the planes of each host."""

    def write(folder: Path) -> list[Path]:
        files = []
        for number, planes in enumerate(build()):
            file = folder / f"host_{number}.xplane.pb"
            file.write_bytes(space_bytes(planes, hostname=f"host-{number}"))
            files.append(file)
        return files

    EDGE_CASES[build.__name__] = write
    return build


def _dot(begin_us: int = 1, us: int = 10, name: str = "fusion.1", **more: Any) -> SmallOp:
    cost: dict[str, Any] = {"flops": 10**9, "bytes_accessed": 4_000_000, "memory": hbm(4_000_000)}
    return SmallOp(name=name, spans=[(begin_us * US, us * US)], **{**cost, **more})


def _host_plane() -> PlaneBuilder:
    plane = PlaneBuilder("/host:CPU", 500)
    line = plane.line(1, "python", 1_000)
    plane.event(line, plane.event_meta("f", "PjitFunction(step)"), 5_000, 100_000)
    return plane


@_edge_case
def no_device_plane() -> Hosts:
    return [[_host_plane()]]


@_edge_case
def no_plane_at_all() -> Hosts:
    return [[]]


@_edge_case
def device_without_events() -> Hosts:
    return [[tpu_plane([])]]


@_edge_case
def no_steps() -> Hosts:
    return [[tpu_plane([_dot()])]]


@_edge_case
def no_peaks() -> Hosts:
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities={"device_type_string": "TPU v4"})]]


@_edge_case
def no_device_type() -> Hosts:
    peaks = {key: value for key, value in CAPABILITIES.items() if key != "device_type_string"}
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities=peaks)]]


@_edge_case
def zero_and_integer_peaks() -> Hosts:
    peaks = {**CAPABILITIES, "peak_hbm_bw_gigabytes_per_second": 0.0}
    peaks["peak_teraflops_per_second"] = 275  # an integer stat is not read as a double
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities=peaks)]]


@_edge_case
def peaks_of_many_digits() -> Hosts:
    peaks = {
        "device_type_string": "TPU v9 <x>",
        "peak_teraflops_per_second": 1234.5678949,
        "peak_hbm_bw_gigabytes_per_second": 0.000012345678,
        "peak_vmem_rd_bw_gigabytes_per_second": 1.0e22,
        "peak_vmem_wr_bw_gigabytes_per_second": 100000.05 * 1.073741824,
        "has_merged_vmem": 1,
    }
    plane = tpu_plane([_dot()], [(0, 20 * US)], capabilities=peaks)
    return [[plane]]


@_edge_case
def merged_vmem() -> Hosts:
    peaks = {
        "device_type_string": "TPU v6 lite",
        "peak_teraflops_per_second": 918.0,
        "peak_hbm_bw_gigabytes_per_second": 1640.0,
        "peak_vmem_rd_bw_gigabytes_per_second": 24500.0,
        "peak_vmem_wr_bw_gigabytes_per_second": 18400.0,
    }
    memory = [(READ, VMEM, 10**8), (WRITE, VMEM, 2 * 10**7), (READ, HBM, 1000), (0, VMEM, 5)]
    plane = tpu_plane([_dot(memory=memory)], [(0, 20 * US)], capabilities=peaks)
    plane.plane_stat("has_merged_vmem", 1, "i64")
    plane.plane_stat("has_megacore", 1, "i64")
    return [[plane]]


@_edge_case
def cmem_and_other_spaces() -> Hosts:
    ops = [
        _dot(1, 2, "reads", memory=[(READ, CMEM, 4 * 10**6), (READ, 9, 10**9)]),
        _dot(4, 2, "writes", memory=[(WRITE, CMEM, 3 * 10**6)]),
        _dot(7, 2, "elsewhere", memory=[(READ, 5, 10**6)]),
        _dot(10, 2, "nowhere", memory=[]),
        _dot(13, 2, "both", memory=[(READ, VMEM, 10**6), (READ, HBM, 10), (0, HBM, 20)]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def unreadable_breakdown() -> Hosts:
    op = _dot(memory=None, extra=[("memory_access_breakdown", b"\x0a\xff\x01")])
    text = _dot(12, 3, "text", memory=None, extra=[("memory_access_breakdown", "text")])
    return [[tpu_plane([op, text], [(0, 20 * US)])]]


@_edge_case
def zero_duration_op() -> Hosts:
    return [[tpu_plane([_dot(us=0), _dot(2, 5, "fusion.2")], [(0, 20 * US)])]]


@_edge_case
def only_zero_duration_ops_at_zero() -> Hosts:
    return [[tpu_plane([_dot(0, 0)], [(0, 0)])]]


@_edge_case
def op_longer_than_its_step() -> Hosts:
    return [[tpu_plane([_dot(1, 100)], [(0, 20 * US)])]]


@_edge_case
def op_starts_where_a_step_ends() -> Hosts:
    ops = [_dot(20, 5, "edge"), _dot(3, 4, "first"), _dot(40, 5, "last edge"), _dot(60, 1, "out")]
    return [[tpu_plane(ops, [(0, 20 * US), (20 * US, 20 * US)])]]


@_edge_case
def step_without_ops_and_ops_without_step() -> Hosts:
    return [[tpu_plane([_dot(1, 5), _dot(100, 7, "late")], [(0, 10 * US), (30 * US, 10 * US)])]]


@_edge_case
def overlapping_steps() -> Hosts:
    ops = [_dot(k, 2, f"op.{k}") for k in range(1, 38, 3)]
    return [[tpu_plane(ops, [(0, 20 * US), (10 * US, 20 * US), (25 * US, 5 * US)])]]


@_edge_case
def unsorted_events() -> Hosts:
    plane = tpu_plane([], [(0, 50 * US)])
    line = plane.line(3, "XLA Ops", 0)
    for number, (begin, length) in enumerate([(30, 5), (1, 20), (2, 3), (30, 9), (6, 2)]):
        stats: list[Stat] = [
            ("hlo_category", "loop fusion"),
            ("program_id", 1),
            ("symbol_id", number + 1),
        ]
        kind = plane.event_meta(number, f"%o{number}", f"o{number}", stats)
        plane.event(line, kind, begin * US, length * US)
    del plane.plane.lines[1]
    return [[plane]]


@_edge_case
def identical_spans() -> Hosts:
    ops = [_dot(1, 8, "outer"), _dot(1, 8, "inner"), _dot(1, 8, "innermost", flops=5)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def children_longer_than_their_parent() -> Hosts:
    ops = [
        _dot(1, 10, "while", category="while"),
        _dot(2, 8, "a"),
        _dot(3, 8, "b"),  # overlaps `a`, inside `while`
        _dot(4, 7, "c"),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def self_time_below_zero() -> Hosts:
    ops = [_dot(1, 10, "parent")]
    ops += [SmallOp(name=f"kid.{k}", spans=[(k * US, (11 - k) * US - k)]) for k in range(1, 6)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def nested_infeed() -> Hosts:
    ops = [
        _dot(1, 10, "infeed.1", category="infeed"),
        _dot(2, 8, "wait", category="infeed"),
        _dot(3, 6, "outfeed fusion", category="outfeed fusion"),
        _dot(12, 1, "fusion.9"),
        _dot(14, 4, "while.1", category="while"),
        _dot(15, 1, "infeed.2", category="my infeed"),
    ]
    return [[tpu_plane(ops, [(0, 18 * US)])]]


@_edge_case
def containers_do_not_count_twice() -> Hosts:
    kinds = ["while", "conditional", "call", "megacore fusion"]
    ops = [_dot(1 + k, 30 - 2 * k, kind, category=kind) for k, kind in enumerate(kinds)]
    return [[tpu_plane([*ops, _dot(8, 4)], [(0, 40 * US)])]]


@_edge_case
def same_name_in_several_programs() -> Hosts:
    ops = [_dot(1, 5, program=1), _dot(7, 6, program=2, flops=5), _dot(14, 3, program=2**64 - 1)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def same_name_and_two_symbols() -> Hosts:
    ops = [_dot(1, 5, category=""), _dot(7, 6, flops=5, category="custom-call"), _dot(15, 1)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def same_symbol_and_two_names() -> Hosts:
    ops = [_dot(1, 5, symbol=4), _dot(7, 6, "other", flops=5, symbol=4)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def ids_missing_or_zero() -> Hosts:
    ops = [
        _dot(1, 2, "no program", program=None),
        _dot(4, 2, "no symbol", symbol=-1),
        _dot(7, 2, "symbol zero", symbol=0),
        _dot(10, 2, "program zero", program=0),
        _dot(13, 2, "kept"),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def dropped_parent() -> Hosts:
    ops = [_dot(1, 10, "no symbol", symbol=-1), _dot(2, 4, "kid"), _dot(3, 1, "grandchild")]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def unknown_metadata_ids() -> Hosts:
    plane = tpu_plane([_dot()], [(0, 50 * US)])
    line = plane.plane.lines[-1]
    line.events.add(metadata_id=999, offset_ps=12 * US, duration_ps=4 * US)
    line.events.add(offset_ps=20 * US, duration_ps=4 * US)
    event = line.events.add(metadata_id=2, offset_ps=30 * US, duration_ps=4 * US)
    event.stats.add(metadata_id=888, uint64_value=5)
    return [[plane]]


@_edge_case
def names_and_empty_category() -> Hosts:
    ops = [
        SmallOp(name="", spans=[(US, US)], long_name="%only long name = x"),
        SmallOp(name="no category", spans=[(3 * US, US)], category=""),
        SmallOp(name="<b>&\"'", spans=[(5 * US, US)], category="<i>"),
        SmallOp(name="é\u0000\u2028", spans=[(7 * US, US)]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def sources() -> Hosts:
    texts = [
        "a.py:12",
        "b.py: 13 ",
        "noline",
        "c.py:99999999999",
        "d.py:-1",
        "e.py:-7",
        ":5",
        "f:g:7",
    ]
    texts += ["<h>&\"'.py:8", "i.py:0x10", "j.py:+4", "k.py:", "l.py:007"]
    ops = [
        SmallOp(name=f"op.{k}", spans=[(k * US, US)], extra=[("source", text)])
        for k, text in enumerate(texts)
    ]
    stack = [("source_stack", "a.py:1\n<module>&'\"")]
    ops.append(SmallOp(name="stack", spans=[(50 * US, US)], extra=stack))
    ops.append(SmallOp(name="both", spans=[(52 * US, US)], extra=[("source", "m.py:3"), *stack]))
    return [[tpu_plane(ops, [(0, 60 * US)])]]


@_edge_case
def negative_and_huge_costs() -> Hosts:
    ops = [
        _dot(1, 2, "negative", flops=-5),
        _dot(4, 2, "huge", flops=2**62, bytes_accessed=2**62, memory=[(READ, HBM, 2**63)]),
        SmallOp(name="thrice", spans=[(k * US, 10) for k in (7, 8, 9)], flops=2**63 - 1),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def stats_of_other_types() -> Hosts:
    ops = [
        SmallOp(name="double flops", spans=[(US, US)], extra=[("flops", 1.0e6)]),
        SmallOp(name="text flops", spans=[(3 * US, US)], extra=[("flops", "1000")]),
        SmallOp(name="signed", spans=[(5 * US, US)], extra=[("flops", 7_000_000, "i64")]),
        SmallOp(name="twice", spans=[(7 * US, US)], extra=[("flops", 5), ("flops", 9_000_000)]),
        SmallOp(name="category", spans=[(9 * US, US)], extra=[("hlo_category", 5)]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def model_flops() -> Hosts:
    ops = [
        _dot(1, 2, "model less", extra=[("model_flops", 5 * 10**8)]),
        _dot(4, 2, "model zero", extra=[("model_flops", 0)]),
        _dot(7, 2, "model only", flops=0, extra=[("model_flops", 3 * 10**8)]),
        _dot(10, 2, "model negative", extra=[("model_flops", -3, "i64")]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def occurrences_instead_of_a_time() -> Hosts:
    plane = tpu_plane([_dot()], [(0, 50 * US)])
    line = plane.plane.lines[-1]
    kind = line.events[0].metadata_id
    line.events.add(metadata_id=kind, num_occurrences=5, duration_ps=7 * US)
    line.events.add(metadata_id=kind, num_occurrences=-3, duration_ps=2 * US)
    return [[plane]]


@_edge_case
def device_clock_and_host_clock_mixed() -> Hosts:
    clock = [("device_offset_ps", 300 * US), ("device_duration_ps", 3 * US)]
    half = [("device_offset_ps", 900 * US)]
    signed = [("device_offset_ps", 310 * US, "i64"), ("device_duration_ps", 2 * US, "i64")]
    twice = [*clock, ("device_offset_ps", 1), ("device_duration_ps", 1)]
    ops = [
        _dot(1, 2, "host"),
        _dot(4, 2, "device", event=clock),
        _dot(7, 2, "half", event=half),
        _dot(10, 2, "signed", event=signed),
        _dot(13, 2, "twice", event=twice),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def time_scale_and_stall() -> Hosts:
    ops = [
        _dot(1, 3, "slow", event=[("Time Scale Multiplier", 0.7)]),
        _dot(5, 3, "integer", event=[("Time Scale Multiplier", 2)]),
        _dot(9, 3, "stall", event=[("dma_stall_duration_ps", 10**6, "i64")]),
        _dot(13, 3, "unsigned stall", event=[("dma_stall_duration_ps", 10**6)]),
        _dot(17, 2, "nested", event=[("Time Scale Multiplier", 1.3)]),
        _dot(18, 1, "kid", event=[("Time Scale Multiplier", 0.1)]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def two_op_lines() -> Hosts:
    plane = tpu_plane([_dot(), _dot(12, 2, "fusion.2")], [(0, 20 * US)])
    add_ops(plane, [_dot(2, 6, "other line"), _dot(30, 4, "past the step")], name="XLA Ops")
    return [[plane]]


@_edge_case
def two_step_lines() -> Hosts:
    plane = tpu_plane([_dot(), _dot(12, 2, "fusion.2")], [(0, 20 * US)])
    add_steps(plane, [(0, 6 * US), (10 * US, 6 * US)])
    return [[plane]]


@_edge_case
def modules_instead_of_steps() -> Hosts:
    plane = tpu_plane([_dot(), _dot(12, 2, "fusion.2")])
    add_steps(plane, [(0, 11 * US), (12 * US, 4 * US)], name="XLA Modules")
    return [[plane]]


@_edge_case
def empty_steps_line_and_modules() -> Hosts:
    plane = tpu_plane([_dot(), _dot(12, 2, "fusion.2")], [])
    add_steps(plane, [(0, 11 * US), (12 * US, 4 * US)], name="XLA Modules")
    add_steps(plane, [])
    return [[plane]]


@_edge_case
def framework_op_named_like_an_op() -> Hosts:
    ops = [
        _dot(1, 3, "a", extra=[("tf_op", "%b = x")]),
        _dot(5, 3, "b", extra=[("tf_op", "jit(f)/mul:")]),
        _dot(6, 1, "c"),
        _dot(10, 3, "d", extra=[("tf_op", "%b = x")], event=[("tf_op", "event wins")]),
        _dot(14, 3, "e", extra=[("tf_op", "%b = x"), ("_a", 1)]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def framework_ops_extend_the_range() -> Hosts:
    clock = [("device_offset_ps", 300 * US), ("device_duration_ps", 3 * US)]
    ops = [_dot(1, 3, "a", extra=[("tf_op", "jit(f)/mul:")], event=clock), _dot(8, 1, "b")]
    plane = tpu_plane(ops, [(0, 20 * US)])
    line = plane.line(4, "Async XLA Ops", 0)
    kind = plane.event_meta("copy", "%copy", "copy", [("tf_op", "jit(f)/copy:")])
    plane.event(line, kind, 50 * US, 25 * US)
    return [[plane]]


@_edge_case
def loop_events_of_other_frameworks() -> Hosts:
    plane = tpu_plane([_dot()], [(0, 20 * US)])
    host = _host_plane()
    host.event_meta("loop", "WhileOp-EvalCond")
    return [[plane, host]]


@_edge_case
def grouped_already() -> Hosts:
    ops = [
        _dot(1, 3, event=[("group_id", 5, "i64")]),
        _dot(6, 3, "b", event=[("group_id", 8, "i64")]),
    ]
    plane = tpu_plane(ops)
    line = plane.plane.lines[0]
    for begin, group in [(0, 5), (5, 8)]:
        kind = plane.event_meta(("s", group), str(group))
        plane.event(line, kind, begin * US, 5 * US, [("group_id", group, "i64")])
    return [[plane]]


@_edge_case
def grouped_already_unsigned() -> Hosts:
    ops = [_dot(1, 3, event=[("group_id", 5)]), _dot(6, 3, "b", event=[("group_id", 8)])]
    plane = tpu_plane(ops)
    line = plane.plane.lines[0]
    for begin, group in [(0, 5), (5, 8)]:
        kind = plane.event_meta(("s", group), str(group))
        plane.event(line, kind, begin * US, 5 * US, [("group_id", group)])
    return [[plane]]


@_edge_case
def grouped_partly() -> Hosts:
    """A group id on some events of a file that is not grouped as a whole."""
    ops = [_dot(1, 3, event=[("group_id", 9, "i64")]), _dot(6, 3, "b")]
    return [[tpu_plane(ops, [(0, 5 * US), (5 * US, 10 * US)]), _host_plane()]]


@_edge_case
def host_annotations_and_launches() -> Hosts:
    plane = tpu_plane([_dot(1, 3), _dot(21, 3, "b"), _dot(41, 3, "c")])
    line = plane.line(2, "XLA Modules", 0)
    host = PlaneBuilder("/host:CPU", 500)
    thread = host.line(1, "python", 0)
    for step, (begin, annotation) in enumerate([(0, "train"), (20, "train"), (40, "eval")]):
        module = plane.event_meta(("m", step), f"jit_step({step})")
        run = [("run_id", 2**27 + 70 + step), ("queue_id", 1)]
        plane.event(line, module, begin * US, 18 * US, run)
        root: list[Stat] = [("_r", 1, "i64"), ("step_num", step)]
        if annotation == "train":
            host.event(thread, host.event_meta("t", "train"), begin * US, 9 * US, root)
        launch = [("run_id", 70 + step), ("queue_id", 1), ("device_ordinal", 0)]
        enqueue = host.event_meta("e", "DoEnqueueProgram")
        host.event(thread, enqueue, (begin + 1) * US, 2 * US, launch)
    return [[plane, host]]


@_edge_case
def nested_roots() -> Hosts:
    plane = tpu_plane([_dot(1, 3), _dot(21, 3, "b")])
    line = plane.line(2, "XLA Modules", 0)
    host = PlaneBuilder("/host:CPU", 500)
    thread = host.line(1, "python", 0)
    host.event(thread, host.event_meta("o", "outer"), 0, 60 * US, [("_r", 2, "i64")])
    for step, begin in enumerate([2, 22]):
        module = plane.event_meta(("m", step), f"jit_step({step})")
        plane.event(line, module, (begin - 2) * US, 18 * US, [("run_id", step), ("queue_id", 1)])
        host.event(thread, host.event_meta("i", "TraceContext"), begin * US, 9 * US)
        launch = [("run_id", step), ("queue_id", 1), ("device_ordinal", 0)]
        enqueue = host.event_meta("e", "DoEnqueueProgram")
        host.event(thread, enqueue, (begin + 1) * US, 2 * US, launch)
    return [[plane, host]]


@_edge_case
def duplicate_plane_ids() -> Hosts:
    second = tpu_plane([_dot(2, 9, "fusion.2")], [(0, 25 * US)], name="/device:TPU:1")
    return [[tpu_plane([_dot()], [(0, 20 * US)]), second]]


@_edge_case
def two_cores_with_unequal_steps() -> Hosts:
    first = tpu_plane([_dot(1, 3), _dot(22, 3, "b")], [(0, 20 * US), (20 * US, 20 * US)])
    second = tpu_plane([_dot(2, 4)], [(0, 19 * US)], name="/device:TPU:1", plane_id=1)
    return [[first, second]]


@_edge_case
def odd_plane_names() -> Hosts:
    names = ["/device:TPU:0 extra words here", "/device:TPU:x", "/device:TPU:3"]
    return [
        [
            tpu_plane([_dot(1, 3 + k, f"op.{k}")], [(0, 20 * US)], name=name, plane_id=k)
            for k, name in enumerate(names)
        ]
    ]


@_edge_case
def sparse_core_first() -> Hosts:
    sparse = PlaneBuilder("/device:TPU:0 SparseCore 0", 100)
    add_steps(sparse, [(0, 20 * US)], name="Sparse Core Steps")
    add_ops(sparse, [_dot(2, 3, "gather")], name="Sparse Core Ops")
    return [[sparse, tpu_plane([_dot()], [(0, 20 * US)])]]


@_edge_case
def sparse_core_only() -> Hosts:
    sparse = PlaneBuilder("/device:TPU:0 SparseCore 0", 100)
    add_steps(sparse, [(0, 20 * US)], name="Sparse Core Steps")
    add_ops(sparse, [_dot(2, 3, "gather")], name="Sparse Core Ops")
    return [[sparse]]


@_edge_case
def sparse_core_misses_a_step() -> Hosts:
    sparse = PlaneBuilder("/device:TPU:0 SparseCore 0", 100)
    add_steps(sparse, [(0, 18 * US)], name="Sparse Core Steps")
    add_ops(sparse, [_dot(2, 3, "gather")], name="Sparse Core Ops")
    steps = [(0, 20 * US), (20 * US, 20 * US)]
    return [[tpu_plane([_dot(), _dot(25, 3, "b")], steps), sparse]]


@_edge_case
def tied_rows() -> Hosts:
    ops = [_dot(2 * k, 1, f"tie.{k % 3}", program=k) for k in range(1, 9)]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def more_than_a_thousand_ops() -> Hosts:
    ops = [
        SmallOp(
            name=f"op.{k}",
            spans=[(k * US, (k % 97) * 1000)],
            category="infeed" if k % 5 == 0 else "loop fusion",
            flops=k,
            bytes_accessed=7 * k,
        )
        for k in range(1, 1300)
    ]
    return [[tpu_plane(ops, [(0, 1300 * US)])]]


@_edge_case
def hosts_with_shifted_steps() -> Hosts:
    def host(steps: Sequence[int]) -> list[PlaneBuilder]:
        ops = [_dot(20 * k + 1, 3 + k, f"op.{k}") for k in steps]
        return [tpu_plane(ops, [(20 * k * US, 18 * US) for k in steps])]

    return [host([0, 1, 2, 3]), host([1, 2, 3, 4]), host([2, 3])]


@_edge_case
def hosts_whose_steps_do_not_meet() -> Hosts:
    early = tpu_plane([_dot()], [(0, 20 * US)])
    late = tpu_plane([_dot(1000, 5)], [(1000 * US, 20 * US)])
    return [[early], [late]]


@_edge_case
def one_host_without_steps() -> Hosts:
    return [[tpu_plane([_dot()], [(0, 20 * US)])], [tpu_plane([_dot(2, 4)])]]


@_edge_case
def coordinator_first() -> Hosts:
    return [[_host_plane()], [tpu_plane([_dot()], [(0, 20 * US)])]]


@_edge_case
def hosts_of_different_devices() -> Hosts:
    other = {"device_type_string": "TPU v5", "peak_teraflops_per_second": 459.0}
    unnamed = {"peak_hbm_bw_gigabytes_per_second": 5.0}
    return [
        [tpu_plane([_dot()], [(0, 20 * US)], capabilities=unnamed)],
        [tpu_plane([_dot(2, 4)], [(0, 19 * US)], capabilities=other)],
        [tpu_plane([_dot(3, 4, "x")], [(0, 18 * US)])],
    ]


@_edge_case
def hosts_that_disagree_on_an_op() -> Hosts:
    return [
        [tpu_plane([_dot(flops=10**9)], [(0, 20 * US)])],
        [tpu_plane([_dot(flops=3, memory=None)], [(0, 20 * US)])],
    ]


@_edge_case
def line_timestamps_differ() -> Hosts:
    plane = tpu_plane([], [(0, 20 * US)], timestamp_ns=5_000)
    del plane.plane.lines[1]
    add_ops(plane, [_dot(1, 3), _dot(6, 4, "b"), _dot(27, 4, "c")], timestamp_ns=3_000)
    return [[plane]]


@_edge_case
def offsets_near_two_to_the_63() -> Hosts:
    return [[tpu_plane([_dot(1, 3)], [(0, 20 * US)], timestamp_ns=9 * 10**15)]]


@_edge_case
def work_past_64_bits() -> Hosts:
    ops = [
        SmallOp(
            name="much",
            spans=[(k * US, US) for k in range(1, 6)],
            flops=2**62,
            bytes_accessed=2**62 + 3,
            memory=[(READ, HBM, 2**62 + 1), (WRITE, CMEM, 2**63)],
            extra=[("model_flops", 2**63 + 7)],
        ),
        _dot(8, 2, "more", flops=2**63, bytes_accessed=2**63, memory=None),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])], [tpu_plane(ops, [(0, 20 * US)])]]


@_edge_case
def many_occurrences() -> Hosts:
    plane = tpu_plane([_dot()], [(0, 50 * US)])
    line = plane.plane.lines[-1]
    kind = line.events[0].metadata_id
    line.events.add(metadata_id=kind, num_occurrences=2**31 - 1, duration_ps=7 * US)
    line.events.add(metadata_id=kind, num_occurrences=2**31 - 1, duration_ps=2 * US)
    return [[plane]]


@_edge_case
def stall_past_the_op() -> Hosts:
    ops = [
        _dot(1, 3, "long", event=[("dma_stall_duration_ps", 10**9, "i64")]),
        _dot(5, 3, "negative", event=[("dma_stall_duration_ps", -5, "i64")]),
    ]
    return [[tpu_plane(ops, [(0, 20 * US)])]]


def _type(text: str) -> dict[str, object]:
    return {**CAPABILITIES, "device_type_string": text}


@_edge_case
def device_type_with_markup() -> Hosts:
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities=_type('<b>TPU</b> "4" é'))]]


@_edge_case
def device_types_without_tpu_on_two_hosts() -> Hosts:
    types = ["Accelerator", "CPU"]
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities=_type(text))] for text in types]


@_edge_case
def steps_of_zero_length() -> Hosts:
    ops = [_dot(1, 3), _dot(6, 4, "b")]
    return [[tpu_plane(ops, [(0, 0), (US, 5 * US), (6 * US, 0)])]]


@_edge_case
def framework_name_scope_lines() -> Hosts:
    """Lines that an earlier conversion derived and that stand in the file already."""
    plane = tpu_plane([_dot(1, 3), _dot(6, 4, "b")], [(0, 20 * US)])
    for name in ("Framework Name Scope", "Framework Ops", "Source code", "Launch Stats"):
        line = plane.line(40, name, 0)
        plane.event(line, plane.event_meta(name, f"jit(f)/{name}"), 0, 30 * US)
    return [[plane]]


@_edge_case
def framework_ops_line_with_ops() -> Hosts:
    plane = tpu_plane([_dot(1, 3), _dot(6, 4, "b")], [(0, 20 * US)])
    add_ops(plane, [_dot(2, 1, "derived"), _dot(7, 9, "later")], name="Framework Ops")
    return [[plane]]


@_edge_case
def lines_that_are_no_op_lines() -> Hosts:
    plane = tpu_plane([_dot(1, 3)], [(0, 20 * US)])
    for name in ("Async XLA Ops", "XLA TraceMe", "Host Offload Ops", "xla ops", "XLA Ops "):
        add_ops(plane, [_dot(30, 4, name)], name=name)
    return [[plane]]


@_edge_case
def hosts_counted_by_cores() -> Hosts:
    def core(number: int) -> PlaneBuilder:
        name = f"/device:TPU:{number}"
        return tpu_plane([_dot(1, 3 + number)], [(0, 20 * US)], name=name, plane_id=number)

    return [[core(0), core(1)], [core(0)], [_host_plane()]]


@_edge_case
def self_time_below_zero_in_a_step() -> Hosts:
    ops = [_dot(9, 9, "parent"), _dot(9, 5, "first kid"), _dot(13, 5, "second kid")]
    return [[tpu_plane(ops, [(14 * US, 5 * US)])]]


@_edge_case
def third_core_after_an_empty_intersection() -> Hosts:
    cores = [
        ([(0, 3 * US)], _dot(1, 3)),
        ([(0, 3 * US), (8 * US, 2 * US)], _dot(9, 5)),
        ([(10 * US, 3 * US)], _dot(11, 3)),
    ]
    return [
        [
            tpu_plane([op], steps, name=f"/device:TPU:{number}", plane_id=number)
            for number, (steps, op) in enumerate(cores)
        ]
    ]


@_edge_case
def last_op_line_outside_all_steps() -> Hosts:
    plane = tpu_plane([_dot(3, 5)], [(2 * US, 5 * US)])
    add_ops(plane, [_dot(16, 5, "other line")])
    return [[plane]]


@_edge_case
def host_with_a_sparse_core_only() -> Hosts:
    sparse = PlaneBuilder("/device:TPU:0 SparseCore 0", 100)
    sparse.plane_stat("peak_hbm_bw_gigabytes_per_second", 500.0)
    return [[sparse], [tpu_plane([_dot()], [(0, 20 * US)])]]


@_edge_case
def host_with_a_sparse_core_without_peaks() -> Hosts:
    sparse = PlaneBuilder("/device:TPU:0 SparseCore 0", 100)
    return [[sparse], [tpu_plane([_dot()], [(0, 20 * US)])]]


@_edge_case
def last_host_without_a_device_type() -> Hosts:
    named = tpu_plane([_dot()], [(0, 20 * US)])
    return [[named], [tpu_plane([_dot()], [(0, 20 * US)], capabilities={})]]


@_edge_case
def unnamed_device_and_a_host_without_one() -> Hosts:
    return [[tpu_plane([_dot()], [(0, 20 * US)], capabilities={})], [_host_plane()]]


@_edge_case
def hosts_with_steps_of_zero_length() -> Hosts:
    return [
        [tpu_plane([_dot(3, 3)], [(4 * US, 0)])],
        [tpu_plane([_dot(9, 2)], [(7 * US, 0), (9 * US, 5 * US)])],
    ]


def _annotations(*names: str) -> PlaneBuilder:
    """Steps that the host announces and that launch nothing."""
    plane = PlaneBuilder("/host:CPU", 500)
    line = plane.line(1, "main", 0)
    for at, name in enumerate(names):
        stats = [("step_num", 100 + at), ("_r", 1)]
        plane.event(line, plane.event_meta(name, name), at * 100 * US, 90 * US, stats)
    return plane


@_edge_case
def root_without_launch() -> Hosts:
    return [[tpu_plane([_dot()], [(0, 20 * US)]), _annotations("train")]]


@_edge_case
def roots_without_launch_and_two_cores() -> Hosts:
    steps = [(0, 20 * US), (30 * US, 20 * US), (60 * US, 20 * US)]
    cores = [
        tpu_plane([_dot(), _dot(31), _dot(61)], steps, name=f"/device:TPU:{k}", plane_id=k)
        for k in range(2)
    ]
    return [[*cores, _annotations("train", "eval")]]


# Texts of the stat tf_op, as TensorFlow, JAX and XLA write them, and some that they do not write.
FRAMEWORK_TEXTS = (
    *("XlaModule:", "XlaModule", "XlaModule:#hlo_module=a,program_id=7#", "XlaModule/a:"),
    *("A:Add", "a/b:Add", "a/b:Add_1", "add:_Add", "add:aDD", "a b:Dot", "x:Foo-1", ":Add"),
    *(
        "a/b/Foo:",
        "Foo_1:",
        "a/Foo-1:",
        "a/Foo.2:",
        "a b:",
        "a/b/:",
        ":",
        "9x:",
        "a/_1:",
        "Foo[x]_1:",
    ),
    *("Foo[x]_1:",),
    *("jit(f)/dot_general:", "jit(f)/dot_1:", "foo_1_2:", "foo[x]_1:", "foo_1[x]:", "a/foo[b/c]:"),
    *("jit(f)/x:dot[a]", "jit(f)/x:dot_1", "jit(f)/x:dot.1", "a b:dot", "a:b:c", "x:foo["),
    *("Iterator:Batch", "Iterator::Batch::Map", "Iterator:", "Iterator", "a/Iterator:Y"),
    *("MemcpyHToD", "memcpydtohfoo", "MEMCPYDtoD", "MemcpyPToP", "MEMCPYHToD:", "a/MemcpyHToD"),
)


@_edge_case
def framework_names_of_kernels() -> Hosts:
    kernels: list[Event] = [
        (f"kernel_{at}", at * US, US, [("tf_op", text), ("correlation_id", at)])
        for at, text in enumerate(FRAMEWORK_TEXTS)
    ]
    return [[gpu_plane([kernels])]]


AMD: Mapping[str, int | str] = {
    "device_vendor": "AMD",
    "clock_rate": 2_100_000,
    "core_count": 304,
    "memory_bandwidth": 2_662_400_000_000,
    "compute_cap_major": 9,
}


def _amd(**more: int | str) -> Hosts:
    kernels: list[Event] = [("kernel", 0, US, [("tf_op", "a:Add")])]
    return [[gpu_plane([kernels], capabilities={**AMD, **more})]]


@_edge_case
def amd_without_minor_version() -> Hosts:
    return _amd()


@_edge_case
def amd_by_version() -> Hosts:
    return _amd(compute_cap_minor=5)


@_edge_case
def amd_by_name() -> Hosts:
    return _amd(gpu_device_name="gfx90a")


@_edge_case
def amd_name_with_features() -> Hosts:
    return _amd(gpu_device_name="gfx942:sramecc+:xnack-")


@_edge_case
def amd_architecture_without_rates() -> Hosts:
    return _amd(gpu_device_name="gfx1100")


@_edge_case
def nvidia_without_version() -> Hosts:
    kernels: list[Event] = [("kernel", 0, US, [("tf_op", "a:Add")])]
    known = {k: v for k, v in HOPPER.items() if not k.startswith("compute_cap")}
    return [[gpu_plane([kernels], capabilities=known)]]
