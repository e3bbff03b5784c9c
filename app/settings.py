"""The server's configuration, read once from the environment (`ROOFLINE_…`) at start.

| variable                         | default                   | what it limits                    |
| -------------------------------- | ------------------------- | --------------------------------- |
| `ROOFLINE_DATA_DIR`              | `~/.local/share/roofline` | where profiles are kept           |
| `ROOFLINE_HOST`, `_PORT`         | 127.0.0.1, 8000           | the address to listen on          |
| `ROOFLINE_ALLOWED_HOSTS`         | `[]`                      | `Host` names answered (JSON list) |
| `ROOFLINE_MAX_UPLOAD_BYTES`      | 4 GiB                     | one request's files together      |
| `ROOFLINE_MAX_FILES`             | 512                       | files of one upload               |
| `ROOFLINE_MAX_UNPACKED_BYTES`    | 32 GiB                    | all that archives unpack to       |
| `ROOFLINE_MAX_UNPACKED_FILES`    | 5,000                     | members of archives               |
| `ROOFLINE_MAX_EXPANSION_RATIO`   | 300                       | unpacked / packed, past 256 MiB   |
| `ROOFLINE_IMPORT_MEMORY_BYTES`   | 8 GiB                     | address space beyond the files    |
| `ROOFLINE_IMPORT_CPU_SECONDS`    | 600                       | processor time of one import      |
| `ROOFLINE_IMPORT_WALL_SECONDS`   | 900                       | duration of one import            |
| `ROOFLINE_IMPORT_WORKERS`        | processors - 1, 1 to 4    | imports at the same time          |
| `ROOFLINE_LOG_FORMAT`            | `text`                    | `text` or `json`                  |
"""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import SettingsError

GIB = 2**30
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "roofline"


def _default_workers() -> int:
    return max(1, min(4, (os.cpu_count() or 2) - 1))


class Settings(BaseSettings):
    """Every limit and address of one server; see the module's table."""

    model_config = SettingsConfigDict(env_prefix="ROOFLINE_", frozen=True, extra="ignore")

    data_dir: Path = Field(default_factory=_default_data_dir)
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    allowed_hosts: tuple[str, ...] = ()
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
    log_format: Literal["text", "json"] = "text"

    @classmethod
    def from_env(cls, **overrides: object) -> "Settings":
        """Settings from the environment, `overrides` first; `SettingsError` names a bad value."""
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as error:
            raise _explained(error) from error

    @property
    def answered_hosts(self) -> frozenset[str] | None:
        """The `Host` names to answer, or `None` for any.

        A server on a loopback address answers only to loopback names: otherwise a web site could
        point its own name at 127.0.0.1 and read the profiles through the visitor's browser.
        """
        if self.allowed_hosts:
            return frozenset(self.allowed_hosts)
        return LOOPBACK_NAMES if self.host in LOOPBACK_NAMES else None


def _explained(error: ValidationError) -> SettingsError:
    first = error.errors()[0]
    name = "_".join(str(part) for part in first["loc"]).upper()
    return SettingsError(
        f"ROOFLINE_{name} cannot be {first.get('input')!r}: {first['msg'].lower()}.",
        remedy=f"Correct or unset ROOFLINE_{name} and start again.",
    )
