"""The cluster that the user runs, over TLS unless it is on loopback.

Anyone who reaches a Dask scheduler can run programs as its user: addresses of other machines are
only taken with certificates of an authority of the user's own.
"""

import ipaddress
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from roofline.errors import ExtraMissingError, ImportStoppedError, SettingsError
from roofline.fleet.engine import EngineChoice

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Files in PEM format: the authority, and this machine's certificate with its key."""

    authority: Path
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where the scheduler is: at `address`, or where its file says."""

    address: str | None = None
    scheduler_file: Path | None = None
    certificates: Certificates | None = None


def cluster_of(choice: EngineChoice) -> Cluster:
    """The cluster of a choice.

    Raises `SettingsError` where it names some certificates and not all.
    """
    files = [Path(one) for one in (choice.authority, choice.certificate, choice.key) if one]
    if 0 < len(files) < 3:
        raise SettingsError(
            "TLS needs ROOFLINE_DASK_CA, ROOFLINE_DASK_CERT and ROOFLINE_DASK_KEY together.",
            remedy="Set all three, or none of them.",
        )
    named = dict(zip(("authority", "certificate", "key"), files, strict=False))
    return Cluster(
        address=choice.scheduler,
        scheduler_file=Path(choice.scheduler_file) if choice.scheduler_file else None,
        certificates=Certificates(**named) if files else None,
    )


@contextmanager
def connected(cluster: Cluster) -> Iterator["Client"]:
    """A client of the cluster.

    Raises `SettingsError` for an address that is not allowed, `ExtraMissingError` without Dask, and
    `ImportStoppedError` where nothing answers there.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ExtraMissingError.of("fleet") from error
    # Lost workers and schedulers are told in our words; its own would stand between.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address = address_of(cluster)
    security = _security(cluster.certificates) if address.startswith("tls://") else None
    try:
        client = distributed.Client(
            address, security=security, timeout=CONNECT_S, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError) as error:
        raise ImportStoppedError(
            f"No Dask scheduler answers at {address}.",
            remedy="Start it, or correct --scheduler, --scheduler-file or ROOFLINE_DASK_SCHEDULER.",
        ) from error
    try:
        yield client
    finally:
        with suppress(OSError, TimeoutError):
            client.close(timeout=CONNECT_S)


def address_of(cluster: Cluster) -> str:
    """The scheduler's address.

    Raises `SettingsError` unless it is on loopback or has TLS, and `ImportStoppedError` where the
    scheduler has not written its file.
    """
    address = cluster.address or _address_in(cluster.scheduler_file)
    parts = urlsplit(address)
    if parts.scheme == "tls":
        if cluster.certificates is None:
            raise SettingsError(
                f"The scheduler at {address} needs certificates.",
                remedy="Set ROOFLINE_DASK_CA, ROOFLINE_DASK_CERT and ROOFLINE_DASK_KEY.",
            )
        return address
    if parts.scheme == "tcp" and _is_loopback(parts.hostname or ""):
        return address
    raise SettingsError(
        f"The scheduler at {address} is not on this machine and does not use TLS.",
        remedy="Anyone who reaches it could run programs there: start it with certificates, as"
        " docs/runs.md shows, and name it as tls://HOST:PORT.",
    )


def _address_in(path: Path | None) -> str:
    assert path is not None
    try:
        return str(json.loads(path.read_text("utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImportStoppedError(
            f"{path} is not the file of a Dask scheduler that runs.",
            remedy="Start the scheduler with --scheduler-file, and name that file.",
        ) from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _security(certificates: Certificates | None) -> Any:
    from distributed.security import Security

    assert certificates is not None
    files = (certificates.authority, certificates.certificate, certificates.key)
    for path in files:
        if not path.is_file():
            raise SettingsError(
                f"The certificate {path} is not there.",
                remedy="Correct ROOFLINE_DASK_CA, ROOFLINE_DASK_CERT and ROOFLINE_DASK_KEY.",
            )
    authority, certificate, key = map(str, files)
    return Security(
        require_encryption=True,
        tls_ca_file=authority,
        tls_client_cert=certificate,
        tls_client_key=key,
    )
