"""Every transcript of this repository on the reference model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model.transcripts import check
from windrow.spec.transcripts.cases import Case, read_transcripts

FOLDER = Path(__file__).parents[1] / "transcripts"
FILES = sorted(FOLDER.glob("*.yaml"))
CASES = [pytest.param(case, id=f"{file.stem}: {case.name}") for file in FILES for case in read_transcripts(file)]


@pytest.mark.parametrize("case", CASES)
def test_case(case: Case) -> None:
    messages = check(case)
    assert not messages, "\n".join(messages)
