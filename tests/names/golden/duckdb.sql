CREATE SCHEMA IF NOT EXISTS "traffic";

CREATE OR REPLACE VIEW "traffic"."cars_hourly" AS
SELECT
  "traffic_light",
  "window_start",
  "window_end",
  "total_cars",
  "passengers",
  "timing",
  "pane_index",
  "on_time_index",
  "is_last",
  "event_time",
  "watermark",
  "produced_at",
  "tick"
FROM DELTA_SCAN('/data/lake/cars_hourly/current');

COMMENT ON VIEW "traffic"."cars_hourly" IS 'stage cars_hourly, 1h long, one after the other: each pane that stands, by key and window';

COMMENT ON COLUMN "traffic"."cars_hourly"."traffic_light" IS 'key';

COMMENT ON COLUMN "traffic"."cars_hourly"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly"."total_cars" IS 'the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements';

COMMENT ON COLUMN "traffic"."cars_hourly"."passengers" IS 'the sum of passengers; additive: sum it over keys and windows';

COMMENT ON COLUMN "traffic"."cars_hourly"."timing" IS 'early, on_time or late, against the watermark';

COMMENT ON COLUMN "traffic"."cars_hourly"."pane_index" IS 'number of the pane within its window, from 0';

COMMENT ON COLUMN "traffic"."cars_hourly"."on_time_index" IS 'number among the panes of the window that are not early, from 0; null for early ones';

COMMENT ON COLUMN "traffic"."cars_hourly"."is_last" IS 'true for the last pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."cars_hourly"."watermark" IS 'watermark of the stage after the tick; null before it is known and at the end of time';

COMMENT ON COLUMN "traffic"."cars_hourly"."produced_at" IS 'processing time of the tick';

COMMENT ON COLUMN "traffic"."cars_hourly"."tick" IS 'the tick that emitted the row';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_panes" AS
SELECT
  "traffic_light",
  "window_start",
  "window_end",
  "total_cars",
  "passengers",
  "timing",
  "pane_index",
  "on_time_index",
  "is_last",
  "event_time",
  "watermark",
  "produced_at",
  "tick",
  "change",
  "weight",
  "is_first",
  "trigger",
  "watermark_percentile"
FROM DELTA_SCAN('/data/lake/cars_hourly/panes');

COMMENT ON VIEW "traffic"."cars_hourly_panes" IS 'stage cars_hourly, 1h long, one after the other: every result that was shown and every one that was retracted, in order';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."traffic_light" IS 'key';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."total_cars" IS 'times weight; the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."passengers" IS 'times weight; the sum of passengers; additive: sum it over keys and windows';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."timing" IS 'early, on_time or late, against the watermark';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."pane_index" IS 'number of the pane within its window, from 0';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."on_time_index" IS 'number among the panes of the window that are not early, from 0; null for early ones';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."is_last" IS 'true for the last pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."watermark" IS 'watermark of the stage after the tick; null before it is known and at the end of time';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."produced_at" IS 'processing time of the tick';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."tick" IS 'the tick that emitted the row';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."change" IS 'insert, update_preimage, update_postimage or delete';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."weight" IS '+1 for insert and update_postimage, -1 for what is retracted';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."is_first" IS 'true for the first pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."trigger" IS 'the trigger that fired; expiry for a closing pane that none asked for';

COMMENT ON COLUMN "traffic"."cars_hourly_panes"."watermark_percentile" IS 'share of source partitions whose watermark had reached the window''s end; null if late';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_dead_letters" AS
SELECT
  "reason",
  "rule",
  "event_time",
  "window_start",
  "window_end",
  "element",
  "source",
  "partition",
  "offset",
  "arrived_at",
  "tick",
  "restated_by"
FROM DELTA_SCAN('/data/lake/cars_hourly/dead_letters');

COMMENT ON VIEW "traffic"."cars_hourly_dead_letters" IS 'stage cars_hourly, 1h long, one after the other: the elements that are in no result, with the reason';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."reason" IS 'why it is in no result';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."rule" IS 'the rule that was broken';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."element" IS 'the row as JSON';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."source" IS 'the source that it came from';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."partition" IS 'source partition of the watermark';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."offset" IS 'where it was read: the path of its file, or its offset in the partition';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."arrived_at" IS 'arrival time';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."tick" IS 'the tick that emitted the row';

