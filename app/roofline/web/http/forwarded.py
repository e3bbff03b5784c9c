"""The address behind proxies: only headers of configured proxies count.

uvicorn's own handling is off: it replaces the peer's address, and with it the only proof that a
header was written by the proxy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from roofline.settings import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`address` of the client behind all proxies; `is_proxy` if one of them sent the request."""

    address: str
    is_proxy: bool


def peer_of(scope: Scope, headers: Headers, proxies: tuple[Network, ...]) -> Peer:
    """The sender. `X-Forwarded-For` counts when one of `proxies` sent it."""
    client = scope.get("client")
    direct = client[0] if client else ""
    if not may_forward(direct, proxies):
        return Peer(address=direct, is_proxy=False)
    # Each proxy appends the address it saw: the last one that is not a proxy of ours is the client.
    # A proxy may add a header of its own instead of appending to the one that the client sent.
    said = ",".join(headers.getlist("x-forwarded-for"))
    hops = [hop.strip() for hop in said.split(",") if hop.strip()]
    outside = next((hop for hop in reversed(hops) if not may_forward(hop, proxies)), direct)
    return Peer(address=outside, is_proxy=True)


def scheme_of(scope: Scope, headers: Mapping[str, str], proxies: tuple[Network, ...]) -> str:
    """`http` or `https`, as the browser wrote it."""
    client = scope.get("client")
    said = headers.get("x-forwarded-proto", "").lower()
    if said in {"http", "https"} and client and may_forward(client[0], proxies):
        return said
    return str(scope["scheme"])


def origin_of(request: Request) -> str:
    """The address of this server as the client of `request` reaches it."""
    return str(request.base_url).rstrip("/")


@lru_cache(maxsize=4096)
def may_forward(address: str, proxies: tuple[Network, ...]) -> bool:
    """True for an address of `proxies`."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in proxies)


@lru_cache(maxsize=4096)
def counted_as(address: str) -> str:
    """What limits count an address as: of IPv6 its network of 64 bits, all of which one client may
    have; anything else, a name too, as it is."""
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or f"{int(found) >> 64:x}/64")
