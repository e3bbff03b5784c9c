"""PyTorch profiler (Kineto) traces: Chrome trace JSON, one file per process.

Format: `torch.profiler`'s `export_chrome_trace` and `tensorboard_trace_handler`; tried: traces of
torch 1.8 to 2.13, of NVIDIA and AMD GPUs and of CPUs, as an object or as a bare list of events,
cut short or with damaged events. The file is scanned in windows, never held.
Read: kernels and copies, attributed through correlation ids to the operators that launched them;
kernels of graphs by the launches in a trace of the graph's capture, else by their own names, as
those of compiled code; steps; FLOPs and bytes from recorded shapes, masks and lengths, or as
Inductor wrote them; devices' names. Without kernels: the times of
operators, and their FLOPs and bytes only where nothing says that an accelerator computed.
Modules and ranges around an operator are its path; shapes and layouts are those of its first call.
With `with_stack`, Python's stack is that of its first call.
Lost: memory events, flow arrows, streams; kernels of accelerators other than GPUs.
"""

import re
from collections.abc import Sequence

from roofline.importers.source import Progress, SourceFile
from roofline.model.profile import Profile

FORMAT_ID = "pytorch"
LABEL = "PyTorch profiler (Kineto)"
READS = "PyTorch profiler trace (Kineto, .json or .json.gz)"

_SPACE = b"\xef\xbb\xbf \t\r\n"
_EVENTS = re.compile(rb'"traceEvents"\s*:|^\s*\[')
_LIST_OF_OBJECTS = re.compile(rb"\[\s*\{")
_EVENT = re.compile(rb'"ph"\s*:\s*"')
_HEADER = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|record_shapes|cupti_version'
    rb'|cuda_runtime_version|baseTimeNanoseconds|with_flops)"\s*:'
)
_MARKS = re.compile(
    rb'"External id"\s*:|"name"\s*:\s*"(?:aten::|PyTorch Profiler|ProfilerStep)'
    rb'|"cat"\s*:\s*"(?:cpu_op|cuda_runtime|cuda_driver|gpu_memcpy|gpu_memset|ac2g|fwdbwd'
    rb'|gpu_user_annotation|user_annotation|cpu_instant_event|mtia_[a-z_]+|cuda_profiler_range)"',
    re.IGNORECASE,
)


# Processes of traces whose work of the device has no marks: it would be taken for the host's.
_OF_OTHERS = re.compile(rb'"(?:CUDA functions|Ascend Hardware)"')


def recognises(source: SourceFile) -> bool:
    """True for Chrome traces with marks that only PyTorch's profiler leaves."""
    head = source.head.lstrip(_SPACE)
    if head.startswith(b"["):
        is_list = _LIST_OF_OBJECTS.match(head) and _EVENT.search(head)
        return bool(is_list and _MARKS.search(head) and not _OF_OTHERS.search(head))
    if not head.startswith(b"{"):
        return False
    if _EVENTS.search(head):
        return bool(_HEADER.search(head) or _MARKS.search(head))
    # The header may fill the head: hundreds of ranks and their groups.
    return len(_HEADER.findall(head)) >= 2 and b'"schemaVersion"' in head


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """One profile from the traces of one or several processes of a job."""
    from roofline.importers.pytorch.job import read_job  # loads slowly

    return read_job(sources, progress)
