"""Experiments: ``run(config)`` yields records, one per run of a filter; plotting is elsewhere."""
