"""Fixed-seed runs of everything that yields numbers: rules, kernels, filters, experiments.

Each case returns a list of arrays.  Only public names are used, so that the cases outlive any
change of the tree; the experiments are found through the small configurations that the tests use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

import oracles
import skh
import small
from skh.geometry import SE2, Angles, Charted, states_of

NOT_COMPARED = {  # of a result
    *("history", "looks", "n_looks", "seconds", "quantile_levels", "state_names", "attributes"),
    *("times", "skipped"),
}
Case = Callable[[], list[np.ndarray]]
KERNELS = {
    "one scale": skh.GaussianKernel(1.0),
    "two scales": skh.GaussianKernel((0.1, 1.0), weights=(0.3, 0.7)),
}
STEPS = {
    "herding": skh.Herding(),
    "greedy herding": skh.Herding(greedy=True),
    "open loop": skh.OpenLoop(),
    "line search": skh.LineSearch(),
    "fully corrective": skh.FullyCorrective(),
    "ridge": skh.FullyCorrective(ridge=1e-3),
    "ridge and ess": skh.FullyCorrective(ridge=None, min_ess=0.5),
    "pairwise": skh.Pairwise(),
    "blended pairwise": skh.BlendedPairwise(),
}
RULES = {
    "Monte Carlo": skh.MonteCarlo(),
    "stratified": skh.Stratified(),
    "systematic": skh.Systematic(),
    "Sobol": skh.QuasiMonteCarlo("storage"),
    "Hilbert": skh.QuasiMonteCarlo("hilbert"),
    "default": skh.default_rule(),
    "automatic kernel": skh.FWQuad(search_points=700),
    "refined": skh.Refined(skh.Stratified(), skh.GaussianKernel(1.0)),
    "refined and reweighed": skh.Refined(refine=skh.Refine(8, reweigh=True)),
    "matched": skh.Matched(skh.Stratified()),
    "smoothed": skh.Smoothed(skh.Matched(skh.default_rule())),
    "regularized": skh.Regularized(skh.default_rule()),
    "measured": skh.Measured(skh.Systematic(), skh.GaussianKernel(0.5)),
    "systematic search": skh.FWQuad(
        skh.GaussianKernel(1.0), search_points=700, search=skh.Systematic()
    ),
    "FW then refine": skh.FWQuad(skh.GaussianKernel(1.0), search_points=700, refine=skh.Refine(5)),
}
FILTER_RULES = {
    "stratified": skh.Stratified(),
    "Hilbert": skh.QuasiMonteCarlo("hilbert"),
    "herding": skh.FWQuad(skh.GaussianKernel(0.3), search_points=900),
    "fully corrective": skh.FWQuad(
        skh.GaussianKernel((0.1, 1.0)), skh.FullyCorrective(), search_points=900
    ),
    "default": skh.default_rule(),
    "smoothed": skh.Smoothed(skh.Matched(skh.default_rule())),
}


def mixtures() -> dict[str, skh.GaussianMixture]:
    """Every form of covariances in 1, 2, 3, 6 and 9 dimensions, and a singular one."""
    rng = np.random.default_rng(20)
    found = {
        f"{kind}, d={d}": oracles.random_mixture(12, d, rng, kind)
        for kind in oracles.KINDS
        for d in (1, 2, 3, 6, 9)
    }
    found["singular"] = skh.GaussianMixture([1, 2, 1], rng.normal(size=(3, 3)), np.diag([1, 0, 2]))
    found["no spread"] = skh.GaussianMixture([0.2, 0.8], [[1.0, 2.0], [2.0, 1.0]], 0.0)
    return found


def of_points(points: skh.WeightedPoints) -> list[np.ndarray]:
    """All numbers of weighted points."""
    shift = [] if points.shift is None else [points.shift.mean, points.shift.root]
    trace = [points.mmd_trace] if isinstance(points, skh.FWPoints) else []
    return [points.x, points.w, points.component, np.array(points.mmd), *trace, *shift]


def placed(rule: skh.Rule, names: tuple[str, ...] = (), n: int = 23) -> Case:
    """The points of a rule on some mixtures."""

    def run() -> list[np.ndarray]:
        all_ = mixtures()
        chosen = [all_[name] for name in names] if names else list(all_.values())
        return [a for k, p in enumerate(chosen) for a in of_points(rule(p, n, rng=k))]

    return run


def closed_forms(kernel: skh.GaussianKernel) -> list[np.ndarray]:
    """Gram matrix, mean map, norm and MMD on all mixtures."""
    found = []
    for p in mixtures().values():
        x, component = p.sample(30, rng=3)
        measures = kernel.mean_norm2(p), skh.mmd(kernel, p, x, np.full(30, 1 / 30))
        found += [x, component, kernel.gram(x, x[:4]), kernel.mean_map(p, x), np.array(measures)]
    return found


def mixture_moments() -> list[np.ndarray]:
    """Moments, linear maps and draws of all mixtures."""
    found = []
    for p in mixtures().values():
        A = np.arange(1.0, 1 + 2 * p.d).reshape(2, p.d)
        found += [p.mean, p.covariance, p.covariance_matrices, p.linear_map(A).covariance]
        found += [p.widened(2.0).covariance, p.shrunk(0.3).means, p.curve]
    return found


def metric_kernel() -> list[np.ndarray]:
    """The closed forms in a metric of its own, in three dimensions."""
    kernel = skh.GaussianKernel((0.5, 2.0), metric=[[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 3]])
    found = []
    for kind in oracles.KINDS:
        p = oracles.random_mixture(7, 3, np.random.default_rng(5), kind)
        x, _ = p.sample(20, rng=6)
        found += [kernel.mean_map(p, x), np.array(kernel.mean_norm2(p))]
        found += of_points(skh.FWQuad(kernel, skh.FullyCorrective(), 600)(p, 15, rng=7))
    return found


def simplex_qp() -> list[np.ndarray]:
    """Quadratic programmes of full and of low rank."""
    rng = np.random.default_rng(8)
    found = []
    for n, rank in ((5, 5), (30, 30), (30, 4)):
        B = rng.normal(size=(n, rank))
        found.append(skh.solve_simplex_qp(B @ B.T, rng.normal(size=n)))
    return found


def of_result(result: skh.FilterResult) -> list[np.ndarray]:
    """Arrays of a filter's result, and the particles of its last step."""
    values = [getattr(result, f.name) for f in fields(result) if f.name not in NOT_COMPARED]
    found = [a for value in values if value is not None for a in flat(value)]
    last = result.history[-1] if result.history else None
    return found + ([] if last is None else [last.x, last.w, last.ancestor, *flat(last.carry)])


