"""What a stage over a CSV file may look like: key, windows, delay, lateness and aggregates, by its rows.

Rule: docs/first-pipeline.md#what-is-guessed.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.init.names import YAML_WORDS
from windrow.drivers.init.table import Texts, read
from windrow.drivers.init.times import Times, arrival_of, event_time_of, times_in
from windrow.drivers.init.words import words_of
from windrow.spec.stages.keys import RESERVED_NAMES
from windrow.spec.times import DAY, HOUR, MINUTE, SECOND
from windrow.view.init.guess import Guess, Key, Lateness, Time

_SIZES = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY)
_ROUND = (SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE,
          30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY)  # fmt: skip
"""Lengths that people write."""
_UNKNOWN_DELAY = 10 * MINUTE
_ROWS_PER_WINDOW = 5
_KEY_NAMES = ("id", "key", "user", "device", "station", "sensor", "host", "customer", "carrier", "account", "service",
              "category", "type", "country", "city", "region", "name", "code")  # fmt: skip
_WORD_LONGER_THAN = 3
"""A longer one may be within a word, as in `userid`; a shorter one is a word: `humidity` and `bid` are no ids."""
_NO_NAMES = RESERVED_NAMES | {"at", "window"}
"""No key or aggregate has one of these in a pipeline, or in a transcript."""
_FEW_NUMBERS = 20
"""Whole numbers of more values are measured, where the name of their column does not say that they are a key."""
_SAMPLE = 10


def guess(path: Path) -> Guess:
    """The pipeline that is guessed of a CSV file. Errors: SpecError where it cannot be read, or has no times."""
    texts = read(path)
    rows, times = texts.table.num_rows, times_in(texts)
    event = event_time_of(str(path), texts, times)
    arrival = arrival_of(times, event)
    taken = {name for one in times for name in (one.column, one.time_of_day) if name is not None}
    key = _key(texts, taken)
    measures = _measures(texts, taken | ({key.column} if key else set()))
    known = event.micros.drop_null()
    first, last = (pc.min(known).as_py(), pc.max(known).as_py())
    return Guess(
        name=_name(path),
        path=str(path),
        rows=rows,
        is_whole=texts.is_whole,
        has_header=texts.has_header,
        separator=texts.separator,
        columns=texts.columns,
        event_time=event.told(_why(event, times)),
        arrival=None if arrival is None else _told_arrival(arrival),
        key=key,
        lateness=_lateness(event, arrival),
        size=_size(rows, key, last - first),
        measures=measures,
        first=first,
        last=last,
        without_time=event.micros.null_count,
        unreadable=texts.unreadable,
        sample=_sample(texts, event, [*([key.column] if key else []), *measures]),
    )


def _name(path: Path) -> str:
    name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in path.stem).strip("_").lower()
    return name if name and not name[0].isdigit() and name not in YAML_WORDS else f"data_{name}".rstrip("_")


def _why(event: Times, times: list[Times]) -> str:
    clock = "; all of its times are midnights" if event.has_no_clock else ""
    if len(times) == 1:
        return f"the only column of times{clock}"
    others = ", ".join(one.column for one in times if one is not event)
    how = "the first" if event.says_nothing else "by its name"
    return f"{how}; times are also in {others}{clock}"


def _told_arrival(arrival: Times) -> Time:
    return arrival.told("its name says so, and nearly all of its times are no earlier than the event")


def _key(texts: Texts, taken: set[str]) -> Key | None:
    """The column of texts, flags or few whole numbers by which rows fall into groups; None without one.

    Of whole numbers there may be more where the name of the column is that of a key.
    """
    found: list[tuple[int, int, Key]] = []
    for place, column in enumerate(texts.columns):
        values = texts.of(column.name)
        is_number = column.kind == "double" or column.number
        if column.name in taken or is_number or column.name.lower() in _NO_NAMES:
            continue
        number = pc.count_distinct(values, mode="only_valid").as_py()
        if not 2 <= number <= max(2, len(values) // 3) or values.null_count > len(values) // 20:
            continue
        named = _named(column.name)
        if named == len(_KEY_NAMES) and column.kind == "bigint" and number > _FEW_NUMBERS:
            continue
        is_text = column.kind == "string"
        found.append((named + (0 if is_text else len(_KEY_NAMES)), place, Key(column.name, number)))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _named(column: str) -> int:
    """The place of a column's name among those that keys have; their number where it is none of them."""
    words = words_of(column)
    for place, name in enumerate(_KEY_NAMES):
        if name in words or (len(name) > _WORD_LONGER_THAN and any(name in word for word in words)):
            return place
    return len(_KEY_NAMES)


