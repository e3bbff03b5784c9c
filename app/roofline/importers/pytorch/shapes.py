"""Tensors of a recorded call in XLA's notation, which all formats share: `bf16[64,128]{1,0}`."""

from collections.abc import Sequence

from roofline.importers.pytorch.inputs import Inputs, Tensor

_SEPARATOR = "; "
_MOST_IN_LIST = 8
_TYPES = {
    "fp64": "f64",
    "fp32": "f32",
    "fp16": "f16",
    "fp8": "f8",
    "fp4": "f4",
    "int64": "s64",
    "int32": "s32",
    "int16": "s16",
    "int8": "s8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "pred",
    "complex128": "c128",
    "complex64": "c64",
    "complex32": "c32",
}


def shapes_label(inputs: Inputs | None) -> str:
    """The tensors of a call; a list of them is one in brackets. Empty where none was recorded."""
    places = inputs.tensors if inputs is not None else ()
    return _SEPARATOR.join(_place(place) for place in places if place)


def _place(tensors: Sequence[Tensor]) -> str:
    if len(tensors) == 1:
        return shape_text(tensors[0])
    more = ["…"] if len(tensors) > _MOST_IN_LIST else []
    return f"({', '.join([*map(shape_text, tensors[:_MOST_IN_LIST]), *more])})"


def shape_text(tensor: Tensor) -> str:
    """Type, extents, and the order of dimensions from the fastest; strides where these have gaps.

    Without recorded strides there is no layout.
    """
    kind = _TYPES.get(tensor.dtype, tensor.dtype)
    extents = ",".join(map(str, tensor.shape))
    return f"{kind}[{extents}]{_layout(tensor)}"


def _layout(tensor: Tensor) -> str:
    shape, strides = tensor.shape, tensor.strides
    if not shape or len(strides) != len(shape):
        return ""
    order = sorted(range(len(shape)), key=lambda k: (strides[k], -k))
    reached = 1
    for k in order:
        if shape[k] != 1 and strides[k] != reached:
            return f"{{strides={','.join(map(str, strides))}}}"
        reached *= shape[k]
    return f"{{{','.join(map(str, order))}}}"
