"""The runners of jobs: threads of this process, or workers on several machines."""

from typing import Protocol


class Runner(Protocol):
    """Delivers job ids to `JobRuns.run`, at least once each; all else is in the job table."""

    def start(self) -> None:
        """Makes ready to deliver."""

    def submit(self, job_id: str) -> None:
        """Has the job run, now or when a worker is free. May raise `StoreUnavailableError`."""

    def close(self) -> None:
        """Stops delivering; jobs delivered to this process have ended when this returns."""
