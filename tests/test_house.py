"""The program stays as small and as untangled as tests/house.toml says."""

from pathlib import Path

import pytest

from tests.tools.house import House, aims, ceilings, counts

IMPORTERS = Path(__file__).parents[1] / "app/roofline/importers"


def test_no_count_is_above_its_ceiling() -> None:
    found, most = counts(House()), ceilings()
    assert found.keys() == most.keys() == aims().keys()
    assert {name: count for name, count in found.items() if count > most[name]} == {}


@pytest.mark.parametrize("name", ["nsight_systems", "rocprof_compute", "rocprofiler_sdk"])
def test_an_importer_of_what_other_profilers_write_has_at_most_900_lines(name: str) -> None:
    files = [path.read_text().count("\n") for path in (IMPORTERS / name).glob("*.py")]
    assert 0 < sum(files) <= 900


def test_a_house_that_is_tangled_is_found(tmp_path: Path) -> None:
    """The counts of a small program that has one of each fault."""
    package, page = tmp_path / "app" / "small", tmp_path / "static" / "js"
    package.mkdir(parents=True)
    page.mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from small.two import two\n"
        "def uncalled() -> None: ...\ndef one() -> None: ...\n"
    )
    (package / "two.py").write_text(
        "import uvicorn.server\n\n\ndef two() -> None:\n    from small import one\n    one.one()\n"
    )
    (page / "roof.js").write_text("export const ridge = (peak, gibs) => peak / gibs;\n")
    (page / "words.js").write_text('export const text = "peak / gibs"; // peak / gibs\n')
    house = House(tmp_path)
    assert house.circles() == [["small.one", "small.two"]]
    assert house.uncalled() == ["app/small/one.py: uncalled"]
    assert house.roofline_scripts() == [page / "roof.js"]
    assert house.inside_uvicorn() == [package / "two.py"]
    assert len(house.small_files()) == 2
