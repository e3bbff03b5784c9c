"""Small inputs that together reach what coverage-guided runs have reached, one zip per family."""

import zipfile
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def seeds_file(family: str) -> Path:
    """The zip of a family; it may not be there."""
    return SEEDS / f"{family}.zip"


def kept_seeds(family: str) -> list[bytes]:
    """The inputs kept of a family."""
    path = seeds_file(family)
    if not path.exists():
        return []
    with zipfile.ZipFile(path) as archive:
        return [archive.read(member) for member in archive.infolist()]
