"""`roofline figure`: files, the caption, and what it refuses."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import roofline
from roofline.cli.main import main


def ran(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(words)
    out, said = capfd.readouterr()
    return int(end.value.code or 0), out, said


def test_a_figure_is_written_and_its_caption_said(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "fig.svg"
    sample = str(roofline.example("v6e"))
    words = ("figure", sample, "-o", str(path), "--width", "178mm", "--top", "40", "--label", "6")
    status, out, said = ran(capfd, *words, "--title", "8B")
    assert (status, out) == (0, "")
    assert said.startswith("Roofline of 8B on TPU v6 lite, per TensorCore. 40 of 216 operations")
    profile = roofline.open_profile(sample)
    again = tmp_path / "again.svg"
    profile.save_figure(again, width_mm=178, top=40, label=6)
    assert again.read_bytes() == path.read_bytes().replace(b"8B", profile.title.encode())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "fig.gif"), "not a format of figures"),
        (("-o", "fig.svg", "--width", "wide"), "not a width"),
        (("-o", "fig.svg", "--width", "3mm"), "cannot be 3 mm wide"),
        (("-o", "fig.svg", "--x", "l9"), "not an axis here"),
        (("-o", "none/fig.svg"), "cannot be written"),
    ],
)
def test_what_cannot_be_drawn_ends_with_a_remedy(
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    sample = str(roofline.example("h100"))
    monkeypatch.chdir(tmp_path)
    status, _, told = ran(capfd, "figure", sample, *words)
    assert status == 2
    assert said in told
    assert not list(tmp_path.iterdir())


def test_a_png_needs_cairosvg(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample, path = str(roofline.example("h100")), tmp_path / "fig.png"
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    status, _, said = ran(capfd, "figure", sample, "-o", f"{path}@2x")
    assert status == 2
    assert "pip install cairosvg" in said
    scales = []
    library = ModuleType("cairosvg")

    def svg2png(*, bytestring: bytes, scale: float, background_color: str) -> bytes:
        scales.append((scale, background_color))
        return b"PNG of " + bytestring[:4]

    vars(library)["svg2png"] = svg2png
    monkeypatch.setitem(sys.modules, "cairosvg", library)
    assert ran(capfd, "figure", sample, "-o", f"{path}@2x")[0] == 0
    assert path.read_bytes() == b"PNG of <svg"
    assert ran(capfd, "figure", sample, "-o", str(path))[0] == 0
    assert scales == [(2.0, "white"), (3.125, "white")]
