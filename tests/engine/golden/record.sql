-- Windows that the records of a key make, as frames over their rows.
--
-- - keys: [carrier]
--   window:
--     record: {difference: 10s}
--   trigger:
--     repeat: {after_count: 1}
--   aggregates:
--     flights: {count: '*'}
--     total: {sum: delay}

-- rows, judged
FROM rows
|> EXTEND TRUE AS `_kept`, (FALSE OR FALSE) AS `_failed`

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
              ((`_event_time` - pmod(`_event_time`, 1L)) + 1L) <= array(100000000000L)[
                coalesce((`_event_time` - pmod(`_event_time`, 1L)) & 0L, 0L)
              ]
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
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_arrival_time` ELSE NULL END) AS `arrival`,
    max(
      CASE
        WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0))
        THEN ((`_event_time` - pmod(`_event_time`, 1L)) + 1L)
        ELSE NULL
      END
    ) AS `latest_end`
  GROUP BY `_partition`

-- elements
FROM judged
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`, `delay` AS `x_total`

-- what is kept beside windows: shared_1
FROM elements
|> EXTEND array(100000000000L)[coalesce(`event_time` & 0L, 0L)] AS `_expired_end`
|> EXTEND (`event_time` - pmod(`event_time`, 1L)) AS `_slice`
|> WHERE (NOT ((`_slice` + 10000001L) <= `_expired_end`))
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    sum(CAST(`x_total` AS bigint)) AS `p_total_sum`
  GROUP BY `key`, `_slice`, `_expired_end`
|> EXTEND array(100000000000L)[coalesce(`_slice` & 0L, 0L)] AS `_since`
|> EXTEND TRUE AS `_new`

-- what is kept beside windows: shared_2
FROM shared_1
|> UNION ALL BY NAME (
  FROM cells
  |> WHERE (`state`.`record` IS NOT NULL)
  |> SELECT
      `key`,
      `window_start` AS `_slice`,
      array(100000000000L)[coalesce(`window_start` & 0L, 0L)] AS `_expired_end`,
      `state`.`record`.`elements` AS `elements`,
      `state`.`record`.`_since` AS `_since`,
      `state`.`record`.`p_flights_n` AS `p_flights_n`,
      `state`.`record`.`p_total_sum` AS `p_total_sum`,
      FALSE AS `_new`
  |> LEFT SEMI JOIN (
    FROM shared_1
    |> SELECT `key`
    |> DISTINCT
  ) USING (`key`)
)

-- what is kept beside windows
FROM shared_2
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_total_sum`) AS `p_total_sum`,
    min(`_since`) AS `_since`,
    bool_or(`_new`) AS `_new`
  GROUP BY `key`, `_slice`
|> WHERE `_new`
|> SELECT
    `key`,
    `_slice` AS `window_start`,
    `_slice` AS `window_end`,
    FALSE AS `expired`,
    FALSE AS `opened`,
    named_struct(
      'a_flights_n', CAST(NULL AS bigint),
      'a_total_sum', CAST(NULL AS bigint),
      'new', CAST(NULL AS bigint),
      'since', CAST(NULL AS bigint),
      'emitted', CAST(NULL AS int),
      'emitted_on_time', CAST(NULL AS int),
      'completed', CAST(NULL AS boolean),
      'closed', CAST(NULL AS boolean),
      'standing', CAST(NULL AS boolean),
      'record',
      named_struct(
        'elements', `elements`, '_since', `_since`, 'p_flights_n', `p_flights_n`, 'p_total_sum', `p_total_sum`
      ),
      't1_count', CAST(NULL AS bigint),
      'timer_now', CAST(NULL AS bigint),
      'timer_watermark', CAST(NULL AS bigint)
    ) AS `state`

-- windows, and what the tick brings to each
FROM shared_2
|> EXTEND
    explode(
      CASE
        WHEN (
          (
            (
              (`_slice` - 10000001L) - pmod((`_slice` - 10000001L), 640000064L)
            ) <> (`_slice` - pmod(`_slice`, 640000064L))
          )
          AND (
            (
              (`_slice` + 10000001L) - pmod((`_slice` + 10000001L), 640000064L)
            ) <> (`_slice` - pmod(`_slice`, 640000064L))
          )
        )
        THEN array(
          ((`_slice` - 10000001L) - pmod((`_slice` - 10000001L), 640000064L)),
          (`_slice` - pmod(`_slice`, 640000064L)),
          ((`_slice` + 10000001L) - pmod((`_slice` + 10000001L), 640000064L))
        )
        WHEN (
          ((`_slice` - 10000001L) - pmod((`_slice` - 10000001L), 640000064L)) <> (`_slice` - pmod(`_slice`, 640000064L))
        )
        THEN array(
          ((`_slice` - 10000001L) - pmod((`_slice` - 10000001L), 640000064L)), (`_slice` - pmod(`_slice`, 640000064L))
        )
        WHEN (
          ((`_slice` + 10000001L) - pmod((`_slice` + 10000001L), 640000064L)) <> (`_slice` - pmod(`_slice`, 640000064L))
        )
        THEN array(
          (`_slice` - pmod(`_slice`, 640000064L)), ((`_slice` + 10000001L) - pmod((`_slice` + 10000001L), 640000064L))
        )
        ELSE array((`_slice` - pmod(`_slice`, 640000064L)))
      END
    ) AS `_block`
|> DISTRIBUTE BY `key`, `_block`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_total_sum`) AS `p_total_sum`,
    sum(CASE WHEN `_new` THEN `elements` ELSE NULL END) AS `n_elements`,
    sum(CASE WHEN `_new` THEN `p_flights_n` ELSE NULL END) AS `n_p_flights_n`,
    sum(CASE WHEN `_new` THEN `p_total_sum` ELSE NULL END) AS `n_p_total_sum`,
    min(CASE WHEN (NOT `_new`) THEN `_since` ELSE NULL END) AS `_since`
  GROUP BY `key`, `_block`, `_slice`
