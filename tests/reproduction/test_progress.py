"""The progress of a run: on a terminal and in a log."""

import io

import pytest
from rich.console import Console

from skh.reproduction.report.progress import activity, lines, task_progress
from small import MIXTURE


def printed(console):
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.fixture
def log():
    return Console(file=io.StringIO(), width=100)


def test_a_log_has_a_line_every_ten_seconds_at_most(log):
    now = 0.0
    show = lines(log, "uav", clock=lambda: now)
    for k in range(101):
        now = 2.5 * k
        show(k / 100, f"{k}/100 tasks")
    found = printed(log)
    assert found[0] == "uav: 0/100 tasks"
    assert found[1] == "uav: 4/100 tasks, 0:00:10, 0:04:00 left"
    assert found[-1] == "uav: 100/100 tasks, 0:04:10"
    assert len(found) == 26


def test_a_log_of_a_long_run_has_a_line_per_percent_or_minute(log):
    now = 0.0
    show = lines(log, "uav", clock=lambda: now)
    for k in range(1001):  # seven hours
        now = 25.0 * k
        show(k / 1000, f"{k}/1000 tasks")
    assert len(printed(log)) == 1 + 1000 // 3 + 1


def test_the_time_left_does_not_count_what_was_done_before(log):
    now = 0.0
    show = lines(log, "uav", clock=lambda: now)
    show(0.8, "8/10 tasks")
    now = 30.0
    show(0.9, "9/10 tasks")
    assert printed(log) == ["uav: 8/10 tasks", "uav: 9/10 tasks, 0:00:30, 0:00:30 left"]


def test_tasks_are_counted_in_a_log_and_on_a_terminal(log):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    for console in (log, screen):
        with task_progress(console) as start:
            advance = start(MIXTURE)
            advance(sum(task.cost for task in MIXTURE.tasks()[:-1]), 11)
            advance(MIXTURE.tasks()[-1].cost, 1)
    assert printed(log) == ["mixture: 11/12 tasks", "mixture: 12/12 tasks, 0:00:00"]
    assert "12/12 tasks" in screen.file.getvalue()


def test_an_activity_is_named_in_a_log_and_on_a_terminal(log):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    for console in (log, screen):
        with activity(console) as say:
            say("drawing [mixture]")
    assert printed(log) == ["drawing [mixture]"]
    assert "drawing [mixture]" in screen.file.getvalue()
