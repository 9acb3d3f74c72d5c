-- Windows that overlap and fire as they expire. The cells are slices, from which the windows are formed.
--
-- - keys: [carrier]
--   window:
--     sliding: {size: 10m, period: 1m}
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
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`, `delay` AS `x_total`

-- what is kept beside windows: shared_1
FROM elements
|> EXTEND (`event_time` - pmod(`event_time`, 60000000L)) AS `_slice`
|> WHERE (((`_slice` - pmod(`_slice`, 60000000L)) + 600000000L) > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    sum(CAST(`x_total` AS bigint)) AS `p_total_sum`
  GROUP BY `key`, `_slice`

-- what is kept beside windows
FROM shared_1
|> WHERE
    CASE
      WHEN (`elements` > 0)
      THEN (((`_slice` - pmod(`_slice`, 60000000L)) + 600000000L) > array(200000000000L)[coalesce(`_slice` & 0L, 0L)])
      ELSE FALSE
    END
|> EXTEND `_slice` AS `window_start`
|> SELECT
    `key`, `window_start`,
    (`window_start` + 60000000L) AS `window_end`,
    FALSE AS `expired`,
    FALSE AS `opened`,
    named_struct(
      'a_flights_n', CAST(`p_flights_n` AS bigint),
      'a_total_sum', CAST(`p_total_sum` AS bigint),
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
|> UNION ALL BY NAME (
  FROM cells
  |> SELECT
      `key`,
      `window_start` AS `_slice`,
      `state`.`new` AS `elements`,
      `state`.`a_flights_n` AS `p_flights_n`,
      `state`.`a_total_sum` AS `p_total_sum`
)
|> DISTRIBUTE BY `key`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_total_sum`) AS `p_total_sum`
  GROUP BY `key`, `_slice`
|> EXTEND (`_slice` - pmod(`_slice`, 600000000L)) AS `_block`
|> EXTEND
    lag(`_slice`) OVER (PARTITION BY `key` ORDER BY `_block`, `_slice`) AS `_previous`,
    lead(`_slice`) OVER (PARTITION BY `key` ORDER BY `_block`, `_slice`) AS `_following`
|> SELECT
    `key`, `_slice`, `_block`, `_previous`, `_following`,
    sum(`elements`) OVER (PARTITION BY `key`, `_block` ORDER BY `_slice` ROWS UNBOUNDED PRECEDING) AS `u_elements`,
    sum(`elements`) OVER (PARTITION BY `key`, `_block` ORDER BY `_slice` DESC ROWS UNBOUNDED PRECEDING) AS `f_elements`,
    sum(`p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` ROWS UNBOUNDED PRECEDING
    ) AS `u_p_flights_n`,
    sum(`p_flights_n`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` DESC ROWS UNBOUNDED PRECEDING
    ) AS `f_p_flights_n`,
    sum(`p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` ROWS UNBOUNDED PRECEDING
    ) AS `u_p_total_sum`,
    sum(`p_total_sum`) OVER (
      PARTITION BY `key`, `_block` ORDER BY `_slice` DESC ROWS UNBOUNDED PRECEDING
    ) AS `f_p_total_sum`
|> EXTEND
    explode(
      concat(
        CASE
          WHEN (
            (
              (
                greatest(
                  greatest((`_previous` + 60000000L), `_block`), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]
                ) + 59999999L
              ) - pmod(
                (
                  greatest(
                    greatest((`_previous` + 60000000L), `_block`), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]
                  ) + 59999999L
                ),
                60000000L
              )
            ) <= (
              least(`_slice`, array(199400000000L)[coalesce(`_slice` & 0L, 0L)]) - pmod(
                least(`_slice`, array(199400000000L)[coalesce(`_slice` & 0L, 0L)]), 60000000L
              )
            )
          )
          THEN sequence(
            (
              (
                greatest(
                  greatest((`_previous` + 60000000L), `_block`), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]
                ) + 59999999L
              ) - pmod(
                (
                  greatest(
                    greatest((`_previous` + 60000000L), `_block`), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]
                  ) + 59999999L
                ),
                60000000L
              )
            ),
            (
              least(`_slice`, array(199400000000L)[coalesce(`_slice` & 0L, 0L)]) - pmod(
                least(`_slice`, array(199400000000L)[coalesce(`_slice` & 0L, 0L)]), 60000000L
              )
            ),
            60000000L
          )
          ELSE CAST(array() AS array<bigint>)
        END,
        CASE
          WHEN (
            (
              (greatest((`_slice` - 540000000L), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]) + 59999999L) - pmod(
                (greatest((`_slice` - 540000000L), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]) + 59999999L),
                60000000L
              )
            ) <= (
              least(
                least((`_following` - 600000000L), (`_block` - 1)), array(199400000000L)[coalesce(`_slice` & 0L, 0L)]
              ) - pmod(
                least(
                  least((`_following` - 600000000L), (`_block` - 1)), array(199400000000L)[coalesce(`_slice` & 0L, 0L)]
                ),
                60000000L
              )
            )
          )
          THEN sequence(
            (
              (greatest((`_slice` - 540000000L), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]) + 59999999L) - pmod(
                (greatest((`_slice` - 540000000L), array(99400000001L)[coalesce(`_slice` & 0L, 0L)]) + 59999999L),
                60000000L
              )
            ),
            (
              least(
                least((`_following` - 600000000L), (`_block` - 1)), array(199400000000L)[coalesce(`_slice` & 0L, 0L)]
              ) - pmod(
                least(
                  least((`_following` - 600000000L), (`_block` - 1)), array(199400000000L)[coalesce(`_slice` & 0L, 0L)]
                ),
                60000000L
              )
            ),
            60000000L
          )
          ELSE CAST(array() AS array<bigint>)
        END
      )
    ) AS `window_start`
|> SELECT
    `key`, `window_start`,
    CASE WHEN (`window_start` >= `_block`) THEN `f_elements` ELSE `u_elements` END AS `elements`,
    CASE WHEN (`window_start` >= `_block`) THEN `f_p_flights_n` ELSE `u_p_flights_n` END AS `p_flights_n`,
    CASE WHEN (`window_start` >= `_block`) THEN `f_p_total_sum` ELSE `u_p_total_sum` END AS `p_total_sum`
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_total_sum`) AS `p_total_sum`
  GROUP BY `key`, `window_start`
|> EXTEND (`window_start` + 600000000L) AS `window_end`

-- transitions
FROM windows
|> EXTEND TRUE AS `expired`
|> EXTEND
    CASE WHEN `expired` THEN coalesce(`p_flights_n`, 0L) ELSE NULL END AS `v_flights`,
    CASE WHEN `expired` THEN `p_total_sum` ELSE NULL END AS `v_total`
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
      'result', named_struct('flights', `v_flights`, 'total', `v_total`)
    ) AS `one_pane`,
    `expired` AS `emits`,
    `expired` AS `opened`,
    CAST(
      NULL AS struct<
        `a_flights_n`: bigint,
        `a_total_sum`: bigint,
        `new`: bigint,
        `since`: bigint,
        `emitted`: int,
        `emitted_on_time`: int,
        `completed`: boolean,
        `closed`: boolean,
        `standing`: boolean,
        `t1_rewound`: boolean,
        `t1_seen`: boolean,
        `timer_now`: bigint,
        `timer_watermark`: bigint
      >
    ) AS `state`
