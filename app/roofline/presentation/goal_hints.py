"""How to record what a profile lacks, by the profiler that wrote it: ids of sentences."""

from roofline.model.device import DeviceKind
from roofline.model.profile import Profile

_OTHER_HOST = "Host of "
_WITH_CUDA = ("an accelerator", "NVIDIA", "AMD")


def host_hint(profile: Profile) -> str:
    """The sentence on recording the device, for a capture of its host alone."""
    name = profile.device.name.removeprefix(_OTHER_HOST)
    if profile.format_id == "pytorch" and name.startswith(_WITH_CUDA):
        return "first_host_torch"
    return "first_host"


def cost_hint(profile: Profile) -> str:
    """The sentence on recording the work of operations."""
    is_gpu = profile.device.kind is DeviceKind.GPU
    noted = {one.code for one in profile.diagnostics}
    if profile.format_id == "pytorch":
        return next((hint for code, hint in _OF_TRACES.items() if code in noted), "first_cost")
    if profile.format_id == "xspace":
        return "first_program_plane" if is_gpu else "first_cost"
    return _BY_FORMAT.get(profile.format_id, "first_cost")


# By what the trace lacks; replays of graphs have no shapes whatever was recorded.
_OF_TRACES = {"no-shapes": "first_shapes", "kernels-in-graphs": "first_graphs"}
_BY_FORMAT = {
    "nsight_compute": "first_counters",
    "rocprof_compute": "first_counters_amd",
}
