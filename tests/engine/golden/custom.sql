-- Windows, a trigger and an aggregate of a user's own.
--
-- - keys: [carrier]
--   window:
--     office_hours: {opens: 8, closes: 18}
--   trigger:
--     repeat: {after_spread: 5}
--   aggregates:
--     span: {span: v}

-- rows, judged
FROM rows
|> EXTEND
    TRUE AS `_kept`,
    (FALSE OR ((TRUE AND FALSE) OR (TRUE AND FALSE))) AS `_failed`,
    CASE
      WHEN (`_reason` IS NULL)
      THEN array_distinct(
        CAST(
          CASE
            WHEN (
              (
                (pmod((((`_event_time` - pmod(`_event_time`, 86400000000L)) div 86400000000L) + 3), 7) < 5)
                AND (((`_event_time` - pmod(`_event_time`, 86400000000L)) + 28800000000L) <= `_event_time`)
              )
              AND (`_event_time` < ((`_event_time` - pmod(`_event_time`, 86400000000L)) + 64800000000L))
            )
            THEN array(
              named_struct(
                'start', ((`_event_time` - pmod(`_event_time`, 86400000000L)) + 28800000000L),
                'end', ((`_event_time` - pmod(`_event_time`, 86400000000L)) + 64800000000L)
              )
            )
            ELSE CAST(array() AS array<struct<`start`: bigint, `end`: bigint>>)
          END AS array<struct<`start`: bigint, `end`: bigint>>
        )
      )
      ELSE NULL
    END AS `_windows`
