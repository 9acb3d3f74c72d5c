"""What `windrow simulate` is asked: specifications of a stage that are tried over its history."""
