"""The wheel, installed where there is no checkout: it is complete, and all of it is `roofline`."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "generic/attention-h100.json"
GRAPHS = "nsight_systems/a100-graphs.sqlite"
START_S = 60


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this checkout, with nothing fetched."""
    return built(ROOT, tmp_path_factory.mktemp("dist"))


def built(checkout: Path, folder: Path) -> Path:
    """The wheel of a checkout, in `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*command, str(folder)], cwd=checkout, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the wheel, and the test's environment behind it.

    Its own packages come first. Those of the test's environment are found through a path file, in
    which further path files do not count: the checkout's source is not on the path.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = ["--no-index", "--no-deps", "--ignore-installed", str(wheel)]
    subprocess.run([*command, *options], check=True)
    return python


def run(command: list[str | Path], folder: Path) -> str:
    """What `command` prints when started in `folder`, without this test's own search path."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment() -> dict[str, str]:
    """The environment without what would lead back to the checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_wheel_holds_one_package_with_its_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"roofline", "roofline-0.1.0.dist-info"}
    assets = ("templates/base.html", "static/icon.svg", f"sample_profiles/{SAMPLE}")
    for name in ("py.typed", "devices/catalogue.json", *(f"_assets/{asset}" for asset in assets)):
        assert f"roofline/{name}" in names
    assert not [name for name in names if "__pycache__" in name]


def test_command_of_the_wheel_analyses(python: Path, tmp_path: Path) -> None:
    command = python.with_name("roofline")
    assert run([command, "--version"], tmp_path) == "roofline 0.1.0\n"
    profile = ROOT / "sample_profiles" / SAMPLE
    assert "H100" in run([command, "analyze", profile], tmp_path)


def test_notebook_opens_a_sample_of_the_wheel(python: Path, tmp_path: Path) -> None:
    script = (
        "import roofline\n"
        "from pathlib import Path\n"
        "home = Path(roofline.__file__).parent\n"
        "print(home, len(roofline.open_profile(roofline.example('attention')).frame()))\n"
    )
    home, rows = run([python, "-c", script], tmp_path).split()
    assert Path(home).is_relative_to(python.parents[1])
    assert int(rows) > 0


@pytest.fixture
def served(python: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of `roofline serve` from the wheel, on a free port."""
    with subprocess.Popen(
        [python.with_name("roofline"), "serve", "--port", "0", "--data-dir", tmp_path / "data"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+:\d+", process.stdout.readline())
        try:
            assert address
            with httpx.Client(base_url=address[0], timeout=START_S) as client:
                yield client
        finally:
            process.terminate()


def test_server_of_the_wheel_has_its_pages_and_static_files(served: httpx.Client) -> None:
    assert served.get("/healthz").status_code == 200
    page = served.get("/")
    assert page.status_code == 200
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert any(name.endswith(".js") for name in files)
    assert any(name.endswith(".css") for name in files)
    assert {served.get(name).status_code for name in files} == {200}


# ------------------------------------------------------------------------------- without extras


def needed(requirements: Iterable[str], found: dict[str, Distribution]) -> dict[str, Distribution]:
    """The distributions that these need without extras, by name, as they are installed here."""
    for line in requirements:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name not in found:
            found[requirement.name] = distribution(requirement.name)
            needed(found[requirement.name].requires or (), found)
    return found


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment with the wheel and what it needs without extras."""
    return environment_of(wheel, tmp_path_factory.mktemp("bare") / "venv")


def environment_of(wheel: Path, folder: Path) -> Path:
    """A new environment with a wheel and what it needs without extras: its folder of commands."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    (packages,) = folder.glob("lib/python*/site-packages")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*command, "--no-index", "--no-deps", str(wheel)], check=True)
    (own,) = Distribution.discover(name="roofline", path=[str(packages)])
    for library in needed(own.requires or (), {}).values():
        for name in {file.parts[0] for file in library.files or ()} - {"..", "__pycache__"}:
            (packages / name).symlink_to(Path(str(library.locate_file(name))))
    return python.parent


@pytest.mark.long
@pytest.mark.parametrize("sample", ["pytorch/h100-training.json", "xspace/v6e-training.xplane.pb"])
def test_wheel_without_extras_compiles_and_reads(sample: str, bare: Path, tmp_path: Path) -> None:
    assert "TFLOP/s" in run(
        [bare / "roofline", "analyze", ROOT / "sample_profiles" / sample], tmp_path
    )


@pytest.mark.long
def test_wheel_as_it_is_published_reads_without_a_compiler(tmp_path: Path) -> None:
    for name in ("app", "static", "templates", "sample_profiles"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, "-m", "roofline", "warm-up", "--portable"]
    place = environment() | {"PYTHONPATH": str(tmp_path / "app")}
    subprocess.run(command, cwd=tmp_path, env=place, check=True)
    commands = environment_of(built(tmp_path, tmp_path / "dist"), tmp_path / "venv")
    (numba,) = commands.parent.glob("lib/python*/site-packages/numba")
    numba.unlink()
    for sample in ("pytorch/h100-training.json", "xspace/v6e-training.xplane.pb", GRAPHS):
        profile = ROOT / "sample_profiles" / sample
        assert "TFLOP/s" in run([commands / "roofline", "analyze", profile], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("command", ["analyze", "advise", "compare", "series"])
def test_wheel_without_extras_answers(command: str, bare: Path, tmp_path: Path) -> None:
    files = [ROOT / "sample_profiles" / SAMPLE] * (1 + (command in ("compare", "series")))
    assert run([bare / "roofline", command, *files], tmp_path)


@pytest.mark.long
def test_wheel_without_extras_checks_a_run(bare: Path, tmp_path: Path) -> None:
    profile = ROOT / "sample_profiles" / SAMPLE
    run([bare / "roofline", "baseline", "save", "baseline.json", profile], tmp_path)
    assert run([bare / "roofline", "check", profile, "--against", "baseline.json"], tmp_path)


@pytest.mark.long
def test_wheel_without_extras_says_what_to_install(bare: Path, tmp_path: Path) -> None:
    served = subprocess.run(
        [bare / "roofline", "serve"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert served.returncode == 2
    assert served.stderr == (
        'roofline: The server is not installed.\n          `pip install "roofline[server]"`\n'
    )
    profile = ROOT / "sample_profiles" / SAMPLE
    run_of_hosts = subprocess.run(
        [bare / "roofline", "analyze", "--engine", "local", profile],
        cwd=tmp_path, env=environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert "The fleet is not installed." in run_of_hosts.stderr
    script = (
        "import roofline\n"
        "from roofline.errors import RooflineError\n"
        f"profile = roofline.open_profile({str(profile)!r})\n"
        "print(profile.device)\n"
        "for method in (profile.frame, profile.figure):\n"
        "    try: method()\n"
        "    except RooflineError as error: print(error.message, error.remedy)"
    )
    device, *messages = run([bare / "python", "-c", script], tmp_path).splitlines()
    assert "H100" in device
    assert messages == ['The notebook is not installed. `pip install "roofline[notebook]"`'] * 2
