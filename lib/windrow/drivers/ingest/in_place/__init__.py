"""A source that is a log already: its landing steps say which part of it they are, and copy nothing."""
