"""Which programs the tool `capture` may reach: those in networks that its user allowed."""

import ipaddress
import socket
from collections.abc import Sequence

from roofline.errors import BadViewError, CaptureFailedError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LOOPBACK = ("127.0.0.0/8", "::1/128")


def networks(texts: Sequence[str]) -> list[Network]:
    """The networks that these texts name, and loopback. Raises `BadViewError` for another text."""
    try:
        return [ipaddress.ip_network(one, strict=False) for one in (*LOOPBACK, *texts)]
    except ValueError as error:
        raise BadViewError(
            f"--allow-capture: {error}.",
            remedy="Write a network such as 10.0.0.0/24, or an address.",
        ) from error


def pinned(address: str, allowed: Sequence[Network]) -> str:
    """`HOST:PORT` with the address that HOST has now, so that no later look-up leads elsewhere.

    Raises `CaptureFailedError` where any address of HOST is outside of `allowed`.
    """
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise CaptureFailedError(f"“{address[:200]}” is not HOST:PORT.", remedy="Write HOST:PORT.")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CaptureFailedError(
            f"{host[:200]} has no address: {error}.", remedy="Check the name."
        ) from error
    every = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for one in every:
        plain = getattr(one, "ipv4_mapped", None) or one
        if not any(plain in network for network in allowed if network.version == plain.version):
            raise CaptureFailedError(
                f"{host[:200]} is not an address that may be captured.",
                remedy="Allow its network where the tools are started: --allow-capture NET.",
            )
    return f"[{every[0]}]:{port}" if every[0].version == 6 else f"{every[0]}:{port}"
