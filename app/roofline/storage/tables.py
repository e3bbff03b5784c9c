"""The tables of the present schema. `migrations/` makes them; a test compares both.

A profile holds its files in every state, failed ones too, until `holds_files` is false: then its
`file` rows keep names and sizes only. `job` keeps at most one queued or running job per profile;
one that met a full disk waits until `not_before` for `needs_bytes` of free room. `sweep_log` says
what was removed without a person asking. `instance` has one row; the same id lies beside the raw
files, which so know their database.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()


def _profile_key(*, primary_key: bool = False) -> Column[str]:
    reference = ForeignKey("profile.id", ondelete="CASCADE")
    return Column("profile_id", Text, reference, primary_key=primary_key, nullable=False)


profile = Table(
    "profile",
    metadata,
    Column("number", Integer, primary_key=True),  # order of arrival within one second
    Column("id", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=""),
    Column("uploader", Text),
    Column("created_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("sample", Text),
    Column("format", Text),
    Column("device", Text),
    Column("bound_by", Text),
    Column("efficiency_ratio", Double),
    Column("summary", Text),  # JSON of `records.Summary`
    Column("error_code", Text),
    Column("error_message", Text),
    Column("error_remedy", Text),
    Column("error_details", Text),  # JSON of `RooflineError.details`
    Column("expires_at", Text),
    Column("pinned", Boolean, nullable=False, server_default=text("false")),
    Column("delete_token_hash", Text),
    Column("holds_files", Boolean, nullable=False, server_default=text("true")),
    Column("search_text", Text, nullable=False, server_default=""),  # see `search_text`
    Column("digests", Text),  # JSON: of unpacked files that are imported; null for all
    Column("trashed_at", Text),
    Column("trashed_from", Text),  # the state to go back to
    Column("trash_reason", Text),
    Column("visibility", Text, nullable=False, server_default="everybody"),  # see `visibility`
    # True until an import finds a better title than the name of a file.
    Column("title_is_of_files", Boolean, nullable=False, server_default=text("false")),
    Index("profile_by_trash", "trashed_at"),
    Index("profile_by_age", "state", "pinned", "created_at", "number"),
    Index("profile_by_expiry", "expires_at"),
    Index("profile_by_sample", "sample"),
    Index("profile_by_visibility", "visibility", "state"),
)

file = Table(
    "file",
    metadata,
    _profile_key(primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("stored_bytes", BigInteger),
    Column("host", Text),
    Index("file_by_digest", "sha256"),
)

tag = Table(
    "tag",
    metadata,
    _profile_key(primary_key=True),
    Column("name", Text, primary_key=True),
    Index("tag_by_name", "name", "profile_id"),
)

# Apart from `profile`, whose rows every list reads.
op_shares = Table(
    "op_shares",
    metadata,
    _profile_key(primary_key=True),
    Column("shares", Text, nullable=False),  # JSON, see `compare.partners`
)

job = Table(
    "job",
    metadata,
    Column("id", Text, primary_key=True),
    _profile_key(),
    Column("kind", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("owner", Text),
    Column("lease_until", Double),
    Column("phase", Text, nullable=False),
    Column("fraction", Double, nullable=False),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("error_remedy", Text),
    Column("error_details", Text),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("not_before", Double),  # Unix seconds
    Column("needs_bytes", BigInteger),
    Index("job_by_profile", "profile_id", "created_at"),
    Index("job_by_end", "finished_at"),
    Index(
        "job_under_way",
        "profile_id",
        unique=True,
        sqlite_where=text("state IN ('queued', 'running')"),
        postgresql_where=text("state IN ('queued', 'running')"),
    ),
)

result = Table(
    "result",
    metadata,
    _profile_key(primary_key=True),
    Column("version", Text, primary_key=True),
    Column("blob_key", Text),  # null: in the data folder only
    Column("size_bytes", BigInteger, nullable=False),
    Column("packed_sha256", Text),  # of the blob
    Column("release", Text),  # that computed them; null: an earlier one, which did not say so
    Column("before", Text),  # the version of other numbers that were here before
)

# How far the regular check of a part of the store is; times are Unix seconds.
scrub = Table(
    "scrub",
    metadata,
    Column("part", Text, primary_key=True),
    Column("after", Text, nullable=False, server_default=""),
    Column("started_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("owner", Text),
    Column("lease_until", Double),
    Column("checked", BigInteger, nullable=False, server_default=text("0")),
    Column("repaired", BigInteger, nullable=False, server_default=text("0")),
)

# Raw files that it found damaged, until they are whole again or gone.
damage = Table(
    "damage",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("found_at", Text, nullable=False),
)

sweep_log = Table(
    "sweep_log",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("title", Text),
    Column("size_bytes", BigInteger),
)

# Triggers refuse to change or delete its rows; see its step of `migrations`.
audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text, nullable=False),
)

ended_session = Table(
    "ended_session",
    metadata,
    Column("mark", Text, primary_key=True),  # SHA-256 of its id
    Column("over_s", Double, nullable=False),  # Unix seconds: later, no cookie of it is accepted
)

# Times are Unix seconds; `owner` is what a profile remembers of its uploader.
api_token = Table(
    "api_token",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),  # keyed, see `web.http.api_tokens`
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("used_at", Double),
    Column("revoked_at", Double),
)

# By SHA-256 of issuer and the provider's id; `owner` is what profiles remember of their uploader.
person = Table(
    "person",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("owner", Text, nullable=False, unique=True),
    Column("is_admin", Boolean, nullable=False),  # at the last log-in
    Column("seen_at", Double, nullable=False),
)

# Times are Unix seconds; `maker` is what a profile remembers of its uploader.
share_link = Table(
    "share_link",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    _profile_key(),
    Column("name", Text, nullable=False),
    Column("maker", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("used_at", Double),
    Column("revoked_at", Double),
    Column("token_id", Text),  # of the API token that made it; null: a person in a browser
    Index("share_link_by_profile", "profile_id"),
)

# People's decisions on findings of advice; the document is an entry of the ledger, as JSON.
advice_decision = Table(
    "advice_decision",
    metadata,
    _profile_key(primary_key=True),
    Column("mark", Text, primary_key=True),  # SHA-256 of profile and finding
    Column("document", Text, nullable=False),
)

# Measured over predicted, without the profile: it stays when the profile is gone.
advice_hit = Table(
    "advice_hit",
    metadata,
    Column("mark", Text, primary_key=True),  # SHA-256 of profile and finding
    Column("rule", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("ratio", Double, nullable=False),
)

# People's notes on single points of a profile: operations, and points of the program.
point_note = Table(
    "point_note",
    metadata,
    _profile_key(primary_key=True),
    Column("mark", Text, primary_key=True),  # of kind, program and name: `PointNote.id`
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("program", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
)

# Measurements of machines that people sent; the document is as `roofline calibrate` exports it.
machine = Table(
    "machine",
    metadata,
    Column("id", Text, primary_key=True),
    Column("device", Text, nullable=False),  # `measured:HOST/DEVICE-ID`
    Column("owner", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("document", Text, nullable=False),
)

# A run of many hosts. Times are Unix seconds; `owner` and `lease_until` are those of the process
# that reads it. `document` is the key of what was last said of it, of `said_of` hosts.
run = Table(
    "run",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("uploader", Text),
    Column("visibility", Text, nullable=False),
    Column("delete_token_hash", Text),
    Column("created_at", Text, nullable=False),
    Column("address", Text),  # null: hosts are pushed
    Column("join_s", Double),
    Column("expected_hosts", Integer),
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    Column("changed_at", Double, nullable=False),
    Column("listed_at", Double),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("document", Text),
    Column("said_of", Integer, nullable=False, server_default=text("0")),
    Column("version", Integer, nullable=False, server_default=text("0")),
    Column("owner", Text),
    Column("lease_until", Double),
    Column("trashed_at", Text),
    Index("run_by_state", "state", "lease_until"),
    Index("run_by_age", "trashed_at", "number"),
)

# One file of a run. `identity` is the SHA-256 of address, version and size of an object, or that of
# a pushed file, whose bytes are kept. `receipt` is what reading it gave, as JSON.
run_host = Table(
    "run_host",
    metadata,
    Column("run_id", Text, ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("identity", Text, primary_key=True),
    Column("turn", Integer, nullable=False),  # the order of reading
    Column("name", Text, nullable=False),
    Column("address", Text),  # null: it was pushed
    Column("version", Text, nullable=False, server_default=""),
    Column("size_bytes", BigInteger, nullable=False),
    Column("stored_bytes", BigInteger),
    Column("sha256", Text),
    Column("is_kept", Boolean, nullable=False),  # its bytes are raw files of this server
    Column("state", Text, nullable=False),
    Column("receipt", Text),
    Column("profile_id", Text),  # made of this file when somebody opened it
    Column("arrived_at", Double, nullable=False),
    Index("run_host_by_turn", "run_id", "state", "turn"),
    Index("run_host_by_digest", "sha256"),
    Index("run_host_by_identity", "identity"),
)

instance = Table("instance", metadata, Column("id", Text, primary_key=True))
