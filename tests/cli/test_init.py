"""`windrow init`: what it makes of CSV files, and that its two files are right as they stand."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from tests.cli.command import windrow
from tests.model.transcripts import check
from windrow.drivers.init.guess import guess
from windrow.drivers.init.kinds import kind_of
from windrow.sources.csv_headers import columns_of, header_of
from windrow.sources.files import files_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.time_columns import TimeColumn
from windrow.spec.times import HOUR, MINUTE, SECOND, parse_time
from windrow.spec.transcripts.cases import read_transcripts

FIRST = datetime(2024, 3, 30, 22, tzinfo=UTC)


def csv(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def trips(path: Path, number: int = 600, arrival: bool = True) -> Path:
    """Rides, written as they ended; one in fifty comes an hour late."""
    chance, rows = random.Random(7), []
    for index in range(number):
        start = FIRST + timedelta(minutes=index)
        delay = timedelta(minutes=chance.randrange(2, 9) + (70 if index % 50 == 49 else 0))
        fields = [f"{start:%Y-%m-%d %H:%M:%S}", f"{start + delay:%Y-%m-%d %H:%M:%S}"]
        rows.append((start + delay, [*fields, f"st-{index % 4}", str(index), f"{chance.random() * 9:.2f}", ""]))
    rows = sorted(rows)
    names = "pickup time,received_at,Station,trip id,distance km,tip"
    if arrival:
        return csv(path, names, [",".join(fields) for _, fields in rows])
    return csv(path, names.replace("received_at,", ""), [",".join([f[0], *f[2:]]) for _, f in rows])


def test_rides_with_an_arrival(tmp_path: Path) -> None:
    found = guess(trips(tmp_path / "trips.csv"))
    event = found.event_time
    assert (event.column, event.format, event.zone) == ("pickup_time", "iso8601", "UTC")
    assert found.arrival is not None and found.arrival.column == "received_at"
    assert found.key is not None and (found.key.column, found.key.values) == ("Station", 4)
    assert found.measures == ["distance_km"]
    assert found.lateness.by_arrival and found.lateness.delay == 2 * HOUR
    assert 60 * MINUTE < found.lateness.often <= found.lateness.most < 2 * HOUR
    assert found.size == HOUR


def test_arrival_that_is_not_known_is_said(tmp_path: Path) -> None:
    data = trips(tmp_path / "trips.csv", arrival=False)
    assert guess(data).arrival is None
    out = windrow("init", data, "--output", tmp_path / "out")
    assert out.code == 0 and "arrival      not known" in out.out
    assert "When rows arrived is not known" in (tmp_path / "out" / "trips.yaml").read_text()


def test_both_files_are_right_as_they_stand(tmp_path: Path) -> None:
    out = windrow("init", trips(tmp_path / "trips.csv"), "--output", tmp_path / "out", "--lake", tmp_path / "lake")
    assert out.code == 0, out.err
    pipeline = Pipeline.from_yaml(tmp_path / "out" / "trips.yaml")
    assert pipeline.lake == str(tmp_path / "lake")
    assert windrow("plan", tmp_path / "out" / "trips.yaml").code == 0
    (case,) = read_transcripts(tmp_path / "out" / "trips-transcript.yaml")
    assert len(case.steps[0].add) == 10
    assert not check(case)


@pytest.mark.parametrize(
    "header", ["pickup time,Station,trip id,tip", "pickup_time,pickup-time,a b,a_b", "\ufeffat,1st,k,v"]
)
def test_the_source_finds_every_column_by_its_name(tmp_path: Path, header: str) -> None:
    data = csv(tmp_path / "a.csv", header, [f"2024-01-01T00:00:{n:02}Z,{n},k{n % 3},{n}" for n in range(60)])
    assert windrow("init", data, "--output", tmp_path).code == 0
    (source,) = Pipeline.from_yaml(tmp_path / "a.yaml").sources
    found = header_of(None, source.fields, files_of(source), f"file:{data}")  # type: ignore[arg-type]  # no Spark for a file of this machine
    names = source.schema if found is None else columns_of(source.fields, found)
    for column in source.schema:
        assert any(name in names for name in source.fields.names_of(column)), column


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    data = trips(tmp_path / "trips.csv")
    assert windrow("init", data, "--output", tmp_path).code == 0
    again = windrow("init", data, "--output", tmp_path)
    assert again.code == 2 and "is not overwritten" in again.err


@pytest.mark.parametrize(("unit", "name"), [(1, "unix_s"), (1000, "unix_ms"), (1_000_000, "unix_us")])
def test_numbers_that_are_times(tmp_path: Path, unit: int, name: str) -> None:
    times = [int(FIRST.timestamp() + 10 * n) * unit for n in range(50)]
    found = guess(csv(tmp_path / "a.csv", "ts,user_id,amount", [f"{t},{n % 5},{n}" for n, t in enumerate(times)]))
    assert (found.event_time.column, found.event_time.format) == ("ts", name)
    assert found.key is not None and found.key.column == "user_id"
    assert found.measures == ["amount"]
    assert (found.first, found.last) == (times[0] * 1_000_000 // unit, times[-1] * 1_000_000 // unit)


@pytest.mark.parametrize(
    ("column", "values", "key"),
    [
        ("glucose", 135, False), ("humidity", 60, False), ("bid", 60, False), ("gate", 8, True),
        ("deviceid", 60, True), ("stationCode", 60, True), ("ID", 60, True), ("zip_code", 60, True),
    ],
)  # fmt: skip
def test_whole_numbers_are_a_key_by_their_name_or_where_there_are_few(
    tmp_path: Path, column: str, values: int, key: bool
) -> None:
    rows = [f"2024-01-01T{n // 60:02}:{n % 60:02}:00Z,{n % values}" for n in range(900)]
    found = guess(csv(tmp_path / "a.csv", f"at,{column}", rows))
    assert (None if found.key is None else found.key.values) == (values if key else None)
    assert (column in found.measures) or key


def test_texts_among_numbers(tmp_path: Path) -> None:
    rows = [f"2024-01-01T00:00:{n:02}Z,{'n/a' if n == 7 else n}" for n in range(60)]
    found = guess(csv(tmp_path / "a.csv", "at,value", rows))
    (column,) = [one for one in found.columns if one.name == "value"]
    assert column.kind == "string" and "'n/a'" in column.note
    assert found.event_time.zone is None


def test_without_a_header_and_a_sorted_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"2024-01-01T00:00:{n:02}Z,a,{n}" for n in range(60)))
    found = guess(path)
    assert not found.has_header and [one.name for one in found.columns] == ["column_1", "column_2", "column_3"]
    assert found.lateness.most == 0 and found.lateness.delay == 10 * MINUTE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have rows"),
        ("a,b\n1,2\n", "must have a column of times"),
        ("sep=;\nat;b\n2024-01-01;1\n", 'must begin with its header; got "sep=;"'),
        ("# exported\nat,b\n2024-01-01,1\n2024-01-01,1\n", "header of as many values as its rows"),
        ('"a\nt",b\n2024-01-01,1\n', "must have a header of one line"),
        ("at,b\n2024-13-01,1\n", "must have a column of times"),
        ("zeit;tel\n02.03.2026 um 14;491700000\n", 'must have a column of times; got "zeit: 02.03.2026 um 14"'),
        (
            "at,b\n2024-01-01,1\n" + "a,b,c\n" * 3,
            'must have 2 values in each line: 3 of 4 lines have others; got "a,b,c"',
        ),
        ("at,a, A\n2024-01-01,1,2\n", 'must have a name of its own for each column; got "A"'),
    ],
)
def test_what_is_no_data_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    out = windrow("init", path)
    assert out.code == 2 and said in out.err


@pytest.mark.parametrize(("separator", "written"), [(";", '";"'), ("\t", r'"\t"'), ("|", '"|"')])
def test_values_between_other_separators(tmp_path: Path, separator: str, written: str) -> None:
    rows = [separator.join([f"2024-01-01T00:00:{n:02}Z", f'"a{separator}{n % 3}"', f"{n},5"]) for n in range(60)]
    data = csv(tmp_path / "a.csv", separator.join(["at", "shop", "price, net"]), rows)
    found = guess(data)
    assert found.separator == separator and [one.name for one in found.columns] == ["at", "shop", "price_net"]
    assert found.key is not None and found.key.values == 3
    assert "cast(replace(price_net, ',', '.') AS double)" in found.columns[2].note
    assert windrow("init", data, "--output", tmp_path).code == 0
    assert f"format: csv, separator: {written}}}" in (tmp_path / "a.yaml").read_text()
    shown = "a tab" if separator == "\t" else f'"{separator}"'
    assert f"a.csv, separated by {shown}; a landing batch" in " ".join(windrow("plan", tmp_path / "a.yaml").out.split())
    (source,) = Pipeline.from_yaml(tmp_path / "a.yaml").sources
    assert files_of(source).separator == separator
    assert not [case for case in read_transcripts(tmp_path / "a-transcript.yaml") if check(case)]


ROWS = [f"2024-01-01T00:{n:02}:00Z;b{n % 3};{n}" for n in range(40)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("zeit;shop;sum;\n" + "".join(f"{row};\n" for row in ROWS), ["zeit", "shop", "sum"]),
        (";zeit;shop;sum\n" + "".join(f"{n};{row}\n" for n, row in enumerate(ROWS)), ["zeit", "shop", "sum"]),
        ("\r\n \r\nzeit;shop;sum\r\n" + "".join(f"{row}\r\n" for row in ROWS), ["zeit", "shop", "sum"]),
        ("Zeit;Größe;true\n" + "".join(f"{row}\n" for row in ROWS), ["Zeit", "Groesse", "column_true"]),
        ('"Zeit";"Preis, netto";"sum"\n' + "".join(f"{row}\n" for row in ROWS), ["Zeit", "Preis_netto", "sum"]),
        ("zeit;shop;Preis, netto\n" + "".join(f"{row},5\n" for row in ROWS), ["zeit", "shop", "Preis_netto"]),
    ],
)
def test_headers_as_they_come(tmp_path: Path, text: str, columns: list[str]) -> None:
    (tmp_path / "a.csv").write_text(text, newline="")
    found = guess(tmp_path / "a.csv")
    assert [one.name for one in found.columns] == columns and found.rows == 40 and found.without_time == 0
    assert found.key is not None and found.key.column == columns[1]
    assert windrow("init", tmp_path / "a.csv", "--output", tmp_path).code == 0
    (source,) = Pipeline.from_yaml(tmp_path / "a.yaml").sources
    header = header_of(None, source.fields, files_of(source), f"file:{tmp_path}/a.csv")  # type: ignore[arg-type]
    names = source.schema if header is None else columns_of(source.fields, header)
    assert all(any(name in names for name in source.fields.names_of(column)) for column in source.schema)


@pytest.mark.parametrize(
    ("values", "kind", "note"),
    [
        (["01067", "80331"], "string", "begin with a zero"),
        (["1,5", "2", "3,25"], "string", "cast(replace(x, ',', '.') AS double)"),
        (["1.100,50", "2,5"], "string", "cast(replace(replace(x, '.', ''), ',', '.') AS double)"),
        (["1,100", "12"], "string", "between thousands: cast(replace(x, ',', '') AS double)"),
        (["1.100", "2.250"], "double", "between thousands, make it a string"),
        (["1.5", "2"], "double", ""), (["0", "12"], "bigint", ""), (["true", "False"], "boolean", ""),
    ],
)  # fmt: skip
def test_the_types_of_texts(values: list[str], kind: str, note: str) -> None:
    found = kind_of("x", pa.chunked_array([pa.array([*values, None])]))
    assert found.kind == kind and (note in found.note if note else found.note == "")
    assert found.number == (note if "'.')" in note else "")


@pytest.mark.parametrize(
    ("names", "row", "column"),
    [
        ("geburtsdatum;zeitpunkt", "1980-03-02;2024-01-01 10:00:00", "zeitpunkt"),
        ("status_ab;zeitstempel", "2024-01-01 09:00;2024-01-01 10:00:00", "zeitstempel"),
        ("day;stamp", "2024-01-01;2024-01-01 10:00:00", "stamp"),
    ],
)
def test_which_column_says_when_something_happened(tmp_path: Path, names: str, row: str, column: str) -> None:
    assert guess(csv(tmp_path / "a.csv", names, [row] * 40)).event_time.column == column


def test_a_small_number_in_the_transcript(tmp_path: Path) -> None:
    rows = [f"2024-01-01T00:00:{n:02}Z,k{n % 3},0.00001,{n}" for n in range(40)]
    data = csv(tmp_path / "a.csv", "time,k,v,window", rows)
    assert windrow("init", data, "--output", tmp_path).code == 0
    assert not [case for case in read_transcripts(tmp_path / "a-transcript.yaml") if check(case)]


def test_rows_without_a_time_are_counted(tmp_path: Path) -> None:
    rows = [f"{'' if n % 10 == 0 else f'2024-01-01T00:00:{n:02}Z'},a,{n}" for n in range(60)]
    found = guess(csv(tmp_path / "a.csv", "at,k,v", rows))
    assert found.without_time == 6 and len(found.sample) == 10
    assert all(at % SECOND == 0 for at, _ in found.sample)


@pytest.mark.parametrize(
    ("times", "pattern", "first", "doubt"),
    [
        (["31.01.2024 09:05", "01.02.2024 10:00"], "dd.MM.yyyy HH:mm", "2024-01-31T09:05:00", ""),
        (["1.2.2024 9:05:01", "31.12.2024 10:00:00"], "d.M.yyyy H:mm:ss", "2024-02-01T09:05:01", ""),
        (["1/31/2024 9:05 PM", "2/1/2024 12:00 AM"], "M/d/yyyy h:mm a", "2024-01-31T21:05:00", ""),
        (["31/01/24", "01/02/24"], "dd/MM/yy", "2024-01-31T00:00:00", ""),
        (
            ["1/2/2024 9:05", "1/3/2024 9:05", "1/4/2024 9:05"],
            "M/d/yyyy H:mm",
            "2024-01-02T09:05:00",
            "month before day",
        ),
        (
            ["2/1/2024 9:05", "3/1/2024 9:05", "4/1/2024 9:05"],
            "d/M/yyyy H:mm",
            "2024-01-02T09:05:00",
            "day before month",
        ),
        (["2/1/2024 9:05 am", "3/1/2024 9:05 am"], "M/d/yyyy h:mm a", "2024-02-01T09:05:00", "month before day"),
        (["2024/01/31T09:05:01.5", "2024/02/01T10:00:00"], "yyyy/MM/dd'T'HH:mm:ss[.S]", "2024-01-31T09:05:01.5", ""),
        (["31-Jan-2024, 09:05", "01-Feb-2024, 10:00:30"], "dd-MMM-yyyy, HH:mm[:ss]", "2024-01-31T09:05:00", ""),
    ],
)
def test_times_as_people_write_them(tmp_path: Path, times: list[str], pattern: str, first: str, doubt: str) -> None:
    path = csv(tmp_path / "a.csv", "at;k", [f"{at};a" for at in times])
    found = guess(path)
    assert (found.event_time.format, found.event_time.zone) == (pattern, "UTC")
    assert found.sample[0][0] == parse_time(f"{first}Z")
    assert doubt in found.event_time.why and (doubt or "guess" not in found.event_time.why)
    out = windrow("init", path, "--output", tmp_path / "out")
    assert out.code == 0, out.err
    (source,) = Pipeline.from_yaml(tmp_path / "out" / "a.yaml").sources
    assert source.event_time == TimeColumn("at", pattern, "UTC")


def test_days_that_are_none_have_no_time(tmp_path: Path) -> None:
    days = [f"{n % 28 + 1:02}.02.2024" for n in range(60)]
    found = guess(csv(tmp_path / "a.csv", "day;k", [f"{day};a" for day in [*days, "31.02.2024", "soon"]]))
    assert (found.event_time.format, found.without_time) == ("dd.MM.yyyy", 2)


def test_a_first_line_with_a_time_is_no_header(tmp_path: Path) -> None:
    found = guess(csv(tmp_path / "a.csv", "31.01.2024 09:05;a", ["01.02.2024 09:05;b"]))
    assert not found.has_header and found.event_time.column == "column_1"


def test_lines_with_another_number_of_values_are_passed_over(tmp_path: Path) -> None:
    rows = [f"{n:02}.02.2024;a;{n}" for n in range(1, 29)]
    path = csv(tmp_path / "a.csv", "day;k;v", [*rows, "Total;28"])
    found = guess(path)
    assert (found.rows, found.unreadable, found.without_time) == (28, 1, 0)
    out = windrow("init", path, "--output", tmp_path / "out")
    assert "1 line with another number of values, which will be dead letters" in out.out
    assert "# 1 line with another number of values will be" in (tmp_path / "out" / "a.yaml").read_text()


def test_numbers_with_a_decimal_comma_are_measured(tmp_path: Path) -> None:
    """And a column that numbers the rows is not."""
    rows = [f"{n};Nord;01.02.2024 10:{n:02};1.00{n % 5},{n % 7}5" for n in range(60)]
    path = csv(tmp_path / "a.csv", "Buchung;Filiale;Zeitpunkt;Betrag", [*rows, "60;Ost;01.02.2024 11:00;7,5"])
    assert guess(path).measures == ["Betrag"]
    out = windrow("init", path, "--output", tmp_path / "out")
    assert out.code == 0, out.err
    pipeline = Pipeline.from_yaml(tmp_path / "out" / "a.yaml")
    assert "replace(replace(`Betrag`, '.', ''), ',', '.')" in pipeline.to_yaml()
    (case,) = read_transcripts(tmp_path / "out" / "a-transcript.yaml")
    assert not check(case)


def test_arrival_by_a_german_name(tmp_path: Path) -> None:
    rows = [f"01.02.2024 10:{n:02};01.02.2024 10:{n + 1:02};a" for n in range(50)]
    found = guess(csv(tmp_path / "a.csv", "Zeitpunkt;Eingegangen am;k", rows))
    assert found.arrival is not None and found.arrival.column == "Eingegangen_am"


@pytest.mark.parametrize("name", ["end", "interval", "case", "between", "in", "order"])
@pytest.mark.parametrize(
    "values", [[1, 2, 3], ["a", "b", "c"], ["1,5", "2,25", "3,0"]], ids=["numbers", "key", "commas"]
)
def test_columns_that_have_the_names_of_words_of_sql(tmp_path: Path, name: str, values: list[object]) -> None:
    rows = [f"2024-01-01T00:00:{n:02}Z;{values[n % 3]}" for n in range(60)]
    out = windrow("init", csv(tmp_path / "a.csv", f"at;{name}", rows), "--output", tmp_path)
    assert out.code == 0, out.err
    assert windrow("plan", tmp_path / "a.yaml").code == 0
    assert not [case for case in read_transcripts(tmp_path / "a-transcript.yaml") if check(case)]


def test_the_date_and_the_time_of_day_in_two_columns(tmp_path: Path) -> None:
    header = "date;time;arrived date;arrived time;k"
    rows = [f"01.02.2024;10:{n:02};01.02.2024;10:{n + 2:02}:30;a" for n in range(50)]
    path = csv(tmp_path / "a.csv", header, rows)
    found = guess(path)
    event, arrival = found.event_time, found.arrival
    assert (event.names, event.format) == ("date and time", "dd.MM.yyyy H:mm")
    assert arrival is not None and (arrival.column, arrival.time_of_day) == ("arrived_date", "arrived_time")
    assert found.first == parse_time("2024-02-01T10:00:00Z") and found.key is None
    assert windrow("init", path, "--output", tmp_path / "out").code == 0
    (source,) = Pipeline.from_yaml(tmp_path / "out" / "a.yaml").sources
    assert source.event_time == TimeColumn("date", "dd.MM.yyyy H:mm", "UTC", "time")
    assert source.arrival_time == TimeColumn("arrived_date", "dd.MM.yyyy H:mm:ss", "UTC", "arrived_time")


@pytest.mark.parametrize(
    ("header", "row", "names"),
    [
        ("date;k;clock", "2024-02-01;a;10:{n:02}:00", "date and clock"),
        ("date;from;k;to", "2024-02-01;10:{n:02};a;11:00", "date and from"),
        ("date;k;from;to", "2024-02-01;a;10:{n:02};11:00", "date"),
        ("at;clock;k", "2024-02-01 09:{n:02};10:{n:02};a", "at"),
    ],
)  # fmt: skip
def test_which_column_has_the_time_of_day(tmp_path: Path, header: str, row: str, names: str) -> None:
    assert guess(csv(tmp_path / "a.csv", header, [row.format(n=n) for n in range(50)])).event_time.names == names


@pytest.mark.parametrize("code", ["12-34-5678", "99.99.2024", "12-Mai-2024"])
def test_texts_that_only_look_like_dates_are_no_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Even where a few of them could be."""
    monkeypatch.chdir(tmp_path)  # where a pipeline file would be written
    path = csv(tmp_path / "a.csv", "time;k", [*[f"{code};a"] * 40, f"01{code[2]}02{code[2]}2024;b"])
    assert windrow("init", path).code == 2
