"""Binary files that a tool took for text: decoded, and written back as UTF-8 or UTF-16.

A byte that is not text becomes U+FFFD on the way (in UTF-8 the bytes EF BF BD), and what it was is
lost. Where the tool decoded as Latin-1, every byte above 7F becomes two. Either way no importer can
make sense of the file. Text has no control characters and a binary file is not valid text, so the
two together give it away.
"""

import codecs

from roofline.errors import CorruptProfileError

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
_CONTROL_LETTERS = frozenset(map(chr, _CONTROLS))
_REPLACEMENT = "\ufffd"
_LATIN_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))  # no text has these either
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_FEWEST = 3
# Names in a small file may hold U+FFFD; a large one has such a byte in every other message.
_SMALL, _SHARE_OF_SMALL, _SHARE = 4096, 50, 4096


def is_reencoded(head: bytes) -> bool:
    """True for the head of a binary file that was read as text and written back. Never raises."""
    if head.translate(None, _CONTROLS) == head:
        return False
    text = _strictly_decoded(head)
    if not text or _CONTROL_LETTERS.isdisjoint(text):
        return False
    least = max(_FEWEST, len(text) // (_SHARE_OF_SMALL if len(text) < _SMALL else _SHARE))
    if text.count(_REPLACEMENT) >= least:
        return True
    high = [letter for letter in text if letter >= "\x80"]
    is_latin = max(high, default="\uffff") <= "\xff"
    return is_latin and sum(letter in _LATIN_CONTROLS for letter in high) >= least


def _strictly_decoded(head: bytes) -> str:
    """The text of `head`, which may end within a letter; "" where it is not text."""
    encoding = next((encoding for mark, encoding in _BOMS if head.startswith(mark)), "utf-8")
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return ""


def reencoded_error(name: str) -> CorruptProfileError:
    """The error for such a file: what happened, and how to send it."""
    return CorruptProfileError(
        f"{name} was damaged on its way: a tool read this binary file as text and wrote it back. "
        "Its bytes are no longer those that the profiler wrote.",
        remedy="Send the original again as binary: with scp, rsync or a browser, or with ftp in "
        "binary mode; not through a clipboard, a text editor or a text redirection of the shell.",
    )
