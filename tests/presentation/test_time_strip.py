"""The strip of time: percentages of bins, and its size in the page data."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from roofline.pipeline import analyse_files
from roofline.presentation.json_text import to_json
from roofline.presentation.page import ALL_CORES, strip_data
from tests.tools.gpu_captures import Event, gpu_plane, metadata_plane
from tests.tools.small_profiles import space_bytes

US = 1_000_000
SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"


def test_lanes_are_percent_of_each_bin(tmp_path: Path) -> None:
    """GPU 0 works for all of 80 us, GPU 1 from 40 us on."""
    first: list[list[Event]] = [[("a", 0, 80 * US, [])]]
    second: list[list[Event]] = [[("a", 40 * US, 40 * US, [])]]
    planes = [gpu_plane(first), gpu_plane(second, number=1), metadata_plane({})]
    path = tmp_path / "host_0.xplane.pb"
    path.write_bytes(space_bytes(planes))
    strip = strip_data(analyse_files([path]))
    assert strip is not None
    assert strip["edges_us"][0] == 0
    assert strip["edges_us"][-1] == 80
    assert strip["lanes"][0]["name"] == ALL_CORES
    mean, of_first, of_second = (np.array(lane["parts"]["work"]) for lane in strip["lanes"])
    middle = np.searchsorted(strip["edges_us"], 40)
    assert set(mean[:middle]) == {50}
    assert set(mean[middle:]) == {100}
    assert set(of_first) == {100}
    assert set(of_second[:middle]) == {0}
    assert [kind["id"] for kind in strip["kinds"]] == ["work"]


@pytest.mark.parametrize("name", ["xspace/v6e-training.xplane.pb", "pytorch/h100-training.json"])
def test_a_strip_takes_few_bytes(name: str) -> None:
    strip = strip_data(analyse_files([SAMPLES / name]))
    assert strip is not None
    written = to_json(strip)
    assert len(written) < 60_000
    assert len(gzip.compress(written)) < 20_000
    assert len(strip["steps"]) > 1


def test_a_wait_of_any_length_is_one_percent_at_least(tmp_path: Path) -> None:
    kernels: list[Event] = [("a", 0, 8_000 * US, []), ("b", 12_000 * US, US // 1000, [])]
    path = tmp_path / "host_0.xplane.pb"
    last: Event = ("a", 16_000 * US, 10 * US, [])
    path.write_bytes(space_bytes([gpu_plane([[*kernels, last]]), metadata_plane({})]))
    strip = strip_data(analyse_files([path]))
    assert strip is not None
    assert 1 in strip["lanes"][0]["parts"]["work"]


def test_a_table_has_no_strip() -> None:
    table = next(path for path in sorted((SAMPLES / "generic").iterdir()) if path.suffix == ".csv")
    assert strip_data(analyse_files([table])) is None