COMMENT ON COLUMN "traffic"."cars_hourly_dead_letters"."restated_by" IS 'the backfill that took it in; null if none has';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_ticks" AS
SELECT
  "tick",
  "generation",
  "kind",
  "watermark_before",
  "watermark",
  "drained",
  "now",
  "elements_read",
  "assigned",
  "unassigned",
  "filtered",
  "late",
  "closed",
  "rejected",
  "panes",
  "retractions",
  "open_cells",
  "outgrown",
  "duration_ms"
FROM DELTA_SCAN('/data/lake/cars_hourly/ticks');

COMMENT ON VIEW "traffic"."cars_hourly_ticks" IS 'stage cars_hourly, 1h long, one after the other: one row a tick, with what it counted';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."tick" IS 'the tick that emitted the row';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."generation" IS 'which rebuild of the stage';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."kind" IS 'stream, admission, backfill, restatement or forgetting';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."watermark_before" IS 'watermark before the tick';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."watermark" IS 'watermark of the stage after the tick; null before it is known and at the end of time';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."drained" IS 'whether the watermark is at the end of time: every window has ended';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."now" IS 'processing time of the tick';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."elements_read" IS 'rows that the tick read';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."assigned" IS 'pairs of element and window that were assigned';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."unassigned" IS 'elements in no window';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."filtered" IS 'elements that `where` left out';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."late" IS 'pairs whose window had expired';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."closed" IS 'pairs whose window was closed';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."rejected" IS 'rows that were dead when they landed, or on which an expression failed';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."panes" IS 'panes emitted';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."retractions" IS 'panes retracted';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."open_cells" IS 'cells open after the tick; null where windows are formed as they fire';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."outgrown" IS 'sessions that have become longer than max_session says';

COMMENT ON COLUMN "traffic"."cars_hourly_ticks"."duration_ms" IS 'milliseconds of looking at the rows and planning; the work itself is part of the commit';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_final" AS
SELECT
  "shown"."traffic_light",
  "shown"."window_start",
  "shown"."window_end",
  "shown"."total_cars",
  "shown"."passengers",
  "shown"."timing",
  "shown"."pane_index",
  "shown"."on_time_index",
  "shown"."is_last",
  "shown"."event_time",
  "shown"."watermark",
  "shown"."produced_at",
  "shown"."tick"
FROM (
  SELECT
    "traffic_light",
    "window_start",
    "window_end",
    "total_cars",
    "passengers",
    "timing",
    "pane_index",
    "on_time_index",
    "is_last",
    "event_time",
    "watermark",
    "produced_at",
    "tick",
    BOOL_OR(CAST("is_last" AS BOOLEAN)) OVER (PARTITION BY "traffic_light", "window_start", "window_end") AS "_ended"
  FROM "traffic"."cars_hourly"
) AS "shown"
LEFT JOIN (
  SELECT
    "tick" AS "tick",
    "kind" AS "_kind",
    MIN(CASE WHEN "kind" IN ('stream', 'follow') THEN "tick" END) OVER () AS "_streamed"
  FROM "traffic"."cars_hourly_ticks"
) AS "kinds"
  ON "kinds"."tick" = "shown"."tick"
CROSS JOIN (
  SELECT
    MAX("every"."watermark") AS "watermark",
    BOOL_OR(CAST("every"."drained" AS BOOLEAN)) AS "drained"
  FROM "traffic"."cars_hourly_ticks" AS "every"
  CROSS JOIN (
    SELECT
      MIN("later"."tick") AS "tick"
    FROM "traffic"."cars_hourly_ticks" AS "later"
    CROSS JOIN (
      SELECT
        MAX("tick") AS "tick"
      FROM (
        SELECT
          MAX("tick") AS "tick"
        FROM "traffic"."cars_hourly"
        UNION ALL
        SELECT
          MAX(CASE WHEN "kind" = 'forgetting' THEN "tick" - 1 END) AS "tick"
        FROM "traffic"."cars_hourly_ticks"
      ) AS "both"
    ) AS "newest"
    WHERE
      "later"."tick" > "newest"."tick" AND "later"."panes" + "later"."retractions" > 0
  ) AS "missing"
  WHERE
    "missing"."tick" IS NULL OR "every"."tick" < "missing"."tick"
) AS "reached"
WHERE
  "shown"."_ended"
  OR (
    (
      "kinds"."_kind" IN ('stream', 'follow')
      OR (
        "kinds"."_kind" = 'forgetting' AND "kinds"."_streamed" < "kinds"."tick"
      )
    )
    AND (
      "shown"."window_end" <= "reached"."watermark" - INTERVAL '300' SECOND
      OR "reached"."drained"
    )
  );

