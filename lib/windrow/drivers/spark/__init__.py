"""Spark sessions and their JVM."""
