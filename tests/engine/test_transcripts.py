"""The transcripts on the real engine, case by case."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

from windrow.spec.transcripts.cases import Case, read_transcripts
from windrow.testing.check import Outcome, check_case

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.yaml"))
SHARE = 6
"""Of how many cases `make test` runs one on the engine, besides the first of each file. All run on the model."""


def param(file: Path, number: int, case: Case) -> ParameterSet:
    is_long = number > 0 and crc32(case.name.encode()) % SHARE > 0
    return pytest.param(case, id=f"{file.stem}-{case.name}", marks=pytest.mark.long if is_long else ())


CASES = [param(file, number, case) for file in FILES for number, case in enumerate(read_transcripts(file))]


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