COMMENT ON VIEW "traffic"."cars_hourly_final" IS 'stage cars_hourly, 1h long, one after the other: the results of windows that have expired, which only a backfill changes';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."traffic_light" IS 'key';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."total_cars" IS 'the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."passengers" IS 'the sum of passengers; additive: sum it over keys and windows';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."timing" IS 'early, on_time or late, against the watermark';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."pane_index" IS 'number of the pane within its window, from 0';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."on_time_index" IS 'number among the panes of the window that are not early, from 0; null for early ones';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."is_last" IS 'true for the last pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."watermark" IS 'watermark of the stage after the tick; null before it is known and at the end of time';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."produced_at" IS 'processing time of the tick';

COMMENT ON COLUMN "traffic"."cars_hourly_final"."tick" IS 'the tick that emitted the row';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_asof" AS
SELECT
  "traffic_light",
  "window_start",
  "window_end",
  "total_cars",
  "passengers",
  "timing",
  "pane_index",
  "on_time_index",
  "is_last",
  "event_time",
  "watermark",
  "produced_at",
  "tick",
  COALESCE("_next_tick", 9223372036854775807) AS "valid_to_tick",
  COALESCE("produced_at", CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMPTZ)) AS "valid_from",
  CASE
    WHEN "_next_tick" IS NULL
    THEN CAST('9999-12-31 00:00:00+00:00' AS TIMESTAMPTZ)
    ELSE COALESCE("_next_time", CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMPTZ))
  END AS "valid_to"
FROM (
  SELECT
    "traffic_light",
    "window_start",
    "window_end",
    "total_cars",
    "passengers",
    "timing",
    "pane_index",
    "on_time_index",
    "is_last",
    "event_time",
    "watermark",
    "produced_at",
    "tick",
    "change",
    LEAD("tick") OVER (
      PARTITION BY "traffic_light", "window_start", "window_end", "pane_index"
      ORDER BY "tick" ASC NULLS FIRST, "pane_index" ASC NULLS FIRST, "weight" ASC NULLS FIRST
    ) AS "_next_tick",
    LEAD("produced_at") OVER (
      PARTITION BY "traffic_light", "window_start", "window_end", "pane_index"
      ORDER BY "tick" ASC NULLS FIRST, "pane_index" ASC NULLS FIRST, "weight" ASC NULLS FIRST
    ) AS "_next_time"
  FROM (
    SELECT
      "traffic_light",
      "window_start",
      "window_end",
      "total_cars",
      "passengers",
      "timing",
      "pane_index",
      "on_time_index",
      "is_last",
      "event_time",
      "watermark",
      "produced_at",
      "tick",
      "change",
      "weight"
    FROM "traffic"."cars_hourly_panes"
  ) AS "changes"
) AS "ordered"
WHERE
  NOT "change" IN ('update_preimage', 'delete');

COMMENT ON VIEW "traffic"."cars_hourly_asof" IS 'stage cars_hourly, 1h long, one after the other: the result as it stood at any tick or time, by valid_from and valid_to';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."traffic_light" IS 'key';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."total_cars" IS 'the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."passengers" IS 'the sum of passengers; additive: sum it over keys and windows';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."timing" IS 'early, on_time or late, against the watermark';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."pane_index" IS 'number of the pane within its window, from 0';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."on_time_index" IS 'number among the panes of the window that are not early, from 0; null for early ones';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."is_last" IS 'true for the last pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."watermark" IS 'watermark of the stage after the tick; null before it is known and at the end of time';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."produced_at" IS 'processing time of the tick';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."tick" IS 'the tick that emitted the row';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."valid_to_tick" IS 'the tick that replaced or retracted the row, excluded; 9223372036854775807 while it stands';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."valid_from" IS 'processing time from which the row stood';

COMMENT ON COLUMN "traffic"."cars_hourly_asof"."valid_to" IS 'processing time until which the row stood, excluded; 9999-12-31 while it stands';

CREATE OR REPLACE VIEW "traffic"."cars_hourly_combined" AS
SELECT
  "traffic_light",
  "window_start",
  "window_end",
  SUM("passengers") AS "passengers",
  BOOL_OR(CAST("is_last" AS BOOLEAN)) AS "is_last",
  MAX("tick") AS "tick"
