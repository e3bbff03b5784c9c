"""Files that are not one profile are never merged: the error says which belong together."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from roofline.devices import identification
from roofline.errors import MixedUploadError, RooflineError, describe, error_from
from roofline.importers.registry import import_profile
from roofline.importers.source import SourceFile
from roofline.importers.xspace.captures import Captured, captures_of
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.pipeline import analyse_files, analyse_sources
from tests.compare.captures import unpack_ten
from tests.tools import make_ncu_samples as ncu
from tests.tools.gpu_captures import gpu_plane
from tests.tools.make_ncu_samples import Kernel
from tests.tools.small_profiles import space_bytes

ROOT = Path(__file__).parents[2]
V4 = ROOT / "sample_profiles/xspace/v4-training-cmem.xplane.pb"
V6E = ROOT / "sample_profiles/xspace/v6e-training.xplane.pb"
V5E = sorted((ROOT / "sample_profiles/xspace/v5e-three-hosts").iterdir())
NSIGHT = ROOT / "sample_profiles/nsight_compute/a100-kernels.ncu-rep"
US = 1_000_000


def mixed(*paths: Path) -> MixedUploadError:
    with pytest.raises(MixedUploadError) as caught:
        analyse_files(paths)
    return caught.value


def groups(error: MixedUploadError) -> list[tuple[str, tuple[int, ...]]]:
    return [(group.label, group.numbers) for group in error.groups]


@pytest.fixture
def gpu_capture(tmp_path: Path) -> Path:
    path = tmp_path / "gpu.xplane.pb"
    path.write_bytes(space_bytes([gpu_plane([[("loop_add_fusion.3", 0, US, [])]])]))
    return path


def test_two_parts_in_one_upload_are_two_groups() -> None:
    error = mixed(V6E, V4, V6E)
    assert groups(error) == [("TPU v6e (Trillium)", (0, 2)), ("TPU v4", (1,))]
    assert "different machines" in error.message
    assert error.groups[0].files == (V6E.name, V6E.name)
    assert not error.unreadable


def test_a_tpu_and_a_gpu_are_two_groups(gpu_capture: Path) -> None:
    error = mixed(gpu_capture, V6E)
    assert [group.numbers for group in error.groups] == [(0,), (1,)]
    assert error.groups[1].label == "TPU v6e (Trillium)"


def test_files_of_one_name_keep_their_places(tmp_path: Path) -> None:
    paths = []
    for folder, source in (("a", V4), ("b", V6E), ("c", V4)):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "host.xplane.pb")
        paths[-1].write_bytes(source.read_bytes())
    assert groups(mixed(*paths)) == [("TPU v4", (0, 2)), ("TPU v6e (Trillium)", (1,))]


def test_captures_of_one_host_one_after_the_other_are_a_run_each(tmp_path: Path) -> None:
    first, second, *_ = unpack_ten(tmp_path)
    error = mixed(second, first)
    assert groups(error) == [("capture 1", (1,)), ("capture 2", (0,))]
    assert "2 captures of one host" in error.message
    assert len(analyse_files([second, first], xprof_compat=True).profile.hosts) == 2
    assert len(analyse_files([first, first]).profile.hosts) == 2, "they overlap in time"


def test_files_of_several_hosts_are_paired_by_capture() -> None:
    files = [
        Captured(host, (start, start + 5))
        for host, start in (("a", 0), ("a", 10), ("b", 1), ("b", 12), ("c", 11))
    ]
    assert captures_of(files) == [[0, 2, 4], [1, 3]]
    assert captures_of([Captured(""), Captured("", (0, 1)), Captured("a"), Captured("a")]) == [
        [0, 1, 2, 3]
    ]


def test_hosts_of_one_part_still_make_one_profile() -> None:
    analysis = analyse_files(V5E)
    assert len(analysis.profile.hosts) == 3
    assert {host.device.name for host in analysis.profile.hosts if host.device} == {"TPU v5 lite"}


def test_comparison_joins_whatever_xprof_joins() -> None:
    assert len(analyse_files([V4, V6E], xprof_compat=True).profile.hosts) == 2


def test_one_damaged_file_beside_good_ones_can_be_left_out(tmp_path: Path) -> None:
    cut = tmp_path / "cut.xplane.pb"
    cut.write_bytes(V4.read_bytes()[:-1000])
    error = mixed(V4, cut)
    assert groups(error) == [("TPU v4", (0,))]
    (bad,) = error.unreadable
    assert (bad.name, bad.number, bad.code) == ("cut.xplane.pb", 1, "corrupt-profile")
    assert bad.message == error.message
    assert "go on without cut.xplane.pb" in error.remedy
    kept = [SourceFile(V4), SourceFile(cut)]
    left = [kept[number] for group in error.groups for number in group.numbers]
    assert analyse_sources(left, progress=lambda *_: None).profile.device.name == "TPU v4"


def test_a_damaged_file_beside_two_machines_is_named_too(tmp_path: Path) -> None:
    cut = tmp_path / "cut.xplane.pb"
    cut.write_bytes(V4.read_bytes()[:-1000])
    error = mixed(V4, cut, V6E)
    assert groups(error) == [("TPU v4", (0,)), ("TPU v6e (Trillium)", (2,))]
    assert [one.number for one in error.unreadable] == [1]


def test_a_file_that_is_not_a_profile_can_be_left_out(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("remember the milk")
    empty = tmp_path / "empty.pb"
    empty.touch()
    error = mixed(notes, V4, empty)
    assert [one.code for one in error.unreadable] == ["unknown-format", "upload-rejected"]
    assert [group.numbers for group in error.groups] == [(1,)]
    assert "1 more of the 3 files" in error.message


def test_files_that_all_fail_keep_the_first_one_s_error(tmp_path: Path) -> None:
    paths = [tmp_path / "one.pb", tmp_path / "two.pb"]
    for path in paths:
        path.write_bytes(V4.read_bytes()[:-1000])
    with pytest.raises(RooflineError) as caught:
        analyse_files(paths)
    assert caught.value.code == "corrupt-profile"
    assert "one.pb" in caught.value.message


def test_files_of_two_formats_are_groups_by_format() -> None:
    error = mixed(V4, ROOT / "sample_profiles/generic/cfd-cpu.csv", V4)
    assert [numbers for _, numbers in groups(error)] == [(0, 2), (1,)]


def test_a_report_of_another_gpu_does_not_join_a_capture(gpu_capture: Path, tmp_path: Path) -> None:
    fusion = Kernel(
        name="loop_add_fusion_3(float *)",
        time_ns=2_000,
        instructions={"ffma": 500, "fadd": 24, "fmul": 0},
        dram_bytes=4_096,
    )
    report = tmp_path / "kernels.ncu-rep"
    report.write_bytes(ncu.report([fusion]))
    sources = [SourceFile(gpu_capture), SourceFile(report)]
    assert import_profile(sources).device.counters.measured is not None

    class Apart:
        differ = staticmethod(lambda _one, _other: True)
        label = staticmethod(lambda device: device.name or "?")

    with pytest.raises(MixedUploadError) as caught:
        import_profile(sources, machines=Apart())
    assert [group.numbers for group in caught.value.groups] == [(0,), (1,)]


def test_tables_of_two_devices_are_two_groups(tmp_path: Path) -> None:
    paths = []
    for name in ("T4", "NVIDIA A100-SXM4-80GB", ""):
        paths.append(tmp_path / f"{name or 'none'}.csv")
        comment = f"# device: {name}\n" if name else ""
        paths[-1].write_text(f"{comment}name,flops,dram_bytes,time_s\ngemm,10,10,1\n")
    assert [numbers for _, numbers in groups(mixed(*paths))] == [(0, 2), (1,)]


def test_the_error_crosses_processes_with_its_groups() -> None:
    error = mixed(V6E, V4)
    for again in (error_from(describe(error)), pickle.loads(pickle.dumps(error))):
        assert isinstance(again, MixedUploadError)
        assert again.groups == error.groups
        assert again.details == error.details
    assert describe(error)["details"]["groups"][0] == {
        "label": "TPU v6e (Trillium)",
        "files": [V6E.name],
        "numbers": [0],
    }


def test_names_of_files_do_not_steer_a_terminal(tmp_path: Path) -> None:
    bad = tmp_path / "a\x1b[31m.pb"
    bad.write_bytes(b"?")
    error = mixed(V4, bad)
    assert error.unreadable[0].name == "a�[31m.pb"


# ----------------------------------------------------------------------------- what differs


def device(kind: DeviceKind, name: str, **traits: Any) -> ReportedDevice:
    return ReportedDevice(
        kind=kind,
        name=name,
        core_count=1,
        bandwidth_gbs={},
        traits=DeviceTraits(**traits),
    )


GPU, TPU, CPU = DeviceKind.GPU, DeviceKind.TPU, DeviceKind.CPU


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (device(TPU, "TPU v4"), device(TPU, "TPU v6 Lite"), True),
        (device(TPU, "TPU v4"), device(GPU, "Tesla V100-SXM2-16GB"), True),
        (device(TPU, "TPU v9"), device(GPU, "a GPU of next year"), True),
        (device(GPU, "a GPU of next year"), device(GPU, "Tesla V100-SXM2-16GB"), False),
        (device(GPU, ""), device(GPU, "NVIDIA H100 80GB HBM3"), False),
        (device(CPU, "CPU"), device(TPU, "TPU v4"), False),
        (device(DeviceKind.UNKNOWN, "?"), device(TPU, "TPU v4"), False),
        (device(GPU, "NVIDIA A100-SXM4-80GB"), device(GPU, "NVIDIA H100 80GB HBM3"), True),
        (device(GPU, "Tesla V100-SXM2-16GB"), device(GPU, "Tesla V100-SXM2-32GB"), False),
    ],
)
def test_devices_differ_only_where_that_is_certain(
    one: ReportedDevice, other: ReportedDevice, apart: bool
) -> None:
    assert identification.differ(one, other) is apart
    assert identification.differ(other, one) is apart


@pytest.mark.parametrize("order", [lambda x: x, lambda x: x[::-1]])
def test_a_family_and_its_part_are_one_device(
    order: Callable[[list[ReportedDevice]], list[ReportedDevice]],
) -> None:
    family = device(
        GPU, "Nvidia GPU (Ampere)", processor_count=108, clock_ghz=1.41, memory_bytes=40 * 2**30
    )
    both = order([family, device(GPU, "NVIDIA A100-PCIE-40GB")])
    assert not identification.differ(*both)
