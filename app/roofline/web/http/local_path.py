"""Addresses to go to after a log-in: on this server only."""


def local_path(address: str) -> str:
    """`address` if it is a path on this server: a log-in must not lead elsewhere."""
    is_path = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_path and address.isprintable() and address.isascii() else "/"
