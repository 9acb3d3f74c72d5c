"""The test bench: transcripts on the engine, and stages over frames."""
