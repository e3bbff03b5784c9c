"""The corpus: uploads that were found once, each packed as a zip of its files."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def keep(name: str, files: Sequence[tuple[str, bytes]]) -> Path:
    """Writes one upload to the corpus."""
    path = CORPUS / f"{name}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files:
            archive.writestr(zipfile.ZipInfo(file), content, zipfile.ZIP_DEFLATED, 9)
    return path


def kept(path: Path) -> list[tuple[str, bytes]]:
    """The upload behind a file of the corpus."""
    with zipfile.ZipFile(path) as archive:
        return [(member.filename, archive.read(member)) for member in archive.infolist()]


def corpus() -> list[Path]:
    """Every kept upload."""
    return sorted(CORPUS.glob("*.zip"))
