-- Rows of two inputs, of which a cell collects those of a key. The panes become rows behind the cells.
--
-- - join: left
--   inputs:
--     orders:
--       keys: [id]
--       columns: [item]
--     payments:
--       keys: [id]
--       columns: [paid]
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
|> SELECT
    named_struct('id', `id`) AS `key`,
    `_event_time` AS `event_time`,
    named_struct('item', `item`) AS `x__orders_rows`

-- rows of payments, judged
FROM rows
|> EXTEND TRUE AS `_kept`, (FALSE OR FALSE) AS `_failed`

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
|> SELECT
    named_struct('id', `id`) AS `key`,
    `_event_time` AS `event_time`,
    named_struct('paid', `paid`) AS `x__payments_rows`

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
    collect_list(
      CASE
        WHEN (`x__orders_rows` IS NOT NULL) THEN named_struct('at', `event_time`, 'value', `x__orders_rows`) ELSE NULL
      END
    ) AS `p__orders_rows_list`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p__orders_number_n`,
    collect_list(
      CASE
        WHEN (`x__payments_rows` IS NOT NULL)
        THEN named_struct('at', `event_time`, 'value', `x__payments_rows`)
        ELSE NULL
      END
    ) AS `p__payments_rows_list`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p__payments_number_n`
  GROUP BY `key`, `_slice`, `_input`
|> SELECT
    `key`, `_slice`, `elements`,
    CASE WHEN (`_input` = 'orders') THEN `p__orders_rows_list` ELSE NULL END AS `p__orders_rows_list`,
    CASE WHEN (`_input` = 'orders') THEN `p__orders_number_n` ELSE NULL END AS `p__orders_number_n`,
    CASE WHEN (`_input` = 'payments') THEN `p__payments_rows_list` ELSE NULL END AS `p__payments_rows_list`,
    CASE WHEN (`_input` = 'payments') THEN `p__payments_number_n` ELSE NULL END AS `p__payments_number_n`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    flatten(collect_list(`p__orders_rows_list`)) AS `p__orders_rows_list`,
    sum(`p__orders_number_n`) AS `p__orders_number_n`,
    flatten(collect_list(`p__payments_rows_list`)) AS `p__payments_rows_list`,
    sum(`p__payments_number_n`) AS `p__payments_number_n`
  GROUP BY `key`, `_slice`
|> EXTEND (`_slice` + 3600000000L) AS `window_end`
|> UNION ALL BY NAME (
  FROM cells
  |> SELECT
      `key`,
      `window_start` AS `_slice`,
      `state`.`new` AS `elements`,
      `state`.`a__orders_rows_list` AS `p__orders_rows_list`,
      `state`.`a__orders_number_n` AS `p__orders_number_n`,
      `state`.`a__payments_rows_list` AS `p__payments_rows_list`,
      `state`.`a__payments_number_n` AS `p__payments_number_n`,
      `window_end`
  |> WHERE
      (
        (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)])
        AND (`window_end` > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
      )
)
|> AGGREGATE
    sum(`elements`) AS `elements`,
    flatten(collect_list(`p__orders_rows_list`)) AS `p__orders_rows_list`,
    sum(`p__orders_number_n`) AS `p__orders_number_n`,
    flatten(collect_list(`p__payments_rows_list`)) AS `p__payments_rows_list`,
    sum(`p__payments_number_n`) AS `p__payments_number_n`
  GROUP BY `key`, `_slice`, `window_end`
|> EXTEND `_slice` AS `window_start`

-- transitions
FROM windows
|> EXTEND (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)]) AS `expired`
|> EXTEND
    CASE
      WHEN `expired` THEN coalesce(sort_array(`p__orders_rows_list`).`value`, array()) ELSE NULL
    END AS `v__orders_rows`,
    CASE WHEN `expired` THEN coalesce(`p__orders_number_n`, 0L) ELSE NULL END AS `v__orders_number`,
    CASE
      WHEN `expired` THEN coalesce(sort_array(`p__payments_rows_list`).`value`, array()) ELSE NULL
    END AS `v__payments_rows`,
    CASE WHEN `expired` THEN coalesce(`p__payments_number_n`, 0L) ELSE NULL END AS `v__payments_number`
