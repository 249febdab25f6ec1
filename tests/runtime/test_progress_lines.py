"""Progress where no bar can be drawn: in a log, and in a notebook without widgets."""

import sys

import pytest
from rich.console import Console

import skh
from skh._runtime import progress
from skh._runtime.progress_lines import count_lines

MODEL = skh.models.lgss3()
YS = MODEL.simulate(5, rng=0)[1]


def test_a_log_has_the_first_and_the_last_line_of_a_short_run(capsys):
    skh.particle_filter(MODEL, YS, skh.Stratified(), 5, progress=True)
    assert capsys.readouterr().out.splitlines() == ["filtering: 1/5", "filtering: 5/5, 0:00:00"]


def test_a_stream_without_a_length_is_counted(capsys):
    skh.particle_filter(MODEL, iter(YS), skh.Stratified(), 5, progress=True)
    assert capsys.readouterr().out.splitlines() == ["filtering: 1", "filtering: 5, 0:00:00"]


def test_a_long_stream_has_a_line_every_ten_seconds():
    now, written = 0.0, []
    with count_lines(written.append, "filtering", clock=lambda: now) as report:
        for k in range(100):
            now = 2.5 * k
            report(k + 1, None)
    assert written[:2] == ["filtering: 1", "filtering: 5, 0:00:10"]
    assert written[-1] == "filtering: 100, 0:04:08"
    assert len(written) == 1 + 24 + 1


def test_an_error_ends_the_lines(capsys):
    def failing():
        yield YS[0]
        raise OSError("the sensor is gone")

    with pytest.raises(OSError, match="the sensor is gone"):
        skh.particle_filter(MODEL, failing(), skh.Stratified(), 5, progress=True)
    assert capsys.readouterr().out.splitlines() == ["filtering: 1"]


@pytest.mark.parametrize(("widgets", "bars"), [(None, False), (object(), True)])
def test_a_notebook_has_bars_if_it_has_widgets(widgets, bars, monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda name: widgets)
    assert progress.draws_bars(Console(force_jupyter=True)) == bars


def test_a_terminal_has_a_bar(monkeypatch, capsys):
    assert progress.draws_bars(Console(force_terminal=True, force_jupyter=False))
    assert not progress.draws_bars(Console(file=sys.stdout, force_jupyter=False))
    monkeypatch.setattr(progress, "draws_bars", lambda console: True)
    skh.particle_filter(MODEL, YS, skh.Stratified(), 5, progress=True)
    assert "5/5" in capsys.readouterr().out
