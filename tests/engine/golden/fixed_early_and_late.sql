-- A tree of triggers, and panes that are retracted.
--
-- - keys: [carrier]
--   window:
--     fixed: {size: 1h}
--   trigger:
--     after_watermark:
--       early: {after_count: 100}
--       late: {after_count: 1}
--   accumulation: retracting
--   allowed_lateness: 12h
--   aggregates:
--     flights: {count: '*'}
--     worst: {max: delay}
--   derive: {is_bad: worst > 60}
--   having: flights > 1

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
              (
                (`_event_time` - pmod(`_event_time`, 3600000000L)) + 3600000000L
              ) <= array(56800000000L)[coalesce(`_event_time` & 0L, 0L)]
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
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`, `delay` AS `x_worst`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND (`event_time` - pmod(`event_time`, 3600000000L)) AS `_slice`
|> EXTEND `_slice` AS `window_start`
|> EXTEND (`_slice` + 3600000000L) AS `window_end`
|> WHERE (`window_end` > array(56800000000L)[coalesce(`window_start` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    max(`x_worst`) AS `p_worst_value`
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
        OR (
          CASE
            WHEN (`window_end` > 9223371993654775807L) THEN 9223372036854775807L ELSE (`window_end` + 43200000000L)
          END <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]
        )
      )
    )
|> SELECT
    `key`, `window_start`, `window_end`,
    `state`.`a_flights_n` AS `s_a_flights_n`,
    `state`.`a_worst_value` AS `s_a_worst_value`,
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`last_timing` AS `s_last_timing`,
    `state`.`last_on_time_index` AS `s_last_on_time_index`,
    `state`.`last_trigger` AS `s_last_trigger`,
    `state`.`last_percentile` AS `s_last_percentile`,
    `state`.`last_v_flights` AS `s_last_v_flights`,
    `state`.`last_v_worst` AS `s_last_v_worst`,
    `state`.`t0_position` AS `s_t0_position`,
    `state`.`t2_count` AS `s_t2_count`,
    `state`.`t3_rewound` AS `s_t3_rewound`,
    `state`.`t3_seen` AS `s_t3_seen`,
    `state`.`t5_count` AS `s_t5_count`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_flights_n`, `p_worst_value`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`, `p_worst_value`,
    `s_a_flights_n` AS `a_flights_n`,
    `s_a_worst_value` AS `a_worst_value`,
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
    `s_last_v_flights` AS `last_v_flights`,
    `s_last_v_worst` AS `last_v_worst`,
    coalesce(`s_t0_position`, CAST(0 AS int)) AS `t0_position`,
    coalesce(`s_t2_count`, CAST(0 AS bigint)) AS `t2_count`,
    coalesce(`s_t3_rewound`, CAST(FALSE AS boolean)) AS `t3_rewound`,
    coalesce(`s_t3_seen`, CAST(FALSE AS boolean)) AS `t3_seen`,
    coalesce(`s_t5_count`, CAST(0 AS bigint)) AS `t5_count`,
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
    `a_worst_value` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0)) THEN greatest(`a_worst_value`, `p_worst_value`) ELSE `a_worst_value`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND (`t0_sees` AND (`t0_position` = 0)) AS `t1_sees`, (`t0_sees` AND (`t0_position` = 1)) AS `t4_sees`
|> EXTEND `t1_sees` AS `t2_sees`, `t1_sees` AS `t3_sees`, `t4_sees` AS `t5_sees`
|> SET
    `t2_count` = (`t2_count` + CASE WHEN `t2_sees` THEN `elements` ELSE 0L END),
    `t3_seen` = (`t3_seen` OR (`t3_sees` AND (`elements` > 0))),
    `t5_count` = (`t5_count` + CASE WHEN `t5_sees` THEN `elements` ELSE 0L END)

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    (`t2_count` >= 100L) AS `t2_ready`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AND ((NOT `t3_rewound`) OR `t3_seen`)
    ) AS `t3_ready`,
    (`t5_count` >= 1L) AS `t5_ready`,
    2 AS `t2_leaf`,
    3 AS `t3_leaf`,
    5 AS `t5_leaf`
|> EXTEND
    (`t2_ready` OR `t3_ready`) AS `t1_ready`,
    `t5_ready` AS `t4_ready`,
    CASE WHEN `t3_ready` THEN `t3_leaf` ELSE `t2_leaf` END AS `t1_leaf`,
    `t5_leaf` AS `t4_leaf`
|> EXTEND
    coalesce(
      coalesce(
        CASE WHEN (`t0_position` = 0) THEN `t1_ready` ELSE NULL END,
        CASE WHEN (`t0_position` = 1) THEN `t4_ready` ELSE NULL END
      ),
      FALSE
    ) AS `t0_ready`,
    coalesce(
      CASE WHEN (`t0_position` = 0) THEN `t1_leaf` ELSE NULL END,
      CASE WHEN (`t0_position` = 1) THEN `t4_leaf` ELSE NULL END
    ) AS `t0_leaf`
|> EXTEND
    (
      CASE
        WHEN (`window_end` > 9223371993654775807L) THEN 9223372036854775807L ELSE (`window_end` + 43200000000L)
      END <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]
    ) AS `expired`,
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `complete`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      AND (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
    ) AS `passes_end`,
    ((NOT `closed`) AND `t0_ready`) AS `ready`
|> EXTEND (((NOT `closed`) AND (`ready` OR `expired`)) AND (`new` > 0)) AS `fires`
|> EXTEND
    CASE WHEN `fires` THEN coalesce(`a_flights_n`, 0L) ELSE NULL END AS `v_flights`,
    CASE WHEN `fires` THEN `a_worst_value` ELSE NULL END AS `v_worst`,
    CASE
      WHEN `complete`
      THEN CASE WHEN ((NOT `completed`) AND coalesce((`since` < `window_end`), FALSE)) THEN 'on_time' ELSE 'late' END
      ELSE 'early'
    END AS `timing`
|> EXTEND `v_flights` AS `w_flights`
|> EXTEND coalesce(`w_flights` > 1, FALSE) AS `passes`
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`, `p_worst_value`, `a_flights_n`, `a_worst_value`,
    `new`, `since`, `emitted`, `emitted_on_time`, `completed`, `closed`, `standing`, `last_timing`,
    `last_on_time_index`, `last_trigger`, `last_percentile`, `last_v_flights`, `last_v_worst`, `t0_position`,
    `t2_count`, `t3_rewound`, `t3_seen`, `t5_count`, `timer_now`, `timer_watermark`, `opened`, `t0_sees`, `t1_sees`,
    `t4_sees`, `t2_sees`, `t3_sees`, `t5_sees`, `t2_ready`, `t3_ready`, `t5_ready`, `t2_leaf`, `t3_leaf`, `t5_leaf`,
    `t1_ready`, `t4_ready`, `t1_leaf`, `t4_leaf`, `t0_ready`, `t0_leaf`, `expired`, `complete`, `passes_end`, `ready`,
    `fires`, `v_flights`, `v_worst`, `timing`, `passes`