|> SELECT
    `key`, `_block`, `_slice`,
    TRUE AS `_first`,
    sum(`elements`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_elements`,
    sum(`elements`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_elements`,
    sum(`p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_p_flights_n`,
    sum(`p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_p_flights_n`,
    sum(`p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_p_total_sum`,
    sum(`p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_p_total_sum`,
    sum(`n_elements`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_n_elements`,
    sum(`n_elements`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_n_elements`,
    sum(`n_p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_n_p_flights_n`,
    sum(`n_p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_n_p_flights_n`,
    sum(`n_p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e_n_p_total_sum`,
    sum(`n_p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b_n_p_total_sum`,
    min(`_since`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e__since`,
    min(`_since`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b__since`,
    max(`_slice`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 10000000L PRECEDING AND CURRENT ROW
    ) AS `e__last`,
    max(`_slice`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` RANGE BETWEEN 1L FOLLOWING AND 10000001L FOLLOWING
    ) AS `b__last`
|> WHERE (`_first` AND (`_block` = (`_slice` - pmod(`_slice`, 640000064L))))
|> EXTEND
    explode(
      CASE
        WHEN ((`b__last` IS NOT NULL) AND (`b__last` <> (`_slice` + 10000001L)))
        THEN array((`_slice` - 10000000L), (`_slice` + 1L))
        ELSE array((`_slice` - 10000000L))
      END
    ) AS `window_start`
|> SELECT
    `key`, `window_start`,
    (`window_start` + 10000001L) AS `window_end`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_elements` ELSE `b_elements` END AS `elements`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_p_flights_n` ELSE `b_p_flights_n` END AS `p_flights_n`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_p_total_sum` ELSE `b_p_total_sum` END AS `p_total_sum`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_n_elements` ELSE `b_n_elements` END AS `n_elements`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_n_p_flights_n` ELSE `b_n_p_flights_n` END AS `n_p_flights_n`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e_n_p_total_sum` ELSE `b_n_p_total_sum` END AS `n_p_total_sum`,
    CASE WHEN (`window_start` <= `_slice`) THEN `e__since` ELSE `b__since` END AS `_since`
|> WHERE (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
|> FULL OUTER JOIN (
  FROM cells
  |> WHERE (`state`.`record` IS NULL)
) USING (`key`, `window_start`, `window_end`)
|> WHERE
    (
      (coalesce(CASE WHEN (`state` IS NOT NULL) THEN `n_elements` ELSE `elements` END, 0L) > 0)
      OR (
        (`state` IS NOT NULL)
        AND (
          (
            coalesce((`state`.`timer_now` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
            OR coalesce((`state`.`timer_watermark` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
          )
          OR (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
        )
      )
    )
|> SELECT
    `key`, `window_start`, `window_end`,
    `state`.`a_flights_n` AS `s_a_flights_n`,
    `state`.`a_total_sum` AS `s_a_total_sum`,
    `state`.`new` AS `s_new`,
    CASE WHEN (`state` IS NOT NULL) THEN `state`.`since` ELSE `_since` END AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`record` AS `s_record`,
    `state`.`t1_count` AS `s_t1_count`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(CASE WHEN (`state` IS NOT NULL) THEN `n_elements` ELSE `elements` END, 0L) AS `elements`,
    CASE WHEN (`state` IS NOT NULL) THEN `n_p_flights_n` ELSE `p_flights_n` END AS `p_flights_n`,
    CASE WHEN (`state` IS NOT NULL) THEN `n_p_total_sum` ELSE `p_total_sum` END AS `p_total_sum`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`, `p_total_sum`,
    `s_a_flights_n` AS `a_flights_n`,
    `s_a_total_sum` AS `a_total_sum`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    `s_record` AS `record`,
    coalesce(`s_t1_count`, CAST(0 AS bigint)) AS `t1_count`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a_flights_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_flights_n` + `p_flights_n`), `a_flights_n`, `p_flights_n`)
      ELSE `a_flights_n`
    END,
    `a_total_sum` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_total_sum` + `p_total_sum`), `a_total_sum`, `p_total_sum`)
      ELSE `a_total_sum`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND `t0_sees` AS `t1_sees`
|> SET `t1_count` = (`t1_count` + CASE WHEN `t1_sees` THEN `elements` ELSE 0L END)

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND (`t1_count` >= 1L) AS `t1_ready`, 1 AS `t1_leaf`
|> EXTEND `t1_ready` AS `t0_ready`, `t1_leaf` AS `t0_leaf`
|> EXTEND
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `expired`,
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `complete`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      AND (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
    ) AS `passes_end`,
    ((NOT `closed`) AND `t0_ready`) AS `ready`
|> EXTEND (((NOT `closed`) AND (`ready` OR `expired`)) AND (`new` > 0)) AS `fires`
|> EXTEND
    CASE WHEN `fires` THEN coalesce(`a_flights_n`, 0L) ELSE NULL END AS `v_flights`,
    CASE WHEN `fires` THEN `a_total_sum` ELSE NULL END AS `v_total`,
    CASE
      WHEN `complete`
      THEN CASE WHEN ((NOT `completed`) AND coalesce((`since` < `window_end`), FALSE)) THEN 'on_time' ELSE 'late' END
      ELSE 'early'
    END AS `timing`
|> EXTEND
    `fires` AS `emits`,
    FALSE AS `retracts`,
    CASE
      WHEN (`timing` <> 'late')
      THEN CASE
        WHEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
        THEN 100
        WHEN (`window_end` <= array(200001000000L)[coalesce(`window_start` & 0L, 0L)])
        THEN 50
        ELSE 0
      END
      ELSE NULL
    END AS `percentile`,
    CASE WHEN `ready` THEN element_at(array('repeat', 'after_count'), (`t0_leaf` + 1)) ELSE 'expiry' END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND `t0_fires` AS `t1_fires`
|> EXTEND TRUE AS `t1_finished`
|> EXTEND FALSE AS `t0_finished`
|> EXTEND (`t0_reset` OR (`t0_fires` AND `t1_finished`)) AS `t1_reset`
|> SET `t1_count` = CASE WHEN `t1_reset` THEN CAST(0 AS bigint) ELSE `t1_count` END
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
          'result', named_struct('flights', `v_flights`, 'total', `v_total`)
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
        'a_flights_n', CAST(`a_flights_n` AS bigint),
        'a_total_sum', CAST(`a_total_sum` AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        'record',
        CAST(
          CAST(
            NULL AS struct<`elements`: bigint, `_since`: bigint, `p_flights_n`: bigint, `p_total_sum`: bigint>
          ) AS struct<`elements`: bigint, `_since`: bigint, `p_flights_n`: bigint, `p_total_sum`: bigint>
        ),
        't1_count', CAST(`t1_count` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
