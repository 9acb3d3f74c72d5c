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
              ) <= array(100000000000L)[CAST(`_event_time` IS NULL AS INT)]
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
              ) <= array(100000000000L)[CAST(`_event_time` IS NULL AS INT)]
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

-- what is kept beside windows: shared_1
FROM elements_of_orders
|> EXTEND 'orders' AS `_input`
|> UNION ALL BY NAME (
  FROM elements_of_payments
  |> EXTEND 'payments' AS `_input`
)
|> EXTEND (`event_time` - pmod(`event_time`, 3600000000L)) AS `_slice`
|> WHERE
    (((`_slice` - pmod(`_slice`, 3600000000L)) + 3600000000L) > array(100000000000L)[CAST(`_slice` IS NULL AS INT)])
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

-- what is kept beside windows
FROM shared_1
|> WHERE
    CASE
      WHEN (`elements` > 0)
      THEN (
        ((`_slice` - pmod(`_slice`, 3600000000L)) + 3600000000L) > array(200000000000L)[CAST(`_slice` IS NULL AS INT)]
      )
      ELSE FALSE
    END
|> EXTEND `_slice` AS `window_start`
|> SELECT
    `key`, `window_start`,
    (`window_start` + 3600000000L) AS `window_end`,
    CAST(
      NULL AS array<
        struct<
          change: string,
          weight: int,
          timing: string,
          pane_index: int,
          on_time_index: int,
          is_first: boolean,
          is_last: boolean,
          `trigger`: string,
          watermark_percentile: int,
          result: struct<
            `_orders_rows`: array<struct<item:string>>,
            `_orders_number`: bigint,
            `_payments_rows`: array<struct<paid:bigint>>,
            `_payments_number`: bigint
          >
        >
      >
    ) AS `panes`,
    FALSE AS `expired`,
    FALSE AS `opened`,
    named_struct(
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
    ) AS `state`

-- windows, and what the tick brings to each
FROM shared_1
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
)
|> EXTEND `_slice` AS `window_start`
|> WHERE
    CASE
      WHEN (`elements` > 0)
      THEN (
        (`window_end` > array(100000000000L)[CAST(`_slice` IS NULL AS INT)])
        AND (`window_end` <= array(200000000000L)[CAST(`_slice` IS NULL AS INT)])
      )
      ELSE FALSE
    END
|> AGGREGATE
    sum(`elements`) AS `elements`,
    flatten(collect_list(`p__orders_rows_list`)) AS `p__orders_rows_list`,
    sum(`p__orders_number_n`) AS `p__orders_number_n`,
    flatten(collect_list(`p__payments_rows_list`)) AS `p__payments_rows_list`,
    sum(`p__payments_number_n`) AS `p__payments_number_n`
  GROUP BY `key`, `window_start`, `window_end`
|> EXTEND
    CAST(NULL AS array<struct<at:bigint,value:struct<item:string>>>) AS `s_a__orders_rows_list`,
    CAST(NULL AS bigint) AS `s_a__orders_number_n`,
    CAST(NULL AS array<struct<at:bigint,value:struct<paid:bigint>>>) AS `s_a__payments_rows_list`,
    CAST(NULL AS bigint) AS `s_a__payments_number_n`,
    CAST(NULL AS bigint) AS `s_new`,
    CAST(NULL AS bigint) AS `s_since`,
    CAST(NULL AS int) AS `s_emitted`,
    CAST(NULL AS int) AS `s_emitted_on_time`,
    CAST(NULL AS boolean) AS `s_completed`,
    CAST(NULL AS boolean) AS `s_closed`,
    CAST(NULL AS boolean) AS `s_standing`,
    CAST(NULL AS int) AS `s_last_timing`,
    CAST(NULL AS int) AS `s_last_on_time_index`,
    CAST(NULL AS int) AS `s_last_trigger`,
    CAST(NULL AS int) AS `s_last_percentile`,
    CAST(NULL AS array<struct<item:string>>) AS `s_last_v__orders_rows`,
    CAST(NULL AS bigint) AS `s_last_v__orders_number`,
    CAST(NULL AS array<struct<paid:bigint>>) AS `s_last_v__payments_rows`,
    CAST(NULL AS bigint) AS `s_last_v__payments_number`,
    CAST(NULL AS boolean) AS `s_t1_rewound`,
    CAST(NULL AS boolean) AS `s_t1_seen`,
    CAST(NULL AS bigint) AS `s_timer_now`,
    CAST(NULL AS bigint) AS `s_timer_watermark`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p__orders_rows_list`, `p__orders_number_n`,
    `p__payments_rows_list`, `p__payments_number_n`,
    `s_a__orders_rows_list` AS `a__orders_rows_list`,
    `s_a__orders_number_n` AS `a__orders_number_n`,
    `s_a__payments_rows_list` AS `a__payments_rows_list`,
    `s_a__payments_number_n` AS `a__payments_number_n`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    `s_last_timing` AS `last_timing`,
    `s_last_on_time_index` AS `last_on_time_index`,
    `s_last_trigger` AS `last_trigger`,
    `s_last_percentile` AS `last_percentile`,
    `s_last_v__orders_rows` AS `last_v__orders_rows`,
    `s_last_v__orders_number` AS `last_v__orders_number`,
    `s_last_v__payments_rows` AS `last_v__payments_rows`,
    `s_last_v__payments_number` AS `last_v__payments_number`,
    coalesce(`s_t1_rewound`, CAST(FALSE AS boolean)) AS `t1_rewound`,
    coalesce(`s_t1_seen`, CAST(FALSE AS boolean)) AS `t1_seen`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a__orders_rows_list` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce(concat(`a__orders_rows_list`, `p__orders_rows_list`), `a__orders_rows_list`, `p__orders_rows_list`)
      ELSE `a__orders_rows_list`
    END,
    `a__orders_number_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a__orders_number_n` + `p__orders_number_n`), `a__orders_number_n`, `p__orders_number_n`)
      ELSE `a__orders_number_n`
    END,
    `a__payments_rows_list` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce(
        concat(`a__payments_rows_list`, `p__payments_rows_list`), `a__payments_rows_list`, `p__payments_rows_list`
      )
      ELSE `a__payments_rows_list`
    END,
    `a__payments_number_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a__payments_number_n` + `p__payments_number_n`), `a__payments_number_n`, `p__payments_number_n`)
      ELSE `a__payments_number_n`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[CAST(`window_start` IS NULL AS INT)])
      ELSE `since`
    END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND `t0_sees` AS `t1_sees`
