"""The fields around the events of a trace: settings, rank, devices, versions of the software."""

import json
import re
from collections.abc import Collection, Mapping, Sequence

from roofline.importers.shared.next_steps import IS_AMD
from roofline.importers.shared.tables_text import json_of
from roofline.model.device import DeviceKind, DeviceTraits, ReportedDevice
from roofline.model.environment import environment
from roofline.model.memory import MemoryLevel

EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_DEVICES, _DEVICES_IN_2021 = "deviceProperties", "computeProperties"
_KEYS = (
    _DEVICES, _DEVICES_IN_2021, "distributedInfo", "record_shapes", "baseTimeNanoseconds",
    "host_name",
)  # fmt: skip
_SINCE_2021 = {"major": "computeMajor", "minor": "computeMinor", "multiProcessorCount": "numSms"}
_SCALARS = re.compile(
    r'"(pytorch_version|(?:cuda|hip)_(?:runtime|driver)_version|(?:cupti|roctracer)_version'
    r'|profile_memory|with_(?:stack|flops|modules))"\s*:\s*("[^"\\]{0,200}"|\d{1,18})'
)
_MAX_NAME = 200
_AMD_WARP = 64
# Parts that are sold with HBM only, or in the editions that servers hold.
_HBM = re.compile(
    r"\b(?:[PVAHB]100|H200|B[23]00|G[HB]200|A30|H20|H800|A800|Instinct|MI\d{2,3}[A-Z]?)\b",
    re.IGNORECASE,
)


def read_header(before: bytes, after: bytes) -> dict[str, object]:
    """The keys beside the events; those that can be read if the text is damaged or cut."""
    text = (before.rstrip().rstrip(b"[") + b"[]" + (after or b"}")).decode("utf-8", "replace")
    header = json_of(text)
    return header if isinstance(header, dict) else _single_keys(text)


def _single_keys(text: str) -> dict[str, object]:
    result: dict[str, object] = {}
    result.update({name: json.loads(value) for name, value in _SCALARS.findall(text)})
    decoder = json.JSONDecoder()
    for key in _KEYS:
        match = re.search(rf'"{key}"\s*:\s*', text)
        if match:
            try:
                result[key] = decoder.raw_decode(text, match.end())[0]
            except (ValueError, RecursionError):
                continue
    return result


def device_properties(header: Mapping[str, object]) -> list[Mapping[str, object]]:
    """One entry per GPU of the machine; none where the trace lists no device."""
    listed = header.get(_DEVICES, header.get(_DEVICES_IN_2021))
    devices = listed if isinstance(listed, list) else []
    return [
        {_SINCE_2021.get(str(key), str(key)): value for key, value in device.items()}
        for device in devices
        if isinstance(device, dict)
    ]


def of_devices(
    properties: Sequence[Mapping[str, object]], ids: Collection[int]
) -> Sequence[Mapping[str, object]]:
    """The entries of the devices that worked; all of them where the numbers are not those."""
    return [one for one in properties if whole(one.get("id")) in ids] or properties


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
    """The GPUs of a trace. Kineto states neither clocks nor bandwidth: peaks come from the name.

    GPUs of several kinds have no peaks in common: such a device has all their names and no traits.
    """
    names = list(dict.fromkeys(text(one.get("name")) for one in properties))
    name = " and ".join(filter(None, names))
    first = next(iter(properties), {}) if len(names) == 1 else {}
    is_amd = is_hip or bool(IS_AMD.search(name)) or whole(first.get("warpSize")) == _AMD_WARP
    major, minor = whole(first.get("computeMajor")), whole(first.get("computeMinor"))
    # AMD's parts report the compute capability of other vendors' parts: it tells nothing there.
    architecture = f"sm_{major}{minor}" if major and minor is not None and not is_amd else ""
    if is_amd and not name:
        name = "AMD GPU"
    return ReportedDevice(
        kind=DeviceKind.GPU,
        name=name,
        core_count=count,
        traits=DeviceTraits(
            processor_count=whole(first.get("numSms")),
            memory_bytes=whole(first.get("totalGlobalMem")),
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
        traits=DeviceTraits(hostname=hostname(header)),
    )


def host_of(accelerator: str, count: int) -> ReportedDevice:
    """The hosts of `count` processes whose kernels are not in the trace: they have no peaks.

    Its time is spent on launching work, so a CPU's roofs do not apply to it.
    """
    return ReportedDevice(
        kind=DeviceKind.UNKNOWN, name=f"Host of {accelerator}", core_count=count, bandwidth_gbs={}
    )


# Records that cost time while they are made: a trace with stacks is slower than one without.
_RECORDED = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
_CUDA_MAJOR, _CUDA_MINOR = 1000, 10  # 12040 is 12.4
_HIP_MAJOR, _HIP_MINOR = 10_000_000, 100_000  # 60443483 is 6.4.43483


def read_environment(header: Mapping[str, object]) -> dict[str, str]:
    """Versions of the frameworks and drivers, the job's ranks, and what was recorded."""
    job = header.get("distributedInfo")
    job = job if isinstance(job, dict) else {}
    return environment(
        {
            "pytorch_version": text(header.get("pytorch_version")),
            "cuda_runtime_version": _cuda(header.get("cuda_runtime_version")),
            "cuda_driver_version": _cuda(header.get("cuda_driver_version")),
            "cupti_version": _plain(header.get("cupti_version")),
            "hip_runtime_version": _hip(header.get("hip_runtime_version")),
            "hip_driver_version": _hip(header.get("hip_driver_version")),
            "roctracer_version": _plain(header.get("roctracer_version")),
            "nccl_version": _plain(job.get("nccl_version")),
            "collective_backend": text(job.get("backend")),
            "world_size": _plain(job.get("world_size")),
            "recorded": ", ".join(name for name in _RECORDED if whole(header.get(name))),
        }
    )


def _plain(value: object) -> str:
    if isinstance(value, str | float):
        return text(str(value))
    number = whole(value)
    return str(number) if number else ""


def _cuda(value: object) -> str:
    number = whole(value)
    if not number or number < _CUDA_MAJOR:
        return _plain(value)
    return f"{number // _CUDA_MAJOR}.{number % _CUDA_MAJOR // _CUDA_MINOR}"


def _hip(value: object) -> str:
    number = whole(value)
    if not number or number < _HIP_MAJOR:
        return _plain(value)
    return f"{number // _HIP_MAJOR}.{number % _HIP_MAJOR // _HIP_MINOR}.{number % _HIP_MINOR}"
