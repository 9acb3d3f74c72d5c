-- The plainest stage. Windows that fire once, at the watermark.
--
-- - keys: [carrier]
--   where: delay is not null
--   window:
--     fixed: {size: 1h}
--   aggregates:
--     flights: {count: '*'}
--     mean_delay: {mean: delay}

-- rows, judged
FROM rows
|> EXTEND (TRUE AND coalesce(`delay` is not null, FALSE)) AS `_kept`, (FALSE OR FALSE) AS `_failed`

-- statistics
FROM judged
|> AGGREGATE
    count(1) AS `read`,
    coalesce(sum(CASE WHEN (NOT (`_reason` IS NULL)) THEN 1 ELSE NULL END), 0L) AS `dead_rows`,
    coalesce(sum(CASE WHEN ((`_reason` IS NULL) AND `_failed`) THEN 1 ELSE NULL END), 0L) AS `bad_expression`,
    coalesce(
      sum(CASE WHEN (((`_reason` IS NULL) AND `_failed`) AND ('bad_expression' = 'bad_gap')) THEN 1 ELSE NULL END), 0L
    ) AS `bad_gap`,
    coalesce(
      sum(CASE WHEN (((`_reason` IS NULL) AND (NOT `_failed`)) AND (NOT `_kept`)) THEN 1 ELSE NULL END), 0L
    ) AS `filtered`,
    coalesce(
      sum(CASE WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L = 0)) THEN 1 ELSE NULL END), 0L
    ) AS `unassigned`,
    coalesce(sum(CASE WHEN (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) THEN 1 ELSE NULL END), 0L) AS `kept`,
    coalesce(
      sum(CASE WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) THEN 1L ELSE NULL END), 0L
    ) AS `assigned`,
    coalesce(
      sum(
        CASE
          WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0))
          THEN CAST(
            (
              (
                (`_event_time` - pmod(`_event_time`, 3600000000L)) + 3600000000L
              ) <= array(100000000000L)[coalesce(`_event_time` & 0L, 0L)]
            ) AS bigint
          )
          ELSE NULL
        END
      ),
      0L
    ) AS `late`,
    coalesce(
      sum(
        CASE
          WHEN (((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) AND FALSE) THEN 1 ELSE NULL
        END
      ),
      0L
    ) AS `suspects`,
    min(
      CASE WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) THEN `_event_time` ELSE NULL END
    ) AS `earliest`,
    max(
      CASE WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) THEN `_event_time` ELSE NULL END
    ) AS `latest`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_event_time` ELSE NULL END) AS `greatest`,
    CAST(NULL AS bigint) AS `asserted`,
    max(`_arrival_time`) AS `greatest_arrival`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_arrival_time` ELSE NULL END) AS `arrival`
  GROUP BY `_partition`

-- elements
FROM judged
|> WHERE `_kept`
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`, `delay` AS `x_mean_delay`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND (`event_time` - pmod(`event_time`, 3600000000L)) AS `_slice`
|> WHERE (((`_slice` - pmod(`_slice`, 3600000000L)) + 3600000000L) > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    sum(CAST(`x_mean_delay` AS bigint)) AS `p_mean_delay_sum`,
    count(CASE WHEN (`x_mean_delay` IS NOT NULL) THEN 1 ELSE NULL END) AS `p_mean_delay_n`
  GROUP BY `key`, `_slice`
|> EXTEND (`_slice` + 3600000000L) AS `window_end`
|> UNION ALL BY NAME (
  FROM cells
  |> SELECT
      `key`,
      `window_start` AS `_slice`,
      `state`.`new` AS `elements`,
      `state`.`a_flights_n` AS `p_flights_n`,
      `state`.`a_mean_delay_sum` AS `p_mean_delay_sum`,
      `state`.`a_mean_delay_n` AS `p_mean_delay_n`,
      `window_end`
  |> WHERE
      (
        (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)])
        AND (`window_end` > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
      )
)
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_mean_delay_sum`) AS `p_mean_delay_sum`,
    sum(`p_mean_delay_n`) AS `p_mean_delay_n`
  GROUP BY `key`, `_slice`, `window_end`
|> EXTEND `_slice` AS `window_start`

-- transitions
FROM windows
|> EXTEND (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)]) AS `expired`
|> EXTEND
    CASE WHEN `expired` THEN coalesce(`p_flights_n`, 0L) ELSE NULL END AS `v_flights`,
    CASE
      WHEN `expired`
      THEN CASE WHEN (`p_mean_delay_n` > 0) THEN (`p_mean_delay_sum` / `p_mean_delay_n`) ELSE NULL END
      ELSE NULL
    END AS `v_mean_delay`
|> SELECT
    `key`, `window_start`, `window_end`, `expired`,
    named_struct(
      'change', 'insert',
      'weight', 1,
      'timing', 'on_time',
      'pane_index', CAST(0 AS int),
      'on_time_index', CAST(0 AS int),
      'is_first', (0 = 0),
      'is_last', TRUE,
      'trigger', 'at_watermark',
      'watermark_percentile',
      CAST(
        CASE
          WHEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
          THEN 100
          WHEN (`window_end` <= array(200001000000L)[coalesce(`window_start` & 0L, 0L)])
          THEN 50
          ELSE 0
        END AS int
      ),
      'result', named_struct('flights', `v_flights`, 'mean_delay', `v_mean_delay`)
    ) AS `one_pane`,
    `expired` AS `emits`,
    `expired` AS `opened`,
    CASE
      WHEN (NOT `expired`)
      THEN named_struct(
        'a_flights_n', CAST(`p_flights_n` AS bigint),
        'a_mean_delay_sum', CAST(`p_mean_delay_sum` AS bigint),
        'a_mean_delay_n', CAST(`p_mean_delay_n` AS bigint),
        'new', CAST(`elements` AS bigint),
        'since', CAST(CAST(NULL AS bigint) AS bigint),
        'emitted', CAST(CAST(NULL AS int) AS int),
        'emitted_on_time', CAST(CAST(NULL AS int) AS int),
        'completed', CAST(CAST(NULL AS boolean) AS boolean),
        'closed', CAST(CAST(NULL AS boolean) AS boolean),
        'standing', CAST(CAST(NULL AS boolean) AS boolean),
        't1_rewound', CAST(CAST(NULL AS boolean) AS boolean),
        't1_seen', CAST(CAST(NULL AS boolean) AS boolean),
        'timer_now', CAST(CAST(NULL AS bigint) AS bigint),
        'timer_watermark', CAST(CAST(NULL AS bigint) AS bigint)
      )
      ELSE NULL
    END AS `state`
