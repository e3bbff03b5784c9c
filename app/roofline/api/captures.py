"""`capture_remote`: a profile of programs that run, asked for over the network."""

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from roofline.api.profiles import Profile, open_profile
from roofline.capture.inference_servers import ServerCapture, capture_server
from roofline.capture.profiler_service import MOST_BYTES, CaptureOptions, HostCapture, capture_hosts
from roofline.errors import CaptureFailedError, ExtraMissingError
from roofline.model.plain_data import alike
from roofline.model.units import MS_PER_S, NS_PER_MS

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureWish:
    """What a capture records, as docs/capture.md explains it.

    `host_level` is from 0 to 3; without `hlo` no FLOPs are known. `after_ms` is how much later, by
    the hosts' clocks, it begins. `remote_dir`, `steps` and `by_stage` are for inference servers.
    """

    duration_ms: int = 2000
    host_level: int = 2
    python: bool = False
    hlo: bool = True
    after_ms: int | None = None
    retries: int = 2
    remote_dir: Path | None = None
    steps: int | None = None
    by_stage: bool = False


def capture_remote(
    *addresses: str,
    duration_ms: int = 2000,
    host_level: int = 2,
    python: bool = False,
    steps: int | None = None,
    remote_dir: str | Path | None = None,
    into: str | Path | None = None,
) -> Profile:
    """The profile of programs that run, one host each: `HOST:PORT`, or one `http://HOST:PORT`.

    The files are kept in the folder `into`. Raises `CaptureFailedError` where a program was not
    captured, and `ExtraMissingError` without `roofline[capture]`.
    """
    wish = CaptureWish(
        duration_ms=duration_ms,
        host_level=host_level,
        python=python,
        steps=steps,
        remote_dir=None if remote_dir is None else Path(remote_dir),
    )
    with tempfile.TemporaryDirectory(prefix="roofline-") as scratch:
        folder = Path(into or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        hosts = captured(checked(addresses), wish, folder, lambda text: None)
        for host in hosts:
            if host.problem is not None:
                raise host.problem
        return open_profile(*(host.path for host in hosts if host.path is not None))


def checked(addresses: Sequence[str]) -> list[str]:
    """All addresses, each once. Raises `CaptureFailedError` for a text that is not an address."""
    unique = list(dict.fromkeys(addresses))
    if not unique:
        raise CaptureFailedError("No address was named.", remedy="Write HOST:PORT.")
    for address in unique:
        host, _, port = address.rpartition(":")
        if not _is_url(address) and not (host and port.isdigit() and 0 < int(port) < 65536):
            raise CaptureFailedError(
                f"{address} is not an address.", remedy="Write HOST:PORT, or http://HOST:PORT."
            )
    return unique


def captured(
    addresses: Sequence[str], wish: CaptureWish, folder: Path, say: Say
) -> list[HostCapture]:
    """What became of each address; the files of captures are in `folder`."""
    if _is_url(addresses[0]):
        return _from_server(addresses, wish, folder, say)
    start_ns = None if wish.after_ms is None else time.time_ns() + wish.after_ms * NS_PER_MS
    options = alike(CaptureOptions, wish, start_ns=start_ns)
    named = addresses[0] if len(addresses) == 1 else f"{len(addresses)} programs"
    say(f"Recording {named} for {wish.duration_ms / MS_PER_S:g} s.")
    try:
        return capture_hosts(
            addresses, options, into=folder, retries=wish.retries, most_bytes=MOST_BYTES, say=say
        )
    except ModuleNotFoundError as error:
        if error.name != "grpc":
            raise
        raise ExtraMissingError.of("capture") from error


def _from_server(
    addresses: Sequence[str], wish: CaptureWish, folder: Path, say: Say
) -> list[HostCapture]:
    """The files of one inference server: its ranks are the hosts."""
    if len(addresses) > 1:
        raise CaptureFailedError(
            "Servers are captured one at a time.", remedy="Name one http:// address."
        )
    asked = alike(ServerCapture, wish, url=addresses[0])
    files = capture_server(asked, say)
    return [HostCapture(one.name, Path(shutil.copy(one, folder))) for one in files]


def _is_url(address: str) -> bool:
    return address.startswith(("http://", "https://"))
