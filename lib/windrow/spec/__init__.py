"""What the user says: sources, windows, triggers, aggregates, stages, pipelines, transcripts, and their YAML form.

Frozen, validated, comparable values. Python only: nothing here knows Spark.
"""
