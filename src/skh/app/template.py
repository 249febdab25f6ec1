"""The commented scenario that ``skh run --init`` writes."""

from __future__ import annotations

from skh.app.values import RULE_NAMES

TEMPLATE = f"""\
# A scenario for the command: skh run scenario.toml
# Paths are relative to this file.  Lines that are commented out show the defaults.

[model]
# A built-in model by its name (see skh.models), a file of your own ("model.py", or
# "model.py:object" if the model in it is not called "model"), or "module:object".
use = "stochastic_volatility"
# states = ["log_variance"]  # names of the coordinates of the state, for the outputs

# Arguments of a built-in model, or of your function that returns a model.
[model.parameters]
persistence = 0.98
noise = 0.15
scale = 0.6

[data]
file = "data.csv"           # CSV with the names of the columns in its first line, or Parquet
# columns = ["return"]      # observations, in the order that the model takes them; all by default
# inputs = ["speed"]        # other columns, for a function model(data) of your own that uses them
# times = "date"            # a column of increasing numbers or dates
# date_format = "%d.%m.%Y"  # of the times, if they are not like 2024-03-31
# missing = ["-999"]        # cells without a measurement, besides empty ones, NA, NaN and null
# separator = ","           # found in the first line of the file
# decimal = "."             # or ","

[filter]
# rule = "default"          # {", ".join(RULE_NAMES)}
# n = 50                    # particles: likelihood evaluations per step
# seed = 0                  # the same seed gives the same numbers
# quantiles = [0.05, 0.95]  # of the filtered states, for table and plot
# on_zero_likelihood = "raise"  # or "skip": go on without an observation that no particle explains
# executor = "none"         # "threads" or "processes" evaluate expensive likelihoods in parallel
# workers = 2
# chunk = 1                 # particles per call of a worker
# timeout = 60.0            # seconds after which a particle counts as lost; none by default
# retries = 0               # how often lost particles are computed again

[outputs]
# folder = "run"            # made if it is not there; files in it are replaced
# table = "table.csv"       # or "table.parquet"; "" for no file, also below
# plot = "plot.png"         # or .svg, .pdf
# report = "run.html"       # interactive, in one file
# result = ""               # "result.npz": all of the result, for skh.load_result
# checkpoint = ""           # "checkpoint.npz": the same command continues a run that was stopped
"""
