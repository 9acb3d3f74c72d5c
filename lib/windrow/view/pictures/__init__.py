"""Pictures of time: event time across, processing time up, as the Dataflow papers draw them. SVG that needs nothing."""
