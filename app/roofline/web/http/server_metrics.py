"""The metrics for Prometheus at `/metrics`: requests, imports by phase and format, errors, bytes.

Labels are few and bounded: route patterns, never addresses; formats and error codes, never names.
"""

from collections.abc import Iterable
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from roofline.errors import RooflineError
from roofline.imports.job_runs import ImportMetrics
from roofline.storage.queries import ProfileQueries
from roofline.storage.records import ScrubState, StoreStats

REQUEST_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)


class ServerMetrics:
    """The numbers of one server since it started."""

    def __init__(self) -> None:
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
        # Their libraries look labels up under a lock; these are as few as routes.
        self._counter = lru_cache(maxsize=None)(self._counter_of)
        self._times = lru_cache(maxsize=None)(self._request_seconds.labels)
        self.count_import = ImportMetrics(self.registry).count

    def watch(self, queries: ProfileQueries) -> None:
        """Tells the sizes of the store, too."""
        self.registry.register(_StoreSizes(queries))

    def text(self) -> bytes:
        """All numbers, in Prometheus's text format."""
        return generate_latest(self.registry)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts an answer; `route` is the pattern, `-` for addresses that lead nowhere."""
        self._counter(method, route, status).inc()
        self._times(route).observe(seconds)

    def _counter_of(self, method: str, route: str, status: int) -> Counter:
        return self._requests.labels(method, route, str(status))


class _StoreSizes(Collector):
    """Reads the store on each request; has no values while the store cannot be read."""

    def __init__(self, queries: ProfileQueries) -> None:
        self._queries = queries

    def collect(self) -> Iterable[Metric]:
        try:
            stats = self._queries.stats()
        except RooflineError:
            return ()
        return _gauges(stats)

    def describe(self) -> Iterable[Metric]:
        """Nothing: otherwise registering would ask a store that is not open yet."""
        return ()


def _gauges(stats: StoreStats) -> Iterable[Metric]:
    sizes = GaugeMetricFamily("roofline_store_bytes", "Bytes of uploads kept.", labels=["kind"])
    sizes.add_metric(["raw"], stats.raw_bytes)
    sizes.add_metric(["stored"], stats.stored_bytes)
    yield sizes
    yield GaugeMetricFamily("roofline_profiles", "Profiles kept.", value=stats.profile_count)
    yield GaugeMetricFamily("roofline_jobs_queued", "Imports waiting.", value=stats.queued_jobs)
    yield GaugeMetricFamily(
        "roofline_damaged_files", "Raw files found damaged.", value=stats.damaged_files
    )
    yield from _scrub_gauges(stats.scrubs)


def _scrub_gauges(scrubs: Iterable[ScrubState]) -> Iterable[Metric]:
    about = "The regular check of the store:"
    ended = GaugeMetricFamily(
        "roofline_scrub_finished_seconds",
        f"{about} Unix time of its last end.",
        labels=["part"],
    )
    checked = GaugeMetricFamily(
        "roofline_scrub_checked", f"{about} files or profiles.", labels=["part"]
    )
    repaired = CounterMetricFamily(
        "roofline_scrub_repaired", f"{about} what it repaired.", labels=["part"]
    )
    for scrub in scrubs:
        if scrub.finished_at is not None:
            ended.add_metric([scrub.part], scrub.finished_at)
        checked.add_metric([scrub.part], scrub.checked)
        repaired.add_metric([scrub.part], scrub.repaired)
    yield from (ended, checked, repaired)
