"""Commands as jobs for `spark-submit`, each in a file that can be submitted as it is installed."""