def flat(value: object) -> list[np.ndarray]:
    """The arrays in nested tuples and dicts, in order."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [a for part in value.values() for a in flat(part)]
    if isinstance(value, tuple):
        return [a for part in value for a in flat(part)]
    return [np.asarray(value)]


def filtered(model: object, ys: list, rule: skh.Rule | None, n: int = 20) -> list[np.ndarray]:
    """Filter a series with a gap; return history, quantiles and a prediction too."""
    ys = list(ys)
    ys[3] = None
    result = skh.particle_filter(model, ys, rule, n, rng=11, quantiles=(0.1, 0.9), history=True)
    pf = skh.ParticleFilter(model, rule, n, rng=12)
    for y in ys[:4]:
        pf.step(y)
    ahead = [pf.predict(1), pf.predict(3)]
    return of_result(result) + [a for p in ahead for a in (p.weights, p.means, p.covariances)]


def plain_filter(name: str, rule: skh.Rule) -> Case:
    """A filter of a shipped model."""

    def run() -> list[np.ndarray]:
        model = getattr(skh.models, name)()
        return filtered(model, model.simulate(8, rng=13)[1], rule)

    return run


def range_model(**options: object) -> object:
    """The README's model in two dimensions."""
    return skh.model_from_functions(
        prior=([0.0, 0.0], np.eye(2)),
        transition=lambda t, x: (x + np.array([1.0, 0.0]), 0.1),
        log_likelihood=lambda t, x, y: -0.5 * (np.hypot(*x.T) - y) ** 2 / 0.01,
        **options,
    )


