"""Shapes of several sizes are written once, and none is lost."""

from roofline.figures.scene import Layer, Line, Text
from roofline.presentation.first_view.layouts import shared


def test_a_shape_of_several_sizes_is_written_once_for_all_of_them() -> None:
    line = Line(points=((0, 0), (0, 1)), token="--grid")
    wide, narrow = Text(text="10", at=(1, 0)), Text(text="1", at=(1, 0))
    layers = [
        Layer(shapes=(line, narrow), css="w0"),
        Layer(shapes=(line, wide), css="w1"),
        Layer(shapes=(line, wide), css="w2"),
    ]
    assert shared(layers) == [
        Layer(shapes=(line,), css="w0 w1 w2"),
        Layer(shapes=(narrow,), css="w0"),
        Layer(shapes=(wide,), css="w1 w2"),
    ]
    assert shared([]) == []
