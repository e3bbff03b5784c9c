"""The files of deploy/, checked as far as that goes without the systems they are for."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
UNITS = ("roofline.service", "roofline-worker.service")
PROGRAM = "/opt/roofline/bin/roofline"


def settings_of(name: str) -> set[str]:
    """The lines of a unit, without comments."""
    lines = (DEPLOY / name).read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("name", UNITS)
def test_unit_is_understood_by_systemd(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / name
    unit.write_text((DEPLOY / name).read_text("utf-8").replace(PROGRAM, "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_worker_is_confined_as_the_server_is() -> None:
    server, worker = map(settings_of, UNITS)
    own = re.compile(
        r"Description|Documentation|ExecStart=|Restart|Environment|LoadCredential|IPAddressAllow"
        r"|StateDirectory=|CacheDirectory="
    )
    assert {line for line in server - worker if not own.match(line)} == set()
    assert "Restart=always" in worker


def test_image_copies_what_is_there_and_starts_what_is_installed() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path
    scripts = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'ENTRYPOINT ["/opt/roofline/bin/roofline"]' in text
    assert 'roofline = "roofline.cli.main:main"' in scripts
    assert re.search(r"^USER \d+$", text, re.MULTILINE), "not root"


def test_readme_of_the_wheel_and_packaged_folders_are_in_the_image() -> None:
    """The wheel is built inside: all that its configuration names must have been copied."""
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    included = re.findall(r'^(\w+) = "roofline/_assets/\w+"$', project, re.MULTILINE)
    assert included
    for name in [*included, "pyproject.toml", "README.md", "app"]:
        assert re.search(rf"^COPY .*\b{re.escape(name)}\b", text, re.MULTILINE), name


def test_cluster_of_kubernetes_speaks_tls_and_is_reached_by_its_own_pods_only() -> None:
    text = (DEPLOY / "dask-kubernetes.yaml").read_text("utf-8")
    documents: list[dict[str, Any]] = list(yaml.safe_load_all(text))
    kinds = [one["kind"] for one in documents]
    assert sorted(kinds) == [
        "Deployment", "Deployment", "NetworkPolicy", "Service", "ServiceAccount",
    ]  # fmt: skip
    labels = set()
    for one in documents:
        if one["kind"] != "Deployment":
            continue
        pod = one["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert (
            one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]
        )
        labels.add(one["spec"]["selector"]["matchLabels"]["roofline-dask"])
        assert {"--protocol=tls", "--tls-ca-file=/certificates/ca.pem"} <= {*container["args"]}
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pod["securityContext"]["runAsNonRoot"] is True
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
    (policy,) = (one["spec"] for one in documents if one["kind"] == "NetworkPolicy")
    (chosen,) = policy["podSelector"]["matchExpressions"]
    assert set(chosen["values"]) == labels == {"scheduler", "worker"}
    assert policy["policyTypes"] == ["Ingress"]
    (rule,) = policy["ingress"]
    assert [list(source) for source in rule["from"]] == [["podSelector"]]


def test_options_of_dask_are_those_that_it_knows() -> None:
    """In the script for SLURM and the manifests: every option of scheduler and worker exists."""
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    known = {option for one in (scheduler, worker) for each in one.params for option in each.opts}
    known |= {
        option
        for one in (scheduler, worker)
        for each in one.params
        for option in each.secondary_opts
    }
    manifests = yaml.safe_load_all((DEPLOY / "dask-kubernetes.yaml").read_text("utf-8"))
    used = {
        argument.partition("=")[0]
        for one in manifests
        if one["kind"] == "Deployment"
        for argument in one["spec"]["template"]["spec"]["containers"][0]["args"]
    }
    script = (DEPLOY / "roofline-run.slurm").read_text("utf-8")
    for line in re.findall(r"^(?:tls=|.*/dask\" .*(?:\n    .*)?)$", script, re.MULTILINE):
        used |= set(re.findall(r"--[a-z-]+", line))
    assert {"--scheduler-file", "--nthreads"} <= used
    assert used <= known


@pytest.mark.parametrize("name", ["roofline-run.slurm", "dask-certificates.sh"])
def test_script_can_be_parsed(name: str) -> None:
    script = DEPLOY / name
    shell = script.read_text("utf-8").splitlines()[0].removeprefix("#!")
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_command_of_the_slurm_script_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    from roofline.cli.main import main

    with pytest.raises(SystemExit):
        main(["analyze", "--help"])
    shown = capsys.readouterr().out
    script = (DEPLOY / "roofline-run.slurm").read_text("utf-8")
    command = script[script.index("roofline analyze") :]
    options = set(re.findall(r"--[a-z-]+", command))
    assert "--scheduler-file" in options
    assert {option for option in options if option not in shown} == set()