def told_filter() -> list[np.ndarray]:
    """A model that gives its information, and the same model without, which is learned."""
    ys = [0.9, 2.1, 3.0, None, 5.2, 6.1]
    told = range_model(observation_metric=lambda t, x: np.diag([100.0, 1.0]))
    return [a for model in (range_model(), told) for a in filtered(model, ys, None)]


def split_model() -> skh.RaoBlackwellized:
    """LGSS d=3 with two of its coordinates in Kalman filters."""
    return skh.rao_blackwellize(skh.models.lgss3(), [0])


def rao_blackwellized(rule: skh.Rule) -> Case:
    """Kalman filters in each particle, in a linear and in an extended model."""
    eye = np.eye(2)

    def run() -> list[np.ndarray]:
        _, ys = skh.models.lgss3().simulate(8, rng=14)
        ranges = skh.RaoBlackwellized(
            prior=([3.0, 0.0], eye),
            z_prior=([0.0, 1.0], eye),
            x_dynamics=lambda t, x: (x, eye, 0.1 * eye),
            z_dynamics=lambda t, x: (np.zeros(2), eye, 0.01 * eye),
            observation=lambda t, x: (np.hypot(*x.T)[:, None], np.zeros((1, 2)), 0.1 * np.eye(1)),
        )
        ahead = skh.ParticleFilter(split_model(), rule, 15, rng=1)
        ahead.step(ys[0])
        joint = ahead.predict(2, joint=True)
        return [
            *filtered(split_model(), ys, rule),
            *filtered(ranges, [[3.1], [3.3], [2.9], [3.0], [3.4]], rule),
            joint.means,
            joint.covariances,
        ]

    return run


