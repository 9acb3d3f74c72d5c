CREATE SCHEMA IF NOT EXISTS "traffic";

CALL "system".register_table(schema_name => 'traffic', table_name => 'cars_hourly', table_location => '/data/lake/cars_hourly/current');

CALL "system".register_table(schema_name => 'traffic', table_name => 'cars_hourly_panes', table_location => '/data/lake/cars_hourly/panes');

CALL "system".register_table(schema_name => 'traffic', table_name => 'cars_hourly_dead_letters', table_location => '/data/lake/cars_hourly/dead_letters');

CALL "system".register_table(schema_name => 'traffic', table_name => 'cars_hourly_ticks', table_location => '/data/lake/cars_hourly/ticks');

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
    BOOL_OR("is_last") OVER (PARTITION BY "traffic_light", "window_start", "window_end") AS "_ended"
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
    BOOL_OR("every"."drained") AS "drained"
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
  COALESCE("produced_at", CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMP WITH TIME ZONE)) AS "valid_from",
  CASE
    WHEN "_next_tick" IS NULL
    THEN CAST('9999-12-31 00:00:00+00:00' AS TIMESTAMP WITH TIME ZONE)
    ELSE COALESCE("_next_time", CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMP WITH TIME ZONE))
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
  BOOL_OR("is_last") AS "is_last",
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

CALL "system".register_table(schema_name => 'traffic', table_name => 'messages_dead_letters', table_location => '/data/lake/messages/dead_letters');

CALL "system".register_table(schema_name => 'traffic', table_name => 'messages_landings', table_location => '/data/lake/messages/landings');

CALL "system".register_table(schema_name => 'traffic', table_name => 'quality_results', table_location => '/data/lake/quality_results');