FROM "traffic"."cars_hourly"
GROUP BY
  "traffic_light",
  "window_start",
  "window_end";

COMMENT ON VIEW "traffic"."cars_hourly_combined" IS 'stage cars_hourly, 1h long, one after the other: the panes of each key and window as one row, as far as they combine';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."traffic_light" IS 'key';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."window_start" IS 'start of the window, included; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."window_end" IS 'end of the window, excluded; null for the global window';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."passengers" IS 'the sum of passengers; additive: sum it over keys and windows';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."is_last" IS 'true for the last pane of the window';

COMMENT ON COLUMN "traffic"."cars_hourly_combined"."tick" IS 'the tick that emitted the row';

CREATE OR REPLACE VIEW "traffic"."messages_dead_letters" AS
SELECT
  "reason",
  "rule",
  "event_time",
  "element",
  "source",
  "partition",
  "offset",
  "arrived_at",
  "step"
FROM DELTA_SCAN('/data/lake/messages/dead_letters');

COMMENT ON VIEW "traffic"."messages_dead_letters" IS 'source messages: the rows that are dead, with the reason';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."reason" IS 'why it is in no result';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."rule" IS 'the rule that was broken';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."event_time" IS 'event time of the pane: the last instant of its window, or that of its elements';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."element" IS 'the row as JSON';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."source" IS 'the source that it came from';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."partition" IS 'source partition of the watermark';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."offset" IS 'where it was read: the path of its file, or its offset in the partition';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."arrived_at" IS 'arrival time';

COMMENT ON COLUMN "traffic"."messages_dead_letters"."step" IS 'landing step';

CREATE OR REPLACE VIEW "traffic"."messages_landings" AS
SELECT
  "step",
  "landed_at",
  "files",
  "rows",
  "dead"
FROM DELTA_SCAN('/data/lake/messages/landings');

COMMENT ON VIEW "traffic"."messages_landings" IS 'source messages: one row a landing batch';

COMMENT ON COLUMN "traffic"."messages_landings"."step" IS 'landing step';

COMMENT ON COLUMN "traffic"."messages_landings"."landed_at" IS 'arrival time of the newest row';

COMMENT ON COLUMN "traffic"."messages_landings"."files" IS 'files of the batch; 0 where the source has none';

COMMENT ON COLUMN "traffic"."messages_landings"."rows" IS 'rows of the batch';

COMMENT ON COLUMN "traffic"."messages_landings"."dead" IS 'rows of the batch that are dead letters';

CREATE OR REPLACE VIEW "traffic"."quality_results" AS
SELECT
  "run",
  "stage",
  "suite",
  "rule",
  "severity",
  "rows_judged",
  "rows_broken",
  "value",
  "outcome",
  "tick",
  "version",
  "at"
FROM DELTA_SCAN('/data/lake/quality_results');

COMMENT ON VIEW "traffic"."quality_results" IS 'what suites have found';

COMMENT ON COLUMN "traffic"."quality_results"."run" IS 'the run that judged; stream for the stream';

COMMENT ON COLUMN "traffic"."quality_results"."stage" IS 'the stage whose results were judged, or the source whose rows';

COMMENT ON COLUMN "traffic"."quality_results"."suite" IS 'path of the suite';

COMMENT ON COLUMN "traffic"."quality_results"."rule" IS 'the expectation';

COMMENT ON COLUMN "traffic"."quality_results"."severity" IS 'critical, warning or info';

COMMENT ON COLUMN "traffic"."quality_results"."rows_judged" IS 'rows, or results, that were judged';

COMMENT ON COLUMN "traffic"."quality_results"."rows_broken" IS 'how many of them broke it; null where it is about a column or table as a whole';

COMMENT ON COLUMN "traffic"."quality_results"."value" IS 'the number that was observed, where it is about a column or table as a whole';

COMMENT ON COLUMN "traffic"."quality_results"."outcome" IS 'passed, failed, or error where the check could not be made';

COMMENT ON COLUMN "traffic"."quality_results"."tick" IS 'the newest tick of the stage then; null for a source';

COMMENT ON COLUMN "traffic"."quality_results"."version" IS 'landing step up to which the rows of a source were judged; generation of a stage';

COMMENT ON COLUMN "traffic"."quality_results"."at" IS 'when it was judged; the newest of a run and stage count';