|> SET `t1_seen` = (`t1_seen` OR (`t1_sees` AND (`elements` > 0)))

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    (
      (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)]) AND ((NOT `t1_rewound`) OR `t1_seen`)
    ) AS `t1_ready`,
    1 AS `t1_leaf`
|> EXTEND `t1_ready` AS `t0_ready`, `t1_leaf` AS `t0_leaf`
|> EXTEND
    (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)]) AS `expired`,
    (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)]) AS `complete`,
    (
      (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)])
      AND (`window_end` > array(100000000000L)[CAST(`window_start` IS NULL AS INT)])
    ) AS `passes_end`,
    ((NOT `closed`) AND `t0_ready`) AS `ready`
|> EXTEND (((NOT `closed`) AND (`ready` OR `expired`)) AND (`new` > 0)) AS `fires`
|> EXTEND
    CASE
      WHEN `fires` THEN coalesce(sort_array(`a__orders_rows_list`).`value`, array()) ELSE NULL
    END AS `v__orders_rows`,
    CASE WHEN `fires` THEN coalesce(`a__orders_number_n`, 0L) ELSE NULL END AS `v__orders_number`,
    CASE
      WHEN `fires` THEN coalesce(sort_array(`a__payments_rows_list`).`value`, array()) ELSE NULL
    END AS `v__payments_rows`,
    CASE WHEN `fires` THEN coalesce(`a__payments_number_n`, 0L) ELSE NULL END AS `v__payments_number`,
    CASE
      WHEN `complete`
      THEN CASE WHEN ((NOT `completed`) AND coalesce((`since` < `window_end`), FALSE)) THEN 'on_time' ELSE 'late' END
      ELSE 'early'
    END AS `timing`
