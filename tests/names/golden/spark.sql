CREATE SCHEMA IF NOT EXISTS `traffic`;

CREATE TABLE IF NOT EXISTS `traffic`.`cars_hourly`
USING DELTA
LOCATION '/data/lake/cars_hourly/current';

CREATE TABLE IF NOT EXISTS `traffic`.`cars_hourly_panes`
USING DELTA
LOCATION '/data/lake/cars_hourly/panes';

CREATE TABLE IF NOT EXISTS `traffic`.`cars_hourly_dead_letters`
USING DELTA
LOCATION '/data/lake/cars_hourly/dead_letters';

CREATE TABLE IF NOT EXISTS `traffic`.`cars_hourly_ticks`
USING DELTA
LOCATION '/data/lake/cars_hourly/ticks';

CREATE OR REPLACE VIEW `traffic`.`cars_hourly_final` (
  `traffic_light` COMMENT 'key',
  `window_start` COMMENT 'start of the window, included; null for the global window',
  `window_end` COMMENT 'end of the window, excluded; null for the global window',
  `total_cars` COMMENT 'the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements',
  `passengers` COMMENT 'the sum of passengers; additive: sum it over keys and windows',
  `timing` COMMENT 'early, on_time or late, against the watermark',
  `pane_index` COMMENT 'number of the pane within its window, from 0',
  `on_time_index` COMMENT 'number among the panes of the window that are not early, from 0; null for early ones',
  `is_last` COMMENT 'true for the last pane of the window',
  `event_time` COMMENT 'event time of the pane: the last instant of its window, or that of its elements',
  `watermark` COMMENT 'watermark of the stage after the tick; null before it is known and at the end of time',
  `produced_at` COMMENT 'processing time of the tick',
  `tick` COMMENT 'the tick that emitted the row'
)
COMMENT 'stage cars_hourly, 1h long, one after the other: the results of windows that have expired, which only a backfill changes' AS
SELECT
  `shown`.`traffic_light`,
  `shown`.`window_start`,
  `shown`.`window_end`,
  `shown`.`total_cars`,
  `shown`.`passengers`,
  `shown`.`timing`,
  `shown`.`pane_index`,
  `shown`.`on_time_index`,
  `shown`.`is_last`,
  `shown`.`event_time`,
  `shown`.`watermark`,
  `shown`.`produced_at`,
  `shown`.`tick`
FROM (
  SELECT
    `traffic_light`,
    `window_start`,
    `window_end`,
    `total_cars`,
    `passengers`,
    `timing`,
    `pane_index`,
    `on_time_index`,
    `is_last`,
    `event_time`,
    `watermark`,
    `produced_at`,
    `tick`,
    BOOL_OR(`is_last`) OVER (PARTITION BY `traffic_light`, `window_start`, `window_end`) AS `_ended`
  FROM `traffic`.`cars_hourly`
) AS `shown`
LEFT JOIN (
  SELECT
    `tick` AS `tick`,
    `kind` AS `_kind`,
    MIN(CASE WHEN `kind` IN ('stream', 'follow') THEN `tick` END) OVER () AS `_streamed`
  FROM `traffic`.`cars_hourly_ticks`
) AS `kinds`
  ON `kinds`.`tick` = `shown`.`tick`
CROSS JOIN (
  SELECT
    MAX(`every`.`watermark`) AS `watermark`,
    BOOL_OR(`every`.`drained`) AS `drained`
  FROM `traffic`.`cars_hourly_ticks` AS `every`
  CROSS JOIN (
    SELECT
      MIN(`later`.`tick`) AS `tick`
    FROM `traffic`.`cars_hourly_ticks` AS `later`
    CROSS JOIN (
      SELECT
        MAX(`tick`) AS `tick`
      FROM (
        SELECT
          MAX(`tick`) AS `tick`
        FROM `traffic`.`cars_hourly`
        UNION ALL
        SELECT
          MAX(CASE WHEN `kind` = 'forgetting' THEN `tick` - 1 END) AS `tick`
        FROM `traffic`.`cars_hourly_ticks`
      ) AS `both`
    ) AS `newest`
    WHERE
      `later`.`tick` > `newest`.`tick` AND `later`.`panes` + `later`.`retractions` > 0
  ) AS `missing`
  WHERE
    `missing`.`tick` IS NULL OR `every`.`tick` < `missing`.`tick`
) AS `reached`
WHERE
  `shown`.`_ended`
  OR (
    (
      `kinds`.`_kind` IN ('stream', 'follow')
      OR (
        `kinds`.`_kind` = 'forgetting' AND `kinds`.`_streamed` < `kinds`.`tick`
      )
    )
    AND (
      `shown`.`window_end` <= `reached`.`watermark` - INTERVAL '300' SECOND
      OR `reached`.`drained`
    )
  );

