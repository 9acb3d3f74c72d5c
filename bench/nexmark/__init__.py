"""Nexmark beside Spark's own streaming and Flink SQL: five queries over one generated data set, in one run."""
