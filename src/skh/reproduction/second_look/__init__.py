"""Beyond the paper: a second look at equal numbers of likelihood evaluations."""
