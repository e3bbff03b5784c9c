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


_COLLECTIVES = frozenset(
    {
        "all-reduce",
        "all-reduce-scatter",
        "all-gather",
        "reduce-scatter",
        "all-to-all",
        "ragged-all-to-all",
        "collective-permute",
        "collective-broadcast",
        "send",
        "recv",
        "host send",
        "host recv",
        "communication",
    }
)
_HALVES = ("-start", "-done", "-update")


def is_collective(category: str) -> bool:
    """True for ops that move data between devices or hosts: a link bounds them, not a memory."""
    base = category.lower().removesuffix(" fusion")
    for half in _HALVES:
        base = base.removesuffix(half)
    return base in _COLLECTIVES


def is_start(category: str) -> bool:
    """True for the start of an asynchronous transfer, whose bytes move in the time of other ops."""
    return category.endswith("-start")


def is_async_copy(category: str) -> bool:
    """True for the halves of an asynchronous copy: its category names no memory."""
    return category.lower() in {"copy-start", "copy-done"}


def is_infeed_outfeed(category: str) -> bool:
    """True for host transfers; XProf matches the words anywhere in the category."""
    return "infeed" in category or "outfeed" in category


_PRODUCTS = frozenset(
    {"attention", "convolution", "convolution fusion", "dot", "gemm", "matmul", "output fusion"}
)


def is_product(category: str) -> bool:
    """True for ops whose FLOPs are those of matrix products: a matrix unit does them."""
    return category.lower() in _PRODUCTS


_VECTOR = frozenset(
    {
        "elementwise",
        "reduction",
        "reduce",
        "normalisation",
        "normalization",
        "softmax",
        "loop fusion",
        "input fusion",
        "non-fusion elementwise",
    }
)


def is_vector(category: str) -> bool:
    """True for ops that never hold a matrix product: the vector unit does their FLOPs."""
    return category in _VECTOR


def is_work(category: str) -> bool:
    """True for ops that are the program's own work: no waiting for others, for hosts or at all."""
    return not (is_collective(category) or is_infeed_outfeed(category) or category == IDLE_CATEGORY)
