"""A task ends where a test says; a point that is not passed, or a stop that is swallowed, fails that test."""

import contextlib
import threading

import pytest

from tests.crash.ends import Stopped, stopped_at
from windrow.drivers.pipeline.points import point


def test_the_body_ends_at_the_point_and_nothing_is_left_behind() -> None:
    passed = []
    with stopped_at("tick:after_journal#2"):
        for number in range(3):
            point("tick:before_journal")
            point("tick:after_journal")
            passed.append(number)
    assert passed == [0]
    point("tick:after_journal")


def test_other_threads_end_at_the_next_point_that_they_pass() -> None:
    ended = []

    def other() -> None:
        try:
            point("projection:after_panes")
        except Stopped:
            ended.append(True)

    with stopped_at("tick:after_journal"):
        with contextlib.suppress(Stopped):
            point("tick:after_journal")
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        raise Stopped
    assert ended


def test_a_point_that_is_not_passed_is_named() -> None:
    with pytest.raises(AssertionError, match="tick:after_journal was not passed"), stopped_at("tick:after_journal"):
        point("tick:before_journal")


def test_a_stop_that_was_taken_for_something_else_is_seen() -> None:
    expected = pytest.raises(AssertionError, match="taken for something else")
    with expected, stopped_at("tick:after_journal"), contextlib.suppress(BaseException):
        point("tick:after_journal")


def test_another_error_comes_up() -> None:
    with pytest.raises(ValueError, match="broken"), stopped_at("tick:after_journal"):
        raise ValueError("broken")
