-- Windows that begin together and end one after the other.
--
-- - keys: [carrier]
--   window:
--     cumulative: {size: 1d, step: 1h}
--   only_if_changed: true
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
                    (
                      (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                    ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                  ) div 3600000000L
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
                    (
                      (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                    ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                  ) div 3600000000L
                ),
                0L
              ) > 0
            )
          )
          THEN greatest(
            (
              (
                (
                  (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
              ) div 3600000000L
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
                    (
                      (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                    ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                  ) div 3600000000L
                ),
                0L
              ) > 0
            )
          )
          THEN greatest(
            (
              (
                least(
                  ((`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L),
                  array(97200000000L)[coalesce(`_event_time` & 0L, 0L)]
                ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
              ) div 3600000000L
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
                      (
                        (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                      ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                    ) div 3600000000L
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
                  (
                    (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                  ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                ) div 3600000000L
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
                  (
                    (`_event_time` - pmod(`_event_time`, 86400000000L)) + 86400000000L
                  ) - (`_event_time` - pmod(`_event_time`, 3600000000L))
                ) div 3600000000L
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

-- what is kept beside windows: shared_1
FROM elements
|> EXTEND (`event_time` - pmod(`event_time`, 3600000000L)) AS `_slice`
|> WHERE
    (((`_slice` - pmod(`_slice`, 86400000000L)) + 86400000000L) > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
|> AGGREGATE
    count(1) AS `elements`,
    count(CASE WHEN (1 IS NOT NULL) THEN 1 ELSE NULL END) AS `p_flights_n`
  GROUP BY `key`, `_slice`

-- what is kept beside windows
FROM shared_1
|> WHERE
    CASE
      WHEN (`elements` > 0)
      THEN (
        ((`_slice` - pmod(`_slice`, 86400000000L)) + 86400000000L) > array(200000000000L)[coalesce(`_slice` & 0L, 0L)]
      )
      ELSE FALSE
    END
|> EXTEND `_slice` AS `window_start`
|> SELECT
    `key`, `window_start`,
    (`window_start` + 3600000000L) AS `window_end`,
    FALSE AS `expired`,
    FALSE AS `opened`,
    named_struct(
      'a_flights_n', CAST(`p_flights_n` AS bigint),
      'new', CAST(`elements` AS bigint),
      'since', CAST(CAST(NULL AS bigint) AS bigint),
      'emitted', CAST(CAST(NULL AS int) AS int),
      'emitted_on_time', CAST(CAST(NULL AS int) AS int),
      'completed', CAST(CAST(NULL AS boolean) AS boolean),
      'closed', CAST(CAST(NULL AS boolean) AS boolean),
      'standing', CAST(CAST(NULL AS boolean) AS boolean),
      'last_v_flights', CAST(CAST(NULL AS bigint) AS bigint),
      't1_rewound', CAST(CAST(NULL AS boolean) AS boolean),
      't1_seen', CAST(CAST(NULL AS boolean) AS boolean),
      'timer_now', CAST(CAST(NULL AS bigint) AS bigint),
      'timer_watermark', CAST(CAST(NULL AS bigint) AS bigint)
    ) AS `state`

-- windows, and what the tick brings to each
FROM shared_1
|> UNION ALL BY NAME (
  FROM cells
  |> SELECT `key`, `window_start` AS `_slice`, `state`.`new` AS `elements`, `state`.`a_flights_n` AS `p_flights_n`
)
|> EXTEND
    explode(
      CASE
        WHEN (`elements` > 0)
        THEN CASE
          WHEN (
            greatest((`_slice` + 3600000000L), array(100800000000L)[coalesce(`_slice` & 0L, 0L)]) <= least(
              ((`_slice` - pmod(`_slice`, 86400000000L)) + 86400000000L),
              array(200000000000L)[coalesce(`_slice` & 0L, 0L)]
            )
          )
          THEN sequence(
            greatest((`_slice` + 3600000000L), array(100800000000L)[coalesce(`_slice` & 0L, 0L)]),
            least(
              ((`_slice` - pmod(`_slice`, 86400000000L)) + 86400000000L),
              array(200000000000L)[coalesce(`_slice` & 0L, 0L)]
            ),
            3600000000L
          )
          ELSE CAST(array() AS array<bigint>)
        END
        ELSE CAST(array() AS array<bigint>)
      END
    ) AS `_window_id`
|> EXTEND ((`_window_id` - 1) - pmod((`_window_id` - 1), 86400000000L)) AS `window_start`
|> EXTEND `_window_id` AS `window_end`
|> WHERE
    CASE
      WHEN (`elements` > 0)
      THEN (
        (`window_end` > array(100000000000L)[coalesce(`_slice` & 0L, 0L)])
        AND (`window_end` <= array(200000000000L)[coalesce(`_slice` & 0L, 0L)])
      )
      ELSE FALSE
    END
|> AGGREGATE
    sum(`elements`) AS `elements`,
    sum(`p_flights_n`) AS `p_flights_n`
  GROUP BY `key`, `window_start`, `window_end`

-- transitions
FROM windows
|> EXTEND TRUE AS `expired`
|> EXTEND CASE WHEN `expired` THEN coalesce(`p_flights_n`, 0L) ELSE NULL END AS `v_flights`
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
      'result', named_struct('flights', `v_flights`)
    ) AS `one_pane`,
    `expired` AS `emits`,
    `expired` AS `opened`,
    CAST(
      NULL AS struct<
        `a_flights_n`: bigint,
        `new`: bigint,
        `since`: bigint,
        `emitted`: int,
        `emitted_on_time`: int,
        `completed`: boolean,
        `closed`: boolean,
        `standing`: boolean,
        `last_v_flights`: bigint,
        `t1_rewound`: boolean,
        `t1_seen`: boolean,
        `timer_now`: bigint,
        `timer_watermark`: bigint
      >
    ) AS `state`
