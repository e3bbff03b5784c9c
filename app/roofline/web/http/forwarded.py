"""The address behind proxies: only headers of trusted proxies count.

uvicorn's own handling is off: it replaces the peer's address, and with it the only proof that a
header was written by the proxy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from roofline.settings import Network

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`address` of the client behind all proxies; `is_proxy` if a named proxy sent the request."""

    address: str
    is_proxy: bool


def peer_of(scope: Scope, headers: Headers, proxies: tuple[Network, ...]) -> Peer:
    """The sender. `X-Forwarded-For` counts when `proxies`, or this machine, sent it."""
    client = scope.get("client")
    direct = client[0] if client else ""
    if not may_forward(direct, proxies):
        return Peer(address=direct, is_proxy=False)
    # Each proxy appends the address it saw: the last one that is not a proxy of ours is the client.
    # A proxy may add a header of its own instead of appending to the one that the client sent.
    said = ",".join(headers.getlist("x-forwarded-for"))
    hops = [hop.strip() for hop in said.split(",") if hop.strip()]
    outside = next((hop for hop in reversed(hops) if not _is_in(hop, proxies + _LOOPBACK)), direct)
    return Peer(address=outside, is_proxy=_is_proxy(direct, proxies))


def scheme_of(scope: Scope, headers: Mapping[str, str], proxies: tuple[Network, ...]) -> str:
    """`http` or `https`, as the browser wrote it."""
    client = scope.get("client")
    said = headers.get("x-forwarded-proto", "").lower()
    if said in {"http", "https"} and client and may_forward(client[0], proxies):
        return said
    return str(scope["scheme"])


@lru_cache(maxsize=4096)
def may_forward(address: str, proxies: tuple[Network, ...]) -> bool:
    """True for `proxies` and this machine, for short addresses: they are kept."""
    return _is_in(address, proxies + _LOOPBACK)


@lru_cache(maxsize=4096)
def _is_proxy(address: str, proxies: tuple[Network, ...]) -> bool:
    return _is_in(address, proxies)


def _is_in(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
