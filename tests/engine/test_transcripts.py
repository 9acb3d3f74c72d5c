"""The transcripts on the real engine, case by case."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from windrow.run.check import Outcome, check_case
from windrow.spec.transcripts import Case, read_transcripts

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.yaml"))
CASES = [pytest.param(case, id=f"{file.stem}-{case.name}") for file in FILES for case in read_transcripts(file)]


@pytest.fixture(scope="module")
def outcome_of(spark, request: pytest.FixtureRequest) -> Iterator[Callable[[Case], Outcome]]:
    """All cases that were chosen run side by side, as `windrow check` runs them; a test waits for its own."""
    chosen = [item.callspec.params["case"] for item in request.session.items if item.module is request.module]
    with ThreadPoolExecutor(2) as pool:
        outcomes: dict[int, Future[Outcome]] = {id(case): pool.submit(check_case, spark, case) for case in chosen}
        yield lambda case: outcomes[id(case)].result()
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("case", CASES)
def test_transcript_passes_on_the_engine(outcome_of: Callable[[Case], Outcome], case: Case) -> None:
    assert outcome_of(case).messages == ()