|> SET
    `_failed` = (
      `_failed`
      OR (
        ((NOT `_failed`) AND `_kept`)
        AND coalesce(
          (
            exists(
              `_windows`,
              item0 -> (
                NOT coalesce(
                  (
                    (
                      ((item0.`start` <= `_event_time`) AND (`_event_time` < item0.`end`))
                      AND (
                        (item0.`start` > (`_event_time` - 36000000000L))
                        AND (item0.`end` <= (`_event_time` + 36000000000L))
                      )
                    )
                    AND ((item0.`end` - item0.`start`) <= 36000000000L)
                  ),
                  FALSE
                )
              )
            )
            OR (CAST(size(`_windows`) AS bigint) > 10000)
          ),
          TRUE
        )
      )
    )

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
          WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) = 0))
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
          WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
          THEN CAST(size(`_windows`) AS bigint)
          ELSE NULL
        END
      ),
      0L
    ) AS `assigned`,
    coalesce(
      sum(
        CASE
          WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
          THEN CAST(
            size(
              filter(`_windows`, item0 -> (item0.`end` <= array(100000000000L)[coalesce(item0.`start` & 0L, 0L)]))
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
          WHEN (
            ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
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
        WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
        THEN `_event_time`
        ELSE NULL
      END
    ) AS `earliest`,
    max(
      CASE
        WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
        THEN `_event_time`
        ELSE NULL
      END
    ) AS `latest`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_event_time` ELSE NULL END) AS `greatest`,
    CAST(NULL AS bigint) AS `asserted`,
    max(`_arrival_time`) AS `greatest_arrival`,
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_arrival_time` ELSE NULL END) AS `arrival`,
    max(
      CASE
        WHEN ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (CAST(size(`_windows`) AS bigint) > 0))
        THEN array_max(transform(`_windows`, item0 -> item0.`end`))
        ELSE NULL
      END
    ) AS `latest_end`
  GROUP BY `_partition`

-- elements
FROM judged
|> WHERE (NOT `_failed`)
|> SELECT
    named_struct('carrier', `carrier`) AS `key`,
    `_event_time` AS `event_time`,
    `_windows`,
    `v` AS `x_span`,
    `v` AS `y_t1_least`,
    `v` AS `y_t1_most`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND `_windows` AS `_slice`
|> AGGREGATE
    count(1) AS `elements`,
    min(`x_span`) AS `p_span_low`,
    max(`x_span`) AS `p_span_high`,
    min(`y_t1_least`) AS `q_t1_least_value`,
    max(`y_t1_most`) AS `q_t1_most_value`
  GROUP BY `key`, `_slice`
|> EXTEND
    explode(
      filter(`_slice`, item0 -> (NOT (item0.`end` <= array(100000000000L)[coalesce(item0.`start` & 0L, 0L)])))
    ) AS `_window_id`
|> EXTEND `_window_id`.`start` AS `window_start`
|> EXTEND `_window_id`.`end` AS `window_end`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    min(`p_span_low`) AS `p_span_low`,
    max(`p_span_high`) AS `p_span_high`,
    min(`q_t1_least_value`) AS `q_t1_least_value`,
    max(`q_t1_most_value`) AS `q_t1_most_value`
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
    `state`.`a_span_low` AS `s_a_span_low`,
    `state`.`a_span_high` AS `s_a_span_high`,
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`t1_own_low` AS `s_t1_own_low`,
    `state`.`t1_own_high` AS `s_t1_own_high`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_span_low`, `p_span_high`, `q_t1_least_value`, `q_t1_most_value`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_span_low`, `p_span_high`, `q_t1_least_value`, `q_t1_most_value`,
    `s_a_span_low` AS `a_span_low`,
    `s_a_span_high` AS `a_span_high`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    `s_t1_own_low` AS `t1_own_low`,
    `s_t1_own_high` AS `t1_own_high`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a_span_low` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0)) THEN least(`a_span_low`, `p_span_low`) ELSE `a_span_low`
    END,
    `a_span_high` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0)) THEN greatest(`a_span_high`, `p_span_high`) ELSE `a_span_high`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END
|> EXTEND
    array(300000000000L)[coalesce(`window_start` & 0L, 0L)] AS `clock_now`,
    array(100000000000L)[coalesce(`window_start` & 0L, 0L)] AS `clock_watermark_before`,
    array(200000000000L)[coalesce(`window_start` & 0L, 0L)] AS `clock_watermark`
|> EXTEND (NOT `closed`) AS `t0_sees`, `q_t1_least_value` AS `t1_tick_least`, `q_t1_most_value` AS `t1_tick_most`
|> EXTEND `t0_sees` AS `t1_sees`
|> SET
    `t1_own_low` = CASE
      WHEN (`t1_sees` AND (`elements` > 0))
      THEN TRY_CAST(least(`t1_own_low`, `t1_tick_least`) AS bigint)
      ELSE `t1_own_low`
    END,
    `t1_own_high` = CASE
      WHEN (`t1_sees` AND (`elements` > 0))
      THEN TRY_CAST(greatest(`t1_own_high`, `t1_tick_most`) AS bigint)
      ELSE `t1_own_high`
    END

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND coalesce(try_subtract(`t1_own_high`, `t1_own_low`) >= 5, FALSE) AS `t1_ready`, 1 AS `t1_leaf`
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
    CASE WHEN `fires` THEN CAST(((`a_span_high` - `a_span_low`) / 1) AS bigint) ELSE NULL END AS `v_span`,
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
    CASE WHEN `ready` THEN element_at(array('repeat', 'after_spread'), (`t0_leaf` + 1)) ELSE 'expiry' END AS `leaf`

-- trigger: the state after the firing; panes
FROM fire
|> EXTEND (`t0_sees` AND `t0_ready`) AS `t0_fires`, FALSE AS `t0_reset`
|> EXTEND `t0_fires` AS `t1_fires`
|> EXTEND coalesce(true, FALSE) AS `t1_finished`
|> EXTEND FALSE AS `t0_finished`
|> EXTEND (`t0_reset` OR (`t0_fires` AND `t1_finished`)) AS `t1_reset`
|> SET
    `t1_own_low` = CASE WHEN `t1_reset` THEN CAST(NULL AS bigint) ELSE `t1_own_low` END,
    `t1_own_high` = CASE WHEN `t1_reset` THEN CAST(NULL AS bigint) ELSE `t1_own_high` END
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
          'result', named_struct('span', `v_span`)
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
        'a_span_low', CAST(`a_span_low` AS bigint),
        'a_span_high', CAST(`a_span_high` AS bigint),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        't1_own_low', CAST(`t1_own_low` AS bigint),
        't1_own_high', CAST(`t1_own_high` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
