"""Run the tasks of an experiment on one or more processes, and store their records."""
