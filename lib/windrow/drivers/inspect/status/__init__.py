"""Where sources and stages stand."""
