"""Op categories that count differently, as XProf decides them.

Containers (their children are ops of their own) never enter program sums; infeed and outfeed
leave them when the user asks for a program without host transfers.
"""

CONTAINER_CATEGORIES = frozenset({"call", "conditional", "while", "megacore fusion"})
IDLE_CATEGORY = "IDLE"
UNKNOWN_CATEGORY = "unknown"


def is_container(category: str) -> bool:
    """True for ops whose work is counted by the ops inside them."""
    return category in CONTAINER_CATEGORIES


def is_infeed_outfeed(category: str) -> bool:
    """True for host transfers; XProf matches the words anywhere in the category."""
    return "infeed" in category or "outfeed" in category