def charted(rule: skh.Rule) -> Case:
    """Poses in the plane and an angle."""
    landmark = np.array([2.0, 1.0])

    def log_likelihood(t: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        e = landmark - x[:, :2]
        bearing = skh.geometry.wrap(np.arctan2(e[:, 1], e[:, 0]) - x[:, 2] - y[1])
        return -0.5 * ((np.hypot(*e.T) - y[0]) ** 2 / 0.01 + bearing**2 / 0.01)

    def run() -> list[np.ndarray]:
        plane = skh.model_from_functions(
            prior=([0.0, 0.0, 3.0], 0.2 * np.eye(3)),
            transition=lambda t, x: (x + np.array([0.1, 0.0, 0.2]), 0.02 * np.eye(3)),
            log_likelihood=log_likelihood,
        )
        turning = skh.model_from_functions(
            prior=([3.0], 0.5),
            transition=lambda t, x: (x + 0.3, 0.1),
            log_likelihood=lambda t, x, y: 5 * np.cos(x[:, 0] - y),
        )
        ys = [[2.2, -2.0], [2.1, -2.3], [2.0, -2.5], None, [1.8, -2.9], [1.7, -3.1]]
        ys = [y if y is None else np.array(y) for y in ys]
        angles = Charted(turning, Angles(1, angles=[0]))
        return [
            *filtered(Charted(plane, SE2()), ys, rule),
            *filtered(angles, [3.1, -2.9, -2.5, None, -2.0], rule),
        ]

    return run


def flown(rule: skh.Rule) -> Case:
    """A UAV with a filter per particle, poses in SE(3)."""

    def run() -> list[np.ndarray]:
        flight = skh.models.survey_flight(12, rng=15)
        found = [flight.landmarks, *flat(flight.poses)]
        pf = skh.ParticleFilter(flight.model, rule, 12, rng=16)
        for y in flight.observations:
            belief = pf.step(y)
            found += [belief.x, belief.w, belief.ancestor, *flat(states_of(belief))]
        report = skh.models.uav_diagnostics(belief)
        return [*found, *flat(belief.carry), np.array([report[k] for k in sorted(report)])]

    return run


OF_OTHER_STUDIES = ("guided", "nees", "xx", "xy", "yy")  # fields of records


def experiment(config: object) -> Case:
    """Records of a small experiment, without measured times."""

    def run() -> list[np.ndarray]:
        rows = []
        for task in config.tasks():
            for r in config.work(task):
                names = [f.name for f in fields(r)[3:] if f.name not in OF_OTHER_STUDIES]
                numbers = [getattr(r, name) for name in names if "seconds" not in name]
                rows.append([float(v) for v in numbers])
        return [np.array(rows)]

    return run


def exact_filters() -> list[np.ndarray]:
    """The Kalman filter and the exact jump-Markov filter."""
    found = []
    for name, reference in (("lgss3", skh.kalman_filter), ("jmls", skh.jump_markov_filter)):
        model = getattr(skh.models, name)()
        result = reference(model, model.simulate(8, rng=17)[1])
        found += [result.means, result.covariances, np.array(result.log_evidence)]
    return found


def scored() -> list[np.ndarray]:
    """Trajectories and their scores."""
    from skh.scores import ate, rpe
    from skh.trajectory import Trajectory

    flight = skh.models.survey_flight(30, rng=18)
    truth = Trajectory(flight.times, *flight.poses)
    noise = np.random.default_rng(19).normal(size=truth.positions.shape)
    path = Trajectory(flight.times, truth.positions + 0.1 * noise, flight.poses.rotation)
    scores = ate(truth, path, aligned=True), ate(truth, path), rpe(truth, path, delta=5)
    return [np.array([s.rmse for s in scores])]


# A second look has its own oracles; its study runs every kind of task in tests/reproduction.
RECORDED = [config for config in small.SMALL if config.name != "second-look"]
SMALL_MIXTURES = ("variances, d=1", "one matrix, d=2", "matrices, d=3", "one matrix, d=6")
MODELS = ("lgss3", "jmls", "nonlinear_benchmark", "bearings_only", "lorenz63")
CASES: dict[str, Case] = {
    "mixtures": mixture_moments,
    "metric": metric_kernel,
    "simplex QP": simplex_qp,
    "exact filters": exact_filters,
    "scores": scored,
    "told and learned": told_filter,
    **{f"kernel, {k}": (lambda kernel=v: closed_forms(kernel)) for k, v in KERNELS.items()},
    **{
        f"step, {s}, {k}, M={M}": placed(skh.FWQuad(kernel, step, M), SMALL_MIXTURES)
        for s, step in STEPS.items()
        for k, kernel in KERNELS.items()
        for M in (400, 4_000)
    },
    **{
        f"step, {s}, tol": placed(
            skh.FWQuad(skh.GaussianKernel(2.0), step, 3_000, tol=0.03), SMALL_MIXTURES, 60
        )
        for s, step in STEPS.items()
    },
    **{
        f"step, {s}, wide kernel": placed(
            skh.FWQuad(skh.GaussianKernel(500.0), step, 3_000), SMALL_MIXTURES[:2], 60
        )
        for s, step in STEPS.items()
    },
    **{f"rule, {name}": placed(rule) for name, rule in RULES.items()},
    **{
        f"filter, {model}, {name}": plain_filter(model, rule)
        for model in (*MODELS, "localisation", "stochastic_volatility")
        for name, rule in FILTER_RULES.items()
        if (model, name) != ("jmls", "smoothed") or hasattr(skh.models.jmls(), "displaced")
    },
    **{f"Rao-Blackwellized, {k}": rao_blackwellized(rule) for k, rule in FILTER_RULES.items()},
    **{f"charted, {k}": charted(rule) for k, rule in FILTER_RULES.items()},
    **{f"UAV, {k}": flown(FILTER_RULES[k]) for k in ("stratified", "default", "smoothed")},
    "Rao-Blackwellized, default plan": rao_blackwellized(skh.default_plan()),
    "charted, default plan": charted(skh.default_plan()),
    "UAV, default plan": flown(skh.default_plan()),
    **{f"experiment, {config.name}": experiment(config) for config in RECORDED},
}
