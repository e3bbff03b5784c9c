"""Titles of files and folders: names that every profiler writes say nothing."""

import pytest

from roofline.presentation.titles import (
    LENGTH,
    says_something,
    series_name,
    title_of_files,
    title_of_folder,
)

_SAY_NOTHING = (
    "host_0 host-0.xplane.pb reference.json sysinfo.csv trace.json profile pmc_perf.csv rank0.json"
    " rank-0.json.gz vm.xplane.pb plugins 2024_06_11_12_30_00 t1v-n-1a2b3c4d-w-0.xplane.pb"
    " 550e8400-e29b-41d4-a716-446655440000.json trace_8_rank_1.json tmpx78selo7.json hlo_stats.csv"
    " libkineto_activities_865.json roofline_model.json kernel_trace.csv ip-172-31-42-53.pb"
    " node7_results.json host_123.1623143089861.pt.trace.json 1234_agent_info.csv .json"
)
_SAY_SOMETHING = (
    "runA.xplane.pb run7.json b200_vllm_eager.json.gz h100.json a100-kernels.ncu-rep old.json"
    " v4_hlo_stats.csv mi300x_results.json nightly_2024 64x64.json größe.json 模型.json"
    " llama-7b_rank0.json train.xplane.pb"
)


@pytest.mark.parametrize(("names", "says"), [(_SAY_NOTHING, False), (_SAY_SOMETHING, True)])
def test_names_that_profilers_write_say_nothing(names: str, says: bool) -> None:
    assert {name: says_something(name) for name in names.split()} == dict.fromkeys(
        names.split(), says
    )


def test_name_of_the_machine_says_nothing() -> None:
    assert says_something("tw003.xplane.pb")
    assert not says_something("TW003_17.xplane.pb", ["tw003"])


def test_title_of_a_folder_is_the_innermost_that_says_something() -> None:
    assert title_of_folder("/logs/llama/plugins/profile/2024_06_11/") == "llama"
    assert title_of_folder("C:\\runs\\a <b>\nc\\") == "a <b> c"
    assert title_of_folder("/logs/plugins/profile/1") == title_of_folder("") == ""


def test_title_of_files_is_cut_before_their_number() -> None:
    assert title_of_files(["host_0.xplane.pb", "b"]) == "host_0 and 1 more"
    long = title_of_files(["x" * 500, "b"])
    assert long.endswith("x and 1 more") and len(long) == LENGTH


def test_series_are_named_without_the_day() -> None:
    assert series_name("train_step · 2024-06-11") == "train_step"
    for title in ("train_step", "2024-06-11", " · 2024-06-11", "a · 2024-06-11 b"):
        assert series_name(title) == title
