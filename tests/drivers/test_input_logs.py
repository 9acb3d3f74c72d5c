"""Places in several logs: one number that says how far each of them is read."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windrow.store.upstream.inputs import InputLogs


@dataclass
class Log:
    """A log of which only the newest step is asked."""

    name: str
    step: int = 0

    def last_step(self, spark: Any) -> int:
        return self.step


LOGS = InputLogs({"left": Log("a"), "right": Log("b"), "more": Log("a")})
STEPS = st.fixed_dictionaries({name: st.integers(0, 2**40 - 1) for name in LOGS.logs})
SMALL = st.fixed_dictionaries({name: st.integers(0, 5) for name in LOGS.logs})


@given(STEPS, SMALL)
def test_a_place_holds_every_step_and_places_compare_as_the_steps_do(
    steps: dict[str, int], more: dict[str, int]
) -> None:
    place = LOGS.place(steps)
    assert LOGS.steps(place) == steps
    ahead = {name: min(step + more[name], 2**40 - 1) for name, step in steps.items()}
    assert LOGS.place(ahead) >= place and (LOGS.place(ahead) > place) == (ahead != steps)
    of_a = max(ahead[name] - steps[name] for name in ("left", "more"))
    assert LOGS.number(place, LOGS.place(ahead)) == of_a + ahead["right"] - steps["right"]
    assert LOGS.step_of("a", place) == min(steps["left"], steps["more"])


@given(SMALL, SMALL, SMALL, st.integers(1, 3))
def test_the_next_place_is_never_behind_in_any_log(after: Any, head: Any, end: Any, most: int) -> None:
    """Also where the head was seen before somebody else came further."""
    found = LOGS.steps(LOGS.next(LOGS.place(after), most, LOGS.place(head), LOGS.place(end)))
    for name, step in found.items():
        assert after[name] <= step <= after[name] + most
        assert step == after[name] or step <= min(head[name], end[name])


def test_the_place_of_one_log_is_its_step() -> None:
    only = InputLogs({"": Log("a", 7)})
    assert only.last_step(None) == 7 and only.next(3, 2, 7) == 5 and only.steps(5) == {"": 5}
    assert only.in_words(5) == "5" and LOGS.in_words(LOGS.place({"left": 1, "right": 2, "more": 0})) == (
        "left 1, right 2, more 0"
    )
