"""The code on the page about parameters runs, and says what the page says."""

from pages import all_on_page


def test_the_code_on_the_page_runs(capsys):
    *_, scope = all_on_page("docs/parameters.md")
    fit, profile, posterior = (scope[name] for name in ("fit", "profile", "posterior"))
    assert fit.converged
    assert not fit.numerical_error.matters
    low, high = profile.interval(0.95)
    assert low < fit.parameters["q"] < high
    assert posterior.draws["r"].shape == (2, 40)
    assert scope["by_em"].log_evidence > fit.log_evidence - 0.1
    assert "first stage: sorted Sobol points" in capsys.readouterr().out
