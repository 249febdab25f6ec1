"""Experiments: tasks that yield records; `task.run_tasks` computes all of them here and now."""
