"""Names of categories as the page writes them; the server process loads no arrays for it."""

from roofline.model.categories import IDLE_CATEGORY


def shown_category(name: str) -> str:
    """XProf has idle time in capitals: files and links keep them, the page says "idle"."""
    return name.lower() if name == IDLE_CATEGORY else name
