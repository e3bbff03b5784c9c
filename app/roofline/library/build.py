"""From settings to the library, its limits and its options: the one place that knows both."""

from collections.abc import Callable
from pathlib import Path

from roofline.imports.job_run import ImportReport
from roofline.imports.messages import ImportLimits
from roofline.library.instance import Instance, InstanceOptions
from roofline.library.profiles import ProfileLibrary
from roofline.library.results_version import results_version
from roofline.settings import Settings


def build_library(settings: Settings, *, samples_dir: Path) -> ProfileLibrary:
    """The library of one server; it touches nothing before it is opened."""
    return ProfileLibrary(
        settings.data_dir,
        limits=_limits(settings),
        samples_dir=samples_dir,
        options=_options(settings),
    )


def build_instance(
    settings: Settings, note: Callable[[ImportReport], None] = lambda _report: None
) -> Instance:
    """The parts of a worker or of a command that looks after the store; `note` hears of imports."""
    return Instance(
        settings.data_dir,
        results_version(),
        limits=_limits(settings),
        options=_options(settings),
        on_end=lambda _profile_id, report: note(report),
    )


def _limits(settings: Settings) -> ImportLimits:
    return ImportLimits(
        memory_bytes=settings.import_memory_bytes,
        cpu_seconds=settings.import_cpu_seconds,
        wall_seconds=settings.import_wall_seconds,
        max_unpacked_bytes=settings.max_unpacked_bytes,
        max_unpacked_files=settings.max_unpacked_files,
        max_expansion_ratio=settings.max_expansion_ratio,
    )


def _options(settings: Settings) -> InstanceOptions:
    url = settings.database_url
    return InstanceOptions(
        workers=settings.import_workers,
        runner=settings.runner,
        database_url=url.get_secret_value() if url is not None else None,
        blobs=settings.blobs,
        retention_days=settings.retention_days,
        quota_bytes=settings.quota_bytes,
        disk_reserve_bytes=settings.disk_reserve_bytes,
    )
