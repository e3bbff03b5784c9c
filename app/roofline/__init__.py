"""Roofline: what bounds an accelerator program, from its profile to the page.

`import roofline` loads nothing: each name below is read from its module when it is first used
(PEP 562). `__init__.pyi` has the same names for editors and type checkers, and a test compares.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "open_profile": "roofline.api.profiles",
    "advise": "roofline.api.profiles",
    "Profile": "roofline.api.profiles",
    "Ops": "roofline.api.profiles",
    "Subject": "roofline.api.profiles",
    "Verdict": "roofline.api.profiles",
    "Op": "roofline.api.profiles",
    "Advice": "roofline.api.profiles",
    "CaptureInfo": "roofline.api.profiles",
    "compare": "roofline.api.comparing",
    "check": "roofline.api.comparing",
    "Comparison": "roofline.api.comparing",
    "CheckResult": "roofline.api.comparing",
    "estimate": "roofline.api.estimates",
    "what_if": "roofline.api.exploring",
    "in_formats": "roofline.api.exploring",
    "InFormats": "roofline.api.exploring",
    "devices": "roofline.api.devices",
    "device": "roofline.api.devices",
    "Devices": "roofline.api.devices",
    "Device": "roofline.api.devices",
    "topology": "roofline.api.estimates",
    "predict": "roofline.api.estimates",
    "Estimate": "roofline.api.estimates",
    "Prediction": "roofline.api.estimates",
    "capture": "roofline.api.capturing",
    "Capture": "roofline.api.capturing",
    "capture_remote": "roofline.api.captures",
    "calibrate": "roofline.api.calibration",
    "Measured": "roofline.api.calibration",
    "replay": "roofline.api.replays",
    "Script": "roofline.api.replays",
    "upload": "roofline.api.servers",
    "Link": "roofline.api.servers",
    "report": "roofline.api.results",
    "Report": "roofline.api.results",
    "log_wandb": "roofline.api.trackers",
    "log_mlflow": "roofline.api.trackers",
    "log_tensorboard": "roofline.api.trackers",
    "load_ipython_extension": "roofline.api.capturing",
    "example": "roofline.api.packaged",
    "RooflineError": "roofline.errors",
}
__all__ = ["__version__", *_HOMES]

# Python puts a package into its parent when it is first imported, in place of the function that has
# its name. It does so once: now, and the names are free again.
for _name in ("capture", "compare", "devices", "estimate"):
    import_module(f"roofline.{_name}")
    del globals()[_name]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'roofline' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
