"""Compares our table with XProf's own, cell by cell, on random profiles and hand-made corners.

    python -m bench.check_against_xprof --count 300 --folder /path/for/references

A case is its seed; references are kept in the folder and made only once, so a second run needs no
XProf. Exit status 0: every cell of every case agrees.
"""

import argparse
import gzip
import json
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.xprof_env import WORK, XprofWorker, xprof_python
from tests.tools.comparison import Comparison, compare
from tests.tools.edge_cases import EDGE_CASES
from tests.tools.generate_xspace import write_profile
from tests.tools.random_profiles import random_config, write_random_corner

REFERENCE = "reference.json.gz"


def write_case(name: str, folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """Write the files of one case; returns them in host order, and the traits it has."""
    if name in EDGE_CASES:
        folder.mkdir(parents=True, exist_ok=True)
        return EDGE_CASES[name](folder), (f"edge:{name}",)
    if name.startswith("corner-"):
        folder.mkdir(parents=True, exist_ok=True)
        files = write_random_corner(int(name.removeprefix("corner-")), folder)
        return files, ("random corner", "one host" if len(files) == 1 else "several hosts")
    config = random_config(int(name))
    hosts = "one host" if config.n_hosts == 1 else "several hosts"
    return write_profile(config, folder), (*config.traits, config.device, hosts)


def make_references(names: list[str], folder: Path) -> None:
    """XProf's answer for each case that has none yet."""
    missing = [name for name in names if not (folder / name / REFERENCE).exists()]
    if not missing:
        return
    worker = XprofWorker(xprof_python())
    for done, name in enumerate(missing):
        _make_reference(worker, name, folder / name)
        if not worker.alive:
            worker = XprofWorker(xprof_python())
        if done % 50 == 0:
            print(f"reference {done + 1} of {len(missing)}", flush=True)
    worker.close()


def _make_reference(worker: XprofWorker, name: str, folder: Path) -> None:
    files, _ = write_case(name, folder)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        reply = worker.ask(files, out)
        data = out.read_bytes() if "error" not in reply else json.dumps(reply).encode()
    (folder / REFERENCE).write_bytes(gzip.compress(data, mtime=0))
    for file in files:
        file.unlink()  # made again from the seed when compared


def check(names: list[str], folder: Path) -> Iterator[tuple[str, tuple[str, ...], str, Comparison]]:
    """Name, traits, what failed in words, and the comparison of every case."""
    # Late, so that references can be made before the importer works.
    from tests.tools.xprof_json import our_tables

    for name in names:
        reference = json.loads(gzip.decompress((folder / name / REFERENCE).read_bytes()))
        with tempfile.TemporaryDirectory() as scratch:
            files, traits = write_case(name, Path(scratch))
            comparison, failure = Comparison(), ""
            if isinstance(reference, dict):
                failure = f"XProf failed: {reference['error']}"
            else:
                try:
                    comparison = compare(reference, our_tables(files), ties=True)
                except Exception as error:  # noqa: BLE001 - any failure is a finding here
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    failure = (
                        f"{type(error).__name__}: {error} ({Path(where.filename).name}:"
                        f"{where.lineno})"
                    )
        yield name, traits, failure, comparison


def main() -> int:
    arguments = _parse()
    names = [*([] if arguments.no_edges else EDGE_CASES)]
    seeds = range(arguments.first, arguments.first + arguments.count)
    names += [str(seed) for seed in seeds]
    names += [f"corner-{seed}" for seed in seeds]
    names = arguments.case or names
    make_references(names, arguments.folder)
    if arguments.references_only:
        return 0
    bad, with_trait, bad_with_trait, groups = [], Counter[str](), Counter[str](), Counter[str]()
    cells = 0
    for name, traits, failure, comparison in check(names, arguments.folder):
        cells += comparison.compared
        with_trait.update(traits)
        if failure or comparison.mismatches:
            bad.append(name)
            bad_with_trait.update(traits)
            groups.update(comparison.groups.keys())
            print(f"case {name} {' '.join(traits)}")
            print(f"    {failure or comparison.summary(arguments.max)}", flush=True)
    print(f"{len(names)} cases, {cells} cells compared, {len(bad)} cases differ")
    for group, count in groups.most_common():
        print(f"  {count:4d} cases differ in {group}")
    for trait, count in bad_with_trait.most_common():
        print(f"  {count:4d} of {with_trait[trait]:4d} cases with {trait} differ")
    return 1 if bad else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--case", action="append", default=[], help="only this seed or edge case")
    parser.add_argument("--folder", type=Path, default=WORK / "references")
    parser.add_argument("--references-only", action="store_true")
    parser.add_argument("--no-edges", action="store_true")
    parser.add_argument("--max", type=int, default=2, help="examples shown per column")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
