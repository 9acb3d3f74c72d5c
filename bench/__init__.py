"""The bench: windrow beside Spark's own stateful streaming and batch, in one run over the same landed rows."""
