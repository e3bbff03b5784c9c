"""One capture of many programs at once: the hosts of a run, each under the name it was asked by."""

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from roofline.capture.profiler_service import ProfilerClient, Say
from roofline.capture.wire import CaptureOptions
from roofline.errors import RooflineError

# How long a second Ctrl-C is waited for, while the programs send what they have.
_ENDING_S = 10.0


@dataclass(frozen=True, slots=True)
class HostCapture:
    """What became of one address: the file of its capture, or why there is none."""

    address: str
    path: Path | None
    problem: RooflineError | None = None


def file_names(addresses: Sequence[str]) -> dict[str, str]:
    """The file of each `HOST:PORT`: the host's name, with its port where a host has several."""
    hosts = [address.rpartition(":")[0].strip("[]") for address in addresses]
    return {
        address: f"{_safe(host if hosts.count(host) == 1 else address)}.xplane.pb"
        for address, host in zip(addresses, hosts, strict=True)
    }


def capture_hosts(
    addresses: Sequence[str],
    options: CaptureOptions,
    *,
    into: Path,
    retries: int,
    most_bytes: int,
    say: Say,
) -> list[HostCapture]:
    """Captures all `addresses` at the same time, and writes a file of each into the folder `into`.

    A host that fails has its reason and does not end the others. Ctrl-C ends the recording and
    keeps what the programs send within ten seconds; a second one ends the command.
    """
    names = file_names(addresses)
    clients = {address: ProfilerClient(address, most_bytes=most_bytes) for address in addresses}

    def captured(address: str) -> HostCapture:
        try:
            content = clients[address].capture(options, retries=retries)
        except RooflineError as problem:
            return HostCapture(address, None, problem)
        path = into / names[address]
        path.write_bytes(content)
        return HostCapture(address, path)

    with ThreadPoolExecutor(max_workers=len(addresses)) as threads:
        futures = [threads.submit(captured, address) for address in addresses]
        try:
            _wait(futures)
        except KeyboardInterrupt:
            say("Ending the recording and fetching its data.")
            ends = [threading.Thread(target=one.terminate) for one in clients.values()]
            for end in ends:
                end.start()
            wait(futures, timeout=_ENDING_S)
        finally:
            # A call that is still open ends with its channel, and its thread with the call.
            for client in clients.values():
                client.close()
    return [future.result() for future in futures]


def _wait(futures: Sequence["Future[HostCapture]"]) -> None:
    """Waits in short turns, for Python hears of Ctrl-C between them."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)


def _safe(name: str) -> str:
    """`name` as the name of a file."""
    return "".join(char if char.isalnum() or char in "-._" else "_" for char in name)
