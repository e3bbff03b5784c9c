"""The yield of a file of a run: a partial for each host in it.

A file that cannot be read is listed with the reason, and the others go on. The files of a folder
that is one host (`pods.folders`) come as an archive, as those of a packed workload folder of
rocprof-compute do.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from roofline.errors import IncompleteProfileError, RooflineError, UnknownFormatError
from roofline.importers import rocprof_compute, rocprofiler_sdk
from roofline.importers.intake.archives import Unpacked, UnpackLimits, unpack
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.model.categories import is_work
from roofline.model.device import DeviceKind
from roofline.model.op_columns import F64, I64, Values
from roofline.model.profile import Host, Profile
from roofline.model.timeline import WHOLE_CAPTURE, Timeline
from roofline.pods.folders import XSPACE_SUFFIX, HostFile, digest_of, rank_of
from roofline.pods.partial import (
    BYTES_KNOWN,
    FLOP_KNOWN,
    SUFFIX,
    CollectiveKey,
    Header,
    Names,
    Partial,
    is_packed,
)
from roofline.pods.partial import unpack as unpack_partial
from roofline.pods.report import OpKey, Unreadable

# In a folder, other files that no importer recognises are not captures of hosts.
_CAPTURES = (XSPACE_SUFFIX, ".json", ".json.gz", ".ncu-rep", SUFFIX)
MOST_SINGLE_TIMES = 65_536
"""Single times of collectives that a partial holds; beyond it, it holds their sums only."""
# Every rank of the group takes part, and none ends before the last has come.
_BLOCKING = frozenset(
    {
        "all-reduce", "all-reduce-scatter", "all-gather", "reduce-scatter", "all-to-all",
        "ragged-all-to-all", "broadcast", "collective-broadcast", "reduce", "collective",
    }
)  # fmt: skip
_ID = re.compile(r"\(\d+\)\Z")
_PROCESS = re.compile(r"\Aprocess \d+\Z")
_RANK = re.compile(r"\Arank \d+\Z")


def nothing(_size_bytes: int) -> None:
    """Takes note of nothing."""


def read_file(
    file: HostFile,
    path: Path,
    *,
    digest: str,
    scratch: Path,
    limits: UnpackLimits,
    unpacked: Callable[[int], None] = nothing,
) -> list[Partial | Unreadable]:
    """The partial of a file, which is at `path` now; one for each file of an archive, or why there
    is none.

    A file of a folder or archive that is not a capture gives nothing. `digest` is the SHA-256 of
    the file. Archives are unpacked into the empty folder `scratch`; `unpacked` is told how many
    bytes there are afterwards.
    """
    source = SourceFile(path, file.name)
    if is_packed(path):
        return [_unpacked(source, digest)]
    try:
        opened = unpack([source], into=scratch / "unpacked", limits=limits)
    except RooflineError as error:
        return [Unreadable(name=source.name, digest=digest, reason=error.message)]
    unpacked(sum(one.source.size_bytes for one in opened))
    if parts := _parts_of_one(opened, is_folder=file.is_folder):
        return [_one_host(parts, name=source.name, digest=digest)]
    own = {path: digest}
    found = [
        _read(
            one.source,
            digest=own.get(one.source.path) or digest_of(one.source.path),
            is_named=file.is_named and len(opened) == 1,
        )
        for one in opened
    ]
    return [one for one in found if one is not None]


def _unpacked(source: SourceFile, digest: str) -> Partial | Unreadable:
    """The partial that a host has sent in place of its file."""
    try:
        return unpack_partial(source.path.read_bytes())
    except ValueError as error:
        return Unreadable(name=source.name, digest=digest, reason=str(error))


def _parts_of_one(opened: Sequence[Unpacked], *, is_folder: bool) -> list[SourceFile]:
    """The files that are one host together; none where each is one by itself."""
    sources = [one.source for one in opened]
    parts = [one for one in sources if rocprof_compute.recognises(one)]
    if is_folder:
        parts = parts or [one for one in sources if rocprofiler_sdk.recognises(one)]
        return parts or sources
    return parts if len(parts) > 1 else []


def _one_host(parts: Sequence[SourceFile], *, name: str, digest: str) -> Partial | Unreadable:
    """The partial of the files of one host, which are the folder or archive `name`."""
    try:
        profile = import_profile(parts)
    except RooflineError as error:
        return Unreadable(name=name, digest=digest, reason=error.message)
    working = [one for one in profile.hosts if one.core_count]
    if len(working) > 1:
        reason = f"{name} holds {len(working)} ranks: each needs a folder of its own."
        return Unreadable(name=name, digest=digest, reason=reason)
    (host, *_) = working or profile.hosts
    return partial_of(replace(profile, hosts=(replace(host, file_name=name),)), file_digest=digest)


def _read(source: SourceFile, *, digest: str, is_named: bool) -> Partial | Unreadable | None:
    try:
        profile = import_profile([source])
    except UnknownFormatError as error:
        if not is_named and not source.name.endswith(_CAPTURES):
            return None
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    except IncompleteProfileError as error:
        # Beside the counters of a workload folder lies what describes the machine.
        if not is_named and rocprof_compute.recognises(source):
            return None
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    except RooflineError as error:
        return Unreadable(name=source.name, digest=digest, reason=error.message)
    return partial_of(profile, file_digest=digest)


class _Work(NamedTuple):
    """Work of chips: columns as those of a partial."""

    chips: tuple[str, ...]
    work_ps: I64
    calls: I64
    chip_ps: I64
    step_work_ps: I64


class _Waits(NamedTuple):
    """Collectives, and the chips' times in them."""

    keys: tuple[CollectiveKey, ...]
    sums_ps: I64
    each: I64


