"""Why a window shows what it shows: the life of one window of one key, from the rows of the lake."""
