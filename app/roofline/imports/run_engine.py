"""The start of the process that reads runs: its engine, and the variables that it needs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.sandbox.isolation import needed_environment

_CREDENTIALS = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}
# How to reach a store from a network that has a door of its own.
_WAYS_OUT = frozenset({"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"})
_AUTHORITIES = frozenset({"SSL_CERT_DIR", "SSL_CERT_FILE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEngine:
    """The engine that reads the hosts of runs: `local`, or `dask` with the cluster at `scheduler`.

    `authority`, `certificate` and `key` are paths of PEM files for TLS.
    """

    name: str = "local"
    scheduler: str | None = None
    authority: str | None = None
    certificate: str | None = None
    key: str | None = None


def reading_environment(places: Sequence[str]) -> dict[str, str]:
    """The variables of this process for one that reads `places` and nothing else.

    Credentials are those of the stores that `places` name: not those of databases, of this server's
    users, or of other stores.
    """
    schemes = {place.partition("://")[0] for place in places if "://" in place}
    prefixes = tuple(_CREDENTIALS[one] for one in sorted(schemes & _CREDENTIALS.keys()))
    found = needed_environment()
    if not prefixes:
        return found
    for name, value in os.environ.items():
        is_way = name.upper() in _WAYS_OUT or name in _AUTHORITIES
        if is_way or name.startswith(prefixes):
            found[name] = value
    return found
