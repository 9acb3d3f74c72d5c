"""`windrow check` finds its files."""

from pathlib import Path

import pytest

from windrow.cli.commands.check import found
from windrow.spec.errors import SpecError


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yaml", "README.md"):
        (tmp_path / name).touch()
    single = tmp_path / "elsewhere.txt"
    assert found([single, tmp_path]) == [single, tmp_path / "a.yaml", tmp_path / "b.yaml"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match="is a folder without transcripts"):
        found([tmp_path / "empty"])
