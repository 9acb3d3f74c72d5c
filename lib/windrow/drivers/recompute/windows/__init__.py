"""The windows of a stage once more, from the rows of its upstream."""
