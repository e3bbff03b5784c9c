"""Where a server may connect to: listed addresses alone, however an address is written."""

import socket
from collections.abc import Callable, Sequence

import pytest

from roofline.capture.targets import Targets
from roofline.errors import CaptureFailedError, NotAllowedError, SettingsError

LISTED = ("10.4.0.0/16:9000-9100", "*.train.example.org:9012", "[fd12:3456::]/32:9012")


def answering(*addresses: str) -> Callable[[str, int], Sequence[str]]:
    """A resolver with these addresses for every name."""
    return lambda _name, _port: addresses


def resolver_is_not_asked(name: str, _port: int) -> Sequence[str]:
    raise AssertionError(f"{name} was looked up")


# Spellings of addresses that are not listed: this machine, metadata services, inner services.
FORBIDDEN = [
    "127.0.0.1:9012", "127.0.0.1:9000", "127.1:9012", "127.0.1:9012", "127.255.255.254:9012",
    "0.0.0.0:9012", "0:9012", "0x0:9012", "0x7f.1:9012", "0x7f000001:9012", "2130706433:9012",
    "017700000001:9012", "0177.0.0.1:9012", "127.0.0.01:9012", "0x7f.0x0.0x0.0x1:9012",
    "localhost.:9012", "127.0.0.1.:9012", "10.4.0.1.:9012", "[::1]:9012", "::1:9012",
    "[0:0:0:0:0:0:0:1]:9012", "[::]:9012", "[::ffff:127.0.0.1]:9012", "[::ffff:7f00:1]:9012",
    "[::ffff:10.4.0.1]:9000", "[::127.0.0.1]:9012", "[::10.4.0.1]:9000",
    "[64:ff9b::10.4.0.1]:9000", "[64:ff9b::a9fe:a9fe]:9012", "[64:ff9b:1::a9fe:a9fe]:9012",
    "[2002:0a04:0001::]:9000", "[2002:7f00:1::]:9012", "[2001:0:a04:1::]:9012",
    "169.254.169.254:9012", "169.254.169.254:80", "0xa9fea9fe:9012", "2852039166:9012",
    "0251.0376.0251.0376:9012", "[fe80::1]:9012", "[fe80::1%eth0]:9012", "[fe80::a9fe:a9fe]:9012",
    "[fd00:ec2::254]:9012", "100.100.100.200:9012", "168.63.129.16:9012", "224.0.0.1:9012",
    "[ff02::1]:9012", "255.255.255.255:9012", "240.0.0.1:9012", "10.5.0.1:9000", "10.4.0.1:22",
    "10.4.0.1:9101", "10.4.0.1:8999", "10.4.0.1", "10.4.0.1:", "10.4.0.1:0", "10.4.0.1:65536",
    "10.4.0.1:09000", "10.4.0.1:9000 ", " 10.4.0.1:9000", "10.4.0.1:+9000", "10.4.0.1:９０００",
    "[10.4.0.1]:9000", "10.4.0.1/24:9000", "10.4.0.1:9000/", "user@10.4.0.1:9000",
    "a@b.train.example.org:9012", "http://10.4.0.1:9000", "//10.4.0.1:9000", "10.4.0.1#@x:9000",
    "dns:///10.4.0.1:9000", "ipv4:10.4.0.1:9000", "unix:/run/docker.sock",
    "１０.4.0.1:9000", "10。4。0。1:9000", "⑩.4.0.1:9000", "b.train.example.org.:9012",
    "xn--.train.example.org:9012",
    "b_c.train.example.org:9012", "b..train.example.org:9012",
    "-b.train.example.org:9012", "b\n.train.example.org:9012", "b\x00.train.example.org:9012",
    "ⓑ.train.example.org:9012", "b%2e.train.example.org:9012",
    f"{'a' * 250}.train.example.org:9012",
    "[fd12:3456::1%25eth0]:9012", "fd12:3456::1:9012",
    "[fd12:3456::1]:9013", "[fd12:3457::1]:9012",
    "", ":", ":9012", "[]:9012", "[:9012",
]  # fmt: skip


def test_there_are_enough_spellings() -> None:
    assert len(set(FORBIDDEN)) >= 60


@pytest.mark.parametrize("typed", FORBIDDEN)
def test_a_forbidden_address_is_refused_with_one_text(typed: str) -> None:
    with pytest.raises(NotAllowedError) as refused:
        Targets(LISTED, resolver_is_not_asked).reach(typed)
    assert refused.value.message.startswith("This server does not capture from ")
    assert refused.value.remedy == "Its owner lists addresses in ROOFLINE_CAPTURE_TARGETS."


