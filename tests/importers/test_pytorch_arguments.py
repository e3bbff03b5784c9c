"""Arguments as damaged files have them: every formula gives a sensible number or none at all."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.importers.pytorch import attention, bytes_moved, convolutions, products, vector_work
from roofline.importers.pytorch.inputs import recorded_as
from roofline.importers.pytorch.signatures import MAX_COUNT, READING_VALUES
from tests.importers.kineto_profiles import signature

FAMILIES = (
    attention.FAMILY,
    bytes_moved.FAMILY,
    bytes_moved.LIBRARIES,
    vector_work.LOOKUPS,
    convolutions.FAMILY,
    products.FAMILY,
)
OPERATORS = sorted(recorded_as(name) for family in FAMILIES for name in family.names)
SIZES = st.one_of(st.integers(0, 70), st.sampled_from([2**31, 2**47, 2**60, -1]))
SHAPES = st.one_of(st.lists(SIZES, max_size=5), st.lists(st.lists(SIZES, max_size=2), max_size=2))
TYPES = st.sampled_from(
    ["float", "c10::Half", "c10::Float8_e4m3fn", "c10::Float4_e2m1fn_x2", "int", "", "?", "Scalar"]
)
VALUES = st.one_of(
    st.sampled_from(["True", "False", "", "0", "1", "2", "-1", "15", "0.125", "[1, 1]", "[True]"]),
    st.integers(-(2**70), 2**70).map(str),
    st.text(max_size=5),
)
ARGUMENTS = st.lists(st.tuples(SHAPES, TYPES, VALUES), max_size=27)


def test_names_are_known_once() -> None:
    assert len(OPERATORS) == len(set(OPERATORS))
    assert set(OPERATORS) >= READING_VALUES


@settings(max_examples=300, deadline=None)
@given(operator=st.sampled_from(OPERATORS), arguments=ARGUMENTS, has_values=st.booleans())
def test_any_arguments(
    operator: str, arguments: list[tuple[object, str, str]], has_values: bool
) -> None:
    shapes, types, values = ([one[k] for one in arguments] for k in range(3))
    found = signature(operator, shapes, types, values if has_values else None)
    for cost in (found.flop, found.moved_bytes):
        assert cost is None or 0 <= cost <= MAX_COUNT
    assert found.label.startswith(operator)
