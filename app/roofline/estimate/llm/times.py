"""Times in words."""

from roofline.model.units import KILO, MEGA


def time_text(time_us: float | None) -> str:
    """A time with its unit."""
    if time_us is None:
        return "unknown"
    if time_us >= MEGA:
        return f"{time_us / MEGA:,.4g} s"
    return f"{time_us / KILO:,.4g} ms" if time_us >= KILO else f"{time_us:,.4g} µs"


def span(low: str, high: str) -> str:
    """Two ends, or one where they are alike."""
    return low if low == high else f"{low} to {high}"
