"""The commented scenario that ``skh localize --init`` writes."""

from __future__ import annotations

from skh.app.values import RULE_NAMES

LOCALIZE_TEMPLATE = f"""\
# Where was the robot?  For the command: skh localize localize.toml
# Paths are relative to this file.  Lines that are commented out show the defaults.
# Units are metres, radians and seconds.

[log]
format = "carmen"           # carmen (laser scans and a map), mrclam, landmark-mat, stereo-mat
file = "robotdata1.log.gz"  # may be compressed; for mrclam the folder of the data set
# laser = "FLASER"          # carmen: the messages to use; FLASER, ROBOTLASER1, RAWLASER1 or L
# robot = 1                 # mrclam: which robot
# truth = "truth.tum"       # true poses in a TUM file, where the log has none (not stereo-mat)
# steps = 500               # only the first so many; all by default

[map]                       # carmen only: the other formats have landmarks in their logs
file = "wean.dat.gz"        # the yaml file of a ROS map, or a CARMEN map

[motion]
# model = "differential"    # carmen: differential or omni; mrclam and landmark-mat: velocity;
#                           # stereo-mat: rates
# alpha = [0.01, 0.01, 0.02, 0.01]  # as of AMCL: 4 of differential, 5 of omni, up to 6 of velocity
# noise = [0.3, 0.0, 0.9]   # velocity: deviations of the speeds ahead, to the left, turning;
#                           # rates: 3 of velocities and 3 of turn rates; by default the log's own,
#                           # to the left as ahead

[sensor]
# model = "likelihood_field"  # carmen: likelihood_field or beam
# max_range = 8.0           # metres; what is farther counts as nothing seen
# max_beams = 45            # of a scan, at equal steps
# power = 0.1               # of the likelihood: neither beams nor scans are independent
# sigma_hit = 0.25
# z_hit = 0.9
# z_rand = 0.1
# z_short = 0.1             # beam
# z_max = 0.05              # beam
# lambda_short = 0.1        # beam
# max_distance = 2.0        # likelihood_field: farther obstacles count as this far
# range_noise = 0.54        # mrclam; landmark-mat has its own in the log
# bearing_noise = 0.054
# outliers = 0.036          # share of false sightings
# longest = 10.0            # range of false sightings
# ids = "known"             # or "unknown": sightings do not say which landmark it was
# pixel_covariance = "measured"  # stereo-mat: at the true poses, or "stated": as the log says

[start]
pose = "anywhere"           # [x, y, heading], "truth" (of the log), or "anywhere" on the map
# deviation = [0.1, 0.1, 0.1]  # of a pose; 6 numbers for stereo-mat
# n = 20000                 # points of a start anywhere

[steps]                     # when a reading is used; without the first two always
min_way = 0.2               # after moving so far
min_turn = 0.2              # or turning so far
# max_wait = 10.0           # or waiting so long
# min_wait = 1.0            # in any case after so long: readings in a row have the same errors
# max_gap = 1.0             # seconds between steps at most: longer gaps get steps without a reading
# window = 0.0              # readings within this time are one step

[filter]
# rule = "default"          # {", ".join(RULE_NAMES)}
# n = 50                    # particles
# seed = 0                  # the same seed gives the same numbers
# on_zero_likelihood = "raise"  # or "skip": go on without a reading that no particle explains

[outputs]
# folder = "localize"       # made if it is not there; files in it are replaced
# trajectory = "trajectory.tum"  # time x y z qx qy qz qw; "" for no file, also below
# covariances = "covariances.csv"
# metrics = "metrics.json"  # errors to the truth if the log has it: ATE, RPE, NEES
# path = "path.png"         # the path on the map; or .svg, .pdf
# errors = "errors.png"     # errors or deviations over time
# report = "run.html"       # interactive report of the filter
# animation = "particles.html"  # the particles on the map, with a slider
"""