def _is_id(column: str) -> bool:
    """Whether a name ends as those of ids do."""
    last = (words_of(column) or [""])[-1]
    return last in ("id", "no", "number", "code", "zip") or (last.endswith("id") and _named(column) < len(_KEY_NAMES))


def _measures(texts: Texts, taken: set[str]) -> list[str]:
    """At most two columns of numbers that are worth a mean: no ids, and no first column that numbers the rows."""
    first = texts.columns[0].name
    numbers = [
        one for one in texts.columns if (one.kind in ("bigint", "double") or one.number) and one.name not in taken
    ]
    named = [one.name for one in numbers if not _is_id(one.name) and one.name.lower() not in _NO_NAMES]
    varied = [name for name in named if pc.count_distinct(texts.of(name)).as_py() > 1]
    return [name for name in varied if name != first or not _numbers_rows(texts.of(name), texts.kind(name))][:2]


def _numbers_rows(values: pa.ChunkedArray, kind: str) -> bool:
    """Whether values are whole numbers that follow each other, each once."""
    if kind != "bigint" or values.null_count:
        return False
    number = values.cast(pa.int64())
    span = pc.max(number).as_py() - pc.min(number).as_py() + 1
    return bool(span == len(number) == pc.count_distinct(number).as_py())


def _lateness(event: Times, arrival: Times | None) -> Lateness:
    """How far rows came behind the latest before them, in the order of arrival, or else of the file."""
    micros = event.micros
    if arrival is not None:
        table = pa.table({"event": micros, "arrival": arrival.micros}).drop_null()
        micros = table.sort_by("arrival")["event"].combine_chunks()
    known = micros.drop_null()
    behind = pc.subtract(pc.cumulative_max(known), known)
    often = int(pc.quantile(behind, 0.99, interpolation="higher")[0].as_py())
    most = int(pc.max(behind).as_py())
    if not most:
        return Lateness(0, 0, _UNKNOWN_DELAY, HOUR, arrival is not None)
    delay = _rounded(often)
    allowed = _rounded(most) - delay
    if allowed % MINUTE:  # nobody writes 604799s
        allowed = _rounded(most)
    return Lateness(often, most, delay, max(allowed, 0) or delay, arrival is not None)


def _rounded(length: int) -> int:
    """The next length that people write; whole days above those."""
    return next((one for one in _ROUND if one >= length), -(-length // DAY) * DAY)


def _size(rows: int, key: Key | None, span: int) -> int:
    """The smallest window that has a few rows of a key in the mean."""
    keys = 1 if key is None else key.values
    for size in _SIZES:
        windows = max(1, span // size)
        if rows / (windows * keys) >= _ROWS_PER_WINDOW:
            return size
    return _SIZES[-1]


def _sample(texts: Texts, event: Times, columns: list[str]) -> list[tuple[int, dict[str, object]]]:
    """The first rows that have an event time, with these columns."""
    found: list[tuple[int, dict[str, object]]] = []
    for number in range(texts.table.num_rows):
        at = event.micros[number].as_py()
        if at is None:
            continue
        found.append((at, {name: _value(texts, name, number) for name in columns}))
        if len(found) == _SAMPLE:
            break
    return found


def _value(texts: Texts, name: str, number: int) -> object:
    text = texts.of(name)[number].as_py()
    if text is None:
        return None
    match texts.kind(name):
        case "bigint":
            return int(text)
        case "double":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case _:
            return text
