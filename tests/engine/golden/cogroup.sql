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
|> WHERE `_kept`
|> SELECT named_struct('id', `id`) AS `key`, `_event_time` AS `event_time`, `paid` AS `x_total`

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
          result: struct<`orders`: bigint, `total`: bigint>
        >
      >
    ) AS `panes`,
    FALSE AS `expired`,
    FALSE AS `opened`,
    named_struct(
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
      `state`.`a_orders_n` AS `p_orders_n`,
      `state`.`a_total_high` AS `p_total_high`,
      `state`.`a_total_low` AS `p_total_low`,
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
    sum(`p_orders_n`) AS `p_orders_n`,
    sum(`p_total_high`) AS `p_total_high`,
    sum(`p_total_low`) AS `p_total_low`
  GROUP BY `key`, `window_start`, `window_end`
|> EXTEND
    CAST(NULL AS bigint) AS `s_a_orders_n`,
    CAST(NULL AS bigint) AS `s_a_total_high`,
    CAST(NULL AS bigint) AS `s_a_total_low`,
    CAST(NULL AS bigint) AS `s_new`,
    CAST(NULL AS bigint) AS `s_since`,
    CAST(NULL AS int) AS `s_emitted`,
    CAST(NULL AS int) AS `s_emitted_on_time`,
    CAST(NULL AS boolean) AS `s_completed`,
    CAST(NULL AS boolean) AS `s_closed`,
    CAST(NULL AS boolean) AS `s_standing`,
    CAST(NULL AS boolean) AS `s_t1_rewound`,
    CAST(NULL AS boolean) AS `s_t1_seen`,
    CAST(NULL AS bigint) AS `s_timer_now`,
    CAST(NULL AS bigint) AS `s_timer_watermark`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_orders_n`, `p_total_high`, `p_total_low`,
    `s_a_orders_n` AS `a_orders_n`,
    `s_a_total_high` AS `a_total_high`,
    `s_a_total_low` AS `a_total_low`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    coalesce(`s_t1_rewound`, CAST(FALSE AS boolean)) AS `t1_rewound`,
    coalesce(`s_t1_seen`, CAST(FALSE AS boolean)) AS `t1_seen`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a_orders_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_orders_n` + `p_orders_n`), `a_orders_n`, `p_orders_n`)
      ELSE `a_orders_n`
    END,
    `a_total_high` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_total_high` + `p_total_high`), `a_total_high`, `p_total_high`)
      ELSE `a_total_high`
    END,
    `a_total_low` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_total_low` + `p_total_low`), `a_total_low`, `p_total_low`)
      ELSE `a_total_low`
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
    CASE WHEN `fires` THEN coalesce(`a_orders_n`, 0L) ELSE NULL END AS `v_orders`,
    CASE
      WHEN `fires`
      THEN CASE
        WHEN (
          (
            CAST(
              (
                (
                  CAST(`a_total_high` AS decimal(20,0)) * CAST(4294967296L AS decimal(10,0))
                ) + CAST(`a_total_low` AS decimal(20,0))
              ) AS decimal(38,0)
            ) >= CAST(CAST('-9223372036854775808' AS BIGINT) AS decimal(38,0))
          )
          AND (
            CAST(
              (
                (
                  CAST(`a_total_high` AS decimal(20,0)) * CAST(4294967296L AS decimal(10,0))
                ) + CAST(`a_total_low` AS decimal(20,0))
              ) AS decimal(38,0)
            ) <= CAST(9223372036854775807L AS decimal(38,0))
          )
        )
        THEN CAST(
          CAST(
            (
              (
                CAST(`a_total_high` AS decimal(20,0)) * CAST(4294967296L AS decimal(10,0))
              ) + CAST(`a_total_low` AS decimal(20,0))
            ) AS decimal(38,0)
          ) AS bigint
        )
        ELSE NULL
      END
      ELSE NULL
    END AS `v_total`,
    CASE
      WHEN `complete`
      THEN CASE WHEN ((NOT `completed`) AND coalesce((`since` < `window_end`), FALSE)) THEN 'on_time' ELSE 'late' END
      ELSE 'early'
    END AS `timing`
|> EXTEND
    `fires` AS `emits`,
    FALSE AS `withdraws`,
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
          'result', named_struct('orders', `v_orders`, 'total', `v_total`)
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
        'a_orders_n', CAST(`a_orders_n` AS bigint),
        'a_total_high', CAST((`a_total_high` + shiftright(`a_total_low`, 32)) AS bigint),
        'a_total_low', CAST((`a_total_low` & 4294967295L) AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `withdraws`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        't1_rewound', CAST(`t1_rewound` AS boolean),
        't1_seen', CAST(`t1_seen` AS boolean),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