@pytest.mark.parametrize(
    ("typed", "addresses", "pinned"),
    [
        ("10.4.7.9:9000", (), "ipv4:10.4.7.9:9000"),
        ("10.4.7.9:9100", (), "ipv4:10.4.7.9:9100"),
        ("[fd12:3456::9]:9012", (), "ipv6:[fd12:3456::9]:9012"),
        ("b.train.example.org:9012", ("192.168.7.7",), "ipv4:192.168.7.7:9012"),
        ("B.Train.example.ORG:9012", ("10.99.0.1", "10.99.0.2"), "ipv4:10.99.0.1:9012"),
        ("b.c.train.example.org:9012", ("fd77::1",), "ipv6:[fd77::1]:9012"),
        ("worker-3:9000", ("10.4.0.3",), "ipv4:10.4.0.3:9000"),
    ],
)
def test_a_listed_address_is_pinned(typed: str, addresses: Sequence[str], pinned: str) -> None:
    reached = Targets(LISTED, answering(*addresses)).reach(typed)
    assert (reached.typed, reached.pinned) == (typed, pinned)


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",), ("::1",), ("169.254.169.254",), ("fe80::1",), ("fe80::1%2",), ("0.0.0.0",),
        ("::ffff:10.4.0.1",), ("64:ff9b::a9fe:a9fe",), ("224.0.0.1",), ("255.255.255.255",),
        ("fd00:ec2::254",), ("192.168.7.7", "169.254.169.254"), ("192.168.7.7", "127.0.0.1"), (),
        ("192.168.7.7", "fe80::1%2"),
    ],
)  # fmt: skip
def test_a_listed_name_that_leads_elsewhere_is_refused(addresses: Sequence[str]) -> None:
    with pytest.raises(NotAllowedError, match="does not capture from b"):
        Targets(LISTED, answering(*addresses)).reach("b.train.example.org:9012")


@pytest.mark.parametrize(
    "typed", ["inner:9012", "train.example.org:9012", "xtrain.example.org:9012"]
)
def test_a_name_that_is_not_listed_needs_a_listed_network(typed: str) -> None:
    with pytest.raises(NotAllowedError):
        Targets(LISTED, answering("192.168.7.7")).reach(typed)
    with pytest.raises(NotAllowedError):
        Targets(LISTED, answering("10.4.0.1", "192.168.7.7")).reach(typed)


def test_a_resolver_that_answers_differently_is_asked_once() -> None:
    """Rebinding: the second answer would be this machine."""
    answers = iter([["192.168.7.7"], ["127.0.0.1"], ["169.254.169.254"]])
    reached = Targets(LISTED, lambda _name, _port: next(answers)).reach("b.train.example.org:9012")
    assert reached.pinned == "ipv4:192.168.7.7:9012"
    assert next(answers) == ["127.0.0.1"]


def test_unknown_names_tell_nothing_outside_of_the_list() -> None:
    def unknown(_name: str, _port: int) -> Sequence[str]:
        raise socket.gaierror("no such name in the zone inner.example")

    with pytest.raises(CaptureFailedError, match=r"b\.train\.example\.org is not known here"):
        Targets(LISTED, unknown).reach("b.train.example.org:9012")
    with pytest.raises(NotAllowedError, match="does not capture from secret"):
        Targets(LISTED, unknown).reach("secret:9012")


def test_loopback_is_reached_only_where_it_is_listed() -> None:
    laptop = Targets(("127.0.0.1", "::1"), answering("127.0.0.1", "::1"))
    assert laptop.reach("127.0.0.1:80").pinned == "ipv4:127.0.0.1:80"
    assert laptop.reach("[::1]:9012").pinned == "ipv6:[::1]:9012"
    assert laptop.reach("localhost:9012").pinned == "ipv4:127.0.0.1:9012"
    everything = Targets(("0.0.0.0/0", "::/0"), answering("127.0.0.1"))
    for typed in ("127.0.0.1:9012", "[::1]:9012", "localhost:9012", "169.254.169.254:9012"):
        with pytest.raises(NotAllowedError):
            everything.reach(typed)
    assert everything.reach("192.0.2.1:9012").pinned == "ipv4:192.0.2.1:9012"
    with pytest.raises(NotAllowedError):
        everything.reach("192.0.2.1:443")


def test_nothing_listed_allows_nothing() -> None:
    assert not Targets(())
    with pytest.raises(NotAllowedError):
        Targets((), resolver_is_not_asked).reach("127.0.0.1:9012")


@pytest.mark.parametrize(
    "text",
    ["", "*", "*:9012", "10.4.0.0/33", "10.4.0.0/16:0", "10.4.0.0/16:9-8", "a b", "2130706433"],
)
def test_a_list_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="ROOFLINE_CAPTURE_TARGETS"):
        Targets((text,))
