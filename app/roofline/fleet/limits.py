"""The limits of reading one file, as the server is set. Loads nothing that reads."""

from roofline.sandbox.limits import ImportLimits
from roofline.settings import Settings


def import_limits(settings: Settings) -> ImportLimits:
    """The limits of one file, from the server's settings."""
    return ImportLimits(
        memory_bytes=settings.import_memory_bytes,
        cpu_seconds=settings.import_cpu_seconds,
        wall_seconds=settings.import_wall_seconds,
        max_unpacked_bytes=settings.max_unpacked_bytes,
        max_unpacked_files=settings.max_unpacked_files,
        max_expansion_ratio=settings.max_expansion_ratio,
    )
