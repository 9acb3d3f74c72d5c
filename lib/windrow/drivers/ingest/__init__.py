"""Landing: the rows of a source, each once, into its raw log."""