def partial_of(profile: Profile, *, file_digest: str) -> Partial:
    """The part that `profile`, of one file with this SHA-256, adds to a run."""
    programs = _programs(profile)
    names, place = _names(profile, programs)
    timeline = profile.timeline
    cores = _cores(profile)
    if timeline is not None and timeline.cores:
        work = _work_on_cores(timeline, place, len(names.keys))
        waits = _collectives(profile, timeline, programs)
    else:
        work = _work_in_all(profile, place, len(names.keys), cores)
        waits = _Waits((), np.zeros((len(work.chips), 0), np.int64), np.zeros((3, 0), np.int64))
    steps = profile.steps.label[: work.step_work_ps.shape[1]]
    host = profile.hosts[0]
    return Partial(
        header=Header(
            host=_host_name(host),
            known_rank=_known_rank(host),
            file_name=host.file_name,
            file_digest=file_digest,
            format_id=profile.format_id,
            device=profile.device.name,
            has_accelerator=profile.device.kind in (DeviceKind.TPU, DeviceKind.GPU),
            cores=cores,
            chips=work.chips,
            names=names.digest,
            steps=steps,
            collectives=waits.keys,
        ),
        names=names,
        ops=_op_columns(profile, place, len(names.keys)),
        work_ps=work.work_ps,
        calls=work.calls,
        chip_ps=work.chip_ps,
        step_ps=_whole(profile.steps.duration_ps[: len(steps)]),
        step_work_ps=work.step_work_ps,
        sums_ps=waits.sums_ps,
        each=waits.each,
    )


def _host_name(host: Host) -> str:
    """The machine's name, with the rank where several may run on it; else that of the file."""
    name = host.hostname
    if not name or _PROCESS.match(name):
        return host.file_name
    return name if host.rank is None or _RANK.match(name) else f"{name} rank {host.rank}"


def _known_rank(host: Host) -> int:
    """The rank that the file tells, else that in its name or its folder's; -1 without one."""
    told = rank_of(host.file_name) if host.rank is None else host.rank
    return -1 if told is None else told


def _cores(profile: Profile) -> int:
    """The divisor of the host's times; 1 where nothing says how many cores it has."""
    if profile.timeline is not None and profile.timeline.cores:
        return len(profile.timeline.cores)
    return max(sum(host.core_count for host in profile.hosts), 1)


def _programs(profile: Profile) -> dict[int, str]:
    """The name of each program on every host: its name, with its number only among namesakes.

    Numbers of programs may differ from process to process.
    """
    ids = np.unique(profile.ops.program_id).tolist()
    plain = {one: _ID.sub("", profile.program_names.get(one, "")) for one in ids}
    shared = Counter(plain.values())
    return {one: name if shared[name] == 1 else f"{name}({one})" for one, name in plain.items()}


def _names(profile: Profile, programs: dict[int, str]) -> tuple[Names, I64]:
    """The names in order, and the place of each row of the op table among them."""
    ops = profile.ops
    called = [programs[one] for one in ops.program_id.tolist()]
    keys = [OpKey(*one) for one in zip(called, ops.name, ops.category, strict=True)]
    names = Names(tuple(sorted(set(keys))))
    number = {key: k for k, key in enumerate(names.keys)}
    return names, np.array([number[key] for key in keys], np.int64)


