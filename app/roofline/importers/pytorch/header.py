"""The fields around the events of a trace: its settings, its rank and its devices."""

import json
import re
from collections.abc import Mapping, Sequence

from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.memory import MemoryLevel

EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_KEYS = ("deviceProperties", "distributedInfo", "record_shapes", "baseTimeNanoseconds", "host_name")
_SCALARS = re.compile(
    r'"(pytorch_version|(?:cuda|hip)_(?:runtime|driver)_version|(?:cupti|roctracer)_version'
    r'|profile_memory|with_(?:stack|flops|modules))"\s*:\s*("[^"\\]{0,200}"|\d{1,18})'
)
_MAX_NAME = 200
_AMD = re.compile(r"\bamd\b|instinct|radeon", re.IGNORECASE)
_AMD_WARP = 64
# Parts that are sold with HBM only, or in the editions that servers hold.
_HBM = re.compile(
    r"\b(?:[PVAHB]100|H200|B[23]00|G[HB]200|A30|H20|H800|A800|Instinct|MI\d{2,3}[A-Z]?)\b",
    re.IGNORECASE,
)


def read_header(before: bytes, after: bytes) -> dict[str, object]:
    """The keys beside the events; those that can be read if the text is damaged or cut."""
    text = (before.rstrip().rstrip(b"[") + b"[]" + (after or b"}")).decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _single_keys(text)
    return found if isinstance(found, dict) else {}


def _single_keys(text: str) -> dict[str, object]:
    found: dict[str, object] = {}
    found.update({name: json.loads(value) for name, value in _SCALARS.findall(text)})
    decoder = json.JSONDecoder()
    for key in _KEYS:
        match = re.search(rf'"{key}"\s*:\s*', text)
        if match:
            try:
                found[key] = decoder.raw_decode(text, match.end())[0]
            except (ValueError, RecursionError):
                continue
    return found


def device_properties(header: Mapping[str, object]) -> list[Mapping[str, object]]:
    """One entry per GPU of the machine; none where the trace lists no device."""
    found = header.get("deviceProperties")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def rank(header: Mapping[str, object]) -> int | None:
    """The process's rank in its job."""
    info = header.get("distributedInfo")
    return whole(info.get("rank")) if isinstance(info, dict) else None


def hostname(header: Mapping[str, object]) -> str:
    """The machine's name, where the trace states it."""
    return text(header.get("host_name"))


def whole(value: object) -> int | None:
    """A non-negative integer of the file, else `None`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < 2**62 else None


def text(value: object) -> str:
    """A text of the file, printable and short."""
    if not isinstance(value, str):
        return ""
    shown = "".join(ch for ch in value if ch.isprintable())
    return shown[:_MAX_NAME].encode("utf-8", "replace").decode()


def gpu(properties: Sequence[Mapping[str, object]], *, is_hip: bool, count: int) -> ReportedDevice:
    """The GPUs of a trace. Kineto states neither clocks nor bandwidth: peaks come from the name."""
    one = next(iter(properties), {})
    name = text(one.get("name"))
    is_amd = is_hip or bool(_AMD.search(name)) or whole(one.get("warpSize")) == _AMD_WARP
    major, minor = whole(one.get("computeMajor")), whole(one.get("computeMinor"))
    # AMD's parts report the compute capability of other vendors' parts: it tells nothing there.
    architecture = f"sm_{major}{minor}" if major and minor is not None and not is_amd else ""
    if is_amd and not name:
        name = "AMD GPU"
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name,
        core_count=count,
        bandwidth_gbs={},
        traits=DeviceTraits(
            processor_count=whole(one.get("numSms")),
            memory_bytes=whole(one.get("totalGlobalMem")),
            architecture=architecture,
        ),
    )


def main_memory(device_name: str) -> MemoryLevel:
    """The name of the device's memory: HBM where its name tells, else plainly DRAM."""
    return MemoryLevel.HBM if _HBM.search(device_name) else MemoryLevel.DRAM


def cpu(header: Mapping[str, object], count: int) -> ReportedDevice:
    """The processors of `count` traces without GPU work, one per process."""
    return ReportedDevice(
        kind=DeviceKind.CPU,
        name="CPU",
        core_count=count,
        bandwidth_gbs={},
        traits=DeviceTraits(hostname=hostname(header)),
    )


def host_of(accelerator: str, count: int) -> ReportedDevice:
    """The hosts of `count` processes whose kernels are not in the trace: they have no peaks.

    Its time is spent on launching work, so a CPU's roofs do not apply to it.
    """
    return ReportedDevice(
        kind=DeviceKind.UNKNOWN, name=f"Host of {accelerator}", core_count=count, bandwidth_gbs={}
    )
