"""Files that come with the program: templates, static files, and the sample profiles."""

from pathlib import Path

from roofline.errors import BadViewError

_PACKAGE = Path(__file__).resolve().parents[1]
_EXAMPLES = {
    "v6e": "xspace/v6e-training.xplane.pb",
    "cpu": "xspace/jax-cpu-transformer.xplane.pb",
    "h100": "pytorch/h100-training.json",
    "attention": "generic/attention-h100.json",
    "a100": "nsight_compute/a100-kernels.ncu-rep",
}


def assets_dir(name: str) -> Path:
    """The folder `name` (templates, static, sample_profiles) of the wheel or of the checkout."""
    installed = _PACKAGE / "_assets" / name
    return installed if installed.is_dir() else _PACKAGE.parents[1] / name


def example(name: str) -> Path:
    """The path of a sample profile: v6e, cpu, h100, attention or a100.

    Raises `BadViewError` for another name.
    """
    if name not in _EXAMPLES:
        raise BadViewError(f"There is no example {name}.", remedy=f"Take {', '.join(_EXAMPLES)}.")
    return assets_dir("sample_profiles") / _EXAMPLES[name]
