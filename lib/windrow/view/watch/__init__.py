"""A pipeline watched: where it stands, at what rate it reads, and what waits for what; as text and as a page."""
