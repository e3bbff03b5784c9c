"""The access that settings allow: the server's names, and the rate of a person's uploads."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from roofline.errors import SettingsError
from roofline.settings import Settings

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
SECRET_LENGTH = 16
SECRET_LETTERS = 5
# No private network is larger: 10.0.0.0/8, and fc00::/7.
SHORTEST_PREFIX = {4: 8, 6: 7}
UPLOADS_PER_HOUR = 60


def check_access(settings: Settings) -> None:
    """Raises `SettingsError` for settings that would expose the server unintentionally."""
    if settings.auth == "open" and settings.host not in LOOPBACK_NAMES:
        raise SettingsError(
            "Without ROOFLINE_AUTH the server listens on this machine only, not on"
            f" {settings.host}: everyone who reaches that address could see and delete every"
            " profile.",
            remedy="Choose who has access: ROOFLINE_AUTH=token with ROOFLINE_TOKEN_FILE,"
            " ROOFLINE_AUTH=oidc with a sign-in provider, or ROOFLINE_AUTH=proxy behind a proxy"
            " that signs people in.",
        )
    _check_reach(settings)
    _check_secrets(settings)
    _check_provider(settings)
    _check_networks(settings)
    if settings.auth == "proxy" and not settings.proxy_addresses:
        raise SettingsError(
            f"ROOFLINE_AUTH=proxy trusts the header {settings.proxy_header}, and anyone can send"
            " a header.",
            remedy="Set ROOFLINE_PROXY_ADDRESSES to the proxy's addresses, such as 10.0.0.7/32;"
            " the header is ignored when it comes from elsewhere.",
        )


def _check_reach(settings: Settings) -> None:
    """Other machines reach the server through a proxy, or directly: each has limits of its own."""
    if settings.reached == "directly" and settings.proxy_addresses:
        raise SettingsError(
            "ROOFLINE_REACHED=directly and ROOFLINE_PROXY_ADDRESSES contradict each other.",
            remedy="Unset one of them.",
        )
    is_said = settings.reached == "directly" or settings.proxy_addresses
    if settings.host not in LOOPBACK_NAMES and not is_said:
        raise SettingsError(
            f"Other machines can reach {settings.host}: through a proxy, or directly?",
            remedy="Behind a proxy, set ROOFLINE_PROXY_ADDRESSES to its address, such as"
            " 10.0.0.7/32; with a proxy on this machine, listen on 127.0.0.1 with --behind-proxy."
            " Without a proxy, start with --directly: connections are then not encrypted, and each"
            " address has at most 64.",
        )


def _check_secrets(settings: Settings) -> None:
    if settings.auth == "token" and settings.token is None:
        raise SettingsError(
            "ROOFLINE_AUTH=token needs the token that people are to enter.",
            remedy="Put one in a file (`openssl rand -hex 24 > token`) and set"
            " ROOFLINE_TOKEN_FILE to it.",
        )
    found: dict[str, str] = {}
    for variable, secret in (
        ("ROOFLINE_TOKEN", settings.token),
        ("ROOFLINE_ADMIN_TOKEN", settings.admin_token),
        ("ROOFLINE_METRICS_TOKEN", settings.metrics_token),
        ("ROOFLINE_OIDC_CLIENT_SECRET", settings.oidc_client_secret),
    ):
        if secret is None:
            continue
        value = secret.get_secret_value()
        _check_strength(variable, value)
        if value in found:
            raise SettingsError(
                f"{found[value]} and {variable} are the same: each would give the other's rights.",
                remedy="Make another one with `openssl rand -hex 24`.",
            )
        found[value] = variable


def _check_provider(settings: Settings) -> None:
    if settings.auth != "oidc":
        return
    if find_spec("authlib") is None:
        raise SettingsError(
            "ROOFLINE_AUTH=oidc needs Authlib, which is not installed.",
            remedy="Install `roofline[team]`.",
        )
    given = (settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret)
    if not all(given):
        raise SettingsError(
            "ROOFLINE_AUTH=oidc needs the provider's issuer, and the id and secret by which it"
            " knows this server.",
            remedy="Set ROOFLINE_OIDC_ISSUER, ROOFLINE_OIDC_CLIENT_ID and"
            " ROOFLINE_OIDC_CLIENT_SECRET_FILE.",
        )
    issuer = urlsplit(settings.oidc_issuer)
    is_here = issuer.scheme == "http" and issuer.hostname in LOOPBACK_NAMES
    if not issuer.hostname or (issuer.scheme != "https" and not is_here):
        raise SettingsError(
            f"ROOFLINE_OIDC_ISSUER is {settings.oidc_issuer!r}, and must begin with https://.",
            remedy="Take it from the provider: its address ends before /.well-known/.",
        )


def _check_strength(variable: str, secret: str) -> None:
    if len(secret) < SECRET_LENGTH:
        why = f"it is under {SECRET_LENGTH} characters"
    elif len(set(secret)) < SECRET_LETTERS:
        why = f"it has under {SECRET_LETTERS} different characters"
    else:
        return
    raise SettingsError(
        f"{variable} can be guessed: {why}.", remedy="Make one with `openssl rand -hex 24`."
    )


def _check_networks(settings: Settings) -> None:
    """Refuses networks in which strangers can send the headers that a proxy is trusted for."""
    for network in settings.proxy_addresses:
        if network.prefixlen < SHORTEST_PREFIX[network.version]:
            raise SettingsError(
                f"ROOFLINE_PROXY_ADDRESSES holds {network}: almost every address could name the"
                " user of a request.",
                remedy="Name the proxy alone, such as 10.0.0.7/32.",
            )


def uploads_per_hour(settings: Settings) -> int | None:
    """Uploads of one person or address in an hour; `None` for any number."""
    if settings.uploads_per_hour is None:
        return None if settings.auth == "open" else UPLOADS_PER_HOUR
    return settings.uploads_per_hour


def answered_hosts(settings: Settings) -> frozenset[str] | None:
    """The `Host` names to answer, or `None` for any.

    A server on a loopback address answers only to loopback names: otherwise a web site could point
    its own name at 127.0.0.1 and read the profiles through the visitor's browser.
    """
    if settings.allowed_hosts:
        return frozenset(settings.allowed_hosts)
    return LOOPBACK_NAMES if settings.host in LOOPBACK_NAMES else None
