"""What a server's settings allow: which names it answers to, and how often people may upload."""

from roofline.errors import SettingsError
from roofline.settings import Settings

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
SECRET_LENGTH = 16
UPLOADS_PER_HOUR = 60


def check_access(settings: Settings) -> None:
    """Raises `SettingsError` for settings that would expose the server unintentionally."""
    if settings.auth == "open" and settings.host not in LOOPBACK_NAMES:
        raise SettingsError(
            "Without ROOFLINE_AUTH the server listens on this machine only, not on"
            f" {settings.host}: everyone who reaches that address could see and delete every"
            " profile.",
            remedy="Choose who has access: ROOFLINE_AUTH=token with ROOFLINE_TOKEN_FILE,"
            " or ROOFLINE_AUTH=proxy behind a proxy that signs people in.",
        )
    if settings.auth == "token":
        _check_tokens(settings)
    if settings.auth == "proxy" and not settings.proxy_addresses:
        raise SettingsError(
            f"ROOFLINE_AUTH=proxy trusts the header {settings.proxy_header}, and anyone can send"
            " a header.",
            remedy="Set ROOFLINE_PROXY_ADDRESSES to the proxy's addresses, such as 10.0.0.7/32;"
            " the header is ignored when it comes from elsewhere.",
        )


def _check_tokens(settings: Settings) -> None:
    for name, secret in (("TOKEN", settings.token), ("ADMIN_TOKEN", settings.admin_token)):
        if secret is not None and len(secret.get_secret_value()) < SECRET_LENGTH:
            raise SettingsError(
                f"ROOFLINE_{name} can be guessed: it is under {SECRET_LENGTH} characters.",
                remedy="Make one with `openssl rand -hex 24`.",
            )
    if settings.token is None:
        raise SettingsError(
            "ROOFLINE_AUTH=token needs the token that people are to enter.",
            remedy="Put one in a file (`openssl rand -hex 24 > token`) and set"
            " ROOFLINE_TOKEN_FILE to it.",
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
