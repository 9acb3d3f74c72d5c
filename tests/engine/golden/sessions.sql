-- Windows that merge, with the retractions of those that were merged away.
--
-- - keys: [carrier]
--   window:
--     sessions: {gap: 30m, max_session: 1d}
--   trigger:
--     after_watermark:
--       early: {after_count: 3}
--       late: {after_count: 1}
--   accumulation: retracting
--   allowed_lateness: 1h
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
          THEN CAST(((`_event_time` + 1800000000L) <= array(96400000000L)[coalesce(`_event_time` & 0L, 0L)]) AS bigint)
          ELSE NULL
        END
      ),
      0L
    ) AS `late`,
    coalesce(
      sum(
        CASE
          WHEN (
            ((((`_reason` IS NULL) AND (NOT `_failed`)) AND `_kept`) AND (1L > 0))
            AND (
              (`_event_time` < array(96400000000L)[coalesce(`_event_time` & 0L, 0L)])
              AND (NOT ((`_event_time` + 1800000000L) <= array(96400000000L)[coalesce(`_event_time` & 0L, 0L)]))
            )
          )
          THEN 1
          ELSE NULL
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
        THEN (`_event_time` + 1800000000L)
        ELSE NULL
      END
    ) AS `latest_end`
  GROUP BY `_partition`

-- elements
FROM judged
|> SELECT named_struct('carrier', `carrier`) AS `key`, `_event_time` AS `event_time`, `delay` AS `x_total`

-- windows, and what the tick brings to each: shared_1
FROM elements
|> EXTEND `event_time` AS `window_start`
|> EXTEND (`event_time` + 1800000000L) AS `window_end`
|> WHERE (`window_end` > array(96400000000L)[coalesce(`window_start` & 0L, 0L)])

-- windows, and what the tick brings to each
FROM shared_1
|> WHERE (NOT (`window_start` < array(96400000000L)[coalesce(`window_start` & 0L, 0L)]))
|> UNION ALL BY NAME (
  FROM shared_1
  |> WHERE (`window_start` < array(96400000000L)[coalesce(`window_start` & 0L, 0L)])
  |> AS pair
  |> LEFT ANTI JOIN (
    FROM cells
    |> WHERE `state`.`gone`
    |> SELECT `key`, `window_start`, `window_end`
    |> AS other
  ) ON (
    ((`pair`.`key` = `other`.`key`) AND (`pair`.`window_start` < `other`.`window_end`))
    AND (`other`.`window_start` < `pair`.`window_end`)
  )
)
|> EXTEND (`event_time` - pmod(`event_time`, 1800000000L)) AS `_slice`
|> AGGREGATE
    min(`window_start`) AS `window_start`,
    max(`window_end`) AS `window_end`,
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`,
    sum(CAST(`x_total` AS bigint)) AS `p_total_sum`
  GROUP BY `key`, `_slice`
|> DROP `_slice`
|> UNION ALL BY NAME (
  FROM cells
  |> WHERE (NOT `state`.`gone`)
  |> EXTEND
      (
        (
          coalesce((`state`.`timer_now` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
          OR coalesce((`state`.`timer_watermark` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
        )
        OR (
          CASE
            WHEN (`window_end` > 9223372033254775807L) THEN 9223372036854775807L ELSE (`window_end` + 3600000000L)
          END <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]
        )
      ) AS `_timer_due`
  |> EXTEND
      `state`.`a_flights_n` AS `a_flights_n`,
      `state`.`a_total_sum` AS `a_total_sum`,
      `state`.`new` AS `new`,
      `state`.`since` AS `since`,
      `state`.`emitted` AS `emitted`,
      `state`.`emitted_on_time` AS `emitted_on_time`,
      `state`.`completed` AS `completed`,
      `state`.`closed` AS `closed`,
      `state`.`standing` AS `standing`,
      `state`.`last_timing` AS `last_timing`,
      `state`.`last_on_time_index` AS `last_on_time_index`,
      `state`.`last_trigger` AS `last_trigger`,
      `state`.`last_percentile` AS `last_percentile`,
      `state`.`last_v_flights` AS `last_v_flights`,
      `state`.`last_v_total` AS `last_v_total`,
      `state`.`gone` AS `gone`,
      `state`.`superseded` AS `superseded`,
      `state`.`t0_position` AS `t0_position`,
      `state`.`t0_done0` AS `t0_done0`,
      `state`.`t0_done1` AS `t0_done1`,
      `state`.`t2_count` AS `t2_count`,
      `state`.`t3_rewound` AS `t3_rewound`,
      `state`.`t3_seen` AS `t3_seen`,
      `state`.`t5_count` AS `t5_count`,
      `state`.`timer_now` AS `timer_now`,
      `state`.`timer_watermark` AS `timer_watermark`
  |> EXTEND
      named_struct(
        'window_start', `window_start`,
        'window_end', `window_end`,
        'pane',
        CASE
          WHEN `standing`
          THEN named_struct(
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
            'result', named_struct('flights', `last_v_flights`, 'total', `last_v_total`)
          )
          ELSE NULL
        END
      ) AS `away`
  |> SELECT `key`, `window_start`, `window_end`, `state`, `_timer_due`, `away`
)
|> EXTEND
    CAST(
      coalesce(
        (
          `window_start` >= max(`window_end`) OVER (
            PARTITION BY `key` ORDER BY `window_start`, `window_end` ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          )
        ),
        TRUE
      ) AS int
    ) AS `_begins`
|> EXTEND
    sum(_begins) OVER (
      PARTITION BY `key` ORDER BY `window_start`, `window_end` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS `_session`
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_flights_n`, `p_total_sum`, `state`, `_timer_due`, `away`,
    `_session`
|> AGGREGATE
    min(`window_start`) AS `window_start`,
    max(`window_end`) AS `window_end`,
    first(`state`, TRUE) AS `state`,
    collect_list(`away`) AS `away`,
    sum(`state`.`new`) AS `m_new`,
    min(`state`.`since`) AS `m_since`,
    sum(`state`.`a_flights_n`) AS `m_a_flights_n`,
    sum(`state`.`a_total_sum`) AS `m_a_total_sum`,
    bool_and(`state`.`t0_done0`) AS `t0_g_done0`,
    bool_and(`state`.`t0_done1`) AS `t0_g_done1`,
    sum(`state`.`t2_count`) AS `t2_g_count`,
    bool_and(`state`.`t3_rewound`) AS `t3_g_rewound`,
    bool_or(`state`.`t3_seen`) AS `t3_g_seen`,
    sum(`state`.`t5_count`) AS `t5_g_count`,
    flatten(collect_list(`state`.`superseded`)) AS `m_superseded`,
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`,
    sum(`p_total_sum`) AS `p_total_sum`,
    bool_or(`_timer_due`) AS `_timer_due`
  GROUP BY `key`, `_session`
|> WHERE ((`elements` > 0) OR coalesce(`_timer_due`, FALSE))
|> SELECT
    `key`, `window_start`, `window_end`, `p_flights_n`, `p_total_sum`,
    coalesce(`elements`, 0L) AS `elements`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`a_flights_n`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `m_a_flights_n` ELSE NULL END
      END AS bigint
    ) AS `s_a_flights_n`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`a_total_sum`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `m_a_total_sum` ELSE NULL END
      END AS bigint
    ) AS `s_a_total_sum`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`new`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `m_new` ELSE NULL END
      END AS bigint
    ) AS `s_new`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`since`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `m_since` ELSE NULL END
      END AS bigint
    ) AS `s_since`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`emitted`
        ELSE NULL
      END AS int
    ) AS `s_emitted`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`emitted_on_time`
        ELSE NULL
      END AS int
    ) AS `s_emitted_on_time`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`completed`
        ELSE NULL
      END AS boolean
    ) AS `s_completed`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`closed`
        ELSE NULL
      END AS boolean
    ) AS `s_closed`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`standing`
        ELSE NULL
      END AS boolean
    ) AS `s_standing`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_timing`
        ELSE NULL
      END AS int
    ) AS `s_last_timing`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_on_time_index`
        ELSE NULL
      END AS int
    ) AS `s_last_on_time_index`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_trigger`
        ELSE NULL
      END AS int
    ) AS `s_last_trigger`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_percentile`
        ELSE NULL
      END AS int
    ) AS `s_last_percentile`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_v_flights`
        ELSE NULL
      END AS bigint
    ) AS `s_last_v_flights`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`last_v_total`
        ELSE NULL
      END AS bigint
    ) AS `s_last_v_total`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`gone`
        ELSE NULL
      END AS boolean
    ) AS `s_gone`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`superseded`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `m_superseded` ELSE NULL END
      END AS array<
        struct<
          window_start: bigint,
          window_end: bigint,
          pane: struct<
            change: string,
            weight: int,
            timing: string,
            pane_index: int,
            on_time_index: int,
            is_first: boolean,
            is_last: boolean,
            `trigger`: string,
            watermark_percentile: int,
            result: struct<`flights`: bigint, `total`: bigint>
          >
        >
      >
    ) AS `s_superseded`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t0_position`
        ELSE CASE
          WHEN (CAST(size(`away`) AS bigint) > 0)
          THEN CASE
            WHEN (NOT (`t0_g_done0` AND (`window_end` <= array(100000000000L)[coalesce(`window_start` & 0L, 0L)])))
            THEN 0
            WHEN (NOT (`t0_g_done1` AND TRUE))
            THEN 1
            ELSE 2
          END
          ELSE NULL
        END
      END AS int
    ) AS `s_t0_position`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t0_done0`
        ELSE CASE
          WHEN (CAST(size(`away`) AS bigint) > 0)
          THEN (`t0_g_done0` AND (`window_end` <= array(100000000000L)[coalesce(`window_start` & 0L, 0L)]))
          ELSE NULL
        END
      END AS boolean
    ) AS `s_t0_done0`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t0_done1`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN (`t0_g_done1` AND TRUE) ELSE NULL END
      END AS boolean
    ) AS `s_t0_done1`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t2_count`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `t2_g_count` ELSE NULL END
      END AS bigint
    ) AS `s_t2_count`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t3_rewound`
        ELSE CASE
          WHEN (CAST(size(`away`) AS bigint) > 0)
          THEN (`t3_g_rewound` AND (`window_end` <= array(100000000000L)[coalesce(`window_start` & 0L, 0L)]))
          ELSE NULL
        END
      END AS boolean
    ) AS `s_t3_rewound`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t3_seen`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `t3_g_seen` ELSE NULL END
      END AS boolean
    ) AS `s_t3_seen`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`t5_count`
        ELSE CASE WHEN (CAST(size(`away`) AS bigint) > 0) THEN `t5_g_count` ELSE NULL END
      END AS bigint
    ) AS `s_t5_count`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`timer_now`
        ELSE NULL
      END AS bigint
    ) AS `s_timer_now`,
    CAST(
      CASE
        WHEN coalesce(
          (
            (CAST(size(`away`) AS bigint) = 1)
            AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
          ),
          FALSE
        )
        THEN `state`.`timer_watermark`
        ELSE NULL
      END AS bigint
    ) AS `s_timer_watermark`,
    (
      NOT coalesce(
        (
          (CAST(size(`away`) AS bigint) = 1)
          AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
        ),
        FALSE
      )
    ) AS `opened`,
    CASE
      WHEN coalesce(
        (
          (CAST(size(`away`) AS bigint) = 1)
          AND ((get(`away`, 0).`window_start` = `window_start`) AND (get(`away`, 0).`window_end` = `window_end`))
        ),
        FALSE
      )
      THEN CAST(
        array() AS array<
          struct<
            window_start: bigint,
            window_end: bigint,
            pane: struct<
              change: string,
              weight: int,
              timing: string,
              pane_index: int,
              on_time_index: int,
              is_first: boolean,
              is_last: boolean,
              `trigger`: string,
              watermark_percentile: int,
              result: struct<`flights`: bigint, `total`: bigint>
            >
          >
        >
      )
      ELSE `away`
    END AS `away`

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
    `s_last_timing` AS `last_timing`,
    `s_last_on_time_index` AS `last_on_time_index`,
    `s_last_trigger` AS `last_trigger`,
    `s_last_percentile` AS `last_percentile`,
    `s_last_v_flights` AS `last_v_flights`,
    `s_last_v_total` AS `last_v_total`,
    coalesce(`s_gone`, CAST(FALSE AS boolean)) AS `gone`,
    `s_superseded` AS `superseded`,
    coalesce(`s_t0_position`, CAST(0 AS int)) AS `t0_position`,
    coalesce(`s_t0_done0`, CAST(FALSE AS boolean)) AS `t0_done0`,
    coalesce(`s_t0_done1`, CAST(FALSE AS boolean)) AS `t0_done1`,
    coalesce(`s_t2_count`, CAST(0 AS bigint)) AS `t2_count`,
    coalesce(`s_t3_rewound`, CAST(FALSE AS boolean)) AS `t3_rewound`,
    coalesce(`s_t3_seen`, CAST(FALSE AS boolean)) AS `t3_seen`,
    coalesce(`s_t5_count`, CAST(0 AS bigint)) AS `t5_count`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    `opened`, `away`

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
|> EXTEND (`t0_sees` AND (`t0_position` = 0)) AS `t1_sees`, (`t0_sees` AND (`t0_position` = 1)) AS `t4_sees`
|> EXTEND `t1_sees` AS `t2_sees`, `t1_sees` AS `t3_sees`, `t4_sees` AS `t5_sees`
|> SET
    `t2_count` = (`t2_count` + CASE WHEN `t2_sees` THEN `elements` ELSE 0L END),
    `t3_seen` = (`t3_seen` OR (`t3_sees` AND (`elements` > 0))),
    `t5_count` = (`t5_count` + CASE WHEN `t5_sees` THEN `elements` ELSE 0L END)

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    (`t2_count` >= 3L) AS `t2_ready`,
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
        WHEN (`window_end` > 9223372033254775807L) THEN 9223372036854775807L ELSE (`window_end` + 3600000000L)
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
      coalesce(
        coalesce(
          CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
          CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
        ),
        FALSE
      )
      AND ((`t0_done0` OR (`t0_position` = 0)) AND (`t0_done1` OR (`t0_position` = 1)))
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
      ELSE CASE
        WHEN (
          NOT (
            `t0_done0`
            OR (
              (
                `t0_fires`
                AND coalesce(
                  coalesce(
                    CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
                    CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
                  ),
                  FALSE
                )
              )
              AND (`t0_position` = 0)
            )
          )
        )
        THEN 0
        WHEN (
          NOT (
            `t0_done1`
            OR (
              (
                `t0_fires`
                AND coalesce(
                  coalesce(
                    CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
                    CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
                  ),
                  FALSE
                )
              )
              AND (`t0_position` = 1)
            )
          )
        )
        THEN 1
        ELSE 2
      END
    END,
    `t0_done0` = CASE
      WHEN `t0_reset`
      THEN CAST(FALSE AS boolean)
      ELSE (
        `t0_done0`
        OR (
          (
            `t0_fires`
            AND coalesce(
              coalesce(
                CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
                CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
              ),
              FALSE
            )
          )
          AND (`t0_position` = 0)
        )
      )
    END,
    `t0_done1` = CASE
      WHEN `t0_reset`
      THEN CAST(FALSE AS boolean)
      ELSE (
        `t0_done1`
        OR (
          (
            `t0_fires`
            AND coalesce(
              coalesce(
                CASE WHEN (`t0_position` = 0) THEN `t1_finished` ELSE NULL END,
                CASE WHEN (`t0_position` = 1) THEN `t4_finished` ELSE NULL END
              ),
              FALSE
            )
          )
          AND (`t0_position` = 1)
        )
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
          'result', named_struct('flights', `last_v_flights`, 'total', `last_v_total`)
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
          'result', named_struct('flights', `v_flights`, 'total', `v_total`)
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
          'result', named_struct('flights', `v_flights`, 'total', `v_total`)
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
          'result', named_struct('flights', `last_v_flights`, 'total', `last_v_total`)
        )
      )
      ELSE NULL
    END AS `panes`

