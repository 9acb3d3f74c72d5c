"""Gates between stages: suites run by Great Expectations. May import spec, compile, engine, store and sources."""
