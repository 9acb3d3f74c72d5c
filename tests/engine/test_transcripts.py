"""The transcripts on the real engine, case by case."""

from pathlib import Path

import pytest

from windrow.run.check import check_case
from windrow.spec.transcripts import Case, read_transcripts

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.yaml"))
CASES = [pytest.param(case, id=f"{file.stem}-{case.name}") for file in FILES for case in read_transcripts(file)]


@pytest.mark.parametrize("case", CASES)
def test_transcript_passes_on_the_engine(spark, case: Case) -> None:
    assert check_case(spark, case).messages == ()
