"""Writes measured tables into `bench/README.md`, each between its own pair of markers."""

import os
import platform
import re
from pathlib import Path

README = Path(__file__).with_name("README.md")


def write_section(name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = README.read_text("utf-8")
    before, rest = old.split(begin)
    _, after = rest.split(end)
    README.write_text(f"{before}{begin}\n{text}\n{end}{after}", "utf-8")


def describe_machine() -> str:
    """Processor, cores, memory, Python and load: above the number of cores, others were at work."""
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    name = cpu.group(1).strip() if cpu else platform.machine()
    return (
        f"{os.cpu_count()} cores ({name}), {memory_gib:.0f} GiB, Python "
        f"{platform.python_version()}, load average {os.getloadavg()[1]:.1f}"
    )
