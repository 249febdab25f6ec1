"""The life of a localiser on a small map: start anywhere, few points later, recovery, clusters."""

import numpy as np
import pytest

import skh
from skh.robotics import (
    BeamModel,
    BodyStep,
    DifferentialDrive,
    KLDSampling,
    Localiser,
    LostTest,
    clusters_of,
    free_space,
)
from skh.robotics.localiser.bins import Bins
from skh.robotics.localiser.driven import Driven
from skh.robotics.localiser.search import flattened

GRID = skh.models.office()
ANGLES = np.linspace(-np.pi, np.pi, 40, endpoint=False)
LASER = BeamModel(GRID, ANGLES, max_range=20.0, z_short=0.05, z_rand=0.1, max_beams=20, power=0.3)
DRIVE = DifferentialDrive(0.01, 0.01, 0.01, 0.01)
CHEAP = skh.QuasiMonteCarlo()
STEP = BodyStep(0.3, 0.0, 0.15)


def path(start, steps):
    """Poses on a circle."""
    poses = [np.asarray(start, dtype=float)]
    for _ in range(steps - 1):
        x, y, h = poses[-1]
        poses.append(np.array([x + STEP.x * np.cos(h), y + STEP.x * np.sin(h), h + STEP.turn]))
    return np.array(poses)


def scans(poses, rng):
    return [LASER.observe(pose, rng) for pose in poses]


def driven(localiser, odometry, seen):
    return [localiser.update(pose, y) for pose, y in zip(odometry, seen, strict=True)]


def apart(pose, truth):
    return np.hypot(*(pose - truth)[:2])


def test_found_from_anywhere_with_few_points_later():
    truth = path([2.0, -2.0, 0.3], 15)
    seen = scans(truth, np.random.default_rng(0))
    right = 0
    for seed in range(4):
        localiser = Localiser(GRID, DRIVE, LASER, n=(30, 2000), rule=CHEAP, rng=seed)
        fixes = driven(localiser, path([0.0, 0.0, 0.0], 15), seen)
        right += bool(apart(fixes[-1].pose, truth[-1]) < 0.5)
        assert len(fixes[0].belief.w) == 2000
        assert fixes[-1].settled
        assert localiser.n == len(fixes[-1].belief.w) == 30
        assert sum(len(fix.belief.w) for fix in fixes) <= localiser.n_evaluations < 20_000
    assert right >= 3


def test_the_same_seed_gives_the_same_bits():
    truth = path([2.0, -2.0, 0.3], 4)
    seen = scans(truth, np.random.default_rng(0))
    a, b = (
        driven(Localiser(GRID, DRIVE, LASER, n=(30, 500), rule=CHEAP, rng=3), truth, seen)[-1]
        for _ in range(2)
    )
    assert np.array_equal(a.belief.x, b.belief.x)
    assert np.array_equal(a.belief.w, b.belief.w)


def known(pose):
    return np.asarray(pose), np.diag([0.1, 0.1, 0.05]) ** 2


def test_no_update_while_standing_still():
    localiser = Localiser(GRID, DRIVE, LASER, start=known([2.0, 0.0, 0.0]), rule=CHEAP, rng=0)
    y = LASER.observe(np.array([2.0, 0.0, 0.0]), np.random.default_rng(0))
    assert localiser.update([0.0, 0.0, 0.0], y) is not None
    used = localiser.n_evaluations
    assert localiser.update([0.1, 0.0, 0.1], y) is None
    assert localiser.n_evaluations == used
    assert localiser.update([0.1, 0.0, 0.25], y) is not None  # turned since the first
    assert localiser.update([0.25, 0.0, 0.25], y) is None  # 0.15 m since the last one used
    assert localiser.update([0.31, 0.0, 0.25], y) is not None


def test_kidnapped_and_found_again():
    """A jump that the odometry does not show; without recovery it stays lost."""
    before, after = path([2.0, -2.0, 0.3], 25), path([-1.0, -3.5, 2.5], 45)
    seen = scans(np.concatenate([before, after]), np.random.default_rng(1))
    odometry = path([0.0, 0.0, 0.0], len(seen))
    ends = {}
    for recover in (True, False):
        localiser = Localiser(
            *(GRID, DRIVE, LASER),
            n=(30, 2000),
            start=known(before[0]),
            recover=recover,
            rule=CHEAP,
            rng=0,
        )
        fixes = driven(localiser, odometry, seen)
        assert apart(fixes[24].pose, before[-1]) < 0.5
        assert any(fix.lost for fix in fixes[25:]) == recover
        ends[recover] = apart(fixes[-1].pose, after[-1])
    assert ends[True] < 0.5
    assert ends[False] > 1.0


def test_restart_anywhere_and_at_a_place():
    localiser = Localiser(
        *(GRID, DRIVE, LASER), n=(20, 300), start=known([2.0, 0.0, 0.0]), rule=CHEAP, rng=0
    )
    y = LASER.observe(np.array([2.0, 0.0, 0.0]), np.random.default_rng(0))
    localiser.update([0.0, 0.0, 0.0], y)
    used = localiser.n_evaluations
    localiser.restart()
    assert localiser.n == 300
    assert localiser.n_evaluations == used
    localiser.restart(known([2.0, 0.0, 0.0]))
    assert localiser.n == 20
    assert apart(localiser.update([1.0, 0.0, 0.0], y).pose, [2.0, 0.0, 0.0]) < 0.5


