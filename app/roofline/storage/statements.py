"""Statements on single profiles, their files, tags and results; lists of them are in `queries`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import orjson
from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from roofline import __version__
from roofline.errors import RooflineError, describe, error_from
from roofline.model.plain_data import alike, taken
from roofline.storage.records import (
    FAILED,
    IMPORTING,
    READY,
    TRASHED,
    Manifest,
    NewProfile,
    Ownership,
    PackedResults,
    Pending,
    ProfileId,
    StoredFile,
    Summary,
)
from roofline.storage.search_text import write_search_text
from roofline.storage.tables import (
    audit,
    file,
    instance,
    job,
    op_shares,
    profile,
    result,
    run_host,
    sweep_log,
    tag,
)

_IS_OR_WILL_BE_READY = profile.c.state.in_([IMPORTING, READY])
# A profile has one set of results at most.
_WITH_RELEASE = select(profile, result.c.release, result.c.before).join(
    result, result.c.profile_id == profile.c.id, isouter=True
)
# Of one profile, for pages: SQLAlchemy takes longer to build a statement than SQLite to run it.
_ONE = profile.c.id == bindparam("one")
_PROFILE = _WITH_RELEASE.where(_ONE)
_FILES = select(file).where(file.c.profile_id == bindparam("one")).order_by(file.c.position)
_TAGS = select(tag.c.name).where(tag.c.profile_id == bindparam("one")).order_by(tag.c.name)
_OWNERSHIP = select(profile.c.uploader, profile.c.delete_token_hash, profile.c.visibility).where(
    _ONE
)
_STATE = select(profile.c.state).where(_ONE)
HOLDS_FILES = profile.c.holds_files.is_(True)


def error_columns(error: RooflineError | None) -> dict[str, str | None]:
    """`error` as columns of a profile or job."""
    found = describe(error) if error is not None else {}
    details = found.get("details")
    texts = {f"error_{name}": found.get(name) for name in ("code", "message", "remedy")}
    return {**texts, "error_details": None if details is None else orjson.dumps(details).decode()}


def error_of(row: "Row[Any]") -> RooflineError | None:
    """The error in the columns of `row`."""
    if row.error_code is None:
        return None
    fields = {name: getattr(row, f"error_{name}") for name in ("code", "message", "remedy")}
    details = orjson.loads(row.error_details) if row.error_details else None
    return error_from({**fields, "details": details})


def add(connection: Connection, new: NewProfile) -> None:
    """A profile that is to be imported, with its files and tags."""
    values = {
        **taken(new, "id", "title", "note", "uploader", "created_at"),
        "state": IMPORTING,
        "sample": new.sample,
        "expires_at": new.expires_at,
        "delete_token_hash": new.delete_token_hash,
        "digests": None if new.digests is None else orjson.dumps(new.digests).decode(),
        "visibility": new.visibility,
        "title_is_of_files": new.title_is_of_files,
    }
    connection.execute(insert(profile).values(values))
    add_files(connection, new.id, new.files)
    set_tags(connection, new.id, new.tags)
    write_search_text(connection, new.id)


def forget_failed_analyses(connection: Connection, digests: Sequence[str]) -> None:
    """Lets profiles with these files be analysed again: their bytes were just stored anew."""
    holders = select(file.c.profile_id).where(file.c.sha256.in_(digests))
    failed = (job.c.kind == "analyse", job.c.state == FAILED, job.c.profile_id.in_(holders))
    connection.execute(delete(job).where(*failed))


def add_files(connection: Connection, profile_id: str, files: Sequence[StoredFile]) -> None:
    """The files of a profile, in their order."""
    rows = [
        {"profile_id": profile_id, "position": position, **asdict(one)}
        for position, one in enumerate(files)
    ]
    if rows:
        connection.execute(insert(file), rows)


def set_hosts(connection: Connection, profile_id: str, hosts: Mapping[str, str]) -> None:
    """Notes which host each file comes from, by the file's name."""
    for name, host in hosts.items():
        connection.execute(
            update(file)
            .where(file.c.profile_id == profile_id, file.c.name == name)
            .values(host=host)
        )


def set_tags(connection: Connection, profile_id: str, tags: Iterable[str]) -> None:
    """Replaces the tags of a profile."""
    connection.execute(delete(tag).where(tag.c.profile_id == profile_id))
    rows = [{"profile_id": profile_id, "name": name} for name in dict.fromkeys(tags)]
    if rows:
        connection.execute(insert(tag), rows)


