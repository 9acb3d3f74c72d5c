-- Elements of two inputs in one window.
--
-- - inputs:
--     orders:
--       keys: [id]
--       aggregates:
--         orders: {count: '*'}
--     payments:
--       keys: [id]
--       where: paid > 0
--       aggregates:
--         total: {sum: paid}
--   window:
--     fixed: {size: 1h}

-- rows of orders, judged
FROM rows
|> EXTEND TRUE AS `_kept`, (FALSE OR FALSE) AS `_failed`

-- statistics of orders
FROM judged_of_orders
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

-- elements of orders
FROM judged_of_orders
|> SELECT named_struct('id', `id`) AS `key`, `_event_time` AS `event_time`

-- rows of payments, judged
FROM rows
|> EXTEND (TRUE AND coalesce(`paid` > 0, FALSE)) AS `_kept`, (FALSE OR FALSE) AS `_failed`

-- statistics of payments
FROM judged_of_payments
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

-- elements of payments
FROM judged_of_payments
|> WHERE `_kept`
|> SELECT named_struct('id', `id`) AS `key`, `_event_time` AS `event_time`, `paid` AS `x_total`

-- windows, and what the tick brings to each
FROM elements_of_orders
|> EXTEND 'orders' AS `_input`
|> UNION ALL BY NAME (
  FROM elements_of_payments
  |> EXTEND 'payments' AS `_input`
)
|> EXTEND (`event_time` - pmod(`event_time`, 3600000000L)) AS `_slice`
|> WHERE (((`_slice` - pmod(`_slice`, 3600000000L)) + 3600000000L) > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_orders_n`,
    sum(shiftright(`x_total`, 32)) AS `p_total_high`,
    sum((`x_total` & 4294967295L)) AS `p_total_low`
  GROUP BY `key`, `_slice`, `_input`
|> SELECT
    `key`, `_slice`, `elements`,
    CASE WHEN (`_input` = 'orders') THEN `p_orders_n` ELSE NULL END AS `p_orders_n`,
    CASE WHEN (`_input` = 'payments') THEN `p_total_high` ELSE NULL END AS `p_total_high`,
    CASE WHEN (`_input` = 'payments') THEN `p_total_low` ELSE NULL END AS `p_total_low`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_orders_n`) AS `p_orders_n`,
    sum(`p_total_high`) AS `p_total_high`,
    sum(`p_total_low`) AS `p_total_low`
  GROUP BY `key`, `_slice`
|> EXTEND (`_slice` + 3600000000L) AS `window_end`
|> UNION ALL BY NAME (
  FROM cells
  |> SELECT
      `key`,
      `window_start` AS `_slice`,
      `state`.`new` AS `elements`,
      `state`.`a_orders_n` AS `p_orders_n`,
      `state`.`a_total_high` AS `p_total_high`,
      `state`.`a_total_low` AS `p_total_low`,
      `window_end`
  |> WHERE
      (
        (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)])
        AND (`window_end` > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
      )
)
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_orders_n`) AS `p_orders_n`,
    sum(`p_total_high`) AS `p_total_high`,
    sum(`p_total_low`) AS `p_total_low`
  GROUP BY `key`, `_slice`, `window_end`
|> EXTEND `_slice` AS `window_start`

-- transitions
FROM windows
|> EXTEND (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)]) AS `expired`
|> EXTEND
    CASE WHEN `expired` THEN coalesce(`p_orders_n`, 0L) ELSE NULL END AS `v_orders`,
    CASE
      WHEN `expired`
      THEN CASE
        WHEN (
          ((`p_total_high` + shiftright(`p_total_low`, 32)) >= -2147483648L)
          AND ((`p_total_high` + shiftright(`p_total_low`, 32)) <= 2147483647L)
        )
        THEN (shiftleft((`p_total_high` + shiftright(`p_total_low`, 32)), 32) + (`p_total_low` & 4294967295L))
        ELSE NULL
      END
      ELSE NULL
    END AS `v_total`
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
      'result', named_struct('orders', `v_orders`, 'total', `v_total`)
    ) AS `one_pane`,
    `expired` AS `emits`,
    `expired` AS `opened`,
    CASE
      WHEN (NOT `expired`)
      THEN named_struct(
        'a_orders_n', CAST(`p_orders_n` AS bigint),
        'a_total_high', CAST((`p_total_high` + shiftright(`p_total_low`, 32)) AS bigint),
        'a_total_low', CAST((`p_total_low` & 4294967295L) AS bigint),
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
