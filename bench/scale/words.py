"""The words of docs/scale.md, between its figures."""

INTRODUCTION = """# Scale

What each step of windrow costs, as a formula of what it has to do with; what a load needs by these formulas; how many
files and log entries a year leaves; and where it breaks, with what to do then. Made by `make scale-page` from what
`make scale` and `make soak` have measured on one machine. The formulas say how things grow; seconds on your machine
will differ, so measure there.
"""

PARTS = (
    'what each step costs and a load needs (`make scale ARGS="--only costs"`)',
    'a year of ticks (`make scale ARGS="--only history"`)',
    "a soak (`make soak`)",
)
MISSING = """Not measured yet, and so not on this page: {what}.
"""

STEPS = {
    "landing": "landing",
    "tick": "tick, to its panes",
    "tables": "`panes`, `ticks`, dead letters",
    "refresh": "`current`",
    "compaction": "compaction of the journal",
    "maintenance": "maintenance",
    "repeated": "maintenance with nothing to do",
}
UNITS = {
    "rows": "µs a row",
    "touched": "µs a changed cell",
    "written": "µs a written cell",
    "open": "µs an open cell",
    "copied": "µs a copied row",
    "files": "µs a file",
    "bytes": "µs a MiB",
}

COSTS = """## What each step costs

    seconds = fixed + (µs a row * rows + µs a changed cell * changed cells + ...) / 1,000,000 / cores

The fixed seconds are those of the driver: planning, commits, looks at logs. More cores do not make them fewer. All else
is divided among the cores, in as many [partitions](clusters.md#partitions) as the work is worth.

- **Landing** writes each row once. A source with [`copy: false`](pipeline-files.md#read-in-place) lands places, not
  rows.
- A **tick** reads its rows and the open cells that it may change, and writes each cell that it changes. One that has
  about as many rows as there are open cells, or more, writes all of them, and so is the compaction of the journal too.
  A row costs more where it shares its cell with few others.
- The **tables** get the files of the journal under other names, and small files that the driver writes.
- **`current`** gets the changed rows where panes replace others, and all rows that are in one file with them once more
  (*copied rows*).
- A **compaction of the journal** writes all open cells. It comes after eight ticks that have to be read, and after 64
  in any case.
- **Maintenance** reads and writes what is in small files.
"""

CHECKED = """The coefficients come from {fitted} sizes, on two cores: up to {rows} rows a tick, {touched} changed cells
and {open} open ones. Others check them: one between these, and one on a single core. Partitions are in no formula:
there were as many as cores.
"""

LOAD = """## A billion rows a day, ten million open cells

By the formulas: the rows come evenly over the day, and each is equally likely to fall into any open cell. A stream
keeps up if landing, tick, tables, its share of a compaction and its share of `current` (at most once a minute) take
half of the time between two ticks, so that it can also catch up. (A tick with more rows than there are open cells has
no share of a compaction.) *None* means that {most} cores are not enough, or that the fixed seconds alone take longer.
The seconds, and the first number of cores, are those of a stage that copies no row of `current`; the last column is
for one that copies as many as there are open cells (where few windows of many change, Delta's MERGE writes `current`
instead, which was not measured). Maintenance is not in it.

This is far beyond what was measured, and takes the work to be divided evenly among any number of cores. Hot keys, the
network, and more tasks than cores come to it, so take the numbers for the least.
"""

YEAR = """## Files and log entries of a year

A tick of this stage commits to {tables} tables. `journal` and `panes` get a file for each partition of the tick's
shuffle, which is as many as the work is worth and as there are cores, here {cores}; the others get these files:
{files}. `current` is committed once a minute at most. Each commit is two entries of a log: its actions and its
checksums; every 50th has a checkpoint too. The bytes are those of the load above, in `raw` and `panes`; `current` has
a row for each window, however many ticks change it.

- `windrow maintain` once a day merges files of less than 96 MB into files of up to 128 MB, and removes the replaced
  ones after `--keep`.
- Delta removes commits that are older than 30 days, whole days at once, whenever it makes a checkpoint.
  `windrow maintain --log 7d` does so after seven days, and does not wait for a whole day.
- Transitions of expired windows are dropped from the journal after `--keep`, so it holds what is open, one control row
  for each tick, and the dead letters.
- `raw`, `panes` and `current` grow with the data. A commit does not: it looks only at the files since the newest
  compaction.
"""

