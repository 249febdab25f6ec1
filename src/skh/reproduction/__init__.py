"""The experiments of the paper, and a few beyond it: what is run, claimed and drawn.

Each experiment is a folder with its ``tasks``, ``claims`` and ``figures``; `catalogue` lists them.
`engine` runs tasks and stores their records, `report` turns records into a report.
This package imports the library; of the library only the command, `skh.cli`, imports this package.
"""
