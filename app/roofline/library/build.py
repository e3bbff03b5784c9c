"""From settings to the parts of a server or worker: the one place that knows both."""

from dataclasses import dataclass
from pathlib import Path

from roofline.library.instance import Instance, Listeners
from roofline.library.profiles import ProfileLibrary
from roofline.library.reader import ProfileReader
from roofline.library.results_version import results_version
from roofline.library.run_places import RunPlaces
from roofline.library.runs import RunLibrary
from roofline.settings import Settings
from roofline.storage.queries import ProfileQueries


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
        runs=RunLibrary(instance, library, RunPlaces.of(instance.settings.buckets)),
        reader=reader,
        queries=instance.store.queries,
    )


def build_instance(settings: Settings, listeners: Listeners | None = None) -> Instance:
    """The instance of a server, of a worker, or of a command that looks after the store."""
    return Instance(settings, results_version(), listeners or Listeners())
