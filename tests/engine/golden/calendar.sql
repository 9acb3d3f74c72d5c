-- Days of a time zone, whose lengths differ; and percentiles of the watermark.
--
-- - window:
--     calendar: {unit: day, zone: America/New_York}
--   trigger:
--     sequence_of:
--     - at_watermark: {percentile: 90}
--     - {repeat: at_watermark}
--   aggregates:
--     carriers: {count_distinct: carrier}

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
              unix_micros(
                to_utc_timestamp(
                  CAST(
                    date_from_unix_date(
                      CAST(
                        (
                          (
                            unix_date(
                              CAST(
                                from_utc_timestamp(
                                  timestamp_micros(
                                    unix_micros(
                                      to_utc_timestamp(
                                        CAST(
                                          date_from_unix_date(
                                            CAST(
                                              (
                                                (
                                                  unix_date(
                                                    CAST(
                                                      from_utc_timestamp(
                                                        timestamp_micros(`_event_time`), 'America/New_York'
                                                      ) AS date
                                                    )
                                                  ) - pmod(
                                                    unix_date(
                                                      CAST(
                                                        from_utc_timestamp(
                                                          timestamp_micros(`_event_time`), 'America/New_York'
                                                        ) AS date
                                                      )
                                                    ),
                                                    1L
                                                  )
                                                ) + 0
                                              ) AS int
                                            )
                                          ) AS timestamp
                                        ),
                                        'America/New_York'
                                      )
                                    )
                                  ),
                                  'America/New_York'
                                ) AS date
                              )
                            ) - pmod(
                              unix_date(
                                CAST(
                                  from_utc_timestamp(
                                    timestamp_micros(
                                      unix_micros(
                                        to_utc_timestamp(
                                          CAST(
                                            date_from_unix_date(
                                              CAST(
                                                (
                                                  (
                                                    unix_date(
                                                      CAST(
                                                        from_utc_timestamp(
                                                          timestamp_micros(`_event_time`), 'America/New_York'
                                                        ) AS date
                                                      )
                                                    ) - pmod(
                                                      unix_date(
                                                        CAST(
                                                          from_utc_timestamp(
                                                            timestamp_micros(`_event_time`), 'America/New_York'
                                                          ) AS date
                                                        )
                                                      ),
                                                      1L
                                                    )
                                                  ) + 0
                                                ) AS int
                                              )
                                            ) AS timestamp
                                          ),
                                          'America/New_York'
                                        )
                                      )
                                    ),
                                    'America/New_York'
                                  ) AS date
                                )
                              ),
                              1L
                            )
                          ) + 1
                        ) AS int
                      )
                    ) AS timestamp
                  ),
                  'America/New_York'
                )
              ) <= array(100000000000L)[
                coalesce(
                  unix_micros(
                    to_utc_timestamp(
                      CAST(
                        date_from_unix_date(
                          CAST(
                            (
                              (
                                unix_date(
                                  CAST(from_utc_timestamp(timestamp_micros(`_event_time`), 'America/New_York') AS date)
                                ) - pmod(
                                  unix_date(
                                    CAST(
                                      from_utc_timestamp(timestamp_micros(`_event_time`), 'America/New_York') AS date
                                    )
                                  ),
                                  1L
                                )
                              ) + 0
                            ) AS int
                          )
                        ) AS timestamp
                      ),
                      'America/New_York'
                    )
                  ) & 0L,
                  0L
                )
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
    max(CASE WHEN ((`_reason` IS NULL) AND (NOT `_failed`)) THEN `_arrival_time` ELSE NULL END) AS `arrival`
  GROUP BY `_partition`

-- elements
FROM judged
|> SELECT named_struct('unkeyed', TRUE) AS `key`, `_event_time` AS `event_time`, `carrier` AS `x_carriers`

-- windows, and what the tick brings to each
FROM elements
|> EXTEND
    unix_micros(
      to_utc_timestamp(
        CAST(
          date_from_unix_date(
            CAST(
              (
                (
                  unix_date(
                    CAST(from_utc_timestamp(timestamp_micros(`event_time`), 'America/New_York') AS date)
                  ) - pmod(
                    unix_date(CAST(from_utc_timestamp(timestamp_micros(`event_time`), 'America/New_York') AS date)), 1L
                  )
                ) + 0
              ) AS int
            )
          ) AS timestamp
        ),
        'America/New_York'
      )
    ) AS `_slice`
|> EXTEND `_slice` AS `window_start`
|> EXTEND
    unix_micros(
      to_utc_timestamp(
        CAST(
          date_from_unix_date(
            CAST(
              (
                (
                  unix_date(CAST(from_utc_timestamp(timestamp_micros(`_slice`), 'America/New_York') AS date)) - pmod(
                    unix_date(CAST(from_utc_timestamp(timestamp_micros(`_slice`), 'America/New_York') AS date)), 1L
                  )
                ) + 1
              ) AS int
            )
          ) AS timestamp
        ),
        'America/New_York'
      )
    ) AS `window_end`
|> WHERE (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    collect_set(`x_carriers`) AS `p_carriers_values`
  GROUP BY `key`, `window_start`, `window_end`
|> FULL OUTER JOIN cells USING (`key`, `window_start`, `window_end`)
|> WHERE
    (
      (`elements` IS NOT NULL)
      OR (
        (
          (
            coalesce((`state`.`timer_now` <= array(300000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
            OR coalesce((`state`.`timer_watermark` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
          )
          OR coalesce((`state`.`timer_watermark_90` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]), FALSE)
        )
        OR (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      )
    )
|> SELECT
    `key`, `window_start`, `window_end`,
    `state`.`a_carriers_values` AS `s_a_carriers_values`,
    `state`.`new` AS `s_new`,
    `state`.`since` AS `s_since`,
    `state`.`emitted` AS `s_emitted`,
    `state`.`emitted_on_time` AS `s_emitted_on_time`,
    `state`.`completed` AS `s_completed`,
    `state`.`closed` AS `s_closed`,
    `state`.`standing` AS `s_standing`,
    `state`.`t0_position` AS `s_t0_position`,
    `state`.`t1_rewound` AS `s_t1_rewound`,
    `state`.`t1_seen` AS `s_t1_seen`,
    `state`.`t3_rewound` AS `s_t3_rewound`,
    `state`.`t3_seen` AS `s_t3_seen`,
    `state`.`timer_now` AS `s_timer_now`,
    `state`.`timer_watermark` AS `s_timer_watermark`,
    `state`.`timer_watermark_90` AS `s_timer_watermark_90`,
    coalesce(`elements`, 0L) AS `elements`,
    `p_carriers_values`

-- the state before the tick
FROM windows
|> SELECT
    `key`, `window_start`, `window_end`, `elements`, `p_carriers_values`,
    `s_a_carriers_values` AS `a_carriers_values`,
    coalesce(`s_new`, CAST(0 AS bigint)) AS `new`,
    `s_since` AS `since`,
    coalesce(`s_emitted`, CAST(0 AS int)) AS `emitted`,
    coalesce(`s_emitted_on_time`, CAST(0 AS int)) AS `emitted_on_time`,
    coalesce(`s_completed`, CAST(FALSE AS boolean)) AS `completed`,
    coalesce(`s_closed`, CAST(FALSE AS boolean)) AS `closed`,
    coalesce(`s_standing`, CAST(FALSE AS boolean)) AS `standing`,
    coalesce(`s_t0_position`, CAST(0 AS int)) AS `t0_position`,
    coalesce(`s_t1_rewound`, CAST(FALSE AS boolean)) AS `t1_rewound`,
    coalesce(`s_t1_seen`, CAST(FALSE AS boolean)) AS `t1_seen`,
    coalesce(`s_t3_rewound`, CAST(FALSE AS boolean)) AS `t3_rewound`,
    coalesce(`s_t3_seen`, CAST(FALSE AS boolean)) AS `t3_seen`,
    `s_timer_now` AS `timer_now`,
    `s_timer_watermark` AS `timer_watermark`,
    `s_timer_watermark_90` AS `timer_watermark_90`,
    (`s_new` IS NULL) AS `opened`

-- trigger: the tick's elements are added
FROM before
|> SET
    `a_carriers_values` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN coalesce(array_union(`a_carriers_values`, `p_carriers_values`), `a_carriers_values`, `p_carriers_values`)
      ELSE `a_carriers_values`
    END,
    `new` = (`new` + CASE WHEN (NOT `closed`) THEN `elements` ELSE 0L END),
    `since` = CASE
      WHEN ((NOT `closed`) AND (`elements` > 0))
      THEN least(`since`, array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
      ELSE `since`
    END
|> EXTEND (NOT `closed`) AS `t0_sees`
|> EXTEND (`t0_sees` AND (`t0_position` = 0)) AS `t1_sees`, (`t0_sees` AND (`t0_position` = 1)) AS `t2_sees`
|> EXTEND `t2_sees` AS `t3_sees`
|> SET
    `t1_seen` = (`t1_seen` OR (`t1_sees` AND (`elements` > 0))),
    `t3_seen` = (`t3_seen` OR (`t3_sees` AND (`elements` > 0)))

-- trigger: what is ready, and what it emits
FROM add
|> EXTEND
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AND ((NOT `t1_rewound`) OR `t1_seen`)
    ) AS `t1_ready`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AND ((NOT `t3_rewound`) OR `t3_seen`)
    ) AS `t3_ready`,
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
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `expired`,
    (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) AS `complete`,
    (
      (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)])
      AND (`window_end` > array(100000000000L)[coalesce(`window_start` & 0L, 0L)])
    ) AS `passes_end`,
    ((NOT `closed`) AND `t0_ready`) AS `ready`
|> EXTEND (((NOT `closed`) AND (`ready` OR `expired`)) AND (`new` > 0)) AS `fires`
|> EXTEND
    CASE WHEN `fires` THEN CAST(greatest(size(`a_carriers_values`), 0) AS bigint) ELSE NULL END AS `v_carriers`,
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
      THEN element_at(array('sequence_of', 'at_watermark', 'repeat', 'at_watermark'), (`t0_leaf` + 1))
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
    `t3_rewound` = CASE
      WHEN `t3_reset` THEN (`window_end` <= array(200000000000L)[coalesce(`window_start` & 0L, 0L)]) ELSE `t3_rewound`
    END,
    `t3_seen` = CASE WHEN `t3_reset` THEN FALSE ELSE `t3_seen` END
|> EXTEND
    CASE WHEN `t1_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t1_timer_watermark_90`,
    CASE WHEN `t3_rewound` THEN 9223372036854775807L ELSE `window_end` END AS `t3_timer_watermark`
|> EXTEND `t3_timer_watermark` AS `t2_timer_watermark`
|> EXTEND
    CASE WHEN (`t0_position` = 1) THEN `t2_timer_watermark` ELSE 9223372036854775807L END AS `t0_timer_watermark`,
    CASE WHEN (`t0_position` = 0) THEN `t1_timer_watermark_90` ELSE 9223372036854775807L END AS `t0_timer_watermark_90`
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
          'result', named_struct('carriers', `v_carriers`)
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
        'a_carriers_values', CAST(`a_carriers_values` AS array<string>),
        'new', CAST(CASE WHEN `fires` THEN 0L ELSE `new` END AS bigint),
        'since', CAST(CASE WHEN (NOT `fires`) THEN `since` ELSE NULL END AS bigint),
        'emitted', CAST((`emitted` + CAST(`emits` AS int)) AS int),
        'emitted_on_time', CAST((`emitted_on_time` + CAST((`emits` AND (NOT (`timing` = 'early'))) AS int)) AS int),
        'completed', CAST((`completed` OR (`fires` AND `complete`)) AS boolean),
        'closed', CAST((`closed` OR `closes`) AS boolean),
        'standing', CAST((((`standing` AND (NOT `retracts`)) OR `emits`) AND (NOT (`emits` AND FALSE))) AS boolean),
        't0_position', CAST(`t0_position` AS int),
        't1_rewound', CAST(`t1_rewound` AS boolean),
        't1_seen', CAST(`t1_seen` AS boolean),
        't3_rewound', CAST(`t3_rewound` AS boolean),
        't3_seen', CAST(`t3_seen` AS boolean),
        'timer_now', CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN 9223372036854775807L ELSE NULL END AS bigint),
        'timer_watermark',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark` ELSE NULL END AS bigint),
        'timer_watermark_90',
        CAST(CASE WHEN (NOT (`closed` OR `closes`)) THEN `t0_timer_watermark_90` ELSE NULL END AS bigint)
      )
      ELSE NULL
    END AS `state`