-- the new state
FROM after
|> EXTEND
    CASE
      WHEN `expired`
      THEN named_struct(
        'a_flights_n', CAST(NULL AS bigint),
        'a_total_sum', CAST(NULL AS bigint),
        'new', CAST(NULL AS bigint),
        'since', CAST(NULL AS bigint),
        'emitted', CAST(NULL AS int),
        'emitted_on_time', CAST(NULL AS int),
        'completed', CAST(NULL AS boolean),
        'closed', CAST(NULL AS boolean),
        'standing', CAST(NULL AS boolean),
        'last_timing', CAST(NULL AS int),
        'last_on_time_index', CAST(NULL AS int),
        'last_trigger', CAST(NULL AS int),
        'last_percentile', CAST(NULL AS int),
        'last_v_flights', CAST(NULL AS bigint),
        'last_v_total', CAST(NULL AS bigint),
        'gone', TRUE,
        'superseded',
        CAST(
          NULL AS array<
            struct<
              window_start: bigint,
              window_end: bigint,
              pane: struct<
                change: string,
                weight: int,
                timing: string,
                pane_index: int,
                on_time_index: int,
                is_first: boolean,
                is_last: boolean,
                `trigger`: string,
                watermark_percentile: int,
                result: struct<`flights`: bigint, `total`: bigint>
              >
            >
          >
        ),
        't0_position', CAST(NULL AS int),
        't0_done0', CAST(NULL AS boolean),
        't0_done1', CAST(NULL AS boolean),
        't2_count', CAST(NULL AS bigint),
        't3_rewound', CAST(NULL AS boolean),
        't3_seen', CAST(NULL AS boolean),
        't5_count', CAST(NULL AS bigint),
        'timer_now', CAST(NULL AS bigint),
        'timer_watermark', CAST(NULL AS bigint)
      )
      ELSE named_struct(
        'a_flights_n', CAST(`a_flights_n` AS bigint),
        'a_total_sum', CAST(`a_total_sum` AS bigint),
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
        'last_v_total', CAST(CASE WHEN `emits` THEN `v_total` ELSE `last_v_total` END AS bigint),
        'gone', CAST(FALSE AS boolean),
        'superseded',
        CAST(
          CASE
            WHEN (NOT `fires`)
            THEN concat(
              coalesce(
                `superseded`,
                CAST(
                  array() AS array<
                    struct<
                      window_start: bigint,
                      window_end: bigint,
                      pane: struct<
                        change: string,
                        weight: int,
                        timing: string,
                        pane_index: int,
                        on_time_index: int,
                        is_first: boolean,
                        is_last: boolean,
                        `trigger`: string,
                        watermark_percentile: int,
                        result: struct<`flights`: bigint, `total`: bigint>
                      >
                    >
                  >
                )
              ),
              filter(`away`, item0 -> (item0.`pane` IS NOT NULL))
            )
            ELSE NULL
          END AS array<
            struct<
              window_start: bigint,
              window_end: bigint,
              pane: struct<
                change: string,
                weight: int,
                timing: string,
                pane_index: int,
                on_time_index: int,
                is_first: boolean,
                is_last: boolean,
                `trigger`: string,
                watermark_percentile: int,
                result: struct<`flights`: bigint, `total`: bigint>
              >
            >
          >
        ),
        't0_position', CAST(`t0_position` AS int),
        't0_done0', CAST(`t0_done0` AS boolean),
        't0_done1', CAST(`t0_done1` AS boolean),
        't2_count', CAST(`t2_count` AS bigint),
        't3_rewound', CAST(`t3_rewound` AS boolean),
        't3_seen', CAST(`t3_seen` AS boolean),
        't5_count', CAST(`t5_count` AS bigint),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint)
      )
    END AS `state`
