"""The server's configuration, read once from the environment (`ROOFLINE_…`) at start.

| variable                         | default                   | what it limits                    |
| -------------------------------- | ------------------------- | --------------------------------- |
| `ROOFLINE_DATA_DIR`              | `~/.local/share/roofline` | where profiles are kept           |
| `ROOFLINE_DATABASE_URL`, `…_FILE` | SQLite in the data folder | `postgresql://…`                 |
| `ROOFLINE_BLOBS`                 | the data folder           | `s3://bucket/prefix`, `gs`, `az`; |
|                                  |                           | with `?endpoint=…&region=…`       |
| `ROOFLINE_RUNNER`                | `local`                   | `local:N` or `procrastinate`      |
| `ROOFLINE_RETENTION_DAYS`        | for ever                  | age at which profiles are deleted |
| `ROOFLINE_QUOTA_BYTES`           | none                      | past it, the oldest are deleted   |
| `ROOFLINE_USER_QUOTA_BYTES`      | none                      | files of one person, unpacked     |
| `ROOFLINE_USER_PROFILES`         | none                      | profiles of one person            |
| `ROOFLINE_USER_IMPORTS`          | none                      | imports of one person at once     |
| `ROOFLINE_DISK_RESERVE_BYTES`    | 5 %, at most 2 GiB        | with less left, uploads wait      |
| `ROOFLINE_FAILURES_KEPT_DAYS`    | 7, at least 7             | files of failed imports           |
| `ROOFLINE_TRASH_DAYS`            | 7, 0: no trash            | deleted profiles can be restored  |
| `ROOFLINE_LINK_DAYS`             | for ever                  | longest life of share links       |
| `ROOFLINE_SCRUB_DAYS`            | 7, 0: never               | everything is read and checked    |
| `ROOFLINE_HOST`, `_PORT`         | 127.0.0.1, 8000           | the address to listen on          |
| `ROOFLINE_ALLOWED_HOSTS`         | none                      | `Host` names answered             |
| `ROOFLINE_AUTH`                  | `open`                    | `open`, `token`, `proxy`, `oidc`  |
| `ROOFLINE_TOKEN`, `_TOKEN_FILE`  | none                      | mode `token`: what people enter   |
| `ROOFLINE_ADMIN_TOKEN`, `…_FILE` | none                      | mode `token`: for admin rights    |
| `ROOFLINE_PROXY_HEADER`          | `X-Forwarded-User`        | mode `proxy`: names the user      |
| `ROOFLINE_PROXY_ADDRESSES`       | none                      | networks whose header is trusted  |
| `ROOFLINE_REACHED`               | `locally`                 | `locally`: from this machine;     |
|                                  |                           | `behind-proxy`, `directly`        |
| `ROOFLINE_ADMINS`                | none                      | `proxy`, `oidc`: the admins       |
| `ROOFLINE_OIDC_ISSUER`           | none                      | mode `oidc`: the provider         |
| `ROOFLINE_OIDC_CLIENT_ID`        | none                      | mode `oidc`: this server there    |
| `ROOFLINE_OIDC_CLIENT_SECRET`,   |                           |                                   |
| `…_FILE`                         | none                      | mode `oidc`: its secret           |
| `ROOFLINE_OIDC_SCOPES`           | `email`, `profile`        | mode `oidc`: what is asked for    |
| `ROOFLINE_OIDC_GROUPS_CLAIM`     | `groups`                  | mode `oidc`: lists the groups     |
| `ROOFLINE_OIDC_GROUPS`           | all                       | mode `oidc`: those with access    |
| `ROOFLINE_OIDC_ADMIN_GROUPS`     | none                      | mode `oidc`: those of admins      |
| `ROOFLINE_METRICS_TOKEN`         | none                      | reads `/metrics`, nothing else    |
| `ROOFLINE_VISIBILITY`            | `everybody`               | `everybody`, `link` or `owner`    |
|                                  |                           | sees new profiles                 |
| `ROOFLINE_UPLOADS_PER_HOUR`      | 60, `open`: any number    | uploads of one person or address  |
| `ROOFLINE_MAX_UPLOAD_BYTES`      | 4 GiB                     | one request's files together      |
| `ROOFLINE_MAX_FILES`             | 512                       | files of one upload               |
| `ROOFLINE_MAX_UNPACKED_BYTES`    | 32 GiB                    | all that archives unpack to       |
| `ROOFLINE_MAX_UNPACKED_FILES`    | 5,000                     | members of archives               |
| `ROOFLINE_MAX_EXPANSION_RATIO`   | 300                       | unpacked / packed, past 256 MiB   |
| `ROOFLINE_IMPORT_MEMORY_BYTES`   | 8 GiB                     | address space beyond the files    |
| `ROOFLINE_IMPORT_CPU_SECONDS`    | 600                       | processor time of one import      |
| `ROOFLINE_IMPORT_WALL_SECONDS`   | 900                       | duration of one import            |
| `ROOFLINE_IMPORT_WORKERS`        | processors - 1, 1 to 4    | imports at the same time          |
| `ROOFLINE_KEPT_ANSWERS_BYTES`    | 8 MiB, 0: none            | memory for answers to repeat      |
| `ROOFLINE_PODS_ENGINE`           | `local`                   | `local` or `dask`: reads runs     |
| `ROOFLINE_DASK_SCHEDULER`        | none                      | `tls://…`: reads runs, see        |
|                                  |                           | docs/runs.md                      |
| `ROOFLINE_DASK_CA`               | none                      | PEM files for its TLS: authority, |
| `ROOFLINE_DASK_CERT`, `_DASK_KEY` | none                     | certificate and its key           |
| `ROOFLINE_BUDGET_FILE`           | the gate's default limits | rules for runs over time          |
| `ROOFLINE_NSYS`                  | none: off                 | a program that exports reports    |
| `ROOFLINE_BUCKETS`               | none                      | places whose runs may be read     |
| `ROOFLINE_CAPTURE_TARGETS`       | none: off                 | programs that may be captured     |
| `ROOFLINE_CAPTURE_GROUPS`        | none: administrators      | `oidc`: groups that may capture   |
| `ROOFLINE_CAPTURES_PER_HOUR`     | 12                        | captures of one person or address |
| `ROOFLINE_WATCH`                 | off                       | `5m`: looks for new runs there    |
| `ROOFLINE_WATCH_RULE`            | none                      | `gs://team/*`: imported at once   |
| `ROOFLINE_LOG_FORMAT`            | `text`                    | `text` or `json`                  |

Lists are separated by commas, or written as JSON. A secret is at best in a file that only the
server may read; the variable of a secret with `_FILE` appended names it.
"""