def set_ready(connection: Connection, profile_id: str, format_name: str, summary: Summary) -> bool:
    """Stores findings of an import or later analysis; false if the profile is gone or failed."""
    statement = (
        update(profile)
        .where(profile.c.id == profile_id, _IS_OR_WILL_BE_READY)
        .values(
            state=READY,
            format=format_name,
            device=summary.device,
            bound_by=summary.bound_by,
            efficiency_ratio=summary.efficiency_ratio,
            summary=orjson.dumps(asdict(summary)).decode(),
        )
    )
    is_there = connection.execute(statement).rowcount == 1
    write_search_text(connection, profile_id)
    return is_there


def set_op_shares(connection: Connection, profile_id: str, shares: Mapping[str, float]) -> None:
    """Stores the share of the time by operation, in place of what an earlier analysis found."""
    connection.execute(delete(op_shares).where(op_shares.c.profile_id == profile_id))
    row = {"profile_id": profile_id, "shares": orjson.dumps(dict(shares)).decode()}
    if state(connection, profile_id) is not None:
        connection.execute(insert(op_shares).values(row))


def set_title(connection: Connection, profile_id: str, found: str) -> None:
    """Gives a profile the title that its import found, unless it has one that somebody gave."""
    statement = update(profile).where(profile.c.id == profile_id, profile.c.title_is_of_files)
    connection.execute(statement.values(title=found, title_is_of_files=False))


def set_failed(
    connection: Connection, profile_id: str, error: RooflineError, expires_at: str
) -> bool:
    """Why an import failed; false if the profile has gone or was imported before."""
    statement = (
        update(profile)
        .where(profile.c.id == profile_id, profile.c.state == IMPORTING)
        .values(state=FAILED, expires_at=expires_at, pinned=False, **error_columns(error))
    )
    return connection.execute(statement).rowcount == 1


def set_importing(connection: Connection, profile_id: str, expires_at: str | None) -> bool:
    """Has a failed profile imported again; false unless it failed and its files are held."""
    statement = (
        update(profile)
        .where(profile.c.id == profile_id, profile.c.state == FAILED, HOLDS_FILES)
        .values(state=IMPORTING, expires_at=expires_at, **error_columns(None))
    )
    return connection.execute(statement).rowcount == 1


def let_go_of_files(connection: Connection, profile_id: str) -> None:
    """Notes that the files of a failed profile are no longer held."""
    statement = update(profile).where(profile.c.id == profile_id, profile.c.state == FAILED)
    connection.execute(statement.values(holds_files=False))


def edit(connection: Connection, profile_id: str, values: Mapping[str, object]) -> bool:
    """Changes columns of a profile; false if there is none."""
    if not values:
        return state(connection, profile_id) is not None
    statement = update(profile).where(profile.c.id == profile_id).values(values)
    return connection.execute(statement).rowcount == 1


def remove(connection: Connection, profile_id: str) -> bool:
    """Deletes a profile and all rows that belong to it; false if there is none."""
    # In the order of a worker, which has its job before its profile: PostgreSQL ends one of two
    # transactions that wait for each other.
    connection.execute(delete(job).where(job.c.profile_id == profile_id))
    return connection.execute(delete(profile).where(profile.c.id == profile_id)).rowcount == 1


def state(connection: Connection, profile_id: str) -> str | None:
    """`importing`, `ready`, `failed`, `trashed`, or `None` when there is no such profile."""
    found = connection.execute(_STATE, {"one": profile_id}).scalar()
    return None if found is None else str(found)


def get(connection: Connection, profile_id: str) -> Manifest | Pending | None:
    """One profile, whatever its state; `None` for one in the trash, too."""
    one = {"one": profile_id}
    row = connection.execute(_PROFILE, one).first()
    if row is None or row.state == TRASHED:
        return None
    files = tuple(map(stored_file, connection.execute(_FILES, one)))
    if row.state != READY:
        return _pending(row, files)
    manifest = _manifest(row, files, tuple(connection.execute(_TAGS, one).scalars()))
    return replace(manifest, release=row.release, before=row.before)