|> EXTEND
    (`fires` AND `passes`) AS `emits`,
    ((`fires` AND (NOT `passes`)) AND `standing`) AS `retracts`,
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
    CASE
      WHEN `ready`
      THEN element_at(
        array('sequence_of', 'repeat_until', 'after_count', 'at_watermark', 'repeat', 'after_count'), (`t0_leaf` + 1)
      )
      ELSE 'expiry'
    END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND (`t0_fires` AND (`t0_position` = 0)) AS `t1_fires`, (`t0_fires` AND (`t0_position` = 1)) AS `t4_fires`
|> EXTEND (`t1_fires` AND (NOT `t3_ready`)) AS `t2_fires`, FALSE AS `t3_fires`, `t4_fires` AS `t5_fires`
|> EXTEND TRUE AS `t2_finished`, TRUE AS `t3_finished`, TRUE AS `t5_finished`
|> EXTEND `t3_ready` AS `t1_finished`, FALSE AS `t4_finished`
|> EXTEND
    (
      (`t0_position` = 1)
      AND coalesce(
        coalesce(
          CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
          CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
        ),
        FALSE
      )
    ) AS `t0_finished`
|> EXTEND (`t0_reset` OR FALSE) AS `t1_reset`, (`t0_reset` OR FALSE) AS `t4_reset`
|> EXTEND
    (`t1_reset` OR (`t2_fires` AND `t2_finished`)) AS `t2_reset`,
    (`t1_reset` OR FALSE) AS `t3_reset`,
    (`t4_reset` OR (`t4_fires` AND `t5_finished`)) AS `t5_reset`
