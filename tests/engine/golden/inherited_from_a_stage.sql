-- A stage over the panes of another, in their windows, whose retractions have the weight -1.
--
-- - name: by_carrier
--   keys: [carrier]
--   window:
--     fixed: {size: 1h}
--   trigger:
--     after_watermark:
--       late: {after_count: 1}
--   accumulation: retracting
--   allowed_lateness: 1h
--   aggregates:
--     flights: {count: '*'}
-- - name: of_all
--   window:
--     inherited: {}
--   trigger:
--     after_watermark:
--       late: {after_count: 1}
--   accumulation: retracting
--   allowed_lateness: 1h
--   aggregates:
--     carriers: {count: '*'}
--     flights: {sum: flights}

-- rows, judged
FROM rows
|> EXTEND
    TRUE AS `_kept`,
    (FALSE OR FALSE) AS `_failed`,
    named_struct(
      'start', coalesce(unix_micros(`window_start`), CAST('-9223372036854775808' AS BIGINT)),
      'end', coalesce(unix_micros(`window_end`), 9223372036854775807L)
    ) AS `_windows`

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
          THEN CAST((`_windows`.`end` <= array(96400000000L)[coalesce(`_windows`.`start` & 0L, 0L)]) AS bigint)
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
        WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0)) THEN `_windows`.`end` ELSE NULL
      END
    ) AS `latest_end`
  GROUP BY `_partition`

-- elements
FROM judged
|> SELECT
    named_struct('unkeyed', TRUE) AS `key`,
    `_event_time` AS `event_time`,
    `_windows`,
    coalesce(CAST(`weight` AS int), 1) AS `weight`,
    `flights` AS `x_flights`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND `_windows` AS `_slice`
|> EXTEND `_slice`.`start` AS `window_start`
|> EXTEND `_slice`.`end` AS `window_end`
|> WHERE (`window_end` > array(96400000000L)[coalesce(`window_start` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    sum(`weight`) AS `net_elements`,
    sum(CASE WHEN (1 IS NOT NULL) THEN `weight` ELSE NULL END) AS `p_carriers_n`,
    sum(
      CASE WHEN (`weight` < 0) THEN negative(shiftright(`x_flights`, 32)) ELSE shiftright(`x_flights`, 32) END
    ) AS `p_flights_high`,
    sum(
      CASE WHEN (`weight` < 0) THEN negative((`x_flights` & 4294967295L)) ELSE (`x_flights` & 4294967295L) END
    ) AS `p_flights_low`,
    sum(CASE WHEN (`x_flights` IS NOT NULL) THEN `weight` ELSE NULL END) AS `p_flights_n`
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
            WHEN (`window_end` > 9223372033254775807L) THEN 9223372036854775807L ELSE (`window_end` + 3600000000L)
          END <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]
        )
      )
    )
