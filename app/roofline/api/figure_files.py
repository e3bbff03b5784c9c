"""The roofline of a profile as a picture in a file."""

from pathlib import Path

from roofline.errors import BadViewError, ExtraMissingError
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.figure_files import FileLook, Form, figure_file
from roofline.presentation.page_rows import Page

_FORMS: dict[str, Form] = {".svg": "svg", ".pdf": "pdf", ".png": "svg"}
_PRINTED = 300 / 96  # of a PNG: pixels to one of 96 in the inch


def save(
    page: Page,
    path: Path,
    look: FileLook,
    choice: ChartChoice,
    *,
    title: str,
    certain: str,
    scale: float | None,
) -> str:
    """Writes the figure in the format of the path's ending; its caption."""
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise BadViewError(
            f"“{path.suffix or path.name}” is not a format of figures.",
            remedy="End the name in .svg, .pdf or .png.",
        )
    axes = [axis["id"] for axis in page["x_axes"]]
    if choice.x not in ("auto", *axes):
        raise BadViewError(f"“{choice.x}” is not an axis here.", remedy=f"Axes: {', '.join(axes)}.")
    made = figure_file(page, form, look, choice, title=title, certain=certain)
    is_png = path.suffix.lower() == ".png"
    content = _png_of(made.content, scale or _PRINTED) if is_png else made.content
    path.write_bytes(content)
    left = made.not_written
    missing = f" The fonts of a PDF do not have {left}: an SVG shows them." if left else ""
    return f"{made.caption}{missing}"


def _png_of(svg: bytes, scale: float) -> bytes:
    """The picture in pixels, `scale` times 96 to the inch, on white."""
    try:
        import cairosvg
    except (ModuleNotFoundError, OSError) as error:  # the second without Cairo itself
        raise ExtraMissingError(
            "A PNG needs cairosvg, which is not installed.",
            remedy="`pip install cairosvg`, or write an SVG or a PDF.",
        ) from error

    found: bytes = cairosvg.svg2png(bytestring=svg, scale=scale, background_color="white")
    return found
