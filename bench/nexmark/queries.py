"""The queries: what they say, and their results by DuckDB over the same files, which everybody's are compared with.

Times in results are milliseconds since 1970. Of several hot items or highest bids of a window, the one with the
greatest numbers counts, so that a window has one row. Nexmark's q12 has windows of processing time, of which no two
runs have the same: here they are windows of event time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.nexmark.events import COLUMNS, Data

WINDOW = {"window_start": "bigint", "window_end": "bigint"}
_TEN = "ms // 10000 * 10000 AS window_start, ms // 10000 * 10000 + 10000 AS window_end"


@dataclass(frozen=True)
class Query:
    """A query over some kinds of events: the columns of its result, and the SQL of DuckDB that gives it.

    `batches` are those of files that a tick or a micro-batch takes: as many as are committed in about as long as Flink
    has between two checkpoints.
    """

    name: str
    title: str
    reads: tuple[str, ...]
    columns: Mapping[str, str]
    expected: str
    batches: int = 2


QUERIES: Mapping[str, Query] = {
    query.name: query
    for query in (
        Query(
            "q5", "hot items: the auction with most bids, 10 s by 2 s", ("bids",),
            {**WINDOW, "num": "bigint", "auction": "bigint"},
            """
            WITH near AS (SELECT auction, ms // 2000 * 2000 - 2000 * unnest(range(5)) AS window_start FROM bids),
            counts AS (SELECT window_start, auction, count(*) AS num FROM near GROUP BY ALL)
            SELECT window_start, window_start + 10000 AS window_end, num, auction FROM counts
            QUALIFY row_number() OVER (PARTITION BY window_start ORDER BY num DESC, auction DESC) = 1
            """,
            batches=1,
        ),
        Query(
            "q7", "highest bid, 10 s", ("bids",),
            {**WINDOW, "price": "bigint", "auction": "bigint", "bidder": "bigint", "ms": "bigint"},
            f"""
            SELECT {_TEN}, price, auction, bidder, ms FROM bids QUALIFY row_number() OVER (
                PARTITION BY ms // 10000 ORDER BY price DESC, auction DESC, bidder DESC, ms DESC) = 1
            """,
        ),
        Query(
            "q8", "new persons who sell, 10 s", ("persons", "auctions"),
            {**WINDOW, "id": "bigint", "name": "string"},
            """
            SELECT DISTINCT p.ms // 10000 * 10000 AS window_start, window_start + 10000 AS window_end, p.id, p.name
            FROM persons p JOIN auctions a ON p.id = a.seller AND p.ms // 10000 = a.ms // 10000
            """,
        ),
        Query(
            "q11", "sessions of bidders, 10 s", ("bids",),
            {**WINDOW, "bidder": "bigint", "num": "bigint"},
            """
            WITH begins AS (
                SELECT bidder, ms, coalesce(ms - lag(ms) OVER (PARTITION BY bidder ORDER BY ms) > 10000, true) AS begins
                FROM bids
            ), numbered AS (
                SELECT bidder, ms, count_if(begins) OVER (PARTITION BY bidder ORDER BY ms) AS session FROM begins
            )
            SELECT min(ms) AS window_start, max(ms) + 10000 AS window_end, bidder, count(*) AS num
            FROM numbered GROUP BY bidder, session
            """,
        ),
        Query(
            "q12", "bids of bidders, 10 s", ("bids",),
            {**WINDOW, "bidder": "bigint", "num": "bigint"},
            f"SELECT {_TEN}, bidder, count(*) AS num FROM bids GROUP BY ALL",
        ),
    )
}  # fmt: skip


def tables(data: Data) -> str:
    """The SQL that makes a view of DuckDB of each kind of event."""
    made = []
    for kind, columns in COLUMNS.items():
        types = ", ".join(f"'{name}': '{kind.replace('string', 'varchar')}'" for name, kind in columns.items())
        options = f"auto_detect = false, delim = ',', header = false, columns = {{{types}}}"
        made.append(f"CREATE VIEW {kind} AS SELECT * FROM read_csv('{data.files(kind)}', {options})")
    return ";\n".join(made)