|> EXTEND `v__orders_number` AS `w__orders_number`
|> EXTEND coalesce(`w__orders_number` > 0, FALSE) AS `passes`
|> SELECT
    `key`, `_slice`, `window_end`, `elements`, `p__orders_rows_list`, `p__orders_number_n`, `p__payments_rows_list`,
    `p__payments_number_n`, `window_start`, `expired`, `v__orders_rows`, `v__orders_number`, `v__payments_rows`,
    `v__payments_number`, `passes`
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
      'result',
      named_struct(
        '_orders_rows', `v__orders_rows`,
        '_orders_number', `v__orders_number`,
        '_payments_rows', `v__payments_rows`,
        '_payments_number', `v__payments_number`
      )
    ) AS `one_pane`,
    (`expired` AND `passes`) AS `emits`,
    `expired` AS `opened`,
    CASE
      WHEN (NOT `expired`)
      THEN named_struct(
        'a__orders_rows_list', CAST(`p__orders_rows_list` AS array<struct<at:bigint,value:struct<item:string>>>),
        'a__orders_number_n', CAST(`p__orders_number_n` AS bigint),
        'a__payments_rows_list', CAST(`p__payments_rows_list` AS array<struct<at:bigint,value:struct<paid:bigint>>>),
        'a__payments_number_n', CAST(`p__payments_number_n` AS bigint),
        'new', CAST(`elements` AS bigint),
        'since', CAST(CAST(NULL AS bigint) AS bigint),
        'emitted', CAST(CAST(NULL AS int) AS int),
        'emitted_on_time', CAST(CAST(NULL AS int) AS int),
        'completed', CAST(CAST(NULL AS boolean) AS boolean),
        'closed', CAST(CAST(NULL AS boolean) AS boolean),
        'standing', CAST(CAST(NULL AS boolean) AS boolean),
        'last_timing', CAST(CAST(NULL AS int) AS int),
        'last_on_time_index', CAST(CAST(NULL AS int) AS int),
        'last_trigger', CAST(CAST(NULL AS int) AS int),
        'last_percentile', CAST(CAST(NULL AS int) AS int),
        'last_v__orders_rows', CAST(CAST(NULL AS array<struct<item:string>>) AS array<struct<item:string>>),
        'last_v__orders_number', CAST(CAST(NULL AS bigint) AS bigint),
        'last_v__payments_rows', CAST(CAST(NULL AS array<struct<paid:bigint>>) AS array<struct<paid:bigint>>),
        'last_v__payments_number', CAST(CAST(NULL AS bigint) AS bigint),
        't1_rewound', CAST(CAST(NULL AS boolean) AS boolean),
        't1_seen', CAST(CAST(NULL AS boolean) AS boolean),
        'timer_now', CAST(CAST(NULL AS bigint) AS bigint),
        'timer_watermark', CAST(CAST(NULL AS bigint) AS bigint)
      )
      ELSE NULL
    END AS `state`
|> SELECT
    `key`, `window_start`, `window_end`, `expired`, `opened`, `state`,
    CASE WHEN `emits` THEN array(`one_pane`) ELSE NULL END AS `panes`

-- the panes as rows
FROM transitions
|> SET
    `panes` = flatten(
      transform(
        `panes`,
        pane -> transform(
          CASE
            WHEN size(pane.result.`_payments_rows`) = 0
            THEN transform(
              pane.result.`_orders_rows`, one -> named_struct('left', one, 'right', CAST(NULL AS struct<paid:bigint>))
            )
            ELSE flatten(
              transform(
                pane.result.`_orders_rows`,
                one -> transform(pane.result.`_payments_rows`, other -> named_struct('left', one, 'right', other))
              )
            )
          END,
          (pair, number) -> named_struct(
            'change', pane.`change`,
            'weight', pane.`weight`,
            'timing', pane.`timing`,
            'pane_index', pane.`pane_index`,
            'on_time_index', pane.`on_time_index`,
            'is_first', pane.`is_first`,
            'is_last', pane.`is_last`,
            'trigger', pane.`trigger`,
            'watermark_percentile', pane.`watermark_percentile`,
            'result', named_struct('item', pair.left.`item`, 'paid', pair.right.`paid`, 'row', CAST(number AS BIGINT))
          )
        )
      )
    )
