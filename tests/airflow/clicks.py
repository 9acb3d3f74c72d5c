"""A small pipeline for tests of what waits: clicks by hour."""

SCHEDULE = 'schedule: {cron: "0 0 * * *", start: 2024-01-01, %s}'
FILE = """
pipeline: clicks
lake: lake
sources:
  - name: clicks
    files: {path: data, format: json}
    schema: "at string"
    event_time: {column: at, format: iso8601}
    watermark: {bounded_delay: 1h}
stages:
  - name: hourly
    from: clicks
    window: {fixed: {size: 1h}}
    trigger: at_watermark
    accumulation: discarding
    aggregates: {clicks: {count: "*"}}
"""
"""Without a schedule, and so that fields of the stage can follow."""
