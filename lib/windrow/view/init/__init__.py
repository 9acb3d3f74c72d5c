"""The files of a first pipeline, with comments that say what was guessed and why."""
