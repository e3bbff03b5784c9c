"""Commands that look after the store: backup, restore, gc, doctor, worker.

With SQLite, only one process may write: what changes anything needs the server to be stopped, and
says so. `backup`, `gc --dry-run` and `doctor` beside a running server only read.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from roofline.errors import SettingsError, StoreUnavailableError
from roofline.library.build import build_instance
from roofline.library.instance import Instance, Listeners
from roofline.model.units import MIB
from roofline.settings import Settings, forget_secrets
from roofline.storage.backup import Copied, back_up, restore, verify
from roofline.storage.database import FILE_NAME, SCHEMA
from roofline.storage.scrub import Finding, examine, log_repairs
from roofline.storage.sweeping import (
    GRACE_S,
    empty_trash,
    find_expired,
    find_orphans,
    find_over_quota,
    in_trash,
    sweep_orphans,
)

PROBLEMS_LEFT = 1
_BESIDE = "A server uses this data folder: nothing is repaired. Stop it, then run this again."


def run_backup(settings: Settings, target: Path) -> int:
    """Copies the store to `target` while the server may be serving."""
    with _store(settings) as instance:
        copied = back_up(instance.store, target, _show)
    _say(f"{_counts(copied)} in {target}")
    return _report_missing(copied)


def run_restore(settings: Settings, source: Path) -> int:
    """Fills an empty store from a backup, and reads every file of it."""
    instance = build_instance(settings)
    with instance.folder.claimed():
        try:
            instance.staging.open()
            instance.store.database.migrate()
            area = instance.staging.new()
            copied = restore(source, instance.store, area.root, _show)
            damaged = verify(instance.store)
        finally:
            instance.staging.close()
            instance.store.close()
    _say(f"{_counts(copied)} restored")
    for file in damaged:
        _say(f"damaged: {file.name} ({file.sha256})")
    return PROBLEMS_LEFT if damaged else 0


def run_gc(settings: Settings, *, dry_run: bool, empties_trash: bool = False) -> int:
    """Removes files without a profile, and expired profiles, to the trash or from it.

    A dry run only lists them.
    """
    with _store(settings) as instance:
        if dry_run:
            _say_what_would_go(instance, empties_trash=empties_trash)
            return 0
        with _alone(instance):
            instance.upkeep.sweep()
            if empties_trash:
                _say(f"{empty_trash(instance.store)} purged from the trash")
            grace_s = GRACE_S if instance.is_shared else 0.0
            _say(f"{sweep_orphans(instance.store, grace_s=grace_s)} without a profile removed")
    return 0


def run_doctor(settings: Settings, *, quick: bool, check_only: bool) -> int:
    """Checks rows against files and repairs; 1 when something is left to do."""
    with _store(settings) as instance:
        if check_only or (not instance.is_shared and instance.folder.is_in_use()):
            _say("Check only: nothing is repaired." if check_only else _BESIDE)
            findings = _examine(instance, repair=False, quick=quick)
        else:
            with _alone(instance):
                findings = _examine(instance, repair=True, quick=quick)
                log_repairs(instance.store, findings)
        # A damaged database was a finding; what the server checked lies in the damage, too.
        with suppress(StoreUnavailableError):
            _say_what_was_checked(instance)
    left = [finding for finding in findings if not finding.repaired]
    _say(f"{len(findings)} findings, {len(findings) - len(left)} repaired, {len(left)} left")
    return PROBLEMS_LEFT if left else 0


def run_audit(settings: Settings, *, after: int, since: str) -> int:
    """Prints the audit table as JSON lines; a server writes reads to it within ten seconds."""
    with _store(settings) as instance:
        for entry in instance.store.audit.entries(after=after, since=since):
            _say(json.dumps(asdict(entry)))
    return 0


def run_worker(settings: Settings, concurrency: int, metrics_port: int | None = None) -> int:
    """Runs imports of the shared queue until SIGINT or SIGTERM, and counts them on a port."""
    forget_secrets()
    if metrics_port is None:
        instance = build_instance(settings)
    else:
        from roofline.imports.job_runs import serve_imports  # loads prometheus_client

        listeners = Listeners(on_import_end=serve_imports(metrics_port).count)
        instance = build_instance(settings, listeners)
    _say(f"Roofline worker: {concurrency} imports at a time")
    instance.work(concurrency)
    return 0


@contextmanager
def _store(settings: Settings) -> Iterator[Instance]:
    """The store as it is, without serving; refuses one that does not exist or is not current."""
    if settings.database_url is None and not (settings.data_dir / FILE_NAME).is_file():
        raise SettingsError(
            f"There is no store in {settings.data_dir}.",
            remedy="Name the server's folder with --data-dir or ROOFLINE_DATA_DIR; one written by"
            " a release before the database is converted when its server starts.",
        )
    instance = build_instance(settings)
    try:
        found = instance.store.schema()
        if found != SCHEMA:
            raise SettingsError(
                f"The store's schema is {found or 'missing'}, not {SCHEMA}.",
                remedy="Start this version's server once to bring it up to date.",
            )
        yield instance
    finally:
        instance.store.close()


@contextmanager
def _alone(instance: Instance) -> Iterator[None]:
    """Holds the lock of a store that is not shared, so that no other process writes to it."""
    if instance.is_shared:
        yield
        return
    with instance.folder.claimed():
        yield


def _examine(instance: Instance, *, repair: bool, quick: bool) -> list[Finding]:
    # Beside others, bytes without a row may belong to an upload that is not done yet.
    grace_s = 0.0 if repair and not instance.is_shared else GRACE_S
    findings = []
    for finding in examine(instance.store, repair=repair, quick=quick, grace_s=grace_s):
        state = "repaired" if finding.repaired else "found"
        _say(f"{state}: {finding.subject}: {finding.what}. {finding.remedy}")
        findings.append(finding)
    return findings


def _say_what_was_checked(instance: Instance) -> None:
    """When the server's own check read everything for the last time."""
    for scrub in instance.store.queries.stats().scrubs:
        if scrub.finished_at is None:
            _say(f"The first check of the {scrub.part} by the server has not ended yet.")
        else:
            moment = datetime.fromtimestamp(scrub.finished_at, UTC)
            _say(f"Last checked by the server: {scrub.part}, {moment:%Y-%m-%d %H:%M} UTC.")


def _say_what_would_go(instance: Instance, *, empties_trash: bool) -> None:
    alone = not instance.is_shared and not instance.folder.is_in_use()
    digests, results = find_orphans(instance.store, grace_s=0.0 if alone else GRACE_S)
    for digest in sorted(digests):
        _say(f"raw file without a profile: {digest}")
    for profile_id in sorted(results):
        _say(f"results without a profile: {profile_id}")
    for profile_id, title in find_expired(instance.store):
        _say(f"expired: {profile_id} {title}")
    for profile_id, title in in_trash(instance.store, due=not empties_trash):
        _say(f"purged from the trash: {profile_id} {title}")
    quota_bytes = instance.settings.quota_bytes
    if quota_bytes is not None:
        for profile_id, title in find_over_quota(instance.store, quota_bytes):
            _say(f"over quota: {profile_id} {title}")


def _report_missing(copied: Copied) -> int:
    for file in copied.missing:
        _say(f"not in the backup, because it is missing or was deleted meanwhile: {file.name}")
    return PROBLEMS_LEFT if copied.missing else 0


def _counts(copied: Copied) -> str:
    size = f"{copied.stored_bytes / MIB:,.1f} MiB"
    return f"{copied.profiles:,} profiles, {copied.files:,} raw files, {size}"


def _show(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:,} of {total:,} files" + ("\n" if done == total else ""))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
