"""Hypothesis without deadlines: how long an example takes says nothing on a busy machine."""

from hypothesis import settings

settings.register_profile("windrow", deadline=None)
settings.load_profile("windrow")
