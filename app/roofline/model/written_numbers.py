"""Numbers as people write and paste them: "1,024", "2,5", "1.555,2", "12 000"."""

import re

_SPACES = re.compile(r"[\s\u00a0\u202f'’]")
_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+")
_OTHER = {",": ".", ".": ","}


def plain_number(text: str) -> str:
    """The same number without groups and with a decimal point; other text comes back as it is.

    Of a comma and a point the last one is the decimal mark, as in German "1.555,2". A comma alone
    groups thousands where three digits follow each ("1,024"), else it is the decimal mark ("2,5").
    """
    plain = _SPACES.sub("", text)
    if "," in plain and "." in plain:
        decimal = max(_OTHER, key=plain.rfind)
        return plain.replace(_OTHER[decimal], "").replace(decimal, ".")
    if _GROUPS.fullmatch(plain) and not plain.startswith("0"):
        return plain.replace(",", "")
    return plain.replace(",", ".")