|> SELECT
    `key`,
    explode(
      concat(
        array(
          named_struct(
            'window_start', `window_start`,
            'window_end', `window_end`,
            'panes', `panes`,
            'expired', `expired`,
            'opened', `opened`,
            'state', `state`
          )
        ),
        transform(
          `away`,
          item0 -> named_struct(
            'window_start', item0.`window_start`,
            'window_end', item0.`window_end`,
            'panes', CASE WHEN (`fires` AND (item0.`pane` IS NOT NULL)) THEN array(item0.`pane`) ELSE NULL END,
            'expired', TRUE,
            'opened', FALSE,
            'state',
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
                `last_timing`: int,
                `last_on_time_index`: int,
                `last_trigger`: int,
                `last_percentile`: int,
                `last_v_flights`: bigint,
                `last_v_total`: bigint,
                `gone`: boolean,
                `superseded`: array<
                  struct<
                    window_start: bigint,
                    window_end: bigint,
                    pane: struct<
                      change: string,
                      weight: int,
                      timing: string,
                      pane_index: int,
                      on_time_index: int,
                      is_first: boolean,
                      is_last: boolean,
                      `trigger`: string,
                      watermark_percentile: int,
                      result: struct<`flights`: bigint, `total`: bigint>
                    >
                  >
                >,
                `t0_position`: int,
                `t0_done0`: boolean,
                `t0_done1`: boolean,
                `t2_count`: bigint,
                `t3_rewound`: boolean,
                `t3_seen`: boolean,
                `t5_count`: bigint,
                `timer_now`: bigint,
                `timer_watermark`: bigint
              >
            )
          )
        ),
        transform(
          CASE
            WHEN `fires`
            THEN coalesce(
              `superseded`,
              CAST(
                array() AS array<
                  struct<
                    window_start: bigint,
                    window_end: bigint,
                    pane: struct<
                      change: string,
                      weight: int,
                      timing: string,
                      pane_index: int,
                      on_time_index: int,
                      is_first: boolean,
                      is_last: boolean,
                      `trigger`: string,
                      watermark_percentile: int,
                      result: struct<`flights`: bigint, `total`: bigint>
                    >
                  >
                >
              )
            )
            ELSE CAST(
              array() AS array<
                struct<
                  window_start: bigint,
                  window_end: bigint,
                  pane: struct<
                    change: string,
                    weight: int,
                    timing: string,
                    pane_index: int,
                    on_time_index: int,
                    is_first: boolean,
                    is_last: boolean,
                    `trigger`: string,
                    watermark_percentile: int,
                    result: struct<`flights`: bigint, `total`: bigint>
                  >
                >
              >
            )
          END,
          item0 -> named_struct(
            'window_start', item0.`window_start`,
            'window_end', item0.`window_end`,
            'panes', array(item0.`pane`),
            'expired', TRUE,
            'opened', TRUE,
            'state',
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
                `last_timing`: int,
                `last_on_time_index`: int,
                `last_trigger`: int,
                `last_percentile`: int,
                `last_v_flights`: bigint,
                `last_v_total`: bigint,
                `gone`: boolean,
                `superseded`: array<
                  struct<
                    window_start: bigint,
                    window_end: bigint,
                    pane: struct<
                      change: string,
                      weight: int,
                      timing: string,
                      pane_index: int,
                      on_time_index: int,
                      is_first: boolean,
                      is_last: boolean,
                      `trigger`: string,
                      watermark_percentile: int,
                      result: struct<`flights`: bigint, `total`: bigint>
                    >
                  >
                >,
                `t0_position`: int,
                `t0_done0`: boolean,
                `t0_done1`: boolean,
                `t2_count`: bigint,
                `t3_rewound`: boolean,
                `t3_seen`: boolean,
                `t5_count`: bigint,
                `timer_now`: bigint,
                `timer_watermark`: bigint
              >
            )
          )
        )
      )
    ) AS `row`
|> SELECT
    `key`,
    `row`.`window_start` AS `window_start`,
    `row`.`window_end` AS `window_end`,
    `row`.`panes` AS `panes`,
    `row`.`expired` AS `expired`,
    `row`.`opened` AS `opened`,
    `row`.`state` AS `state`
