"""Steps through JSON text without building anything: ends of values, numbers, hashes.

Compiled, also into `scan`. Places are indices into a window of the file. Negative places say why
there is none.
"""

import numpy as np

from roofline.importers.kernels import part

FNV_START = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)

# No number: absent, negative, or not one at all.
ABSENT = -1
# Larger numbers are damage: as times in ns they lie beyond the year 2220.
MAX_NUMBER = 8 * 10**18
# No place: the window ends before, or the text is not JSON.
INCOMPLETE, BAD = -1, -2


@part
def skip_space(buf, i, end):  # type: ignore[no-untyped-def]
    """Place of the next character that is not a space."""
    while i < end and (buf[i] == 32 or buf[i] == 10 or buf[i] == 13 or buf[i] == 9):
        i += 1
    return i


@part
def string_end(buf, i, end):  # type: ignore[no-untyped-def]
    """Place of the closing quote of the string that opens at `i`."""
    i += 1
    while i < end:
        if buf[i] == 92:  # a backslash hides the next character
            i += 1
        elif buf[i] == 34:
            return i
        i += 1
    return INCOMPLETE


@part
def value_end(buf, i, end):  # type: ignore[no-untyped-def]
    """Place behind the value that starts at `i`."""
    if i >= end:
        return INCOMPLETE
    if buf[i] == 34:
        close = string_end(buf, i, end)
        return close + 1 if close >= 0 else INCOMPLETE
    if buf[i] != 123 and buf[i] != 91:
        start = i
        while i < end and buf[i] != 44 and buf[i] != 125 and buf[i] != 93 and buf[i] > 32:
            i += 1
        if i >= end:
            return INCOMPLETE
        return i if i > start else BAD
    depth = 0
    while i < end:
        c = buf[i]
        if c == 34:
            i = string_end(buf, i, end)
            if i < 0:
                return INCOMPLETE
        elif c == 123 or c == 91:
            depth += 1
        elif c == 125 or c == 93:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return INCOMPLETE


@part
def hash_of(buf, start, stop):  # type: ignore[no-untyped-def]
    """FNV-1a, 64 bits, of a range; http://www.isthe.com/chongo/tech/comp/fnv/."""
    value = FNV_START
    for i in range(start, stop):
        value = (value ^ np.uint64(buf[i])) * FNV_PRIME
    return value


@part
def lower_hash(buf, start, stop):  # type: ignore[no-untyped-def]
    """The same of the range in lower case."""
    value = FNV_START
    for i in range(start, stop):
        c = buf[i]
        if 65 <= c <= 90:
            c += 32
        value = (value ^ np.uint64(c)) * FNV_PRIME
    return value


@part
def number(buf, start, stop, shift):  # type: ignore[no-untyped-def]
    """The decimal number in a range (quoted or not) times 10**shift, rounded; -1: not one, < 0."""
    if stop - start >= 2 and buf[start] == 34:
        start, stop = start + 1, stop - 1
    if start >= stop or buf[start] == 45:
        return ABSENT
    value, digits, after, seen_point, i = 0, 0, 0, False, start
    while i < stop:
        c = buf[i]
        if 48 <= c <= 57:
            if digits < 18:
                value = value * 10 + c - 48
                digits += value > 0
                after += seen_point
            elif not seen_point:
                return ABSENT
        elif c == 46 and not seen_point:
            seen_point = True
        else:
            break
        i += 1
    exponent = 0
    if i < stop and (buf[i] == 101 or buf[i] == 69) and i > start:
        i += 1
        sign = 1
        if i < stop and (buf[i] == 45 or buf[i] == 43):
            sign = -1 if buf[i] == 45 else 1
            i += 1
        while i < stop and 48 <= buf[i] <= 57 and exponent < 100:
            exponent = exponent * 10 + buf[i] - 48
            i += 1
        exponent *= sign
    if i != stop:
        return ABSENT
    power = shift + exponent - after
    while power < -1 and value:
        value, power = value // 10, power + 1
    if power == -1:
        value = (value + 5) // 10
    while power > 0 and value:
        if value > MAX_NUMBER // 10:
            return ABSENT
        value, power = value * 10, power - 1
    return value


@part
def holds(buf, start, stop, text):  # type: ignore[no-untyped-def]
    """True if `text` occurs in a range."""
    for i in range(start, stop - len(text) + 1):
        k = 0
        while k < len(text) and buf[i + k] == text[k]:
            k += 1
        if k == len(text):
            return True
    return False


@part
def has_zero(buf, start, stop):  # type: ignore[no-untyped-def]
    """True if a list of numbers holds a plain 0."""
    for i in range(start + 1, stop - 1):
        if (
            buf[i] == 48
            and (buf[i - 1] < 48 or buf[i - 1] > 57)
            and (buf[i + 1] < 48 or buf[i + 1] > 57)
        ):
            return True
    return False


@part
def next_object(buf, i, end):  # type: ignore[no-untyped-def]
    """Place of the next `{` that follows `},`: where reading resumes after damage."""
    while i < end:
        if buf[i] == 125:
            comma = skip_space(buf, i + 1, end)
            if comma < end and buf[comma] == 44:
                brace = skip_space(buf, comma + 1, end)
                if brace < end and buf[brace] == 123:
                    return brace
                if brace >= end:
                    return i
            elif comma >= end:
                return i
        i += 1
    return end
