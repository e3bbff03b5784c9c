"""`roofline figure`: files, the caption, and what it refuses."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

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


def test_a_png_has_its_pixels_and_names_the_extra(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample, path = str(roofline.example("h100")), tmp_path / "fig.png"
    widths = []
    for end, style in (("@2x", "page"), ("", "page"), ("", "card")):
        words = ("figure", sample, "-o", f"{path}{end}", "--style", style)
        assert ran(capfd, *words)[0] == 0
        with Image.open(path) as picture:
            widths.append(picture.size)
    assert widths == [(1440, 840), (2250, 1312), (1200, 630)]
    monkeypatch.setitem(sys.modules, "PIL", None)
    status, _, said = ran(capfd, "figure", sample, "-o", str(path))
    assert status == 2
    assert "roofline[pictures]" in said


def test_a_plot_goes_into_a_pipe_as_text(capfd: pytest.CaptureFixture[str]) -> None:
    sample = str(roofline.example("v6e"))
    status, out, _ = ran(capfd, "plot", sample, "--width", "100")
    assert status == 0
    assert "\x1b" not in out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "v6e-training.xplane.pb · TPU v6 lite: 14.0 ms a step" in out
    assert any("Compute 918 TFLOP/s" in line for line in lines)
    assert any("⣠" in line and "•" in line for line in lines)
    assert "steps ▆▆▆▆▆█▆▆ 13.1 ms to 19.8 ms" in lines
    profile = roofline.open_profile(sample)
    first = next(line for line in lines if line.startswith("a "))
    longest = next(op for op in profile.ops if op.name in first)
    assert longest.width_us is not None
    assert f"{longest.width_us:.0f} µs" in first
    assert f" of {longest.bound_by}" in first


def test_a_plot_in_ascii_and_in_colour(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = str(roofline.example("h100"))
    plain = ran(capfd, "plot", sample, "--width", "30", "--ascii")[1]
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 40
    assert "steps @@ 19.5 ms" in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = ran(capfd, "plot", sample, "--width", "40", "--ascii")[1]
    assert "\x1b[33m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in ran(capfd, "plot", sample, "--ascii")[1]


def test_a_folder_is_watched(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "roofline", "plot", "--watch", str(tmp_path), "--every", "0.1"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stderr is not None
    assert "Watching" in started.stderr.readline()
    shutil.copy(roofline.example("h100"), tmp_path / "new.pt.trace.json.gz")
    assert started.stdout.readline().startswith("new.pt.trace.json.gz · NVIDIA H100")
    started.terminate()
    started.wait()
    started.stdout.close()
    started.stderr.close()
