-- Windows that overlap and fire early, so that each has a cell of its own. They clear when they fire.
--
-- - keys: [carrier]
--   window:
--     sliding: {size: 10m, period: 1m}
--   trigger:
--     after_watermark:
--       early:
--         after_delay: {delay: 30s}
--   accumulation: discarding
--   aggregates:
--     flights: {count: '*'}

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
      sum(
        CASE
          WHEN (
            (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
            AND (
              greatest(
                (
                  (
                    (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                      (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                    )
                  ) div 60000000L
                ),
                0L
              ) = 0
            )
          )
          THEN 1
          ELSE NULL
        END
      ),
      0L
    ) AS `unassigned`,
    coalesce(sum(CASE WHEN (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) THEN 1 ELSE NULL END), 0L) AS `kept`,
    coalesce(
      sum(
        CASE
          WHEN (
            (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
            AND (
              greatest(
                (
                  (
                    (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                      (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                    )
                  ) div 60000000L
                ),
                0L
              ) > 0
            )
          )
          THEN greatest(
            (
              (
                (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                  (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                )
              ) div 60000000L
            ),
            0L
          )
          ELSE NULL
        END
      ),
      0L
    ) AS `assigned`,
    coalesce(
      sum(
        CASE
          WHEN (
            (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
            AND (
              greatest(
                (
                  (
                    (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                      (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                    )
                  ) div 60000000L
                ),
                0L
              ) > 0
            )
          )
          THEN greatest(
            (
              (
                (
                  least(`_event_time`, array(99400000000L)[coalesce(`_event_time` & 0L, 0L)]) - pmod(
                    least(`_event_time`, array(99400000000L)[coalesce(`_event_time` & 0L, 0L)]), 60000000L
                  )
                ) - ((`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L))
              ) div 60000000L
            ),
            0L
          )
          ELSE NULL
        END
      ),
      0L
    ) AS `late`,
    coalesce(
      sum(
        CASE
          WHEN (
            (
              (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
              AND (
                greatest(
                  (
                    (
                      (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                        (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                      )
                    ) div 60000000L
                  ),
                  0L
                ) > 0
              )
            )
            AND FALSE
          )
          THEN 1
          ELSE NULL
        END
      ),
      0L
    ) AS `suspects`,
    min(
      CASE
        WHEN (
          (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
          AND (
            greatest(
              (
                (
                  (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                    (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                  )
                ) div 60000000L
              ),
              0L
            ) > 0
          )
        )
        THEN `_event_time`
        ELSE NULL
      END
    ) AS `earliest`,
    max(
      CASE
        WHEN (
          (((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`)
          AND (
            greatest(
              (
                (
                  (`_event_time` - pmod(`_event_time`, 60000000L)) - (
                    (`_event_time` - 600000000L) - pmod((`_event_time` - 600000000L), 60000000L)
                  )
                ) div 60000000L
              ),
              0L
            ) > 0
          )
        )
        THEN `_event_time`
        ELSE NULL
      END
    ) AS `latest`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_event_time` ELSE NULL END) AS `greatest`,
    CAST(NULL AS bigint) AS `asserted`,
    max(`_arrival_time`) AS `greatest_arrival`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_arrival_time` ELSE NULL END) AS `arrival`
  GROUP BY `_partition`

-- elements
FROM judged
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND (`event_time` - pmod(`event_time`, 60000000L)) AS `_slice`
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`
  GROUP BY `key`, `_slice`
|> EXTEND
    explode(
      CASE
        WHEN (
          (
            (
              greatest(
                (`_slice` + -540000000L), array(99400000001L)[coalesce((`_slice` + -540000000L) & 0L, 0L)]
              ) + 59999999L
            ) - pmod(
              (
                greatest(
                  (`_slice` + -540000000L), array(99400000001L)[coalesce((`_slice` + -540000000L) & 0L, 0L)]
                ) + 59999999L
              ),
              60000000L
            )
          ) <= (`_slice` - pmod(`_slice`, 60000000L))
        )
        THEN sequence(
          (
            (
              greatest(
                (`_slice` + -540000000L), array(99400000001L)[coalesce((`_slice` + -540000000L) & 0L, 0L)]
              ) + 59999999L
            ) - pmod(
              (
                greatest(
                  (`_slice` + -540000000L), array(99400000001L)[coalesce((`_slice` + -540000000L) & 0L, 0L)]
                ) + 59999999L
              ),
              60000000L
            )
          ),
          (`_slice` - pmod(`_slice`, 60000000L)),
          60000000L
        )
        ELSE CAST(array() AS array<bigint>)
      END
    ) AS `_window_id`
|> EXTEND `_window_id` AS `window_start`
|> EXTEND (`_window_id` + 600000000L) AS `window_end`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`
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
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`t1_deadline` AS `s_t1_deadline`,
    `state`.`t2_rewound` AS `s_t2_rewound`,
    `state`.`t2_seen` AS `s_t2_seen`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_flights_n`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`,
    `s_a_flights_n` AS `a_flights_n`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    `s_t1_deadline` AS `t1_deadline`,
    coalesce(`s_t2_rewound`, CAST(FALSE AS boolean)) AS `t2_rewound`,
    coalesce(`s_t2_seen`, CAST(FALSE AS boolean)) AS `t2_seen`,
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
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND `t0_sees` AS `t1_sees`, `t0_sees` AS `t2_sees`
|> SET
    `t1_deadline` = CASE
      WHEN ((`t1_sees` AND (`elements` > 0)) AND (`t1_deadline` IS NULL))
      THEN array(300030000000L)[coalesce(`window_start` & 0L, 0L)]
      ELSE `t1_deadline`
    END,
    `t2_seen` = (`t2_seen` OR (`t2_sees` AND (`elements` > 0)))

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    coalesce((`t1_deadline` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE) AS `t1_ready`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AND ((NOT `t2_rewound`) OR `t2_seen`)
    ) AS `t2_ready`,
    1 AS `t1_leaf`,
    2 AS `t2_leaf`
|> EXTEND (`t1_ready` OR `t2_ready`) AS `t0_ready`, CASE WHEN `t2_ready` THEN `t2_leaf` ELSE `t1_leaf` END AS `t0_leaf`
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
    CASE
      WHEN `ready` THEN element_at(array('repeat_until', 'after_delay', 'at_watermark'), (`t0_leaf` + 1)) ELSE 'expiry'
    END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND (`t0_fires` AND (NOT `t2_ready`)) AS `t1_fires`, FALSE AS `t2_fires`
|> EXTEND TRUE AS `t1_finished`, TRUE AS `t2_finished`
|> EXTEND `t2_ready` AS `t0_finished`
|> EXTEND (`t0_reset` OR (`t1_fires` AND `t1_finished`)) AS `t1_reset`, (`t0_reset` OR FALSE) AS `t2_reset`
|> SET
    `t1_deadline` = CASE WHEN `t1_reset` THEN CAST(NULL AS bigint) ELSE `t1_deadline` END,
    `t2_rewound` = CASE
      WHEN `t2_reset` THEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) ELSE `t2_rewound`
    END,
    `t2_seen` = CASE WHEN `t2_reset` THEN FALSE ELSE `t2_seen` END
|> EXTEND
    coalesce(`t1_deadline`, 9223372036854775807L) AS `t1_timer_now`,
    CASE WHEN `t2_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t2_timer_watermark`
|> EXTEND `t1_timer_now` AS `t0_timer_now`, `t2_timer_watermark` AS `t0_timer_watermark`
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
          'result', named_struct('flights', `v_flights`)
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
        'a_flights_n', CAST(CASE WHEN (NOT (`emits` AND TRUE)) THEN `a_flights_n` ELSE NULL END AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND TRUE))) AS boolean),
        't1_deadline', CAST(`t1_deadline` AS bigint),
        't2_rewound', CAST(`t2_rewound` AS boolean),
        't2_seen', CAST(`t2_seen` AS boolean),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_now` ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
