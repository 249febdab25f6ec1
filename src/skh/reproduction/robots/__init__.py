"""What the studies of real logs share: tasks, records, claims, tables and figures.

A study is a subclass of `study.LogStudy` that says which files it needs and loads its logs.
"""
