"""Tables for who only looks at a lake: read by `deltalake`, or with Spark where that cannot."""