def failed_uploads(connection: Connection, uploader: str, limit: int | None) -> tuple[Pending, ...]:
    """Uploads of a person that failed and whose files are kept, the newest first."""
    is_theirs = func.coalesce(profile.c.uploader, "") == uploader
    wanted = select(profile).where(
        profile.c.state == FAILED, HOLDS_FILES, is_theirs, profile.c.sample.is_(None)
    )
    rows = connection.execute(wanted.order_by(profile.c.number.desc()).limit(limit)).all()
    files = _files(connection, [row.id for row in rows])
    return tuple(_pending(row, files.get(row.id, ())) for row in rows)


def _pending(row: "Row[Any]", files: tuple[StoredFile, ...]) -> Pending:
    return alike(Pending, row, files=files, error=error_of(row), digests=_digests(row))


def by_sample(connection: Connection, key: str) -> ProfileId | None:
    """The profile of a bundled sample that is ready or being imported."""
    statement = select(profile.c.id).where(profile.c.sample == key, _IS_OR_WILL_BE_READY).limit(1)
    found = connection.execute(statement).scalar()
    return None if found is None else ProfileId(found)


def upload_of(connection: Connection, profile_id: str) -> NewProfile | None:
    """A profile as it was added, in any state; `None` when there is none."""
    row = connection.execute(select(profile).where(profile.c.id == profile_id)).first()
    if row is None:
        return None
    return alike(
        NewProfile,
        row,
        files=_files(connection, [profile_id]).get(profile_id, ()),
        tags=_tags(connection, [profile_id]).get(profile_id, ()),
        digests=_digests(row),
        title_is_of_files=False,
    )


def ownership(connection: Connection, profile_id: str) -> Ownership | None:
    """The owner and the delete token of a profile, and its visibility."""
    row = connection.execute(_OWNERSHIP, {"one": profile_id}).first()
    if row is None:
        return None
    return alike(Ownership, row)


def manifests(connection: Connection, page: "Select[Any]") -> tuple[Manifest, ...]:
    """The ready profiles that `page` selects, with their files and tags."""
    rows = connection.execute(page).all()
    ids = [row.id for row in rows]
    files, tags = _files(connection, ids), _tags(connection, ids)
    return tuple(_manifest(row, files.get(row.id, ()), tags.get(row.id, ())) for row in rows)


def _manifest(row: "Row[Any]", files: tuple[StoredFile, ...], tags: tuple[str, ...]) -> Manifest:
    return alike(
        Manifest,
        row,
        files=files,
        summary=Summary(**orjson.loads(row.summary)),
        tags=tags,
        digests=_digests(row),
        release=None,
        before=None,
    )


def _digests(row: "Row[Any]") -> tuple[str, ...] | None:
    return None if row.digests is None else tuple(orjson.loads(row.digests))


def _files(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[StoredFile, ...]]:
    ordered = select(file).where(file.c.profile_id.in_(ids))
    found: dict[str, tuple[StoredFile, ...]] = {}
    for row in connection.execute(ordered.order_by(file.c.profile_id, file.c.position)):
        found[row.profile_id] = (*found.get(row.profile_id, ()), stored_file(row))
    return found


def stored_file(row: "Row[Any]") -> StoredFile:
    """A row of `file`."""
    return alike(StoredFile, row)


def pushed_file(row: "Row[Any]") -> StoredFile:
    """A row of `run_host` whose bytes are kept."""
    return alike(StoredFile, row, host=None)