|> SELECT
    `key`, `window_start`, `window_end`,
    `state`.`a_carriers_n` AS `s_a_carriers_n`,
    `state`.`a_flights_high` AS `s_a_flights_high`,
    `state`.`a_flights_low` AS `s_a_flights_low`,
    `state`.`a_flights_n` AS `s_a_flights_n`,
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`net` AS `s_net`,
    `state`.`last_timing` AS `s_last_timing`,
    `state`.`last_on_time_index` AS `s_last_on_time_index`,
    `state`.`last_trigger` AS `s_last_trigger`,
    `state`.`last_percentile` AS `s_last_percentile`,
    `state`.`last_v_carriers` AS `s_last_v_carriers`,
    `state`.`last_v_flights` AS `s_last_v_flights`,
    `state`.`t0_position` AS `s_t0_position`,
    `state`.`t1_rewound` AS `s_t1_rewound`,
    `state`.`t1_seen` AS `s_t1_seen`,
    `state`.`t3_count` AS `s_t3_count`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_carriers_n`, `p_flights_high`, `p_flights_low`, `p_flights_n`,
    coalesce(`net_elements`, 0L) AS `net_elements`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `net_elements`, `p_carriers_n`, `p_flights_high`, `p_flights_low`,
    `p_flights_n`,
    `s_a_carriers_n` AS `a_carriers_n`,
    `s_a_flights_high` AS `a_flights_high`,
    `s_a_flights_low` AS `a_flights_low`,
    `s_a_flights_n` AS `a_flights_n`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    coalesce(`s_net`, CAST(0 AS bigint)) AS `net`,
    `s_last_timing` AS `last_timing`,
    `s_last_on_time_index` AS `last_on_time_index`,
    `s_last_trigger` AS `last_trigger`,
    `s_last_percentile` AS `last_percentile`,
    `s_last_v_carriers` AS `last_v_carriers`,
    `s_last_v_flights` AS `last_v_flights`,
    coalesce(`s_t0_position`, CAST(0 AS int)) AS `t0_position`,
    coalesce(`s_t1_rewound`, CAST(FALSE AS boolean)) AS `t1_rewound`,
    coalesce(`s_t1_seen`, CAST(FALSE AS boolean)) AS `t1_seen`,
    coalesce(`s_t3_count`, CAST(0 AS bigint)) AS `t3_count`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a_carriers_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_carriers_n` + `p_carriers_n`), `a_carriers_n`, `p_carriers_n`)
      ELSE `a_carriers_n`
    END,
    `a_flights_high` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_flights_high` + `p_flights_high`), `a_flights_high`, `p_flights_high`)
      ELSE `a_flights_high`
    END,
    `a_flights_low` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_flights_low` + `p_flights_low`), `a_flights_low`, `p_flights_low`)
      ELSE `a_flights_low`
    END,
    `a_flights_n` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce((`a_flights_n` + `p_flights_n`), `a_flights_n`, `p_flights_n`)
      ELSE `a_flights_n`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END,
    `net` = (`net` + CASE WHEN (NOT `closed`) THEN `net_elements` ELSE 0L END)
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND (`t0_sees` AND (`t0_position` = 0)) AS `t1_sees`, (`t0_sees` AND (`t0_position` = 1)) AS `t2_sees`
|> EXTEND `t2_sees` AS `t3_sees`
|> SET
    `t1_seen` = (`t1_seen` OR (`t1_sees` AND (`elements` > 0))),
    `t3_count` = (`t3_count` + CASE WHEN `t3_sees` THEN `elements` ELSE 0L END)

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AND ((NOT `t1_rewound`) OR `t1_seen`)
    ) AS `t1_ready`,
    (`t3_count` >= 1L) AS `t3_ready`,
    1 AS `t1_leaf`,
    3 AS `t3_leaf`
|> EXTEND `t3_ready` AS `t2_ready`, `t3_leaf` AS `t2_leaf`
|> EXTEND
    coalesce(
      coalesce(
        CASE WHEN (`t0_position` = 0) THEN `t1_ready` ELSE NULL END,
        CASE WHEN (`t0_position` = 1) THEN `t2_ready` ELSE NULL END
      ),
      FALSE
    ) AS `t0_ready`,
    coalesce(
      CASE WHEN (`t0_position` = 0) THEN `t1_leaf` ELSE NULL END,
      CASE WHEN (`t0_position` = 1) THEN `t2_leaf` ELSE NULL END
    ) AS `t0_leaf`
|> EXTEND
    (
      CASE
        WHEN (`window_end` > 9223372033254775807L) THEN 9223372036854775807L ELSE (`window_end` + 3600000000L)
      END <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]
    ) AS `expired`,
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `complete`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      AND (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
    ) AS `passes_end`,
    ((NOT `closed`) AND `t0_ready`) AS `ready`
|> EXTEND ((((NOT `closed`) AND (`ready` OR `expired`)) AND (`new` > 0)) AND ((`net` > 0) OR `standing`)) AS `fires`
|> EXTEND
    CASE WHEN `fires` THEN coalesce(`a_carriers_n`, 0L) ELSE NULL END AS `v_carriers`,
    CASE
      WHEN `fires`
      THEN CASE
        WHEN (`a_flights_n` > 0)
        THEN CASE
          WHEN (
            ((`a_flights_high` + shiftright(`a_flights_low`, 32)) >= -2147483648L)
            AND ((`a_flights_high` + shiftright(`a_flights_low`, 32)) <= 2147483647L)
          )
          THEN (shiftleft((`a_flights_high` + shiftright(`a_flights_low`, 32)), 32) + (`a_flights_low` & 4294967295L))
          ELSE NULL
        END
        ELSE NULL
      END
      ELSE NULL
    END AS `v_flights`,
    CASE
      WHEN `complete`
      THEN CASE WHEN ((NOT `completed`) AND coalesce((`since` < `window_end`), FALSE)) THEN 'on_time' ELSE 'late' END
      ELSE 'early'
    END AS `timing`
