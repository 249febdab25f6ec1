"""Run experiments from the command line, and report their records: claims, figures, tables."""
