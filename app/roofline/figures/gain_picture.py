"""Blocks of time at the size of a stamp: the rectangles of "Time to gain" as SVG."""

from collections.abc import Iterator, Sequence

from roofline.figures.gain import Block, Rectangle, Texture, merged, rectangles

WIDTH, HEIGHT = 132, 36
"""Pixels of the picture; it may be stretched."""

LEAST_SHARE = 0.01
"""Of the whole time: thinner blocks are merged, 1.3 px."""

_ATTRIBUTES = {
    Texture.NEED: 'fill="var({0})"',
    Texture.WASTE: 'fill="var({0})" fill-opacity=".5"',
    Texture.GAP: 'fill="var({0})" fill-opacity=".18"',
    Texture.STAY: 'fill="var({0})" fill-opacity=".18"',
    Texture.WAIT: 'fill="none" stroke="var({0})"',
    Texture.PLAIN: 'fill="none" stroke="var({0})"',
    Texture.UNKNOWN: 'fill="none" stroke="var({0})" stroke-width="1.2" stroke-dasharray="1.2 3"',
    Texture.IMPOSSIBLE: 'fill="none" stroke="var({0})" stroke-width=".8"',
}
_DOTS = 4.0  # pixels between rows of dots
_CROSSES = 4.0  # pixels between crossing lines


def picture(blocks: Sequence[Block], total_us: float = 0.0) -> str:
    """An `svg` element; its colours are custom properties of the page that it is put into.

    It is `total_us` long, by default as long as the blocks.
    """
    total_us = total_us or sum(one.time_us for one in blocks)
    if not total_us > 0:
        return ""
    paths: dict[tuple[Texture, str], list[str]] = {}
    for one in rectangles(merged(blocks, LEAST_SHARE * total_us)):
        paths.setdefault((one.texture, one.token), []).extend(_path(one, WIDTH / total_us))
    drawn = "".join(
        f'<path d="{"".join(path)}" {_ATTRIBUTES[texture].format(token)} '
        'vector-effect="non-scaling-stroke"/>'
        for (texture, token), path in paths.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img">'
        f"<title>Time to gain</title>{drawn}</svg>"
    )


def _path(one: Rectangle, scale: float) -> Iterator[str]:
    left, width = one.left_us * scale, one.width_us * scale
    top, height = HEIGHT * (1 - one.bottom - one.height), HEIGHT * one.height
    if one.texture is Texture.UNKNOWN:
        for row in range(int(height / _DOTS)):
            yield f"M{left:.1f} {top + _DOTS * (row + 0.5):.1f}h{width:.1f}"
    elif one.texture is Texture.IMPOSSIBLE:
        yield from _crosses(left, top, width, height)
    elif one.texture in (Texture.WAIT, Texture.PLAIN):
        inset = min(0.5, width / 2)
        width = max(width - 1, 0.0)
        yield f"M{left + inset:.1f} {top + 0.5:.1f}h{width:.1f}v{height - 1:.1f}h{-width:.1f}z"
    else:
        yield f"M{left:.1f} {top:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"


def _crosses(left: float, top: float, width: float, height: float) -> Iterator[str]:
    """Zigzag lines, up and down, which cross."""
    steps = max(int(height / _CROSSES), 1)
    step = height / steps
    for first, second in ((0.0, width), (width, 0.0)):
        x = (first, second)
        lines = "".join(f"L{left + x[k % 2]:.1f} {top + k * step:.1f}" for k in range(1, steps + 1))
        yield f"M{left + x[0]:.1f} {top:.1f}{lines}"
