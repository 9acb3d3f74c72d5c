"""Landing files of the traffic-light example: messages about cars that pass a light, as they are received.

    python -m demo.traffic FOLDER [--seed 1] [--minutes 180]

Most messages are received within seconds, some minutes late (never more than MOST_DELAY), so `created_at` is out of
order. Some lights have a clock that is wrong by a century (`future_timestamp`), some write a time that nobody can read
(`bad_timestamp`). The same seed and length give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from demo.landing import LandingFiles

START = datetime(2021, 8, 7, 9, tzinfo=UTC)
LIGHTS = (
    "cbf2eafc-806e-4067-9211-97be7e42cee3",
    "0f61d7a3-5a3f-4f0e-8f0a-6a2f6f1f9f4e",
    "7c9b1de2-3c64-4b0b-9d43-0b7a8c1d2e55",
    "e2d04c18-91fb-4c7d-a6a5-2f3b4c5d6e77",
)
MOST_CARS = 6
"""Cars that pass one light in one minute are 0 to this."""
PLATES = 260
"""Cars in town: few enough that one often passes the same light twice in an hour."""
MOST_DELAY = timedelta(minutes=4)
UNREADABLE = (None, "", "half past nine", "2021-08-07T25:61:00Z")

FILES = LandingFiles(
    name="messages-%Y-%m-%dT%H%M.json",
    first=START,
    modified=datetime(2022, 1, 1, tzinfo=UTC),
    step=timedelta(minutes=15),
)


@dataclass(frozen=True)
class Message:
    """What a light sends, and when it is received, which is not part of it."""

    received_at: datetime
    traffic_light: str
    created_at: str | None
    registration_plate: str
    passengers: int

    def json_line(self) -> str:
        fields = {name: value for name, value in vars(self).items() if name != "received_at"}
        return json.dumps(fields, separators=(",", ":")) + "\n"


def messages(seed: int = 1, minutes: int = 180) -> list[Message]:
    """The messages about the cars of the first `minutes` minutes after START, in the order of their receipt."""
    random = Random(seed)
    sent = [
        message
        for minute in range(minutes)
        for light in LIGHTS
        for message in _messages_of_a_minute(random, START + timedelta(minutes=minute), light)
    ]
    return sorted(sent, key=lambda message: message.received_at)


def write_landing_files(folder: Path | str, seed: int = 1, minutes: int = 180) -> list[Path]:
    """Write one file of JSON lines for every quarter of an hour of receipt; return the paths in this order.

    Raises ValueError if `minutes` is not positive.
    """
    if minutes < 1:
        raise ValueError(f"minutes must be at least 1; got {minutes}")
    texts: dict[datetime, str] = {}
    for message in messages(seed, minutes):
        start = FILES.first + (message.received_at - FILES.first) // FILES.step * FILES.step
        texts[start] = texts.get(start, "") + message.json_line()
    return FILES.write(Path(folder), texts)


def _messages_of_a_minute(random: Random, minute: datetime, light: str) -> Iterator[Message]:
    for _ in range(random.randrange(MOST_CARS + 1)):
        passed_at = minute + timedelta(seconds=random.randrange(60))
        yield Message(
            received_at=passed_at + _delay(random),
            traffic_light=light,
            created_at=_created_at(random, passed_at),
            registration_plate=_plate(random.randrange(PLATES)),
            passengers=1 + random.randrange(5),
        )


def _delay(random: Random) -> timedelta:
    """Two seconds at most for nine messages of ten, else up to MOST_DELAY."""
    most = timedelta(seconds=2) if random.random() < 0.9 else MOST_DELAY
    return timedelta(seconds=random.randrange(most // timedelta(seconds=1) + 1))


def _created_at(random: Random, passed_at: datetime) -> str | None:
    """The time as ISO 8601; of a hundred messages about one is a century ahead and one unreadable."""
    chance = random.random()
    if chance < 0.01:
        return random.choice(UNREADABLE)
    if chance < 0.02:
        passed_at = passed_at.replace(year=passed_at.year + 100)
    return passed_at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _plate(car: int) -> str:
    """AB0A DEF to AB9Z DEF for the cars 0 to 259."""
    return f"AB{car // 26}{chr(ord('A') + car % 26)} DEF"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m demo.traffic",
        description="Write landing files of messages from traffic lights.",
        epilog="Example: python -m demo.traffic data/traffic --minutes 300",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--minutes", type=int, default=180, help="of traffic; default: 180")
    options = parser.parse_args(arguments)
    try:
        paths = write_landing_files(options.folder, options.seed, options.minutes)
    except ValueError as error:
        parser.error(str(error))
    print(f"{len(messages(options.seed, options.minutes)):,} messages in {len(paths)} files: {options.folder}")


if __name__ == "__main__":
    main()
