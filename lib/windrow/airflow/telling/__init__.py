"""Who is told of what: assets and their events, warnings, freshness, and what starts DAGs."""