def _op_columns(profile: Profile, place: I64, n_ops: int) -> I64:
    """The rows `SELF`, `OCCURRENCES`, `FLOP`, `BYTES` and `KNOWN` of a partial."""
    ops, found = profile.ops, np.zeros((5, n_ops), np.int64)
    for row, given in enumerate((ops.self_time_ps, ops.occurrences, ops.flop, ops.bytes_accessed)):
        np.add.at(found[row], place, _whole(given))
    known = np.where(ops.flop_known, FLOP_KNOWN, 0) | np.where(ops.bytes_known, BYTES_KNOWN, 0)
    found[4] = FLOP_KNOWN | BYTES_KNOWN
    np.bitwise_and.at(found[4], place, known)
    return found


def _work_on_cores(timeline: Timeline, place: I64, n_ops: int) -> _Work:
    """The work of each core, by operation and by step."""
    work, chips = timeline.work, len(timeline.cores)
    time_ps, calls = _rounded(work.time_ps), _rounded(work.calls)
    in_all, inside = work.scope == WHOLE_CAPTURE, work.scope >= 0
    named = in_all & (work.op >= 0)
    at = (work.core[named], place[work.op[named]])
    return _Work(
        chips=timeline.cores,
        work_ps=_added((chips, n_ops), at, time_ps[named]),
        calls=_added((chips, n_ops), at, calls[named]),
        chip_ps=_added((chips,), (work.core[in_all],), time_ps[in_all]),
        step_work_ps=_added(
            (chips, timeline.steps), (work.core[inside], work.scope[inside]), time_ps[inside]
        ),
    )


def _work_in_all(profile: Profile, place: I64, n_ops: int, cores: int) -> _Work:
    """The mean work of a core, from an op table that does not tell cores apart."""
    ops = profile.ops
    works = np.array([is_work(one) for one in ops.category], np.bool_) & ops.time_known
    work_ps = np.zeros((1, n_ops), np.int64)
    calls = np.zeros((1, n_ops), np.int64)
    np.add.at(work_ps[0], place[works], _whole(ops.self_time_ps[works]))
    np.add.at(calls[0], place[works], _whole(ops.occurrences[works]))
    work_ps //= cores
    return _Work(
        chips=("mean of all cores",),
        work_ps=work_ps,
        calls=calls,
        chip_ps=work_ps.sum(axis=1),
        step_work_ps=np.zeros((1, 0), np.int64),
    )


def _collectives(profile: Profile, timeline: Timeline, programs: dict[int, str]) -> _Waits:
    """The blocking collectives by key, and the chips' times in them."""
    transfers, ops = timeline.transfers, profile.ops
    keys: dict[CollectiveKey, int] = {}
    number = np.full(len(transfers) + 1, -1, np.int64)
    for row in _blocking(timeline):
        op = int(transfers.op[row])
        key = CollectiveKey(
            program=programs[int(ops.program_id[op])],
            name=ops.name[op],
            kind=transfers.kind[row],
            ranks=ops.replica_groups[op],
            group_size=int(transfers.group_size[row]) or int(ops.group_size[op]),
        )
        number[row] = keys.setdefault(key, len(keys))
    single = transfers.each
    each = np.zeros((3, 0), np.int64)
    if single is not None:
        each = np.stack([number[single.transfer], single.core, _rounded(single.time_ps)])
        each = each[:, each[0] >= 0]
    sums_ps = _sums(timeline, number, len(keys), each)
    if each.shape[1] > MOST_SINGLE_TIMES:
        each = each[:, :0]
    return _Waits(tuple(keys), sums_ps, each)


def _blocking(timeline: Timeline) -> list[int]:
    transfers = timeline.transfers
    return [
        row
        for row, kind in enumerate(transfers.kind)
        if kind in _BLOCKING and transfers.op[row] >= 0
    ]


def _sums(timeline: Timeline, number: I64, n_keys: int, each: I64) -> I64:
    """Each chip's time in each collective; -1 where it did not take part."""
    shape = (len(timeline.cores), n_keys)
    if each.shape[1]:
        at, time_ps = (each[1], each[0]), each[2]
    else:
        of = timeline.transfers.occurrences
        mine = number[of.transfer] >= 0
        at, time_ps = (of.core[mine], number[of.transfer[mine]]), _rounded(of.exposed_ps[mine])
    seen = _added(shape, at, np.ones(len(time_ps), np.int64))
    found: I64 = np.where(seen > 0, _added(shape, at, time_ps), -1)
    return found


def _added(shape: tuple[int, ...], at: tuple[I64, ...], values: I64) -> I64:
    found = np.zeros(shape, np.int64)
    np.add.at(found, at, values)
    return found


def _rounded(values: F64) -> I64:
    """Whole numbers; an unknown value is 0, as it is part of no sum."""
    return np.rint(np.nan_to_num(values)).astype(np.int64)


def _whole(values: Values) -> I64:
    return values.astype(np.int64)
