"""What Prometheus reads at `/metrics`: requests, imports by phase and format, failures, bytes.

Labels are few and bounded: route patterns, never addresses; formats and error codes, never names.
"""

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from roofline.errors import RooflineError
from roofline.imports.import_metrics import ImportMetrics
from roofline.library.profiles import ProfileLibrary
from roofline.storage.records import StoreStats

REQUEST_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)

router = APIRouter(include_in_schema=False)


class Metrics:
    """The numbers of one server since it started."""

    def __init__(self, library: ProfileLibrary) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "roofline_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "roofline_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ("route",),
            buckets=REQUEST_BUCKETS_S,
            registry=self.registry,
        )
        self.note_import = ImportMetrics(self.registry).note
        self.registry.register(_Store(library))

    def note_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts an answer; `route` is the pattern, `-` for addresses that lead nowhere."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)


class _Store(Collector):
    """Reads the library on each request; has no values while the store cannot be read."""

    def __init__(self, library: ProfileLibrary) -> None:
        self._library = library

    def collect(self) -> Iterable[Metric]:
        try:
            stats = self._library.stats()
        except RooflineError:
            return ()
        return _gauges(stats)

    def describe(self) -> Iterable[Metric]:
        """Nothing: otherwise registering would ask a library that is not open yet."""
        return ()


def _gauges(stats: StoreStats) -> Iterable[Metric]:
    sizes = GaugeMetricFamily("roofline_store_bytes", "Bytes of uploads kept.", labels=["kind"])
    sizes.add_metric(["raw"], stats.raw_bytes)
    sizes.add_metric(["stored"], stats.stored_bytes)
    yield sizes
    yield GaugeMetricFamily("roofline_profiles", "Profiles kept.", value=stats.profile_count)
    yield GaugeMetricFamily("roofline_jobs_queued", "Imports waiting.", value=stats.queued_jobs)


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """The numbers, in Prometheus's text format."""
    kept: Metrics = request.app.state.metrics
    return Response(generate_latest(kept.registry), media_type=CONTENT_TYPE_LATEST)
