"""Numbers of the imports that ran in this process, for Prometheus: a server's, or a worker's.

Labels are few and bounded: formats and error codes, never names.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client import start_http_server as start_server

from roofline.errors import SettingsError
from roofline.imports.job_run import ImportReport

IMPORT_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
READY = "ready"
# Numbers only, but there is no log-in here: monitoring from elsewhere needs an agent on this
# machine.
ADDRESS = "127.0.0.1"
# They would be one more series for each, without a reader.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ImportMetrics:
    """The ends of imports since this process started."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "roofline_import_seconds",
            "Time of imports in each of their phases.",
            ("format", "phase"),
            buckets=IMPORT_BUCKETS_S,
            registry=registry,
        )
        self._imports = Counter(
            "roofline_imports", "Imports that ended well.", ("format",), registry=registry
        )
        self._failures = Counter(
            "roofline_import_failures",
            "Imports that failed, by the error's code.",
            ("code",),
            registry=registry,
        )
        self._bytes = Counter(
            "roofline_import_bytes", "Bytes of uploads that were imported.", registry=registry
        )

    def count(self, report: ImportReport) -> None:
        """Counts an import that has ended."""
        format_id = report.format or "unknown"
        for phase, seconds in report.seconds_by_phase.items():
            self._seconds.labels(format_id, phase).observe(seconds)
        if report.code == READY:
            self._imports.labels(format_id).inc()
            self._bytes.inc(report.size_bytes)
        else:
            self._failures.labels(report.code).inc()


def serve_imports(port: int) -> ImportMetrics:
    """Answers with these numbers on `port` of this machine, on a thread of its own.

    Raises `SettingsError` when the port is taken.
    """
    registry = CollectorRegistry()
    metrics = ImportMetrics(registry)
    try:
        start_server(port, ADDRESS, registry)
    except OSError as error:
        raise SettingsError(
            f"The numbers cannot be served on {ADDRESS}:{port}: {error.strerror}.",
            remedy="Choose another port with --metrics-port.",
        ) from error
    return metrics