def test_wide_components_have_their_share():
    model = Driven(known([0, 0, 0]), DRIVE, LASER, 0.1, (1.0, 0.5))
    model.control = STEP
    states = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]])
    mixture = model.transition(0, states)
    means, S = DRIVE.move(states, STEP)
    assert np.allclose(mixture.weights, [0.45, 0.05, 0.45, 0.05])
    assert np.allclose(mixture.means[::2], means)
    assert np.allclose(mixture.means[1::2], means)
    assert np.allclose(mixture.covariances[::2], S)
    assert np.allclose(mixture.covariances[1::2], np.diag([1.0, 1.0, 0.25]))


def test_injection_recovers_from_a_slip():
    """The robot is pushed by a metre; the share of wide components finds it."""
    truth = path([2.0, -2.0, 0.3], 30)
    truth[12:, :2] += [0.7, 0.9]
    seen, ends = scans(truth, np.random.default_rng(2)), []
    for injection in (0.0, 0.2):
        localiser = Localiser(
            *(GRID, DifferentialDrive(1e-4, 1e-4, 1e-4, 1e-4), LASER),
            n=(60, 60),
            start=known(truth[0]),
            injection=injection,
            recover=False,
            rule=CHEAP,
            rng=0,
        )
        fixes = driven(localiser, path([0, 0, 0], 30), seen)
        ends.append(apart(fixes[-1].mean, truth[-1]))
    assert ends[1] < 0.4 < ends[0]


def test_a_start_anywhere_is_uniform():
    grid = skh.models.GridMap(np.arange(64).reshape(8, 8) % 3 == 0, 0.5, (-1.0, 2.0))
    prior = free_space(grid, 8192, rng=0)
    columns, rows = ((prior.means[:, :2] - [-1.0, 2.0]) / 0.5).astype(int).T
    counts = np.zeros((8, 8))
    np.add.at(counts, (rows, columns), 1)
    assert (counts[grid.occupied] == 0).all()
    expected = 8192 / (~grid.occupied).sum()
    assert abs(counts[~grid.occupied] - expected).max() < 0.1 * expected  # random ones: 0.25
    turns = np.histogram(prior.means[:, 2], 16, (-np.pi, np.pi))[0]
    assert abs(turns - 512).max() <= 8


def test_clusters_partition_a_belief():
    rng = np.random.default_rng(0)
    poses = np.concatenate(
        [rng.normal([0, 0, np.pi], 0.1, (50, 3)), rng.normal([5, 0, 0], 0.1, (30, 3))]
    )
    found = clusters_of(poses, np.full(80, 1 / 80))
    assert np.allclose([c.weight for c in found], [50 / 80, 30 / 80])
    assert np.allclose(found[1].mean, poses[50:].mean(axis=0))
    assert np.allclose(found[1].covariance, np.cov(poses[50:].T, bias=True))
    assert abs(found[0].mean[2] - np.pi) < 0.1 or abs(found[0].mean[2] + np.pi) < 0.1


def test_perplexity_counts_equal_boxes():
    poses = np.column_stack([np.arange(6.0), np.zeros(6), np.zeros(6)])
    assert np.isclose(Bins().perplexity(poses, np.full(6, 1 / 6)), 6.0)


def test_kld_bound_of_fox():
    """Number of points against the quantile of the chi-square distribution it approximates."""
    from scipy.stats import chi2

    for k in (5, 50, 500):
        exact = chi2.ppf(0.99, k - 1) / (2 * 0.05)
        assert abs(KLDSampling().needed(np.array([k]))[0] / exact - 1) < 0.01


def test_kld_takes_fewer_points_of_a_smaller_target():
    sizes = [
        len(KLDSampling()(skh.GaussianMixture([1.0], [[0.0, 0.0, 0.0]], v), 20_000, rng=0))
        for v in (1e-4, 0.1, 1.0, 100.0)
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 20_000


def test_flattened_keeps_its_share():
    log_l = np.random.default_rng(0).normal(0, 10, 1000)
    power = flattened(log_l, 0.3, 1.0)
    w = np.exp(power * log_l)
    assert np.isclose(w.sum() ** 2 / (w @ w) / 1000, 0.3, rtol=1e-3)
    assert flattened(np.zeros(5), 0.3, 1.0) == 1.0
    assert flattened(np.array([0.0, -np.inf, -np.inf]), 0.9, 1.0) > 0


def test_one_bad_observation_is_no_alarm():
    test, rng = LostTest(), np.random.default_rng(0)
    assert not any(test.update(v) for v in rng.normal(size=200) * 0.3)
    assert not test.update(-100.0)
    assert any(test.update(-3.0) for _ in range(3))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n": 50}, TypeError, r"n must be \(least, most\)"),
        ({"n": (50, 20)}, ValueError, "in this order"),
        ({"n": (0, 20)}, ValueError, "n must be"),
        ({"min_way": -1.0}, ValueError, "min_way"),
        ({"injection": 2.0}, ValueError, "injection"),
        ({"recover": 3}, TypeError, "recover"),
    ],
)
def test_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        Localiser(GRID, DRIVE, LASER, **arguments)


def test_wrong_maps_and_poses():
    with pytest.raises(TypeError, match="grid must be a GridMap"):
        Localiser("map", DRIVE, LASER)
    with pytest.raises(ValueError, match="free cell"):
        free_space(skh.models.GridMap(np.ones((2, 2), dtype=bool), 1.0, (0.0, 0.0)), 5)
    localiser = Localiser(GRID, DRIVE, LASER, n=(10, 100), rule=CHEAP, rng=0)
    with pytest.raises(ValueError, match="odometry"):
        localiser.update([0.0, 1.0], np.ones(40))
    assert localiser.n_evaluations == 0