CREATE OR REPLACE VIEW `traffic`.`cars_hourly_asof` (
  `traffic_light` COMMENT 'key',
  `window_start` COMMENT 'start of the window, included; null for the global window',
  `window_end` COMMENT 'end of the window, excluded; null for the global window',
  `total_cars` COMMENT 'the number of different values of registration_plate; non-additive: the values of several rows do not give that of all their elements',
  `passengers` COMMENT 'the sum of passengers; additive: sum it over keys and windows',
  `timing` COMMENT 'early, on_time or late, against the watermark',
  `pane_index` COMMENT 'number of the pane within its window, from 0',
  `on_time_index` COMMENT 'number among the panes of the window that are not early, from 0; null for early ones',
  `is_last` COMMENT 'true for the last pane of the window',
  `event_time` COMMENT 'event time of the pane: the last instant of its window, or that of its elements',
  `watermark` COMMENT 'watermark of the stage after the tick; null before it is known and at the end of time',
  `produced_at` COMMENT 'processing time of the tick',
  `tick` COMMENT 'the tick that emitted the row',
  `valid_to_tick` COMMENT 'the tick that replaced or retracted the row, excluded; 9223372036854775807 while it stands',
  `valid_from` COMMENT 'processing time from which the row stood',
  `valid_to` COMMENT 'processing time until which the row stood, excluded; 9999-12-31 while it stands'
)
COMMENT 'stage cars_hourly, 1h long, one after the other: the result as it stood at any tick or time, by valid_from and valid_to' AS
SELECT
  `traffic_light`,
  `window_start`,
  `window_end`,
  `total_cars`,
  `passengers`,
  `timing`,
  `pane_index`,
  `on_time_index`,
  `is_last`,
  `event_time`,
  `watermark`,
  `produced_at`,
  `tick`,
  COALESCE(`_next_tick`, 9223372036854775807) AS `valid_to_tick`,
  COALESCE(`produced_at`, CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMP)) AS `valid_from`,
  CASE
    WHEN `_next_tick` IS NULL
    THEN CAST('9999-12-31 00:00:00+00:00' AS TIMESTAMP)
    ELSE COALESCE(`_next_time`, CAST('1900-01-01 00:00:00+00:00' AS TIMESTAMP))
  END AS `valid_to`
FROM (
  SELECT
    `traffic_light`,
    `window_start`,
    `window_end`,
    `total_cars`,
    `passengers`,
    `timing`,
    `pane_index`,
    `on_time_index`,
    `is_last`,
    `event_time`,
    `watermark`,
    `produced_at`,
    `tick`,
    `change`,
    LEAD(`tick`) OVER (
      PARTITION BY `traffic_light`, `window_start`, `window_end`, `pane_index`
      ORDER BY `tick` ASC, `pane_index` ASC, `weight` ASC
    ) AS `_next_tick`,
    LEAD(`produced_at`) OVER (
      PARTITION BY `traffic_light`, `window_start`, `window_end`, `pane_index`
      ORDER BY `tick` ASC, `pane_index` ASC, `weight` ASC
    ) AS `_next_time`
  FROM (
    SELECT
      `traffic_light`,
      `window_start`,
      `window_end`,
      `total_cars`,
      `passengers`,
      `timing`,
      `pane_index`,
      `on_time_index`,
      `is_last`,
      `event_time`,
      `watermark`,
      `produced_at`,
      `tick`,
      `change`,
      `weight`
    FROM `traffic`.`cars_hourly_panes`
  ) AS `changes`
) AS `ordered`
WHERE
  NOT `change` IN ('update_preimage', 'delete');

CREATE OR REPLACE VIEW `traffic`.`cars_hourly_combined` (
  `traffic_light` COMMENT 'key',
  `window_start` COMMENT 'start of the window, included; null for the global window',
  `window_end` COMMENT 'end of the window, excluded; null for the global window',
  `passengers` COMMENT 'the sum of passengers; additive: sum it over keys and windows',
  `is_last` COMMENT 'true for the last pane of the window',
  `tick` COMMENT 'the tick that emitted the row'
)
COMMENT 'stage cars_hourly, 1h long, one after the other: the panes of each key and window as one row, as far as they combine' AS
SELECT
  `traffic_light`,
  `window_start`,
  `window_end`,
  SUM(`passengers`) AS `passengers`,
  BOOL_OR(`is_last`) AS `is_last`,
  MAX(`tick`) AS `tick`
FROM `traffic`.`cars_hourly`
GROUP BY
  `traffic_light`,
  `window_start`,
  `window_end`;

CREATE TABLE IF NOT EXISTS `traffic`.`messages_dead_letters`
USING DELTA
LOCATION '/data/lake/messages/dead_letters';

CREATE TABLE IF NOT EXISTS `traffic`.`messages_landings`
USING DELTA
LOCATION '/data/lake/messages/landings';

CREATE TABLE IF NOT EXISTS `traffic`.`quality_results`
USING DELTA
LOCATION '/data/lake/quality_results';
