-- One window for all of time, which fires by processing time.
--
-- - keys: [carrier]
--   window:
--     global: {}
--   trigger:
--     repeat:
--       at_period: {period: 15m}
--   event_time: latest
--   aggregates:
--     flights: {count: '*'}
--     last_delay: {last: delay}

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
      sum(CASE WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) THEN 0L ELSE NULL END), 0L
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
|> SELECT
    named_struct('carrier', `carrier`) AS `key`,
    `_event_time` AS `event_time`,
    `delay` AS `x_last_delay`,
    `_event_time` AS `q_ahead`

-- windows, and what the tick brings to each
FROM elements
|> SET
    `q_ahead` = CASE
      WHEN (`event_time` >= array(100000000000L)[coalesce(`event_time` & 0L, 0L)]) THEN `event_time` ELSE NULL
    END
|> EXTEND CAST('-9223372036854775808' AS BIGINT) AS `_slice`
|> EXTEND `_slice` AS `window_start`
|> EXTEND 9223372036854775807L AS `window_end`
|> WHERE (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    max(
      CASE
        WHEN (`x_last_delay` IS NOT NULL) THEN named_struct('at', `event_time`, 'value', `x_last_delay`) ELSE NULL
      END
    ) AS `p_last_delay_edge`,
    max(`q_ahead`) AS `q_ahead`
  GROUP BY `key`, `window_start`, `window_end`
|> FULL OUTER JOIN cells USING (`key`, `window_start`, `window_end`)
|> WHERE
    (
      (`elements` IS NOT NULL)
      OR (
        (
          coalesce((`state`.`timer_now` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
          OR coalesce((`state`.`timer_watermark` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
        )
        OR (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      )
    )
|> SELECT
    `key`, `window_start`, `window_end`,
    `state`.`a_flights_n` AS `s_a_flights_n`,
    `state`.`a_last_delay_edge` AS `s_a_last_delay_edge`,
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`ahead` AS `s_ahead`,
    `state`.`standing` AS `s_standing`,
    `state`.`t1_deadline` AS `s_t1_deadline`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_flights_n`, `p_last_delay_edge`, `q_ahead`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`, `p_last_delay_edge`, `q_ahead`,
    `s_a_flights_n` AS `a_flights_n`,
    `s_a_last_delay_edge` AS `a_last_delay_edge`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    `s_ahead` AS `ahead`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    `s_t1_deadline` AS `t1_deadline`,
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
    `a_last_delay_edge` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN greatest(`a_last_delay_edge`, `p_last_delay_edge`)
      ELSE `a_last_delay_edge`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END,
    `ahead` = CASE WHEN ((NOT `closed`) AND (`elements` > 0)) THEN greatest(`ahead`, `q_ahead`) ELSE `ahead` END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND `t0_sees` AS `t1_sees`
|> SET
    `t1_deadline` = CASE
      WHEN ((`t1_sees` AND (`elements` > 0)) AND (`t1_deadline` IS NULL))
      THEN array(300600000000L)[coalesce(`window_start` & 0L, 0L)]
      ELSE `t1_deadline`
    END

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    coalesce((`t1_deadline` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE) AS `t1_ready`,
    1 AS `t1_leaf`
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
    CASE WHEN `fires` THEN `a_last_delay_edge`.`value` ELSE NULL END AS `v_last_delay`,
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
    CASE WHEN `ready` THEN element_at(array('repeat', 'at_period'), (`t0_leaf` + 1)) ELSE 'expiry' END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND `t0_fires` AS `t1_fires`
|> EXTEND TRUE AS `t1_finished`
|> EXTEND FALSE AS `t0_finished`
|> EXTEND (`t0_reset` OR (`t0_fires` AND `t1_finished`)) AS `t1_reset`
|> SET `t1_deadline` = CASE WHEN `t1_reset` THEN CAST(NULL AS bigint) ELSE `t1_deadline` END
|> EXTEND coalesce(`t1_deadline`, 9223372036854775807L) AS `t1_timer_now`
|> EXTEND `t1_timer_now` AS `t0_timer_now`
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
          'event_time',
          CAST(
            coalesce(
              `ahead`, CASE WHEN (`window_end` <> 9223372036854775807L) THEN (`window_end` - 1) ELSE NULL END
            ) AS bigint
          ),
          'result', named_struct('flights', `v_flights`, 'last_delay', `v_last_delay`)
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
        'a_last_delay_edge', CAST(`a_last_delay_edge` AS struct<at:bigint,value:int>),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'ahead', CAST(CASE WHEN (NOT `fires`) THEN `ahead` ELSE NULL END AS bigint),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        't1_deadline', CAST(`t1_deadline` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_now` ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