def _tags(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    ordered = select(tag).where(tag.c.profile_id.in_(ids)).order_by(tag.c.profile_id, tag.c.name)
    found: dict[str, tuple[str, ...]] = {}
    for row in connection.execute(ordered):
        found[row.profile_id] = (*found.get(row.profile_id, ()), row.name)
    return found


def digests_of(connection: Connection, profile_id: str) -> frozenset[str]:
    """The digests of a profile's files."""
    statement = select(file.c.sha256).where(file.c.profile_id == profile_id)
    return frozenset(connection.execute(statement).scalars())


def referenced(connection: Connection, digests: Iterable[str] | None = None) -> frozenset[str]:
    """Of `digests`, or of all, those whose bytes a profile or a run needs."""
    of_profiles = select(file.c.sha256).distinct().join(profile).where(HOLDS_FILES)
    of_runs = select(run_host.c.sha256).distinct().where(run_host.c.is_kept.is_(True))
    if digests is not None:
        wanted = list(digests)
        of_profiles = of_profiles.where(file.c.sha256.in_(wanted))
        of_runs = of_runs.where(run_host.c.sha256.in_(wanted))
    return frozenset(
        digest for one in (of_profiles, of_runs) for digest in connection.execute(one).scalars()
    )


def needed_files(connection: Connection, *, of_trash: bool = True) -> list[tuple[str, StoredFile]]:
    """Every file whose bytes must be there, with the id of its profile or run."""
    statement = select(file).join(profile).where(HOLDS_FILES).order_by(profile.c.number)
    if not of_trash:
        statement = statement.where(profile.c.state != TRASHED)
    found = [(row.profile_id, stored_file(row)) for row in connection.execute(statement)]
    pushed = select(run_host).where(run_host.c.is_kept.is_(True)).order_by(run_host.c.turn)
    return found + [(row.run_id, pushed_file(row)) for row in connection.execute(pushed)]


def profile_ids(connection: Connection) -> frozenset[str]:
    """Every profile, whatever its state."""
    return frozenset(connection.execute(select(profile.c.id)).scalars())


def ids_in_state(connection: Connection, wanted: str) -> frozenset[str]:
    """The profiles in a state."""
    statement = select(profile.c.id).where(profile.c.state == wanted)
    return frozenset(connection.execute(statement).scalars())


def due(connection: Connection, now: str) -> list[tuple[str, str]]:
    """Profiles past their expiry that are not pinned: id and title."""
    statement = select(profile.c.id, profile.c.title).where(
        profile.c.expires_at.is_not(None),
        profile.c.expires_at <= now,
        profile.c.pinned.is_(False),
        profile.c.state != TRASHED,
    )
    return [(row.id, row.title) for row in connection.execute(statement)]


def unpinned_by_age(connection: Connection) -> list[tuple[str, str]]:
    """Profiles that keep files and are not being imported or pinned, oldest first: id and title."""
    statement = (
        select(profile.c.id, profile.c.title)
        .where(
            HOLDS_FILES,
            profile.c.state.not_in([IMPORTING, TRASHED]),
            profile.c.pinned.is_(False),
        )
        .order_by(profile.c.created_at, profile.c.number)
    )
    return [(row.id, row.title) for row in connection.execute(statement)]


def set_result(
    connection: Connection,
    profile_id: str,
    version: str,
    packed: PackedResults | None,
    size_bytes: int,
) -> None:
    """Notes the one set of results a profile has, and where it lies packed, if it does."""
    mine = result.c.profile_id == profile_id
    was = connection.execute(select(result.c.version, result.c.before).where(mine)).first()
    connection.execute(delete(result).where(mine))
    values: dict[str, object] = {"version": version, "size_bytes": size_bytes}
    values.update(release=__version__, before=None if was is None else _before(version, *was))
    if packed is not None:
        values.update(blob_key=packed.key, packed_sha256=packed.sha256)
    connection.execute(insert(result).values(profile_id=profile_id, **values))


def _before(version: str, was: str, before: str | None) -> str | None:
    """The version whose numbers `version` replaces; its own digest counts other things, too."""
    return before if was.partition("-")[0] == version.partition("-")[0] else was


def packed_results(connection: Connection, profile_id: str, version: str) -> PackedResults | None:
    """Where the results of a profile lie packed in the object store, if they do."""
    statement = select(result.c.blob_key, result.c.packed_sha256).where(
        result.c.profile_id == profile_id, result.c.version == version
    )
    row = connection.execute(statement).first()
    if row is None or row.blob_key is None:
        return None
    return PackedResults(key=row.blob_key, sha256=row.packed_sha256)


def instance_id(connection: Connection) -> str:
    """The mark of the raw files of this database."""
    return str(connection.execute(select(instance.c.id)).scalar_one())


def log_sweep(
    connection: Connection,
    *,
    at: str,
    action: str,
    subject: str,
    title: str | None = None,
    size_bytes: int | None = None,
) -> None:
    """Notes what was removed or repaired without a person asking for it."""
    values = {"at": at, "action": action, "subject": subject, "title": title}
    connection.execute(insert(sweep_log).values(size_bytes=size_bytes, **values))
    row = {"at": at, "action": action, "person": "server", "address": "", "subject": subject}
    connection.execute(insert(audit).values(details=title or "", **row))
