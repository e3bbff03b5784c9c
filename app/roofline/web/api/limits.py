"""The limits of this server's uploads, and the time that it keeps them: to read before an upload.

The page `/limits` shows the same list. A limit that is not set is `None`: there is none.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from fastapi import APIRouter

from roofline.library import labels
from roofline.model.outer_limits import LISTING, MAX_ATTEMPTS
from roofline.model.plain_data import alike
from roofline.model.units import KIB
from roofline.settings import Settings
from roofline.web.api import responses
from roofline.web.api.uploads import MIN_BYTES_PER_S
from roofline.web.http import guard, rate_limit, sessions
from roofline.web.http.access import uploads_per_hour
from roofline.web.http.gate import HEAD_S
from roofline.web.parts import Parts

Unit = Literal["bytes", "bytes/s", "s", "days", "count", "ratio", "characters"]

router = APIRouter(tags=["server"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit: `value` in `unit`, `null` for none, and what happens past it.

    `setting` is the environment variable by which the server's operator chooses it; empty where it
    is part of the program.
    """

    id: str
    label: str
    value: int | float | None
    unit: Unit
    past: str
    setting: str

    @property
    def shown(self) -> str:
        """The value as people write it: `4 GiB`, `15 min`, `no limit`."""
        value = self.value
        if value is None:
            return "for ever" if self.unit == "days" else "no limit"
        match self.unit:
            case "bytes":
                return _bytes(value)
            case "bytes/s":
                return f"{_bytes(value)}/s"
            case "s":
                return f"{_number(value / 60)} min" if value > 120 else f"{_number(value)} s"
            case "days" | "characters":
                return f"{_number(value)} {self.unit}"
            case "ratio":
                return f"{_number(value)} : 1"
            case "count":
                return _number(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitGroup:
    """Limits that concern one thing."""

    title: str
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitList:
    """Every limit of this server."""

    groups: tuple[LimitGroup, ...]


class _Told(NamedTuple):
    """A limit as it is told; without `value` it is the setting of this name."""

    id: str
    label: str
    unit: Unit
    past: str
    value: int | float | None = None


_NO_BOMB = "Beyond 256 MiB: refused as an archive bomb."
_STOPPED = "The import is stopped and says so."
_TRY_AGAIN = "It has failed; its page offers another try."
_FAILS = "The import fails and says so."
_NEXT_TIME = "Refused with 429, with the time to wait."
_INSTEAD = "Refused with 429; pages poll the state instead."
_ANOTHER_PLACE = "The run fails and says so."
_FULL = "Refused with 507."
_WITH_400 = "Refused with 400."

_GROUPS: dict[str, tuple[_Told, ...]] = {
    "One upload": (
        _Told("max_upload_bytes", "All files, as sent", "bytes", "Refused with 413."),
        _Told("max_files", "Files", "count", "Refused with 400. Pack them as one archive."),
        _Told("upload_idle_seconds", "Pause while sending", "s", "The upload is cancelled."),
        _Told("rate", "Least speed", "bytes/s", "The upload is cancelled.", MIN_BYTES_PER_S),
        _Told("uploads_per_hour", "Uploads of one person in an hour", "count", _NEXT_TIME),
        _Told("title", "Title", "characters", "It is cut.", labels.TITLE_LENGTH),
        _Told("note", "Note", "characters", _WITH_400, labels.NOTE_LENGTH),
        _Told("tags", "Tags", "count", _WITH_400, labels.MAX_TAGS),
        _Told("tag", "One tag", "characters", _WITH_400, labels.TAG_LENGTH),
    ),
    "Archives in it": (
        _Told("max_unpacked_bytes", "All files, unpacked", "bytes", _FAILS),
        _Told("max_unpacked_files", "Files in archives", "count", _FAILS),
        _Told("max_expansion_ratio", "Unpacked ÷ packed size", "ratio", _NO_BOMB),
        _Told("nesting", "Levels of archives", "count", "The inner one is not opened.", 1),
    ),
    "Its import": (
        _Told("import_memory_bytes", "Memory besides the files", "bytes", _STOPPED),
        _Told("import_wall_seconds", "Duration", "s", _STOPPED),
        _Told("import_cpu_seconds", "Processor time", "s", _STOPPED),
        _Told("attempts", "Attempts, if the server stops", "count", _TRY_AGAIN, MAX_ATTEMPTS),
        _Told(
            "wait", "Time an answer waits for it", "s", "It continues alone.", responses.MAX_WAIT_S
        ),
    ),
    "Listing a place of runs": (
        _Told("listing_memory", "Memory", "bytes", _ANOTHER_PLACE, LISTING.memory_bytes),
        _Told("listing_wall", "Duration", "s", _ANOTHER_PLACE, LISTING.wall_seconds),
        _Told("listing_cpu", "Processor time", "s", _ANOTHER_PLACE, LISTING.cpu_seconds),
    ),
    "One person": (
        _Told("user_quota_bytes", "Files as uploaded, without the trash", "bytes", _FULL),
        _Told("user_profiles", "Profiles, without the trash", "count", _FULL),
        _Told("user_imports", "Imports at the same time", "count", "Further ones wait."),
    ),
    "How long it is kept": (
        _Told("retention_days", "A profile that is not pinned", "days", "It goes to the trash."),
        _Told("quota_bytes", "All raw files, compressed", "bytes", "The oldest go to the trash."),
        _Told("trash_days", "Deleted profiles, in the trash", "days", "They are purged."),
        _Told("link_days", "A share link", "days", "It is over; a longer one is refused with 400."),
        _Told("failures_kept_days", "Files of a failed import", "days", "They are deleted."),
    ),
    "Reading": (
        _Told("list", "Profiles in one answer", "count", "Ask with offset.", responses.MOST_LISTED),
        _Told(
            "streams_per_address",
            "Imports followed at once, from one address",
            "count",
            _INSTEAD,
            rate_limit.STREAMS_PER_ADDRESS,
        ),
        _Told(
            "streams", "Imports followed at once, in total", "count", _INSTEAD, rate_limit.STREAMS
        ),
        _Told("body", "A request without files", "bytes", "Refused with 413.", guard.BODY_BYTES),
        _Told("head", "Time to send the headers of a request", "s", "It is closed.", HEAD_S),
    ),
}
_OF_TOKENS = (
    _Told(
        "attempts_to_log_in",
        "Attempts to log in per minute",
        "count",
        _NEXT_TIME,
        rate_limit.ATTEMPTS,
    ),
    _Told("session", "A session", "days", "Log in again.", sessions.LIFETIME_S / 86_400),
)


def limits_of(settings: Settings) -> LimitList:
    """The limits of a server with these settings."""
    told = {**_GROUPS, "Logging in": _OF_TOKENS} if settings.auth == "token" else _GROUPS
    groups = (
        LimitGroup(title=title, limits=tuple(_limit(one, settings) for one in limits))
        for title, limits in told.items()
    )
    return LimitList(groups=tuple(groups))


@router.get("/api/v1/limits")
def limits(parts: Parts) -> LimitList:
    """This server's limits: bytes, files, time, rates, and the time that it keeps a profile."""
    return limits_of(parts.settings)


def _limit(told: _Told, settings: Settings) -> Limit:
    is_set = told.id in Settings.model_fields
    return alike(
        Limit,
        told,
        value=_setting(told.id, settings) if is_set else told.value,
        setting=f"ROOFLINE_{told.id.upper()}" if is_set else "",
    )


def _setting(name: str, settings: Settings) -> int | float | None:
    if name == "uploads_per_hour":  # what is allowed by default depends on the mode
        return uploads_per_hour(settings)
    found: int | float | None = getattr(settings, name)
    return found


def _bytes(value: float) -> str:
    power = min(4, max(0, (int(value).bit_length() - 1) // 10))
    return f"{_number(value / KIB**power)} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def _number(value: float) -> str:
    """Every digit of large numbers, four of small ones."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
