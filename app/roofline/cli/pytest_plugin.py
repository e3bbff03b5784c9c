"""The gate as a pytest fixture: `def test_step(roofline): roofline.check(lambda: step(x))`.

Baselines are files beside the tests, `roofline-baselines/NAME.json`; `pytest --roofline-update`
writes them. JAX or PyTorch captures, whichever the test has imported.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

FOLDER = "roofline-baselines"
BUDGET_FILE = "roofline.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--roofline-update` and `--roofline-confirm`."""
    parser.addoption(
        "--roofline-update",
        action="store_true",
        help="write what `roofline.check` captures as the new baselines",
    )
    parser.addoption(
        "--roofline-confirm",
        action="store_true",
        help="`roofline.check` captures again before it fails on time",
    )


@pytest.fixture
def roofline(request: pytest.FixtureRequest, tmp_path: Path) -> "Gate":
    """Captures a function and checks the capture against its baseline."""
    return Gate(
        folder=request.path.parent / FOLDER,
        budget_file=request.config.rootpath / BUDGET_FILE,
        scratch=tmp_path,
        update=bool(request.config.getoption("--roofline-update")),
        confirm=bool(request.config.getoption("--roofline-confirm")),
        name=request.node.name,
    )


class Gate:
    """The fixture. A baseline is named by `budget`, or by the test."""

    def __init__(
        self,
        *,
        folder: Path,
        budget_file: Path,
        scratch: Path,
        update: bool,
        confirm: bool,
        name: str,
    ) -> None:
        self._folder = folder
        self._budget_file = budget_file
        self._scratch = scratch
        self._update = update
        self._confirm = confirm
        self._name = name
        self._captures = 0

    def check(
        self,
        step: Callable[[], object],
        *,
        budget: str | None = None,
        captures: int = 1,
        steps: int = 5,
        peaks: Sequence[str] = (),
    ) -> None:
        """Runs `step` under the profiler and fails the test where a rule is broken or inconclusive.

        `step` runs once before, so that nothing is compiled in a capture. `peaks` are as in
        `roofline check --peak`.
        """
        step()
        capture = partial(self._capture, step, steps)
        files = [capture() for _ in range(captures)]
        confirm = capture if self._confirm else None
        self.check_files(files, budget=budget, peaks=peaks, confirm=confirm)

    def check_files(
        self,
        files: Sequence[Path],
        *,
        budget: str | None = None,
        peaks: Sequence[str] = (),
        confirm: Callable[[], Path] | None = None,
    ) -> None:
        """Checks captures that the test made itself; `confirm` makes one more."""
        from roofline.api.comparing import check, runs_of
        from roofline.compare.gate.baseline import baseline_of, baseline_to_json
        from roofline.compare.gate.check import PASSED
        from roofline.devices.choice import read_choice

        path = self._folder / f"{budget or self._name}.json"
        if self._update:
            runs = runs_of(files, read_choice(None, peaks), None)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(baseline_to_json(baseline_of(runs)))
            return
        if not path.is_file():
            pytest.fail(f"There is no baseline {path}: run pytest --roofline-update once.")
        limits = self._budget_file if self._budget_file.is_file() else None
        found = check(files, baseline=path, budget=limits, peaks=peaks, confirm=confirm)
        if found.status != PASSED:
            pytest.fail(found.to_text(), pytrace=False)

    def _capture(self, step: Callable[[], object], steps: int) -> Path:
        folder = self._scratch / f"capture-{self._captures}"
        self._captures += 1
        folder.mkdir()
        if "jax" in sys.modules:
            return _capture_jax(step, steps, folder)
        if "torch" in sys.modules:
            return _capture_torch(step, steps, folder)
        pytest.fail("roofline.check needs JAX or PyTorch: import it in the test.")


def _capture_jax(step: Callable[[], object], steps: int, folder: Path) -> Path:
    jax: Any = sys.modules["jax"]
    with jax.profiler.trace(str(folder)):
        for number in range(steps):
            with jax.profiler.StepTraceAnnotation("step", step_num=number):
                jax.block_until_ready(step())
    (capture,) = folder.rglob("*.xplane.pb")
    return capture


def _capture_torch(step: Callable[[], object], steps: int, folder: Path) -> Path:
    torch: Any = sys.modules["torch"]
    with torch.profiler.profile(record_shapes=True, with_flops=True) as profiler:
        for _ in range(steps):
            step()
            profiler.step()
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    return path