|> SET
    `t0_position` = CASE
      WHEN `t0_reset`
      THEN CAST(0 AS int)
      ELSE (
        `t0_position` + CASE
          WHEN (
            `t0_fires`
            AND coalesce(
              coalesce(
                CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
                CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
              ),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END
      )
    END,
    `t2_count` = CASE WHEN `t2_reset` THEN CAST(0 AS bigint) ELSE `t2_count` END,
    `t3_rewound` = CASE
      WHEN `t3_reset` THEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) ELSE `t3_rewound`
    END,
    `t3_seen` = CASE WHEN `t3_reset` THEN FALSE ELSE `t3_seen` END,
    `t5_count` = CASE WHEN `t5_reset` THEN CAST(0 AS bigint) ELSE `t5_count` END
|> EXTEND CASE WHEN `t3_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t3_timer_watermark`
|> EXTEND `t3_timer_watermark` AS `t1_timer_watermark`
|> EXTEND CASE WHEN (`t0_position` = 0) THEN `t1_timer_watermark` ELSE 9223372036854775807L END AS `t0_timer_watermark`
|> EXTEND (`ready` AND `t0_finished`) AS `closes`
|> EXTEND
    CASE
      WHEN (`emits` AND `standing`)
      THEN array(
        named_struct(
          'change', 'update_preimage',
          'weight', -1,
          'timing', element_at(array('early', 'on_time', 'late'), `last_timing`),
          'pane_index', CAST((`emitted` - 1) AS int),
          'on_time_index', CAST(`last_on_time_index` AS int),
          'is_first', ((`emitted` - 1) = 0),
          'is_last', FALSE,
          'trigger',
          element_at(
            array('sequence_of', 'repeat_until', 'after_count', 'at_watermark', 'repeat', 'after_count', 'expiry'),
            `last_trigger`
          ),
          'watermark_percentile', CAST(`last_percentile` AS int),
          'result', named_struct('flights', `last_v_flights`, 'worst', `last_v_worst`)
        ),
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
          'result', named_struct('flights', `v_flights`, 'worst', `v_worst`)
        )
      )
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
          'result', named_struct('flights', `v_flights`, 'worst', `v_worst`)
        )
      )
      WHEN `retracts`
      THEN array(
        named_struct(
          'change', 'delete',
          'weight', -1,
          'timing', element_at(array('early', 'on_time', 'late'), `last_timing`),
          'pane_index', CAST((`emitted` - 1) AS int),
          'on_time_index', CAST(`last_on_time_index` AS int),
          'is_first', ((`emitted` - 1) = 0),
          'is_last', FALSE,
          'trigger',
          element_at(
            array('sequence_of', 'repeat_until', 'after_count', 'at_watermark', 'repeat', 'after_count', 'expiry'),
            `last_trigger`
          ),
          'watermark_percentile', CAST(`last_percentile` AS int),
          'result', named_struct('flights', `last_v_flights`, 'worst', `last_v_worst`)
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
        'a_worst_value', CAST(`a_worst_value` AS int),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
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
            THEN CAST(
              array_position(
                array('sequence_of', 'repeat_until', 'after_count', 'at_watermark', 'repeat', 'after_count', 'expiry'),
                `leaf`
              ) AS int
            )
            ELSE `last_trigger`
          END AS int
        ),
        'last_percentile', CAST(CASE WHEN `emits` THEN `percentile` ELSE `last_percentile` END AS int),
        'last_v_flights', CAST(CASE WHEN `emits` THEN `v_flights` ELSE `last_v_flights` END AS bigint),
        'last_v_worst', CAST(CASE WHEN `emits` THEN `v_worst` ELSE `last_v_worst` END AS int),
        't0_position', CAST(`t0_position` AS int),
        't2_count', CAST(`t2_count` AS bigint),
        't3_rewound', CAST(`t3_rewound` AS boolean),
        't3_seen', CAST(`t3_seen` AS boolean),
        't5_count', CAST(`t5_count` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
