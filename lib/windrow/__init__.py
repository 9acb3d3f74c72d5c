"""windrow: windows, watermarks, triggers, accumulation and retractions, compiled to Spark column expressions."""
