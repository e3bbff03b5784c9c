"""Profiles in trackers of experiments, against the real libraries where they are installed.

    PYTHONPATH=FOLDER .venv/bin/python -m pytest tests/api/test_trackers.py

FOLDER has wandb, mlflow-skinny and tensorboardX; nothing of them is sent anywhere.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import roofline
from roofline.api.trackers import log_to_named_run, metrics
from tests.conftest import SAMPLES

BARE = "nsight_systems/a100-graphs.sqlite"  # nothing in it has a place

# The names that trackers have got, which stay.
OF_TIME = {f"roofline/{name}" for name in ("time_us", "floor_us", "gain_us", "in_doubt")}
OF_TIME |= {f"roofline/{name}" for name in ("roof_ratio", "known_ratio", "idle_ratio")}
TEXTS = {f"roofline/{name}" for name in ("bound", "certain", "device", "sentence")}
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries that are not ours


@pytest.fixture(scope="module")
def profile() -> roofline.Profile:
    return roofline.open_profile(roofline.example("v6e"))


def test_numbers_are_those_of_the_subject_and_unknown_ones_are_left_out(
    profile: roofline.Profile,
) -> None:
    found = metrics(profile)
    # 5 % of the time has unknown FLOPs and bytes, so that their sums are not known.
    assert found.keys() == OF_TIME | {"roofline/exposed_comm_us"}
    assert found["roofline/time_us"] == profile.subject.time_us
    links = profile.to_dict()["subject"]["parts"]["links"]
    assert found["roofline/exposed_comm_us"] == sum(links.values())
    assert found["roofline/in_doubt"] == 0
    kernels = metrics(roofline.open_profile(roofline.example("cpu")))
    assert kernels["roofline/in_doubt"] == 1
    assert "roofline/roof_ratio" not in kernels
    doubted = roofline.open_profile(roofline.example("h100"), peaks=["hbm=1TB/s"])
    assert metrics(doubted)["roofline/in_doubt"] == 1


def test_sums_of_a_step_are_there_where_every_operation_is_known() -> None:
    found = metrics(roofline.open_profile(roofline.example("h100")))
    assert found["roofline/flops_per_step"] == pytest.approx(1.0860e13, rel=1e-4)
    assert found["roofline/hbm_bytes_per_step"] == pytest.approx(1.1744e10, rel=1e-4)
    of_cpu = metrics(roofline.open_profile(roofline.example("cpu")))
    assert "roofline/flops_per_step" in of_cpu
    assert "roofline/hbm_bytes_per_step" not in of_cpu  # its main memory is another


def test_wandb_gets_numbers_table_page_and_files(
    profile: roofline.Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with pytest.raises(roofline.RooflineError, match="No run of W&B"):
        roofline.log_wandb(profile)
    with wandb.init(project="test", mode="offline", dir=tmp_path) as run:
        sent: list[dict[str, Any]] = []
        log = run.log

        def noted(row: dict[str, Any], step: int) -> None:
            sent.append(row)
            log(row, step=step)

        monkeypatch.setattr(run, "log", noted)
        roofline.log_wandb(profile, step=3, files=[roofline.example("v6e")])
        roofline.log_wandb(profile, step=4, url="https://example.org/p/1")
        summary = dict(run.summary)
    first, second = sent
    assert first.keys() - second.keys() == {"roofline/report"}
    assert metrics(profile).items() <= second.items()
    assert len(first["roofline/ops"].data) == 50
    assert summary.keys() >= TEXTS | metrics(profile).keys()
    assert summary["roofline/url"] == "https://example.org/p/1"
    (report,) = tmp_path.rglob("*.html")
    assert b"14.0" in report.read_bytes()


def test_mlflow_gets_numbers_tags_and_the_page(profile: roofline.Profile, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("test", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("test")
    with mlflow.start_run() as run:
        roofline.log_mlflow(profile, step=3)
    kept = mlflow.get_run(run.info.run_id).data
    assert kept.metrics == pytest.approx(metrics(profile))
    assert kept.tags.items() >= {"roofline.bound": "hbm", "roofline.certain": "modelled"}.items()
    (report,) = tmp_path.rglob("report.html")
    assert report.parent.name == "roofline"
    assert b"14.0" in report.read_bytes()


def test_the_run_that_the_environment_names_gets_a_profile(
    profile: roofline.Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.delenv("MLFLOW_RUN_ID", raising=False)
    with pytest.raises(roofline.RooflineError, match="MLFLOW_RUN_ID names no run"):
        log_to_named_run("mlflow", profile)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment("named")
    with mlflow.start_run() as run:
        mlflow.log_metric("loss", 1.0)
    monkeypatch.setenv("MLFLOW_RUN_ID", run.info.run_id)
    assert log_to_named_run("mlflow", profile, url="https://h/p/1") == run.info.run_id
    kept = mlflow.get_run(run.info.run_id).data
    assert kept.metrics == pytest.approx({"loss": 1.0, **metrics(profile)})
    assert kept.tags["roofline.url"] == "https://h/p/1"
    monkeypatch.setenv("MLFLOW_RUN_ID", "0" * 32)
    with pytest.raises(roofline.RooflineError, match="mlflow says: "):
        log_to_named_run("mlflow", profile)


def test_the_run_of_wandb_that_the_environment_names_gets_a_profile(tmp_path: Path) -> None:
    """In a process of its own: the library keeps what it has read of the environment."""
    pytest.importorskip("wandb", reason="wandb is not installed")
    program = (
        "import roofline, wandb\nfrom roofline.api.trackers import log_to_named_run\n"
        "profile = roofline.open_profile(roofline.example('v6e'))\n"
        "assert log_to_named_run('wandb', profile) == 'abc123' and wandb.run is None"
    )
    given = {"RUN_ID": "abc123", "MODE": "offline", "SILENT": "true", "DIR": str(tmp_path)}
    environment = os.environ | {f"WANDB_{name}": value for name, value in given.items()}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    (report,) = tmp_path.rglob("offline-run-*-abc123/files/media/html/**/*.html")
    assert b"14.0" in report.read_bytes()


def test_tensorboard_gets_numbers_and_texts(profile: roofline.Profile, tmp_path: Path) -> None:
    library = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    with library.SummaryWriter(str(tmp_path)) as writer:
        roofline.log_tensorboard(writer, profile, 3)
    (events,) = tmp_path.iterdir()
    content = events.read_bytes()
    for name in metrics(profile).keys() | TEXTS:
        assert name.encode() in content
    assert b"roofline/chart" in content
    assert b"PNG" in content


def test_tensorboard_gets_the_roofline_where_there_is_one(profile: roofline.Profile) -> None:
    writer = Mock()
    roofline.log_tensorboard(writer, profile, 3)
    ((name, picture, step), given) = writer.add_image.call_args
    assert (name, picture.shape, step) == ("roofline/chart", (630, 1200, 3), 3)
    assert given == {"dataformats": "HWC"}
    assert picture.min() < 50 < 250 < picture.max()
    bare = Mock()
    roofline.log_tensorboard(bare, roofline.open_profile(SAMPLES / BARE), 3)
    assert bare.add_scalar.called
    assert not bare.add_image.called
