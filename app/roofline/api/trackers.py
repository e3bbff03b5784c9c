"""A profile in the tracker of its experiment: W&B, MLflow and TensorBoard.

Each call is a row of numbers under the names below, which stay, and the page as one file. A number
that is not known is not sent.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from roofline.api.profiles import AnyPath, Profile
from roofline.compare.from_analysis import run_of_address
from roofline.compare.gate.numbers import amounts
from roofline.errors import BadViewError, ExtraMissingError
from roofline.exports.certainty import IN_DOUBT, UNKNOWN
from roofline.model.memory import MemoryLevel

_OF_SUBJECT = ("time_us", "floor_us", "gain_us", "roof_ratio", "known_ratio", "idle_ratio")
_STEP = "step"
_OPS = 50
_REPORT = "roofline/report"


def metrics(profile: Profile) -> dict[str, float]:
    """The numbers of a profile as trackers get them.

    `roofline/time_us` and so on are of the subject. FLOPs and bytes of the main memory are of a
    step, and there if those of every operation are known. `roofline/in_doubt` is 1 where the
    verdict is in doubt, or not known.
    """
    subject = profile.subject
    found: dict[str, float | None] = {name: getattr(subject, name) for name in _OF_SUBJECT}
    if subject.kind == _STEP:
        run = run_of_address(profile.analysis, profile.of)
        asked = ["flops", "hbm_bytes"] if run.main_memory == MemoryLevel.HBM else ["flops"]
        for metric in asked:
            of_ops = amounts(run, _STEP, metric)
            found[f"{metric}_per_step"] = None if of_ops.unknown() else of_ops.total()
    links = profile.answered.answer.subject.parts.links
    found["exposed_comm_us"] = sum(links.values()) if links else None
    found["in_doubt"] = float(profile.answered.advice["certain"] in (IN_DOUBT, UNKNOWN))
    return {f"roofline/{name}": one for name, one in found.items() if one is not None}


def log_wandb(
    profile: Profile,
    *,
    step: int | None = None,
    url: str = "",
    report: bool | None = None,
    files: Sequence[AnyPath] = (),
) -> None:
    """Sends the numbers, the 50 longest operations and the page to the W&B run that is active.

    With the `url` of the profile on a server the page is not sent, if not `report`. `files` are
    kept as an artifact. Raises `BadViewError` without an active run.
    """
    wandb = _library("wandb")
    run = wandb.run
    if run is None:
        raise BadViewError("No run of W&B is active.", remedy="Call wandb.init() before.")
    ops = profile.rows()[:_OPS]
    columns = list(ops[0]) if ops else []
    sent: dict[str, Any] = dict(metrics(profile))
    sent["roofline/ops"] = wandb.Table(columns=columns, data=[[*op.values()] for op in ops])
    if _has_report(url, report):
        sent[_REPORT] = wandb.Html(profile.report().content.decode(), inject=False)
    run.log(sent, step=step)
    run.summary.update(_texts(profile, url))
    if files:
        kept = wandb.Artifact(f"roofline-{run.id}", type="profile")
        for path in files:
            kept.add_file(str(path))
        run.log_artifact(kept)


def log_mlflow(
    profile: Profile, *, step: int | None = None, url: str = "", report: bool | None = None
) -> None:
    """Sends the numbers, what binds as a tag, and the page as an artifact to the MLflow run that is
    active; MLflow begins one where there is none. `url` and `report` as in `log_wandb`."""
    mlflow = _library("mlflow")
    mlflow.log_metrics(metrics(profile), step=step)
    mlflow.set_tags({name.replace("/", "."): text for name, text in _texts(profile, url).items()})
    if _has_report(url, report):
        mlflow.log_text(profile.report().content.decode(), f"{_REPORT}.html")


def log_to_named_run(tracker: str, profile: Profile, *, url: str = "") -> str:
    """Sends it to the run of `tracker`, "wandb" or "mlflow", that the environment names: its id.

    Raises `BadViewError` where it names none, and in the tracker's words where that fails.
    """
    library, variable = _library(tracker), f"{tracker.upper()}_RUN_ID"
    run_id = os.environ.get(variable, "")
    if not run_id:
        raise BadViewError(
            f"{variable} names no run, so nothing was sent to {tracker}.", remedy="Set it."
        )
    is_wandb = tracker == "wandb"
    fault = library.Error if is_wandb else library.MlflowException
    try:
        with library.init(id=run_id, resume="allow") if is_wandb else library.start_run(run_id):
            (log_wandb if is_wandb else log_mlflow)(profile, url=url)
    except fault as error:
        raise BadViewError(f"{tracker} says: {error}", remedy="") from error
    return run_id


def log_tensorboard(writer: Any, profile: Profile, step: int | None = None) -> None:
    """Writes the numbers, what binds and the roofline to a `SummaryWriter` of PyTorch or
    tensorboardX; the picture needs Pillow, and operations that have a place."""
    for name, number in metrics(profile).items():
        writer.add_scalar(name, number, step)
    for name, text in _texts(profile, "").items():
        writer.add_text(name, text, step)
    picture = _picture(profile)
    if picture is not None:
        writer.add_image("roofline/chart", picture, step, dataformats="HWC")


def _picture(profile: Profile) -> Any:
    with TemporaryDirectory(prefix="roofline-") as folder:
        path = Path(folder, "chart.png")
        try:
            profile.save_figure(path, style="card")
        except (BadViewError, ExtraMissingError):
            return None
        from PIL import Image  # an extra, which drew the file

        with Image.open(path) as picture:
            return np.array(picture)


def _has_report(url: str, report: bool | None) -> bool:
    return not url if report is None else report


def _texts(profile: Profile, url: str) -> dict[str, str]:
    said = {
        "roofline/bound": profile.verdict.ceiling or profile.verdict.kind,
        "roofline/certain": str(profile.answered.advice["certain"]),
        "roofline/sentence": profile.sentence,
        "roofline/device": profile.device,
    }
    return said | ({"roofline/url": url} if url else {})


def _library(name: str) -> Any:
    try:
        if name == "wandb":
            import wandb

            return wandb
        import mlflow
    except ModuleNotFoundError as error:
        raise ExtraMissingError(
            f"{name} is not installed.", remedy=f"`pip install {name}`"
        ) from error
    return mlflow