HISTORY = """## A year of ticks

A small lake was made by the stream, and its newest tick was written again and again, with rows of five minutes later
and commits {apart:g} seconds later each time, with the daily compactions of maintenance, and without what Delta has
removed from the logs after 30 days. At one every five minutes 100,000 ticks are a year. Then the real stream continued
from there: it opened the lake, landed ten files, ticked and wrote its tables, and `current` was compared with all rows
of `raw`. Medians; each tick has 20 rows, so its seconds are those of the driver. In each tenth landing Spark writes
down the names of all files that have ever landed. The files themselves have been moved away, all but the last: Spark
lists the folder at each landing.

Opening and `windrow status` grow with the log entries that are kept, up to those of 30 days, and not with all that
there have ever been. A tick, its tables and `current` do not grow. A landing takes longer, most of all where Spark
writes down all names: [what to do then](#where-it-breaks-and-what-to-do). `windrow status` counts rows by what Delta
knows of each file. It does not know how many panes are early and how many on time: two columns of `panes` are read.
"""

SOAK = """## A soak

`make soak`: {hours} hours, {rows} rows, a tick every 15 seconds, {kills} kills with -9 at random moments of the first
eighth; then one process lives on, so that its growth is seen. {backfills} backfills and {runs} runs of maintenance
took place beside the stream. A reader with `deltalake` and DuckDB has looked {reads} times: whether `current` is what
the panes up to its own tick come to, and whether the panes of every window come to one or none; every sixth time,
whether `raw` has every row once. Maintenance kept old files (`stored` has those too) and log entries for 65 minutes;
these two are judged from when nearly nothing of the time of kills is kept, and the slope taken for as long as the rest.
In the end, all late rows were restated, and stream and batch compared. What was wrong: {torn}.
"""

BREAKS = """## Where it breaks, and what to do
"""
LIMITS = (
    (
        "fixed seconds of a tick",
        "ticks come faster than the driver plans and commits them",
        "longer ticks: a larger `--every`, `max_files_per_batch`, `max_versions_per_tick`",
    ),
    (
        "stages of one driver",
        "several stages tick at once and share its cores for planning",
        "a pipeline file, a lake and a driver for each group of stages, over the same source with `copy: false`",
    ),
    (
        "`current`",
        "changed rows are in one file with many others: each refresh that changes windows of such a file copies all of "
        "its rows again",
        "a longer `refresh`; a stage without early panes (`discarding`, `at_close`) appends and copies nothing",
    ),
    (
        "open cells",
        "they do not fit into memory and disks of the executors in one shuffle",
        "a stage for each part of the keys, `where: pmod(hash(customer), 4) = 0` and so on, in lakes of their own; "
        "readers unite their tables",
    ),
    (
        "one key",
        "a list or a join has all rows of a key and window in one task, and sessions and record windows all windows of "
        "a key ([skew](clusters.md#skew))",
        "split the key by something that belongs to it; fixed, calendar, cumulative and sliding windows need nothing",
    ),
    ("`raw`", "rows are copied once more, and nobody needs them there", "`copy: false`: they are read where they are"),
    (
        "log entries",
        "ticks every few seconds, on a disk or HDFS: Delta lists the whole log to find its end",
        "`windrow maintain --log 7d`, or `--log 2d`",
    ),
    (
        "names of landed files",
        "Spark's checkpoint of a copied file source holds the name of every file that has ever landed, in the driver's "
        "memory too",
        "larger files; a lake for each year; `copy: false`, Kafka or a Delta table as the source",
    ),
    (
        "`windrow status`",
        "Delta does not know the answer of large files: two columns are read of those of `panes` with several timings "
        "or retractions, and of those of `raw` with some dead rows, or with offsets of Kafka",
        "`windrow status --check` for monitoring: it reads the newest files of `current`",
    ),
    (
        "one lake",
        "a driver, a network or a team is at its end",
        "several lakes by region or customer, with the same file and `--set lake=...`; readers unite their `current`",
    ),
)
"""What breaks, when, and what to do then."""
