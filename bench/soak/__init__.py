"""The soak: a stream under load for hours, with kills, restarts, maintenance, backfills, and a reader beside it."""
