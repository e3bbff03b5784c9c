"""Generates the TPU samples of `sample_profiles` again: `python -m tests.tools.make_samples`.

Each is a pure function of its configuration; a changed sample is a changed line here.
"""

import shutil
import tempfile
from pathlib import Path

from tests.tools.generate_xspace import Config, write_profile

FOLDER = Path(__file__).resolve().parents[2] / "sample_profiles" / "xspace"
SOURCES = (
    "model/attention.py",
    "model/mlp.py",
    "model/embedding.py",
    "train/optimizer.py",
    "train/step.py",
)
TRAITS = ("framework_ops", "sources", "device_clock", "async_line", "dma_stall", "units")

SAMPLES = {
    "v6e-training.xplane.pb": Config(
        device="v6e",
        n_devices=4,
        n_steps=8,
        n_distinct_ops=260,
        n_events=7_000,
        seed=2061,
        traits=(*TRAITS, "long_names"),
        mean_us=45.0,
        stalled_step=5,
        stall_us=6_500.0,
        source_files=SOURCES,
    ),
    "v4-training-cmem.xplane.pb": Config(
        device="v4",
        n_devices=2,
        n_steps=6,
        n_distinct_ops=180,
        n_events=4_000,
        seed=411,
        traits=TRAITS,
        mean_us=70.0,
        stalled_step=2,
        stall_us=9_000.0,
        source_files=SOURCES,
    ),
    "v5e-three-hosts": Config(
        device="v5e",
        n_hosts=3,
        n_devices=4,
        n_steps=5,
        n_distinct_ops=110,
        n_events=7_000,
        seed=53,
        traits=("framework_ops", "sources", "host_steps", "units"),
        mean_us=60.0,
        stalled_step=3,
        stall_us=5_000.0,
        source_files=SOURCES,
    ),
}


def main() -> None:
    """Write all samples in place."""
    for name, config in SAMPLES.items():
        with tempfile.TemporaryDirectory() as scratch:
            files = write_profile(config, scratch)
            if config.n_hosts == 1:
                shutil.copyfile(files[0], FOLDER / name)
                continue
            (FOLDER / name).mkdir(exist_ok=True)
            for file in files:
                shutil.copyfile(file, FOLDER / name / file.name)


if __name__ == "__main__":
    main()
