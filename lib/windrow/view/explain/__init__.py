"""The life of one window of one key, as people, notebooks and machines read it."""
