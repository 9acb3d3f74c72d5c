"""The messages of the traffic lights as landing files: reproducible, out of order, with every fault."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from demo.traffic import LIGHTS, MOST_DELAY, START, Message, main, messages, write_landing_files

PIPELINE = Path(__file__).parents[2] / "conf/pipelines/traffic.yaml"


def rows_of(paths: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def created_at(message: Message) -> datetime | None:
    """None for a time that cannot be read."""
    try:
        return datetime.fromisoformat(message.created_at or "")
    except ValueError:
        return None


def lateness(received: list[Message]) -> list[timedelta]:
    """How far each message is behind the latest one before it, of those whose time is right."""
    created = [at for at in map(created_at, received) if at is not None and at.year == START.year]
    return [max(created[: index + 1]) - at for index, at in enumerate(created)]


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    first, second, other = (write_landing_files(tmp_path / name, seed) for name, seed in [("a", 1), ("b", 1), ("c", 2)])
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert [path.stat().st_mtime for path in first] == [path.stat().st_mtime for path in second]
    assert [path.read_bytes() for path in first] != [path.read_bytes() for path in other]


def test_lines_are_the_messages_in_order_of_receipt(tmp_path: Path) -> None:
    rows = rows_of(write_landing_files(tmp_path))
    received = messages()
    assert [at.received_at for at in received] == sorted(at.received_at for at in received)
    assert [json.loads(message.json_line()) for message in received] == rows
    (source,) = yaml.safe_load(PIPELINE.read_text())["sources"]
    assert list(rows[0]) == [column.split()[0] for column in source["schema"].split(", ")]


def test_files_are_quarters_of_an_hour_in_order(tmp_path: Path) -> None:
    paths = write_landing_files(tmp_path, minutes=60)
    assert [path.name for path in paths[:2]] == ["messages-2021-08-07T0900.json", "messages-2021-08-07T0915.json"]
    modified = [path.stat().st_mtime for path in paths]
    assert all(later - earlier >= 1 for earlier, later in pairwise(modified))


def test_every_light_has_every_fault() -> None:
    received = messages()
    assert {message.traffic_light for message in received if created_at(message) is None} == set(LIGHTS)
    ahead = [message for message in received if (created_at(message) or START).year == START.year + 100]
    assert {message.traffic_light for message in ahead} == set(LIGHTS)


def test_a_plate_passes_a_light_more_than_once_in_an_hour() -> None:
    plates = [m.registration_plate for m in messages(minutes=60) if m.traffic_light == LIGHTS[0]]
    assert len(set(plates)) < len(plates)


def test_messages_are_out_of_order_but_not_too_late_for_the_pipeline() -> None:
    pipeline = yaml.safe_load(PIPELINE.read_text())
    bounded_delay = pipeline["sources"][0]["watermark"]["bounded_delay"]
    allowed_lateness = pipeline["stages"][0]["allowed_lateness"]
    late = lateness(messages())
    assert max(late) > pd.Timedelta(bounded_delay)
    assert max(late) <= MOST_DELAY < pd.Timedelta(bounded_delay) + pd.Timedelta(allowed_lateness)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path), "--seed", "3", "--minutes", "30"])
    assert "messages in 3 files" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--minutes", "0"])
