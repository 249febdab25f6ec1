"""Runtime support: threads, memory, compilation notice, progress bars.  Imports `_checks`."""