|> EXTEND `v__orders_number` AS `w__orders_number`
|> EXTEND coalesce(`w__orders_number` > 0, FALSE) AS `passes`
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p__orders_rows_list`, `p__orders_number_n`,
    `p__payments_rows_list`, `p__payments_number_n`, `a__orders_rows_list`, `a__orders_number_n`,
    `a__payments_rows_list`, `a__payments_number_n`, `new`, `since`, `emitted`, `emitted_on_time`, `completed`,
    `closed`, `standing`, `last_timing`, `last_on_time_index`, `last_trigger`, `last_percentile`, `last_v__orders_rows`,
    `last_v__orders_number`, `last_v__payments_rows`, `last_v__payments_number`, `t1_rewound`, `t1_seen`, `timer_now`,
    `timer_watermark`, `opened`, `t0_sees`, `t1_sees`, `t1_ready`, `t1_leaf`, `t0_ready`, `t0_leaf`, `expired`,
    `complete`, `passes_end`, `ready`, `fires`, `v__orders_rows`, `v__orders_number`, `v__payments_rows`,
    `v__payments_number`, `timing`, `passes`
|> EXTEND
    (`fires` AND `passes`) AS `emits`,
    ((`fires` AND (NOT `passes`)) AND `standing`) AS `withdraws`,
    CASE
      WHEN (`timing` <> 'late')
      THEN CASE
        WHEN (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)])
        THEN 100
        WHEN (`window_end` <= array(200001000000L)[CAST(`window_start` IS NULL AS INT)])
        THEN 50
        ELSE 0
      END
      ELSE NULL
    END AS `percentile`,
    CASE WHEN `ready` THEN element_at(array('repeat', 'at_watermark'), (`t0_leaf` + 1)) ELSE 'expiry' END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND `t0_fires` AS `t1_fires`
|> EXTEND TRUE AS `t1_finished`
|> EXTEND FALSE AS `t0_finished`
|> EXTEND (`t0_reset` OR (`t0_fires` AND `t1_finished`)) AS `t1_reset`
|> SET
    `t1_rewound` = CASE
      WHEN `t1_reset` THEN (`window_end` <= array(200000000000L)[CAST(`window_start` IS NULL AS INT)]) ELSE `t1_rewound`
    END,
    `t1_seen` = CASE WHEN `t1_reset` THEN FALSE ELSE `t1_seen` END
|> EXTEND CASE WHEN `t1_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t1_timer_watermark`
|> EXTEND `t1_timer_watermark` AS `t0_timer_watermark`
|> EXTEND (`ready` AND `t0_finished`) AS `closes`
|> EXTEND
    CASE
      WHEN `emits`
      THEN array(
        named_struct(
          'change', CASE WHEN `standing` THEN 'update_postimage' ELSE 'insert' END,
          'weight', 1,
          'timing', `timing`,
          'pane_index', CAST(`emitted` AS int),
          'on_time_index', CAST(CASE WHEN (`timing` <> 'early') THEN `emitted_on_time` ELSE NULL END AS int),
          'is_first', (`emitted` = 0),
          'is_last', (`expired` OR `closes`),
          'trigger', `leaf`,
          'watermark_percentile', CAST(`percentile` AS int),
          'result',
          named_struct(
            '_orders_rows', `v__orders_rows`,
            '_orders_number', `v__orders_number`,
            '_payments_rows', `v__payments_rows`,
            '_payments_number', `v__payments_number`
          )
        )
      )
      WHEN `withdraws`
      THEN array(
        named_struct(
          'change', 'delete',
          'weight', -1,
          'timing', element_at(array('early', 'on_time', 'late'), `last_timing`),
          'pane_index', CAST((`emitted` - 1) AS int),
          'on_time_index', CAST(`last_on_time_index` AS int),
          'is_first', ((`emitted` - 1) = 0),
          'is_last', FALSE,
          'trigger', element_at(array('repeat', 'at_watermark', 'expiry'), `last_trigger`),
          'watermark_percentile', CAST(`last_percentile` AS int),
          'result',
          named_struct(
            '_orders_rows', `last_v__orders_rows`,
            '_orders_number', `last_v__orders_number`,
            '_payments_rows', `last_v__payments_rows`,
            '_payments_number', `last_v__payments_number`
          )
        )
      )
      ELSE NULL
    END AS `panes`

-- the new state
FROM after
|> SELECT
    `key`, `window_start`, `window_end`, `panes`, `expired`, `opened`,
    CASE
      WHEN (NOT `expired`)
      THEN named_struct(
        'a__orders_rows_list', CAST(`a__orders_rows_list` AS array<struct<at:bigint,value:struct<item:string>>>),
        'a__orders_number_n', CAST(`a__orders_number_n` AS bigint),
        'a__payments_rows_list', CAST(`a__payments_rows_list` AS array<struct<at:bigint,value:struct<paid:bigint>>>),
        'a__payments_number_n', CAST(`a__payments_number_n` AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `withdraws`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        'last_timing',
        CAST(
          CASE
            WHEN `emits`
            THEN CAST(array_position(array('early', 'on_time', 'late'), `timing`) AS int)
            ELSE `last_timing`
          END AS int
        ),
        'last_on_time_index',
        CAST(
          CASE
            WHEN `emits`
            THEN CASE WHEN (NOT (`timing` = 'early')) THEN `emitted_on_time` ELSE NULL END
            ELSE `last_on_time_index`
          END AS int
        ),
        'last_trigger',
        CAST(
          CASE
            WHEN `emits`
            THEN CAST(array_position(array('repeat', 'at_watermark', 'expiry'), `leaf`) AS int)
            ELSE `last_trigger`
          END AS int
        ),
        'last_percentile', CAST(CASE WHEN `emits` THEN `percentile` ELSE `last_percentile` END AS int),
        'last_v__orders_rows',
        CAST(CASE WHEN `emits` THEN `v__orders_rows` ELSE `last_v__orders_rows` END AS array<struct<item:string>>),
        'last_v__orders_number',
        CAST(CASE WHEN `emits` THEN `v__orders_number` ELSE `last_v__orders_number` END AS bigint),
        'last_v__payments_rows',
        CAST(CASE WHEN `emits` THEN `v__payments_rows` ELSE `last_v__payments_rows` END AS array<struct<paid:bigint>>),
        'last_v__payments_number',
        CAST(CASE WHEN `emits` THEN `v__payments_number` ELSE `last_v__payments_number` END AS bigint),
        't1_rewound', CAST(`t1_rewound` AS boolean),
        't1_seen', CAST(`t1_seen` AS boolean),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`

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
