"""The programs that a server may capture: addresses and ports that its owner listed.

A visitor chooses where the server connects to. So a name is looked up once, all its addresses are
checked, and the connection goes to one of these: no later look-up leads elsewhere. Addresses of
metadata services, of this machine and of no machine are refused unless they are listed as such.
Outside of the list there is one answer, which tells nothing of the network.
"""

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from roofline.errors import CaptureFailedError, NotAllowedError, SettingsError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a name, as texts."""

ALL_PORTS, USUAL_PORTS = range(1, 65_536), range(1024, 65_536)
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z")
# What ends in a number is an address in some spelling: 0x7f.1, 2130706433, 127.1.
_IS_NUMBER = re.compile(r"(?:0x[0-9a-f]*|\d+)\Z")
_PATTERN = re.compile(r"(?:\*\.)?[a-z0-9.-]+\Z")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?\Z")
# IPv6 addresses that hold one of IPv4: mapped, compatible, translated (NAT64), 6to4, Teredo.
_TRANSLATED = tuple(
    map(
        IPv6Network,
        ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"),
    )
)
# Metadata services at addresses that are otherwise those of private networks.
_METADATA = frozenset(
    map(ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """An address as it was typed, and as gRPC connects to it without looking it up."""

    typed: str
    pinned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A network, or a pattern of names, and its ports."""

    network: Network | None = None
    pattern: str = ""
    ports: range = USUAL_PORTS


class Targets:
    """The list of `ROOFLINE_CAPTURE_TARGETS`; it is false where nothing is listed."""

    def __init__(self, texts: Sequence[str], resolve: Resolve | None = None) -> None:
        self._targets = [_target(one) for one in texts]
        self._resolve = resolve or looked_up

    def __bool__(self) -> bool:
        return bool(self._targets)

    def reach(self, typed: str) -> Reached:
        """Where `HOST:PORT` leads. Looks a name up, once.

        Raises `NotAllowedError` for every address that may not be captured, whatever the reason.
        """
        host, port = _parts(typed)
        if host is None or port is None:
            raise _refused(typed)
        literal = _literal(host)
        found: list[Address | None]
        if literal is not None and host.startswith("[") is (literal.version == 6):
            found = [literal]
        elif literal is not None or not _is_name(host):
            raise _refused(typed)
        else:
            found = [_literal(text) for text in self._looked_up(typed, host, port)]
        first = found[0] if found else None
        if first is None or not all(one and self._allows(host, one, port) for one in found):
            raise _refused(typed)
        pinned = f"ipv4:{first}:{port}" if first.version == 4 else f"ipv6:[{first}]:{port}"
        return Reached(typed=typed, pinned=pinned)

    def _looked_up(self, typed: str, host: str, port: int) -> Sequence[str]:
        try:
            return self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            if self._is_listed(host, port):
                raise CaptureFailedError(
                    f"The name {host} is not known here.", remedy="Check the address."
                ) from error
            raise _refused(typed) from error

    def _is_listed(self, name: str, port: int) -> bool:
        return any(
            one.pattern and port in one.ports and fnmatchcase(name, one.pattern)
            for one in self._targets
        )

    def _allows(self, host: str, address: Address, port: int) -> bool:
        if _is_nowhere(address):
            return False
        networks = [
            one.network
            for one in self._targets
            if one.network is not None and port in one.ports and address in one.network
        ]
        if address.is_loopback:
            return any(one.is_loopback for one in networks)
        return bool(networks) or (_literal(host) is None and self._is_listed(host, port))


def looked_up(name: str, port: int) -> Sequence[str]:
    """The addresses that this machine's resolver has of a name."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


def _target(text: str) -> _Target:
    try:
        host, _, ports = _split(text.strip().lower())
        known = _ports(ports) if ports else USUAL_PORTS
        try:
            network = ip_network(host, strict=False)
        except ValueError:
            if not _PATTERN.match(host) or _IS_NUMBER.search(host.rpartition(".")[2]):
                raise
            return _Target(pattern=host, ports=known)
        alone = network.num_addresses == 1 and network.is_loopback and not ports
        return _Target(network=network, ports=ALL_PORTS if alone else known)
    except ValueError as error:
        raise SettingsError(
            f"ROOFLINE_CAPTURE_TARGETS cannot have “{text}”.",
            remedy="Write networks or names with ports: 10.4.0.0/16:9000-9100, *.lan:9012.",
        ) from error


def _split(text: str) -> tuple[str, str, str]:
    """Host, colon and ports; an address of IPv6 without brackets has no ports."""
    if text.count(":") > 1 and not text.startswith("["):
        return text, "", ""
    if text.startswith("["):
        inside, _, rest = text[1:].partition("]")
        mask, colon, ports = rest.partition(":")
        return inside + mask, colon, ports
    return text.partition(":")


def _ports(text: str) -> range:
    found = _PORTS.match(text)
    if found is None:
        raise ValueError(text)
    first, last = int(found[1]), int(found[2] or found[1])
    if not 0 < first <= last < 65_536:
        raise ValueError(text)
    return range(first, last + 1)


def _parts(typed: str) -> tuple[str | None, int | None]:
    host, colon, port = typed.lower().rpartition(":")
    if not colon or not typed.isascii() or not re.fullmatch(r"[1-9]\d{0,4}", port):
        return None, None
    return host, int(port) if int(port) in ALL_PORTS else None


def _literal(host: str) -> Address | None:
    """The address that is written in `host`, IPv6 in brackets or as a resolver gives it."""
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        found = ip_address(bare)
    except ValueError:
        return None
    return None if "%" in bare else found


def _is_name(host: str) -> bool:
    return bool(_NAME.match(host)) and not _IS_NUMBER.match(host.rpartition(".")[2])


def _is_nowhere(address: Address) -> bool:
    """True for an address that is not of a machine, or that is of a cloud's metadata service."""
    if address.is_loopback:
        return False
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address.is_reserved
        or address in _METADATA
        or any(address in one for one in _TRANSLATED if one.version == address.version)
    )


def _refused(typed: str) -> NotAllowedError:
    return NotAllowedError(
        f"This server does not capture from {typed[:200]}.",
        remedy="Its owner lists addresses in ROOFLINE_CAPTURE_TARGETS.",
    )