import json
import os
import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from roofline import process_environment
from roofline.errors import SettingsError
from roofline.model.outer_limits import ImportLimits
from roofline.model.units import GIB, MIB

Network = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_SECRETS = ("database_url", "token", "admin_token", "metrics_token", "oidc_client_secret")


def _listed(value: object) -> object:
    """`a, b` or `["a", "b"]` from the environment as a list; anything else as it is."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError("it is neither a JSON list nor words between commas") from error
    return [word.strip() for word in value.split(",") if word.strip()]


def _network(value: object) -> object:
    return ip_network(value, strict=False) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
Networks = Annotated[
    tuple[Annotated[Network, BeforeValidator(_network)], ...], NoDecode, BeforeValidator(_listed)
]


def _seconds(value: object) -> object:
    """`90s`, `5m` or `1h` in seconds; anything else as it is."""
    if isinstance(value, str) and (found := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", value.strip())):
        return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]
    return value


Seconds = Annotated[float, Field(gt=0), BeforeValidator(_seconds)]


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "roofline"


def _default_workers() -> int:
    return max(1, min(4, (os.cpu_count() or 2) - 1))


class Settings(BaseSettings):
    """Every limit and address of one server; see the module's table."""

    model_config = SettingsConfigDict(env_prefix="ROOFLINE_", frozen=True, extra="ignore")

    # Children that read uploads work in folders of their own.
    data_dir: Annotated[Path, AfterValidator(Path.absolute)] = Field(
        default_factory=_default_data_dir
    )
    database_url: SecretStr | None = None
    database_url_file: Path | None = None
    blobs: str | None = None
    runner: str = ""
    retention_days: float | None = Field(default=None, gt=0)
    quota_bytes: int | None = Field(default=None, gt=0)
    user_quota_bytes: int | None = Field(default=None, gt=0)
    user_profiles: int | None = Field(default=None, gt=0)
    user_imports: int | None = Field(default=None, gt=0)
    disk_reserve_bytes: int | None = Field(default=None, ge=0)
    failures_kept_days: float = Field(default=7, ge=7)
    trash_days: float = Field(default=7, ge=0)
    link_days: float | None = Field(default=None, gt=0)
    scrub_days: float = Field(default=7, ge=0)
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    allowed_hosts: Words = ()
    auth: Literal["open", "token", "proxy", "oidc"] = "open"
    token: SecretStr | None = None
    token_file: Path | None = None
    admin_token: SecretStr | None = None
    admin_token_file: Path | None = None
    proxy_header: str = Field(default="X-Forwarded-User", pattern=r"^[A-Za-z0-9-]+$")
    proxy_addresses: Networks = ()
    reached: Literal["locally", "behind-proxy", "directly"] = "locally"
    admins: Words = ()
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None
    oidc_client_secret_file: Path | None = None
    oidc_scopes: Words = ("email", "profile")
    oidc_groups_claim: str = "groups"
    oidc_groups: Words = ()
    oidc_admin_groups: Words = ()
    metrics_token: SecretStr | None = None
    metrics_token_file: Path | None = None
    budget_file: Path | None = None
    buckets: Words = ()
    nsys: Path | None = None
    capture_targets: Words = ()
    capture_groups: Words = ()
    captures_per_hour: int = Field(default=12, gt=0)
    watch: Seconds | None = None
    watch_rule: str = ""
    pods_engine: Literal["local", "dask"] = "local"
    dask_scheduler: str | None = None
    dask_ca: Path | None = None
    dask_cert: Path | None = None
    dask_key: Path | None = None
    visibility: Literal["everybody", "link", "owner"] = "everybody"
    uploads_per_hour: int | None = Field(default=None, gt=0)
    max_upload_bytes: int = Field(default=4 * GIB, gt=0)
    max_files: int = Field(default=512, gt=0)
    max_unpacked_bytes: int = Field(default=32 * GIB, gt=0)
    max_unpacked_files: int = Field(default=5_000, gt=0)
    max_expansion_ratio: int = Field(default=300, gt=0)
    import_memory_bytes: int = Field(default=8 * GIB, gt=0)
    import_cpu_seconds: int = Field(default=600, gt=0)
    import_wall_seconds: float = Field(default=900, gt=0)
    import_workers: int = Field(default_factory=_default_workers, gt=0)
    upload_idle_seconds: float = Field(default=60, gt=0)
    kept_answers_bytes: int = Field(default=8 * MIB, ge=0)
    log_format: Literal["text", "json"] = "text"

    @classmethod
    def from_env(cls, **overrides: object) -> "Settings":
        """Settings from the environment, `overrides` first; `SettingsError` names a bad value."""
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            raise _explained(error) from error

    @property
    def import_limits(self) -> ImportLimits:
        """The limits of one import, and of each file of a run."""
        return ImportLimits(
            memory_bytes=self.import_memory_bytes,
            cpu_seconds=self.import_cpu_seconds,
            wall_seconds=self.import_wall_seconds,
            max_unpacked_bytes=self.max_unpacked_bytes,
            max_unpacked_files=self.max_unpacked_files,
            max_expansion_ratio=self.max_expansion_ratio,
        )

    @property
    def proxies(self) -> tuple[Network, ...]:
        """Where the proxies are whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted."""
        here = LOOPBACK if self.reached == "behind-proxy" else ()
        return self.proxy_addresses or here

    @model_validator(mode="after")
    def _read_secret_files(self) -> Self:
        for name in _SECRETS:
            path: Path | None = getattr(self, f"{name}_file")
            if path is not None:
                object.__setattr__(self, name, SecretStr(_read_secret(name, path)))
        return self


def forget_secrets() -> None:
    """Takes secrets out of the environment once they are read, so that no import can read them.

    Those of libraries stay for them, and are hidden from other processes.
    """
    process_environment.forget(f"ROOFLINE_{name.upper()}" for name in _SECRETS)
    process_environment.hide_secrets_of_libraries()


def _read_secret(name: str, path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError(
            f"ROOFLINE_{name.upper()}_FILE names {path}, which cannot be read: {reason}.",
            remedy="Give the server's user the right to read it, or correct the path.",
        ) from error


def _explained(error: ValidationError) -> SettingsError:
    first = error.errors()[0]
    name = "_".join(str(part) for part in first["loc"] if isinstance(part, str)).upper()
    # A secret is not repeated, not even a bad one.
    value = "" if "TOKEN" in name or "SECRET" in name else f" {first.get('input')!r}"
    return SettingsError(
        f"ROOFLINE_{name} cannot be{value or ' this'}: {first['msg'].lower()}.",
        remedy=f"Correct or unset ROOFLINE_{name} and start again.",
    )
