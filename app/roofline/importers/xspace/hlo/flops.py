"""FLOPs per element of elementwise HLO instructions, as XLA's cost analysis for GPUs has them.

The numbers are clock cycles that XLA measured on one GPU generation (its default op profile) and
takes for FLOPs; measured from XProf 2.24.2. Pairs that are not listed cost `DEFAULT_FLOP`.
"""

DEFAULT_FLOP = 3

_FLOP_BY_OPCODE = {
    "add": {"f64": 97},
    "atan2": {"f16": 482, "f32": 486, "f64": 3747},
    "cbrt": {"f16": 925, "f32": 867, "f64": 6339},
    "cosine": {"f16": 691, "f32": 662, "f64": 1717},
    "divide": {
        "c64": 687,
        "f64": 2016,
        "s16": 367,
        "s32": 306,
        "s64": 918,
        "s8": 370,
        "u32": 115,
        "u64": 838,
        "u8": 306,
    },
    "exponential": {"c64": 1360, "f16": 108, "f32": 86, "f64": 1652},
    "exponential-minus-one": {"f16": 396, "f32": 381, "f64": 1900},
    "log": {"c64": 950, "f16": 266, "f32": 244, "f64": 608},
    "log-plus-one": {"f16": 284, "f32": 262, "f64": 2073},
    "logistic": {"f16": 226, "f32": 176, "f64": 2412},
    "multiply": {"f64": 97},
    "power": {
        "c64": 3351,
        "f16": 975,
        "f32": 925,
        "f64": 5511,
        "s16": 396,
        "s64": 601,
        "s8": 392,
        "u64": 604,
        "u8": 388,
    },
    "rsqrt": {"c64": 2383, "f16": 97, "f32": 75, "f64": 698},
    "sine": {"f32": 662, "f64": 1789},
    "sqrt": {"c64": 3193, "f16": 97, "f32": 75, "f64": 986},
    "subtract": {"f64": 97},
    "tanh": {"f16": 212, "f32": 190, "f64": 1609},
}


def flop_per_element(opcode: str, element_type: str) -> int:
    """FLOPs of one result element; `element_type` is the result's."""
    return _FLOP_BY_OPCODE.get(opcode, {}).get(element_type, DEFAULT_FLOP)
