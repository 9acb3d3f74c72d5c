"""Sources that are away for a while: waited for by a stream that runs, told by one that starts."""

import pytest

from windrow.drivers.ingest.outages import LONGEST, Outages
from windrow.sources.kafka import is_outage
from windrow.spec.errors import SourceUnavailable, SpecError

AWAY = SourceUnavailable("clicks", "its brokers do not answer")


def away() -> int:
    raise AWAY


def test_a_stream_that_starts_is_told() -> None:
    with pytest.raises(SourceUnavailable):
        Outages().tried("clicks", away)


def test_a_stream_that_runs_asks_again_for_a_while_and_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    outages = Outages(is_patient=True, clock=lambda: now[0])
    for now[0] in (0.0, 10.0, LONGEST):
        assert outages.tried("clicks", away) is None
    now[0] = LONGEST + 1
    assert len(caplog.messages) == 1 and "clicks cannot be reached" in caplog.messages[0]
    with pytest.raises(SourceUnavailable):
        outages.tried("clicks", away)


def test_an_outage_that_is_over_is_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    outages = Outages(is_patient=True, clock=lambda: now[0])
    outages.tried("clicks", away)
    assert outages.tried("clicks", lambda: 1) == 1
    outages.over("clicks")
    outages.over("clicks")
    assert [message.split(":")[0] for message in caplog.messages] == [
        "windrow", "windrow",
    ] and "reached again" in caplog.messages[1]  # fmt: skip
    now[0] = LONGEST + 1
    assert outages.tried("clicks", away) is None


def test_what_is_no_outage_is_raised() -> None:
    with pytest.raises(SpecError):
        Outages(is_patient=True).failed("clicks", SpecError("topic", "is none"))


@pytest.mark.parametrize(
    ("words", "outage"),
    [
        ("Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.", True),
        ("org.apache.kafka.common.errors.DisconnectException", True),
        ("org.apache.kafka.common.errors.NotLeaderOrFollowerException", True),
        ("java.util.concurrent.TimeoutException: Cannot fetch record for offset 3 in 120000 milliseconds", True),
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException", False),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: no", False),
        ("java.lang.IllegalStateException: Partition t-0's offset was changed from 7 to 0", False),
    ],
)
def test_which_failures_of_a_query_are_outages(words: str, outage: bool) -> None:
    assert is_outage(words) == outage
