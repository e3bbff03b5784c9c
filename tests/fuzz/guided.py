"""One family of inputs, followed by the branches that they reach: libFuzzer through atheris.

    make fuzz-guided FAMILIES=ncu-report SECONDS=600

Needs `pip install 'roofline[fuzz]'`, which `make` does. Half of the changes are those of
`families`, so that they get behind the parsers. Inputs that reached something new stay in
`build/fuzz/FAMILY` for the next run; `--pack` keeps the fewest that reach it all in
`tests/fuzz/seeds`, which every test run reads. Findings go to `tests/fuzz/corpus`, once per kind.
Compiled kernels are not followed: what they are given is.
"""

import argparse
import hashlib
import random
import shlex
import subprocess
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path

import atheris

# Compiled functions, which instrumented bytecode would break.
_COMPILED = (
    "roofline.importers.pytorch.json_text",
    "roofline.importers.shared.nesting",
    "roofline.importers.pytorch.scan",
    "roofline.importers.xspace.event_scan",
    "roofline.importers.xspace.messages",
    "roofline.importers.xspace.nested_sums",
    "roofline.importers.xspace.spans",
    "roofline.importers.xspace.texts",
    "roofline.importers.xspace.messages",
)

with atheris.instrument_imports(include=["roofline"], exclude=list(_COMPILED)):
    from tests.fuzz import importing
    from tests.fuzz.corpus_files import keep
    from tests.fuzz.families import FAMILIES, changed, seeds_of, upload_of
    from tests.fuzz.run import kind_of, memory_folder
    from tests.fuzz.seed_files import seeds_file

ROOT = Path(__file__).resolve().parents[2]
LONGEST_BYTES = 60_000
MEMORY_MB = 4_096
PACKED_BYTES = 20_000  # of each family, so that the repository stays small


class Target:
    """What libFuzzer calls, with what it has seen."""

    def __init__(self, family: str, folder: Path) -> None:
        self._family, self._folder = family, folder
        self._kinds: set[str] = set()
        self._count = 0

    def test(self, data: bytes) -> None:
        """Imports one input; a finding is kept, and the search goes on."""
        self._count += 1
        is_drawn = self._count % importing.DRAWN_EVERY == 0
        try:
            importing.read(upload_of(self._family, data), self._folder, is_drawn=is_drawn)
        except (Exception, importing.Hang) as error:  # noqa: BLE001 - to find them is the purpose
            self._keep(data, error)

    def change(self, data: bytes, longest: int, seed: int) -> bytes:
        """Another input made from `data`: by the family's rules, or by libFuzzer's."""
        rng = random.Random(seed)
        if rng.random() < 0.5:
            result: bytes = atheris.Mutate(data, longest)
            return result
        return changed(self._family, rng, data)[:longest]

    def _keep(self, data: bytes, error: BaseException) -> None:
        kind = kind_of(error)
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        digest = hashlib.sha256(data).hexdigest()[:8]
        path = keep(f"guided-{self._family}-{digest}", upload_of(self._family, data))
        trace = "".join(traceback.format_exception(error, limit=-6))
        sys.stdout.write(f"FINDING {kind}: {path}\n{trace}\n")
        sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs for the seconds given, or packs what former runs have left."""
    given, rest = _parser().parse_known_args(arguments)
    inputs = ROOT / "build" / "fuzz" / given.family
    if given.again:
        _fuzz(given.family, rest)
    elif given.pack:
        _pack(given.family, inputs)
    else:
        _write_seeds(given.family, inputs)
        _fuzz(given.family, _options(given, inputs))


def _options(given: argparse.Namespace, inputs: Path) -> list[str]:
    """What libFuzzer is told: folders of inputs, and limits."""
    folders = [given.merge_into, inputs] if given.merge_into else [inputs]
    return [
        *map(str, folders),
        f"-max_total_time={given.seconds:.0f}",
        f"-max_len={LONGEST_BYTES}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={inputs.parent}/",
        "-timeout=60",
        *(["-merge=1"] if given.merge_into else []),
    ]


def _fuzz(family: str, options: Sequence[str]) -> None:
    """Never returns: libFuzzer ends the process. To merge, it starts its own command line again."""
    again = [sys.executable, "-m", "tests.fuzz.guided", "--family", family, "--again"]
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        target = Target(family, Path(folder))
        warnings.simplefilter("error")
        atheris.Setup(
            [" ".join(map(shlex.quote, again)), *options],
            target.test,
            custom_mutator=target.change,
        )
        atheris.Fuzz()


def _write_seeds(family: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for content in seeds_of(family):
        (folder / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)


def _pack(family: str, inputs: Path) -> None:
    """The fewest inputs that reach what all of them reach, the smallest first, as one zip."""
    with tempfile.TemporaryDirectory() as merged:
        command = [sys.executable, "-m", "tests.fuzz.guided", "--family", family]
        subprocess.run([*command, "--merge-into", merged, "--seconds", "600"], check=True)
        found = sorted(Path(merged).iterdir(), key=lambda path: path.stat().st_size)
        path = seeds_file(family)
        with zipfile.ZipFile(path, "w") as archive:
            for one in found:
                member = zipfile.ZipInfo(one.name[:8])
                archive.writestr(member, one.read_bytes(), zipfile.ZIP_DEFLATED, 9)
                if archive.start_dir > PACKED_BYTES:
                    break
    sys.stdout.write(f"{path}: {len(found)} inputs found, {path.stat().st_size:,} bytes kept\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument(
        "--family", choices=sorted(set(FAMILIES) - {"mixture", "sample"}), required=True
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--pack", action="store_true", help="keep the best inputs in the repository"
    )
    parser.add_argument("--merge-into", type=Path, help="where to put the fewest that reach it all")
    parser.add_argument("--again", action="store_true", help="started by libFuzzer, with its words")
    return parser


if __name__ == "__main__":
    main()
