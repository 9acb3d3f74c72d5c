"""Long tests take turns, and none begins when the budget is used up."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.turns import FIRST, TURNS, Turn

ROOT = Path(__file__).parents[1]
TODAY = date(2026, 11, 23)

TESTS = """
import pytest

def test_short(): pass

@pytest.mark.long
def test_long(): pass
"""


@pytest.fixture
def files(pytester: pytest.Pytester) -> list[str]:
    pytester.makeini("[pytest]\nmarkers =\n    long: x\n")
    names = [f"test_{letter}" for letter in "abcdef"]
    pytester.makepyfile(**dict.fromkeys(names, TESTS))
    return [f"{name}.py" for name in names]


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "tests.turns", "-v", *options)


def long_tests(result: pytest.RunResult) -> list[str]:
    """The files whose long test has run, in order."""
    return [line.partition("::")[0] for line in result.outlines if "::test_long PASSED" in line]


def test_every_day_has_a_turn_and_all_of_them_come_in_a_row() -> None:
    turns = [Turn.parse("today", TODAY + timedelta(days=day)) for day in range(TURNS)]
    assert sorted(turn.number for turn in turns) == list(range(1, TURNS + 1))
    later = Turn.parse("today", TODAY + timedelta(days=TURNS))
    assert (later.number, later.shift) == (turns[0].number, turns[0].shift + 1)


@pytest.mark.parametrize("text", ["today", "2/3", "1/1", "2/3+5"])
def test_a_turn_is_read_as_it_is_written(text: str) -> None:
    turn = Turn.parse(text, TODAY)
    assert Turn.parse(str(turn), date.min) == turn


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/2/3", "yesterday", "1/3+x", ""])
def test_anything_else_is_no_turn(text: str) -> None:
    with pytest.raises(pytest.UsageError, match=r"--turn must be today or K/N.*Hint"):
        Turn.parse(text, TODAY)


def test_the_files_that_are_named_are_there() -> None:
    assert all((ROOT / file).is_file() for file in FIRST)
    assert set(FIRST.values()) <= set(range(1, TURNS + 1))


def test_each_long_test_is_in_one_turn_and_the_others_are_in_all(pytester: pytest.Pytester, files: list[str]) -> None:
    results = [run(pytester, "--turn", f"{number}/2") for number in (1, 2)]
    taken = [long_tests(result) for result in results]
    assert all(taken) and sorted(taken[0] + taken[1]) == files
    assert all(
        result.parseoutcomes()["passed"] == len(files) + len(ran) for result, ran in zip(results, taken, strict=True)
    )


def test_what_came_first_comes_last_another_time(pytester: pytest.Pytester, files: list[str]) -> None:
    assert long_tests(run(pytester, "--turn", "1/1")) == files
    assert long_tests(run(pytester, "--turn", "1/1+2")) == [*files[2:], *files[:2]]


def test_when_the_budget_is_used_up_long_tests_are_named_and_not_passed(
    pytester: pytest.Pytester, files: list[str]
) -> None:
    result = run(pytester, "--budget", "-1")
    result.assert_outcomes(passed=len(files), skipped=len(files))
    result.stdout.fnmatch_lines(["*6 long tests not run: the budget was used up*", "test_a.py::test_long"])
    run(pytester, "--budget", "1000").assert_outcomes(passed=2 * len(files))


def test_so_they_are_where_two_processes_share_the_files(pytester: pytest.Pytester, files: list[str]) -> None:
    result = run(pytester, "-n", "2", "-p", "xdist", "--turn", "1/1", "--budget", "-1")
    result.assert_outcomes(passed=len(files), skipped=len(files))
    result.stdout.fnmatch_lines(["*6 long tests not run: the budget was used up*", "test_a.py::test_long"])
