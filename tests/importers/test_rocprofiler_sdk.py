"""Results of rocprofv3: work by counters, passes, processes, and what damage says."""

import json
from pathlib import Path
from typing import Any

import pytest

from roofline.errors import CorruptProfileError, IncompleteProfileError, RooflineError
from roofline.importers.registry import identify, import_profile
from roofline.importers.rocprofiler_sdk import FORMAT_ID
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.pipeline import analyse_files
from tests.importers.kineto_profiles import codes, row
from tests.profiles import imported
from tests.tools.make_rocprofiler_sdk import COPY, COUNTERS, GEMM, SAMPLE, VCOPY, results

US = 10**6  # ps
FLOP = 2 * 4096**3 + 64 * 2 * 1_000
HBM = 1_048_576 * 64 + 524_288 * 64


def profile_of(folder: Path, *files: Any) -> Profile:
    sources = []
    for k, one in enumerate(files):
        path = folder / f"{k}_results.json"
        path.write_bytes(one if isinstance(one, bytes) else json.dumps(one).encode())
        sources.append(SourceFile(path))
    return import_profile(sources)


def tool(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["rocprofiler-sdk-tool"][0]
    return found


def test_the_sample_is_current() -> None:
    assert json.loads(SAMPLE.read_text()) == results()


def test_work_is_that_of_the_counters() -> None:
    profile = imported(SAMPLE)
    ops, gemm, vcopy = profile.ops, row(profile, GEMM), row(profile, VCOPY)
    assert profile.format_id == FORMAT_ID
    assert (ops.occurrences[gemm], ops.time_ps[gemm]) == (2, 400 * US)
    assert ops.flop[gemm] == 2 * FLOP
    assert ops.unit_flop[ComputeUnit.MATRIX_BF16][gemm] == 2 * 2 * 4096**3
    assert ops.traffic_bytes[MemoryLevel.HBM][gemm] == 2 * HBM
    assert ops.flop[vcopy] == 0
    # Both arrays of 2^20 doubles, in requests of 64 bytes.
    assert ops.traffic_bytes[MemoryLevel.HBM][vcopy] == 2 * 2**20 * 8
    copy = row(profile, COPY)
    assert (ops.category[copy], ops.bytes_accessed[copy]) == ("copy", 1_048_576)


def test_time_is_busy_and_idle() -> None:
    profile = imported(SAMPLE)
    assert profile.op_time_ps == (40 + 8 + 210 + 190) * US
    assert profile.time_ps == (50 + 8 + 2 + 210 + 2 + 190) * US


def test_the_device_is_the_agent_that_ran() -> None:
    analysis = analyse_files([SAMPLE])
    assert analysis.device.part_id == "mi300x"
    assert analysis.profile.device.traits.architecture == "gfx942"
    assert analysis.profile.device.traits.processor_count == 304


@pytest.mark.parametrize(("version", "name"), [(90_010, "gfx90a"), (90_402, "gfx942")])
def test_architecture_by_its_version(version: int, name: str, tmp_path: Path) -> None:
    document = results()
    tool(document)["agents"][1] |= {"gfx_target_version": version, "name": ""}
    assert profile_of(tmp_path, document).device.traits.architecture == name


def test_counters_of_instances_add_up(tmp_path: Path) -> None:
    one, many = profile_of(tmp_path, results()), profile_of(tmp_path, results(instances=8))
    assert many.ops.flop.tolist() == one.ops.flop.tolist()
    assert many.ops.bytes_accessed.tolist() == one.ops.bytes_accessed.tolist()


def test_counters_without_a_trace_have_their_own_times(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, results(traced=False))
    gemm = row(profile, GEMM)
    assert (profile.ops.time_ps[gemm], profile.ops.flop[gemm]) == (400 * US, 2 * FLOP)


def test_passes_of_one_program_are_one_profile(tmp_path: Path) -> None:
    names = list(COUNTERS[GEMM])
    profile = profile_of(tmp_path, results(names[:2]), results(names[2:]))
    gemm = row(profile, GEMM)
    assert (profile.ops.occurrences[gemm], profile.ops.flop[gemm]) == (2, 2 * FLOP)
    assert profile.ops.traffic_bytes[MemoryLevel.HBM][gemm] == 2 * HBM
    assert profile.host_count == 1


def test_processes_with_the_same_counters_add_up(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, results(), results())
    assert profile.ops.occurrences[row(profile, GEMM)] == 4
    assert profile.device.core_count == 2


def test_times_alone_have_no_rates(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, results([]))
    gemm = row(profile, GEMM)
    assert profile.ops.time_ps[gemm] == 400 * US
    assert not profile.ops.cost_known[gemm]
    assert "only-times" in codes(profile)


def test_a_kernel_counted_once_of_twice_is_unknown(tmp_path: Path) -> None:
    document = results()
    tool(document)["callback_records"]["counter_collection"].pop()
    profile = profile_of(tmp_path, document)
    assert not profile.ops.flop_known[row(profile, GEMM)]
    assert codes(profile)["flop-not-counted"] == 1


def test_names_and_numbers_of_strangers(tmp_path: Path) -> None:
    document = results()
    one = tool(document)
    one["kernel_symbols"][0]["formatted_kernel_name"] = "<b>\u0000\ud800x</b>"
    one["agents"].append({"id": 3, "type": "GPU"})
    one["buffer_records"]["kernel_dispatch"].append({"dispatch_info": {"kernel_id": -1}})
    one["buffer_records"]["memory_copy"].append({"kind": 99, "operation": 99, "bytes": -5})
    profile = profile_of(tmp_path, document)
    assert any(name.startswith("<b>") for name in profile.ops.name)
    assert "kernel -1" in profile.ops.name or "kernel None" in profile.ops.name


@pytest.mark.parametrize(
    "damage",
    [
        {"agents": None},
        {"kernel_symbols": {}},
        {"counters": [1, None, "x"]},
        {"strings": []},
        {"callback_records": None},
        {"metadata": 7},
    ],
)
def test_missing_parts_cost_what_they_held(damage: dict[str, Any], tmp_path: Path) -> None:
    document = results()
    tool(document).update(damage)
    profile = profile_of(tmp_path, document)
    assert profile.ops.time_ps.sum() == 448 * US


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_cut_file_says_where(share: float, tmp_path: Path) -> None:
    text = json.dumps(results()).encode()
    with pytest.raises(CorruptProfileError, match="at byte"):
        profile_of(tmp_path, text[: int(len(text) * share)])


@pytest.mark.parametrize("tools", [[], [{}], [1], {}])
def test_a_file_without_work_is_incomplete(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(IncompleteProfileError, match="neither kernels nor copies"):
        profile_of(tmp_path, {"rocprofiler-sdk-tool": tools})


def test_deep_nesting_is_damage(tmp_path: Path) -> None:
    with pytest.raises(RooflineError):
        profile_of(tmp_path, b'{"rocprofiler-sdk-tool":' + b"[" * 200_000)


def test_the_first_key_tells_the_format(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(' {"rocprofiler-sdk-tool": {}}')
    assert identify(SourceFile(path)).FORMAT_ID == FORMAT_ID