|> EXTEND
    (`fires` AND (TRUE AND (`net` > 0))) AS `emits`,
    ((`fires` AND (NOT (TRUE AND (`net` > 0)))) AND `standing`) AS `retracts`,
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
      THEN element_at(array('sequence_of', 'at_watermark', 'repeat', 'after_count'), (`t0_leaf` + 1))
      ELSE 'expiry'
    END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND (`t0_fires` AND (`t0_position` = 0)) AS `t1_fires`, (`t0_fires` AND (`t0_position` = 1)) AS `t2_fires`
|> EXTEND `t2_fires` AS `t3_fires`
|> EXTEND TRUE AS `t1_finished`, TRUE AS `t3_finished`
|> EXTEND FALSE AS `t2_finished`
|> EXTEND
    (
      (`t0_position` = 1)
      AND coalesce(
        coalesce(
          CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
          CASE WHEN (`t0_position` = 1) THEN `t2_finished` ELSE NULL END
        ),
        FALSE
      )
    ) AS `t0_finished`
|> EXTEND (`t0_reset` OR FALSE) AS `t1_reset`, (`t0_reset` OR FALSE) AS `t2_reset`
|> EXTEND (`t2_reset` OR (`t2_fires` AND `t3_finished`)) AS `t3_reset`
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
                CASE WHEN (`t0_position` = 1) THEN `t2_finished` ELSE NULL END
              ),
              FALSE
            )
          )
          THEN 1
          ELSE 0
        END
      )
    END,
    `t1_rewound` = CASE
      WHEN `t1_reset` THEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) ELSE `t1_rewound`
    END,
    `t1_seen` = CASE WHEN `t1_reset` THEN FALSE ELSE `t1_seen` END,
    `t3_count` = CASE WHEN `t3_reset` THEN CAST(0 AS bigint) ELSE `t3_count` END
|> EXTEND CASE WHEN `t1_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t1_timer_watermark`
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
          element_at(array('sequence_of', 'at_watermark', 'repeat', 'after_count', 'expiry'), `last_trigger`),
          'watermark_percentile', CAST(`last_percentile` AS int),
          'result', named_struct('carriers', `last_v_carriers`, 'flights', `last_v_flights`)
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
          'result', named_struct('carriers', `v_carriers`, 'flights', `v_flights`)
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
          'result', named_struct('carriers', `v_carriers`, 'flights', `v_flights`)
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
          element_at(array('sequence_of', 'at_watermark', 'repeat', 'after_count', 'expiry'), `last_trigger`),
          'watermark_percentile', CAST(`last_percentile` AS int),
          'result', named_struct('carriers', `last_v_carriers`, 'flights', `last_v_flights`)
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
        'a_carriers_n', CAST(`a_carriers_n` AS bigint),
        'a_flights_high', CAST((`a_flights_high` + shiftright(`a_flights_low`, 32)) AS bigint),
        'a_flights_low', CAST((`a_flights_low` & 4294967295L) AS bigint),
        'a_flights_n', CAST(`a_flights_n` AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        'net', CAST(`net` AS bigint),
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
              array_position(array('sequence_of', 'at_watermark', 'repeat', 'after_count', 'expiry'), `leaf`) AS int
            )
            ELSE `last_trigger`
          END AS int
        ),
        'last_percentile', CAST(CASE WHEN `emits` THEN `percentile` ELSE `last_percentile` END AS int),
        'last_v_carriers', CAST(CASE WHEN `emits` THEN `v_carriers` ELSE `last_v_carriers` END AS bigint),
        'last_v_flights', CAST(CASE WHEN `emits` THEN `v_flights` ELSE `last_v_flights` END AS bigint),
        't0_position', CAST(`t0_position` AS int),
        't1_rewound', CAST(`t1_rewound` AS boolean),
        't1_seen', CAST(`t1_seen` AS boolean),
        't3_count', CAST(`t3_count` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
