"""The examples of docs/generic-format.md import as they stand."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.profiles import imported

DOCUMENT = (Path(__file__).resolve().parents[1] / "docs" / "generic-format.md").read_text("utf-8")
EXAMPLES = re.findall(r"```(?:csv|json)\n(.*?)```", DOCUMENT, flags=re.DOTALL)
KERNELS, SCHEMA, ROOFS = EXAMPLES


@pytest.mark.parametrize("texts", [[KERNELS], [SCHEMA], [ROOFS, KERNELS]])
def test_example(texts: Sequence[str], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    profile = imported(*paths)
    assert len(profile.ops)
    assert profile.device.bandwidth_gbs
    assert not profile.diagnostics
