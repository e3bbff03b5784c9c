"""The command line's cache stays below a size: partials of other code go first, then the oldest."""

import os
from pathlib import Path

import pytest

from roofline.fleet.kept import drop_unneeded_names, open_kept, prune
from roofline.pods.folders import HostFile
from tests.pods import runs


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Four partials, the last one with names of its own; each is an hour older than the next."""
    kept = open_kept(f"file://{tmp_path}")
    partials = [*runs.run(1, hosts=3), *runs.run(1, hosts=4, ops=9)[3:]]
    for number, partial in enumerate(partials):
        file = HostFile(address="", name="host", size_bytes=1, is_named=False)
        (key,) = kept.keep(file, partial.header.file_digest, [partial]).partials
        os.utime(tmp_path / key, (number * 3_600.0,) * 2)
    return tmp_path


def kept_hosts(cache: Path) -> list[int]:
    return sorted(int(one.parent.name, 16) for one in cache.glob("partials/*/*"))


def size_of(cache: Path) -> int:
    return sum(one.stat().st_size for one in cache.rglob("*") if one.is_file())


def test_below_the_size_nothing_goes(cache: Path) -> None:
    assert prune(f"file://{cache}", size_of(cache)) == 0
    assert kept_hosts(cache) == [0, 1, 2, 3]


def test_the_oldest_go_until_a_fifth_is_free(cache: Path) -> None:
    max_bytes = size_of(cache) - 1
    prune(f"file://{cache}", max_bytes)
    assert kept_hosts(cache) == [1, 2, 3]
    assert size_of(cache) <= max_bytes
    kept = open_kept(f"file://{cache}")
    assert {kept.partial(str(one.relative_to(cache))).header.host for one in
            cache.glob("partials/*/*")} == {"host-0001", "host-0002", "host-0003"}  # fmt: skip


def test_partials_of_other_code_go_before_older_ones(cache: Path) -> None:
    (newest,) = (cache / "partials" / f"{3:064x}").iterdir()
    newest.rename(newest.with_name("1-0123456789abcdef-fedcba9876543210"))
    assert len(list(cache.glob("names/*"))) == 2
    assert prune(f"file://{cache}", size_of(cache) - 1) >= 1
    assert 3 not in kept_hosts(cache)
    assert len(list(cache.glob("names/*"))) == 1, "no partial needs its names any more"


def test_an_empty_cache_is_left_alone(tmp_path: Path) -> None:
    assert prune(f"file://{tmp_path}", 0) == 0


def test_names_go_with_the_last_partial_that_needs_them(cache: Path) -> None:
    place = f"file://{cache}"
    assert drop_unneeded_names(place, grace_s=0) == 0, "all are needed"
    (last,) = (cache / "partials" / f"{3:064x}").iterdir()
    last.unlink()
    assert drop_unneeded_names(place, grace_s=3_600) == 0, "they are new"
    assert drop_unneeded_names(place, grace_s=0) == 1
    kept = open_kept(place)
    assert all(kept.partial(str(one.relative_to(cache))) for one in cache.glob("partials/*/*"))
