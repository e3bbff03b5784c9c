"""`%%roofline` in IPython, where that is installed: a cell and its profile, whatever happens."""

from typing import Any

import pytest

import roofline

CELL = """
import jax, jax.numpy as jnp
work = jax.jit(lambda x: jnp.tanh(x @ x))
x = work(jnp.ones((256, 256)))
for _ in range(20):
    x = work(x).block_until_ready()
"""


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    library = pytest.importorskip(
        "IPython.core.interactiveshell", reason="IPython is not installed"
    )
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    made = library.InteractiveShell()
    made.run_line_magic("load_ext", "roofline")
    return made


@pytest.mark.filterwarnings("ignore")  # of IPython
def test_a_cell_of_jax_shows_its_profile(shell: Any) -> None:
    found = shell.run_cell_magic("roofline", "--duration 5 --quiet", CELL)
    assert isinstance(found, roofline.Profile)
    assert shell.user_ns["_roofline"].profile is found
    assert shell.user_ns["x"].shape == (256, 256)


@pytest.mark.filterwarnings("ignore")
def test_a_cell_that_fails_keeps_what_was_recorded(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shell.run_cell_magic("roofline", "--duration 5 --quiet", CELL + "1 / 0\n")
    assert isinstance(found, roofline.Profile)
    assert "ZeroDivisionError" in capsys.readouterr().out
    with pytest.raises(roofline.RooflineError, match="unrecognized arguments: --typo") as error:
        shell.run_cell_magic("roofline", "--typo", "pass")
    assert "--steps" in error.value.remedy
