"""Motion models: Monte Carlo of their definitions, other ways to integrate, invariances, errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skh.geometry import SE2, SE3, Pose, rotation, wrap
from skh.robotics import (
    BodyRates,
    BodyStep,
    DeadReckoning,
    DifferentialDrive,
    ImuRates,
    OdometryStep,
    OmniDrive,
    PoseReckoning,
    PoseStep,
    VelocityMotion,
    VelocitySteps,
    preintegrate,
    preintegrate_rates,
)

DRAWS = 200_000
START = np.array([1.0, -2.0, 2.5])


def moments(samples, mean):
    """Mean and covariance of poses, relative to the expected one."""
    error = SE2().minus(samples, np.broadcast_to(mean, samples.shape))
    return error.mean(axis=0), np.cov(error.T)


def check_moments(model, control, samples, tolerance=0.02):
    states, covariances = model.move(START[None], control)
    shift, covariance = moments(samples, states[0])
    sd = np.sqrt(covariances[0].diagonal())
    np.testing.assert_allclose(shift / sd, 0.0, atol=tolerance)
    np.testing.assert_allclose(
        covariance / np.outer(sd, sd), covariances[0] / np.outer(sd, sd), atol=tolerance
    )


@pytest.mark.parametrize("step", [(0.3, 1.0, -0.2), (3.0, 0.5, 0.1), (0.0, 0.0, 0.4)])
def test_differential_drive_has_the_moments_of_amcl(step):
    a1, a2, a3, a4 = alphas = (0.2, 0.1, 0.15, 0.05)
    turn1, way, turn2 = step
    rng = np.random.default_rng(0)
    # as in AMCL: noise of a turn by pi (driving backwards) is that of no turn
    noise1, noise2 = (min(abs(wrap(r)), abs(wrap(r - np.pi))) for r in (turn1, turn2))
    e = rng.standard_normal((3, DRAWS))
    r1 = turn1 - e[0] * np.sqrt(a1 * noise1**2 + a2 * way**2)
    w = way - e[1] * np.sqrt(a3 * way**2 + a4 * (noise1**2 + noise2**2))
    r2 = turn2 - e[2] * np.sqrt(a1 * noise2**2 + a2 * way**2)
    heading = START[2] + r1
    samples = np.stack(
        [START[0] + w * np.cos(heading), START[1] + w * np.sin(heading), heading + r2], axis=1
    )
    check_moments(DifferentialDrive(*alphas), OdometryStep(*step), samples)


def test_omni_drive_has_the_moments_of_amcl():
    a1, a2, a3, a4, a5 = alphas = (0.2, 0.1, 0.15, 0.05, 0.3)
    dx, dy, turn = 0.6, -0.8, 0.3
    way, bearing = 1.0, np.arctan2(dy, dx) + START[2]
    e = np.random.default_rng(1).standard_normal((3, DRAWS))
    w = way + e[0] * np.sqrt(a3 * way**2 + a1 * turn**2)
    side = e[1] * np.sqrt(a1 * turn**2 + a5 * way**2)
    r = turn + e[2] * np.sqrt(a4 * turn**2 + a2 * way**2)
    c, s = np.cos(bearing), np.sin(bearing)
    samples = START + np.stack([w * c + side * s, w * s - side * c, r], axis=1)
    check_moments(OmniDrive(*alphas), BodyStep(dx, dy, turn), samples)


def test_velocity_motion_has_the_moments_of_the_book():
    v, w, dt = 0.8, 0.6, 0.5
    alphas = np.array([1e-3, 2e-3, 3e-3, 1e-3, 2e-3, 1e-3])
    e = np.random.default_rng(2).standard_normal((3, DRAWS))
    variances = alphas.reshape(3, 2) @ [v**2, w**2]
    vs, ws, gs = np.array([[v], [w], [0.0]]) + e * np.sqrt(variances)[:, None]
    h = START[2]
    x = START[0] - vs / ws * np.sin(h) + vs / ws * np.sin(h + ws * dt)
    y = START[1] + vs / ws * np.cos(h) - vs / ws * np.cos(h + ws * dt)
    samples = np.stack([x, y, h + (ws + gs) * dt], axis=1)
    check_moments(VelocityMotion(*alphas), VelocitySteps([dt], [v], [w]), samples)


def test_preintegrated_odometry_has_the_moments_of_many_steps():
    rng = np.random.default_rng(3)
    controls = [OdometryStep(0.05 * k, 0.1, 0.02) for k in range(8)]
    drive = DifferentialDrive(0.02, 0.01, 0.02, 0.01)
    samples = np.repeat(START[None], DRAWS // 4, axis=0)
    for control in controls:
        means, S = drive.move(samples, control)
        samples = means + np.einsum(
            "nij,nj->ni", np.linalg.cholesky(S), rng.standard_normal(samples.shape)
        )
    check_moments(DeadReckoning(), preintegrate(drive, controls), samples, 0.03)
    fast = VelocitySteps(np.full(30, 0.02), np.linspace(0.5, 1.0, 30), np.linspace(-0.5, 1.0, 30))
    motion = VelocityMotion(0.1, 0.1, 0.2, 0.1, noise=(0.02, 0.01, 0.03))
    once, together = motion.move(START[None], fast), preintegrate(motion, [fast])
    one_by_one = [
        VelocitySteps(*(a[k : k + 1] for a in (fast.durations, fast.forward, fast.turning)))
        for k in range(30)
    ]
    step = preintegrate(motion, one_by_one)
    for other in (together, step):
        states, S = DeadReckoning().move(START[None], other)
        np.testing.assert_allclose(SE2().minus(states, once[0]), 0.0, atol=1e-12)
        np.testing.assert_allclose(S, once[1], atol=1e-15)
    np.testing.assert_allclose(fast.pose, step.pose, atol=1e-12)
    turning = 0.03**2 + 0.2 * fast.forward**2 + 0.1 * fast.turning**2
    assert step.covariance[2, 2] == pytest.approx(0.02**2 * turning.sum())


def test_preintegrated_rates_have_the_moments_of_many_steps():
    rng = np.random.default_rng(4)
    motion = ImuRates([0.04, 0.02, 0.01], [0.02, 0.01, 0.03])
    controls = [BodyRates(0.1, [1.0, 0.2, 0.1 * k], [0.3, -0.2 * k, 0.5]) for k in range(5)]
    n = 40_000
    first = Pose(np.array([1.0, 2.0, 3.0]), rotation.exp([0.3, -0.5, 1.0]))
    poses = Pose(np.repeat(first.position[None], n, 0), np.repeat(first.rotation[None], n, 0))
    for control in controls:
        means, S = motion.move(poses, control)
        noise = np.einsum("nij,nj->ni", np.linalg.cholesky(S), rng.standard_normal((n, 6)))
        poses = SE3().plus(means, noise)
    start = Pose(first.position[None], first.rotation[None])
    means, S = PoseReckoning().move(start, preintegrate_rates(motion, controls))
    error = SE3().minus(
        poses, Pose(np.repeat(means.position, n, 0), np.repeat(means.rotation, n, 0))
    )
    sd = np.sqrt(S[0].diagonal())
    np.testing.assert_allclose(error.mean(axis=0) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(
        np.cov(error.T) / np.outer(sd, sd), S[0] / np.outer(sd, sd), atol=0.05
    )


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3.1, 3.1), st.floats(-3.1, 3.1))
def test_steps_between_poses_lead_from_one_to_the_other(x, y, before, after):
    a, b = np.array([0.5, -1.0, before]), np.array([x, y, after])
    still = DifferentialDrive(0, 0, 0, 0)
    for step in (OdometryStep.between(a, b), BodyStep.between(a, b)):
        for motion in (still, OmniDrive(0, 0, 0, 0, 0)):
            states, S = motion.move(a[None], step)
            np.testing.assert_allclose(SE2().minus(states[0], b), 0.0, atol=0.02)
            assert (S == 0).all()
    np.testing.assert_allclose(step.as_odometry().as_body().way, step.way, atol=1e-12)


@given(st.floats(-12, 12))
def test_motion_does_not_depend_on_the_unit_of_length(decades):
    unit = 10.0**decades
    metres = np.array([unit, unit, 1.0])
    a, b = (
        DifferentialDrive(0.1, q, 0.2, r) for q, r in ((0.3, 0.4), (0.3 / unit**2, 0.4 * unit**2))
    )
    here, there = OdometryStep(0.4, 2.0, -0.1), OdometryStep(0.4, 2.0 * unit, -0.1)
    for one, other in zip(
        a.move(START[None], here), b.move(START[None] * metres, there), strict=True
    ):
        scale = metres if one.ndim == 2 else np.outer(metres, metres)
        np.testing.assert_allclose(other / scale, one, rtol=1e-9, atol=1e-12)


BAD = {
    "negative alpha": (lambda: DifferentialDrive(alpha3=-1), r"alpha3 must be .* got -1"),
    "negative noise": (lambda: VelocityMotion(noise=(0.1, -1.0, 0.1)), r"noise .* got .*-1.0"),
    "no odometry": (lambda: OmniDrive().move(START[None], 1.0), r"control must be .* got 1.0"),
    "no velocities": (lambda: VelocityMotion().move(START[None], None), r"control .* got None"),
    "no covariance": (lambda: DeadReckoning().move(START[None], BodyStep(1, 0, 0)), "covariance"),
    "no rates": (lambda: ImuRates(1, 1).move(None, 3), r"control must be BodyRates.* got 3"),
    "no pose step": (lambda: PoseReckoning().move(None, 3), r"control must be a PoseStep, got 3"),
    "states": (lambda: OmniDrive().move(np.zeros((1, 2)), BodyStep(1, 0, 0)), r"states .*\(1, 2\)"),
    "infinite": (lambda: OdometryStep(np.inf, 0, 0), r"turn1 must be finite, got inf"),
    "lengths": (lambda: VelocitySteps([1.0], [1.0, 2.0], [0.0]), r"forward .*got 2"),
    "backwards": (lambda: VelocitySteps([-1.0], [1.0], [0.0]), r"durations .* got -1.0"),
    "rotation": (lambda: PoseStep(np.zeros(3), np.ones((3, 3))), r"rotation must hold rotations"),
    "variance": (lambda: ImuRates([-1.0, 0, 0], 1.0), r"velocity_variance .* got .*-1.0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
