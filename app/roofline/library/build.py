"""From settings to the parts of a server or worker: the one place that knows both."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from roofline.errors import SettingsError
from roofline.fleet.dask_connection import Cluster, address_of, certificates_of
from roofline.fleet.engine import import_limits
from roofline.imports.run_process import RunEngine
from roofline.library.instance import Instance, InstanceOptions, Listeners
from roofline.library.profiles import ProfileLibrary
from roofline.library.reader import ProfileReader
from roofline.library.results_version import results_version
from roofline.library.run_places import RunPlaces
from roofline.library.runs import RunLibrary
from roofline.settings import Settings
from roofline.storage.queries import ProfileQueries
from roofline.storage.user_quota import UserQuota


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A server without HTTP: `instance` is opened and closed, the others are used in between."""

    instance: Instance
    library: ProfileLibrary
    reader: ProfileReader
    queries: ProfileQueries
    runs: RunLibrary


def build_backend(
    settings: Settings, *, samples_dir: Path, listeners: Listeners | None = None
) -> Backend:
    """The parts of one server; they touch nothing before `instance` is opened."""
    return backend_of(build_instance(settings, listeners), samples_dir)


def backend_of(instance: Instance, samples_dir: Path) -> Backend:
    """The parts of one server on `instance`."""
    reader = ProfileReader(instance)
    library = ProfileLibrary(instance, reader, samples_dir)
    return Backend(
        instance=instance,
        library=library,
        runs=RunLibrary(instance, library, RunPlaces.of(instance.options.buckets)),
        reader=reader,
        queries=instance.store.queries,
    )


def build_instance(settings: Settings, listeners: Listeners | None = None) -> Instance:
    """The instance of a server, of a worker, or of a command that looks after the store."""
    return Instance(
        settings.data_dir,
        results_version(),
        limits=import_limits(settings),
        options=_options(settings),
        listeners=listeners or Listeners(),
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
        scrub_days=settings.scrub_days,
        failures_kept=timedelta(days=settings.failures_kept_days),
        trash_kept=timedelta(days=settings.trash_days),
        user_quota=UserQuota(size_bytes=settings.user_quota_bytes, profiles=settings.user_profiles),
        user_imports=settings.user_imports,
        visibility=settings.visibility,
        buckets=settings.buckets,
        watch_s=settings.watch,
        watch_rule=settings.watch_rule,
        run_engine=_run_engine(settings),
    )


def _run_engine(settings: Settings) -> RunEngine:
    """The engine of runs. Raises `SettingsError` for a cluster that is not named or not safe."""
    if settings.pods_engine == "local":
        return RunEngine()
    if settings.dask_scheduler is None:
        raise SettingsError(
            "ROOFLINE_PODS_ENGINE=dask needs the address of a scheduler.",
            remedy="Set ROOFLINE_DASK_SCHEDULER to tls://HOST:PORT, or unset ROOFLINE_PODS_ENGINE.",
        )
    files = (settings.dask_ca, settings.dask_cert, settings.dask_key)
    address_of(Cluster(address=settings.dask_scheduler, certificates=certificates_of(files)))
    authority, certificate, key = (None if one is None else str(one.absolute()) for one in files)
    return RunEngine(
        name="dask",
        scheduler=settings.dask_scheduler,
        authority=authority,
        certificate=certificate,
        key=key,
    )
