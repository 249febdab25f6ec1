"""Likelihoods by workers: serial results to the bit; lost particles, and only those, again."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from operator import attrgetter

import numpy as np
import pytest
from test_ask_tell import CASES, assert_same_belief

import parallel_models as models
import skh
from parallel_models import Failing
from skh.filtering import remote_evaluation
from skh.filtering.parallel import ParallelModel
from skh.geometry import SE2, SE3, Charted, Pose, wrap

YS = [0.1, 0.4, None, -0.2, 0.3]
N = 20
pytestmark = pytest.mark.xdist_group("parallel")  # one server of processes for all
posix = pytest.mark.skipif(os.name != "posix", reason="kill -9 is a matter of POSIX systems")


class Serial(Executor):
    """Computes when it is asked to, in this process, with pickled copies; counts calls."""

    def __init__(self):
        self.calls = []

    def submit(self, function, *args):
        self.calls.append(args)
        future = Future()
        future.set_result(function(*args))
        return future


class Backwards(Executor):
    """Computes nothing until all jobs are there, then the last one first."""

    def __init__(self, n):
        self.n, self.waiting = n, []

    def submit(self, *call):
        self.waiting.append((Future(), call))
        made = self.waiting[-1][0]
        if len(self.waiting) == self.n:
            while self.waiting:
                future, (function, *args) = self.waiting.pop()
                future.set_result(function(*args))
        return made


@pytest.fixture(scope="module")
def processes():
    """Make pools of two processes, forked from a server that has imported this library."""
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    context.set_forkserver_preload(["skh"])
    return partial(ProcessPoolExecutor, 2, mp_context=context)


def run(model, rule=None, ys=YS, n=N):
    """The beliefs of a whole series."""
    pf = skh.ParticleFilter(model, rule or skh.Stratified(), n, rng=1)
    return [pf.step(y) for y in ys]


def assert_same(beliefs, others):
    for a, b in zip(beliefs, others, strict=True):
        assert_same_belief(a, b)


# --- the same bits --------------------------------------------------------------------------------


def simulator(**options):
    """A model whose prior and transition are closures, which cannot be sent to workers."""
    return skh.from_simulator(
        lambda n, rng: rng.standard_normal((n, 2)),
        lambda t, x, rng: 0.9 * x + 0.3 * rng.standard_normal(x.shape),
        models.log_likelihood,
        batched=False,
        draws=8,
        prior_draws=50,
        **options,
    )


def test_workers_of_a_simulator_give_the_serial_bits():
    workers = Serial()
    model = simulator(executor=workers, chunk=3)
    assert isinstance(model, ParallelModel)
    assert_same(run(model), run(simulator()))
    assert len(workers.calls) >= 7 * 4  # 20 particles by threes, four observations
    with pytest.raises(ValueError, match="timeout needs an executor"):
        simulator(timeout=1.0)


@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize("rule", [skh.Stratified(), skh.SecondLook()], ids=["plain", "looks"])
def test_threads_and_processes_give_the_serial_bits(processes, rule, chunk):
    expected = run(models.model(), rule, YS[:4])
    with ThreadPoolExecutor(4) as threads, processes() as pool:
        for executor in (threads, pool, Serial()):
            model = models.model(executor=executor, chunk=chunk)
            assert_same(run(model, rule, YS[:4]), expected)


def test_answers_that_come_backwards_are_put_in_order():
    assert_same(run(models.model(executor=Backwards(N))), run(models.model()))


@pytest.mark.parametrize("rule", [skh.Stratified(), skh.Smoothed(skh.Stratified())], ids=str)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_model(case, rule):
    """All rows in one call: the model's own bits.  Row by row: its numbers, whoever computes."""
    model, ys = case
    expected = run(model, rule, ys)
    assert_same(run(skh.parallel(model, Serial(), chunk=N), rule, ys), expected)
    with ThreadPoolExecutor(3) as threads:
        by_threads = run(skh.parallel(model, threads), rule, ys)
    assert_same(run(skh.parallel(model, Serial()), rule, ys), by_threads)
    for a, b in zip(by_threads, expected, strict=True):
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-8, atol=1e-10)
        if b.z is not None:
            np.testing.assert_allclose(a.z_covariance, b.z_covariance, rtol=1e-8, atol=1e-12)


def beacon(t, s, y):
    return -0.5 * float(wrap(y - np.arctan2(-s[1], -s[0]) + s[2])) ** 2 / 0.01


def robot(**options):
    drift = [0.3, 0.0, 0.0]
    start = ([5.0, 0.0, 3.0], 0.01)
    return skh.model_from_functions(
        start, lambda t, s: (s + drift, 0.01), beacon, batched=False, **options
    )


def test_workers_inside_and_outside_of_a_chart():
    ys = [0.1, 0.2, None, 0.1]
    expected = skh.particle_filter(Charted(robot(), SE2()), ys, skh.Stratified(), N, rng=1)
    with ThreadPoolExecutor(3) as threads:
        inside = Charted(robot(executor=threads), SE2())
        outside = skh.parallel(Charted(robot(), SE2()), threads)
        for model in (inside, outside):
            found = skh.particle_filter(model, ys, skh.Stratified(), N, rng=1)
            np.testing.assert_array_equal(found.mean_states, expected.mean_states)


class Camera:
    """Poses whose height is measured."""

    def prior(self):
        return Pose(np.zeros(3), np.eye(3)), 0.1 * np.eye(6)

    def transition(self, t, poses):
        return poses, 0.01 * np.eye(6)

    def log_likelihood(self, t, poses, y):
        return -0.5 * (y - poses.position[:, 2]) ** 2 / 0.1


def test_states_that_are_poses():
    expected = run(Charted(Camera(), SE3()), ys=[0.1, 0.2])
    inside = Charted(skh.parallel(Camera(), Serial(), chunk=7), SE3())
    assert_same(run(inside, ys=[0.1, 0.2]), expected)


def test_options_of_the_model_are_those_of_the_wrapped_one():
    told = skh.model_from_functions(
        models.PRIOR,
        models.transition,
        models.log_likelihood,
        batched=False,
        observation_metric=lambda t, x: np.eye(2),
        executor=Serial(),
    )
    assert np.array_equal(told.observation_metric(0, np.zeros((1, 2))), np.eye(2))
    with pytest.raises(AttributeError, match="no_such_thing"):
        attrgetter("no_such_thing")(told)
    assert repr(told).startswith("parallel(FunctionModel(")


def test_calls_run_at_the_same_time():
    """Each of five calls waits for the other four."""
    barrier = threading.Barrier(5, timeout=30)

    def together(t, x, y):
        barrier.wait()
        return models.log_likelihood(t, x, y)

    with ThreadPoolExecutor(5) as threads:
        assert_same(run(models.model(together, executor=threads)), run(models.model()))


# --- what is sent ---------------------------------------------------------------------------------


class Offset:
    """A plain model with a large map and an offset that its user may change."""

    prior, transition = models.model().prior, staticmethod(models.transition)

    def __init__(self):
        self.map, self.offset = np.ones(10_000), 0.0

    def log_likelihood(self, t, x, y):
        return -((y - x[:, 0] - self.offset * self.map[0]) ** 2)


def test_the_model_is_sent_once_and_again_when_it_has_changed():
    executor, inner = Serial(), Offset()
    pf = skh.ParticleFilter(skh.parallel(inner, executor), skh.Stratified(), 5, rng=0)
    plain = skh.ParticleFilter(plain_inner := Offset(), skh.Stratified(), 5, rng=0)
    for offset in (0.0, 0.0, 2.0, 2.0):
        inner.offset = plain_inner.offset = offset
        assert_same_belief(pf.step(0.3), plain.step(0.3))
    whole = [call[2] is not None for call in executor.calls]
    assert whole == 5 * [True] + 5 * [False] + 5 * [True] + 5 * [False]
    remote_evaluation._loaded.clear()  # as a new worker
    assert_same_belief(pf.step(0.3), plain.step(0.3))
    assert [call[2] is not None for call in executor.calls[20:]] == 5 * [False] + 5 * [True]


def test_a_worker_keeps_few_models():
    for k in range(3 * remote_evaluation.KEPT_MODELS):
        model = Offset()
        model.offset = 0.1 * k
        run(skh.parallel(model, Serial()), ys=[0.1], n=2)
    assert len(remote_evaluation._loaded) <= remote_evaluation.KEPT_MODELS


def test_only_the_likelihood_of_functions_is_sent(processes):
    """The transition may be a closure, and the likelihood a function of a module."""
    make = partial(skh.model_from_functions, models.PRIOR, lambda t, x: (0.9 * x, 0.1))
    with processes() as pool:
        found = run(make(models.log_likelihood, batched=False, executor=pool))
    assert_same(found, run(make(models.log_likelihood, batched=False)))


# --- errors ---------------------------------------------------------------------------------------


def fails_in(folder, how, times=1, **options):
    """The model whose likelihood fails so many times, in whatever process."""
    for i in range(times):
        (folder / f"fail-{i}").touch()
    pause = options.pop("pause", 0.0)
    return models.model(Failing(folder, how, pause), **options)


def assert_step_is_undone(pf, error_type=skh.LikelihoodError):
    """A step fails and leaves everything as it was; return the error."""
    before = pf.t, pf.belief, pf._rng.bit_generator.state
    with pytest.raises(error_type) as caught:
        pf.step(0.3)
    assert (pf.t, pf.belief, pf._rng.bit_generator.state) == before
    return caught.value


def filter_after_two_steps(model):
    pf = skh.ParticleFilter(model, skh.Stratified(), N, rng=1)
    pf.step(0.1)
    pf.step(0.4)
    return pf


@pytest.fixture
def expected():
    """The third step of a filter without workers."""
    return filter_after_two_steps(models.model()).step(0.3)


@pytest.mark.parametrize("chunk", [1, 6])
def test_an_exception_names_particle_step_and_cause(expected, chunk):
    broken = [True]

    def log_likelihood(t, x, y):
        if t == 2 and broken and np.array_equal(x, expected.x[7]):
            raise ZeroDivisionError("no light")
        return models.log_likelihood(t, x, y)

    with ThreadPoolExecutor(4) as threads:
        pf = filter_after_two_steps(models.model(log_likelihood, executor=threads, chunk=chunk))
        error = assert_step_is_undone(pf)
        text = "the likelihood of particle 7 at t=2 raised ZeroDivisionError: no light"
        assert str(error) == text
        assert (error.particle, error.t) == (7, 2)
        assert 7 in error.particles
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert str(pickle.loads(pickle.dumps(error))) == text
        broken.clear()
        assert_same_belief(pf.step(0.3), expected)


def test_a_chunk_of_a_batched_likelihood_is_named_as_a_whole():
    def log_likelihood(t, x, y):
        if len(x) == 5:
            raise ZeroDivisionError
        return -x[:, 0]

    options = {"executor": Serial(), "chunk": 15}
    model = skh.model_from_functions(models.PRIOR, models.transition, log_likelihood, **options)
    pf = skh.ParticleFilter(model, skh.Stratified(), N, rng=0)
    with pytest.raises(
        skh.LikelihoodError, match=r"^the likelihood of particles 15 to 19 at t=0 ra"
    ):
        pf.step(0.0)


@pytest.mark.parametrize("how", ["raise", "odd error"])
def test_only_the_lost_particles_are_computed_again(tmp_path, expected, processes, how):
    with processes() as pool:
        pf = filter_after_two_steps(fails_in(tmp_path, how, 0, executor=pool, retries=2))
        for i in range(2):
            (tmp_path / f"fail-{i}").touch()
        assert_same_belief(pf.step(0.3), expected)
        assert list(tmp_path.iterdir()) == []
        fails_in(tmp_path, how, 3 * N)
        error = assert_step_is_undone(pf)
    name = "ZeroDivisionError: as told" if how == "raise" else "OddError: odd 1 2"
    assert name in str(error)
    assert str(error).endswith("(attempt 3 of 3)")
    assert "in fail" in error.__cause__.__notes__[0]  # the traceback of the worker


def test_particles_with_an_answer_are_not_computed_again():
    seen, lock = [], threading.Lock()

    def log_likelihood(t, x, y):
        with lock:
            seen.append(x[0])
            if seen.count(x[0]) == 1 and len(seen) in (3, 11):
                raise OSError
        return models.log_likelihood(t, x, y)

    with ThreadPoolExecutor(4) as threads:
        run(models.model(log_likelihood, executor=threads, retries=1), ys=[0.1])
    assert len(seen) == N + 2
    assert sorted(seen.count(x) for x in set(seen)) == (N - 2) * [1] + [2, 2]


def test_a_likelihood_without_an_answer_in_time(expected):
    """One call hangs until it is released; the others have answered."""
    released, hung = threading.Event(), []

    def log_likelihood(t, x, y):
        if t == 2 and len(hung) < 2 and np.array_equal(x, expected.x[4]):
            hung.append(1)
            released.wait(30)
        return models.log_likelihood(t, x, y)

    with ThreadPoolExecutor(4) as threads:
        model = models.model(log_likelihood, executor=threads, timeout=0.2)
        pf = filter_after_two_steps(model)
        error = assert_step_is_undone(pf)
        assert str(error).startswith("the likelihood of particle 4 at t=2 was given up: TimeoutErr")
        assert isinstance(error.__cause__, TimeoutError)
        assert error.particles == (4,)
        again = models.model(log_likelihood, executor=threads, timeout=0.2, retries=1)
        assert_same_belief(filter_after_two_steps(again).step(0.3), expected)
        released.set()
    assert len(hung) == 2


def test_pending_calls_are_cancelled_after_a_time_out():
    released, begun = threading.Event(), []

    def log_likelihood(t, x, y):
        begun.append(1)
        released.wait(30)
        return 0.0

    with ThreadPoolExecutor(2) as threads:
        pf = skh.ParticleFilter(
            models.model(log_likelihood, executor=threads, timeout=0.1), skh.Stratified(), N, rng=0
        )
        error = assert_step_is_undone(pf)
        assert error.particle == 0
        assert len(error.particles) == N
        released.set()
    assert len(begun) == 2


def test_ctrl_c_cancels_what_has_not_begun():
    class Interrupted(ThreadPoolExecutor):
        futures = ()

        def submit(self, *call):
            if len(self.futures) == 5:
                raise KeyboardInterrupt
            self.futures = (*self.futures, super().submit(*call))
            return self.futures[-1]

    released = threading.Event()
    with Interrupted(1) as executor:
        model = models.model(lambda t, x, y: 0.0 * released.wait(30), executor=executor)
        assert_step_is_undone(
            skh.ParticleFilter(model, skh.Stratified(), N, rng=0), KeyboardInterrupt
        )
        assert [future.cancelled() for future in executor.futures[1:]] == 4 * [True]
        released.set()


@posix
@pytest.mark.parametrize("retries", [0, 1])
def test_a_worker_that_is_killed(tmp_path, expected, processes, retries):
    """By kill -9 in the middle of a step: an error, or another attempt; the same bits."""
    with fails_in(tmp_path, "kill", 0, executor=processes, retries=retries) as model:
        pf = filter_after_two_steps(model)
        pool = model.executor
        (tmp_path / "fail-0").touch()
        if retries == 0:
            error = assert_step_is_undone(pf)
            assert "at t=2 was lost, since the pool of workers is broken: BrokenP" in str(error)
            assert str(error).endswith("; the next step uses a new pool")
        assert_same_belief(pf.step(0.3), expected)
        assert model.executor is not pool


@posix
def test_a_given_pool_that_breaks_is_replaced_by_its_user(tmp_path, expected, processes):
    with processes() as pool:
        model = fails_in(tmp_path, "kill", 0, executor=pool, retries=3)
        pf = filter_after_two_steps(model)
        (tmp_path / "fail-0").touch()
        error = assert_step_is_undone(pf)
        assert "the pool of workers is broken" in str(error)
        assert "set model.executor to a new pool, or give a function that makes one" in str(error)
        assert "is broken" in str(assert_step_is_undone(pf))  # and stays so
    with processes() as model.executor:
        assert_same_belief(pf.step(0.3), expected)
    assert "cannot schedule new futures after shutdown" in str(assert_step_is_undone(pf))


class Breaks(Serial):
    """Takes a few calls, then no more."""

    def submit(self, *call):
        if len(self.calls) == 5:
            raise BrokenExecutor("out of order")
        return super().submit(*call)


def test_answers_from_before_a_pool_broke_are_kept():
    pools = [Breaks(), Breaks(), second := Serial()]
    made = iter(pools)
    model = models.model(executor=lambda: next(made), retries=2)
    assert_same(run(model, ys=[0.1]), run(models.model(), ys=[0.1]))
    assert [len(pool.calls) for pool in pools] == [5, 5, N - 10]
    assert second is model.executor
    pf = skh.ParticleFilter(models.model(executor=Breaks), skh.Stratified(), N, rng=0)
    error = assert_step_is_undone(pf)
    assert error.particles == tuple(range(5, N))
    assert "particle 5 and 14 others at t=0 was lost" in str(error)


def test_ctrl_c_in_a_worker_is_not_taken_for_an_error_of_the_likelihood():
    class Interrupted(Executor):
        def submit(self, *call):
            future = Future()
            future.set_exception(KeyboardInterrupt())
            return future

    pf = skh.ParticleFilter(models.model(executor=Interrupted(), retries=3), n=N, rng=0)
    assert_step_is_undone(pf, KeyboardInterrupt)


@posix
def test_answers_from_before_a_worker_died_are_kept(tmp_path, processes):
    """The first worker dies after half of the particles; most of those are not computed again."""
    path = tmp_path / "calls"
    path.touch()

    model = models.model(models.DiesOnce(path, N // 2), executor=processes, retries=1)
    with model:
        assert_same(run(model, ys=[0.1]), run(models.model(), ys=[0.1]))
    calls = [line.split()[2] for line in path.read_text().splitlines()]
    assert len(set(calls)) == N
    assert len(calls) < 1.75 * N


@posix
def test_a_process_that_hangs_is_ended(tmp_path, expected, processes):
    with fails_in(tmp_path, "hang", 0, executor=processes, timeout=3, retries=1) as model:
        pf = filter_after_two_steps(model)
        workers = list(model.executor._processes.values())
        (tmp_path / "fail-0").touch()
        assert_same_belief(pf.step(0.3), expected)
        for process in workers:
            process.join(20)
            assert process.exitcode is not None


def test_a_model_that_a_worker_cannot_load(processes, monkeypatch):
    monkeypatch.setattr(models.log_likelihood, "__qualname__", "forgotten")
    monkeypatch.setattr(models, "forgotten", models.log_likelihood, raising=False)
    with processes() as pool:
        pf = skh.ParticleFilter(models.model(executor=pool), skh.Stratified(), N, rng=0)
        error = assert_step_is_undone(pf)
    assert "since a worker cannot load it: AttributeError" in str(error)


# --- dask -----------------------------------------------------------------------------------------

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    local = dict(protocol="tcp", host="127.0.0.1", dashboard_address=None)
    kind = dict(processes=sys.argv[1] == "processes", n_workers=2, threads_per_worker=1)
    with LocalCluster(**local, **kind) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@contextmanager
def cluster(folder, workers):
    """A LocalCluster in a process of its own, its workers threads or processes: its client, pid."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    (folder / "cluster.py").write_text(CLUSTER)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = [sys.executable, str(folder / "cluster.py"), workers]
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        client = distributed.Client(process.stdout.readline().strip())
        try:
            yield client, process.pid
        finally:
            client.close(timeout=1)
            process.kill()


@contextmanager
def another_cluster():
    """A client of a cluster within this process."""
    import distributed

    local = {"protocol": "tcp", "host": "127.0.0.1", "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=False, n_workers=1, **local) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def killed_after(calls, folder, pid):
    """Kill a process as soon as so many more likelihoods have been evaluated."""
    calls += len(list(folder.iterdir()))

    def watch():
        while len(list(folder.iterdir())) < calls:
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=watch)
    thread.start()
    yield
    thread.join()


@pytest.fixture
def calls(tmp_path):
    """A folder with a file for each evaluated likelihood."""
    (folder := tmp_path / "calls").mkdir()
    return folder


@posix
@pytest.mark.filterwarnings("ignore")  # of dask's own doing
def test_a_dask_worker_is_killed_and_then_the_scheduler(tmp_path, calls, expected):
    """Dask computes on another worker what one lost; without its scheduler there is an error."""
    with cluster(tmp_path, "processes") as (client, scheduler):
        executor = client.get_executor()
        model = models.model(models.Noted(calls, 0.02), executor=executor, timeout=60)
        pf = filter_after_two_steps(model)
        with killed_after(4, calls, next(iter(client.run(os.getpid).values()))):
            assert_same_belief(deepcopy(pf).step(0.3), expected)
        with killed_after(6, calls, scheduler):
            error = assert_step_is_undone(pf)
        assert "at t=2 was lost, since the pool of workers is broken: Connection" in str(error)
        with another_cluster() as other:
            model.executor = other.get_executor()
            assert_same_belief(pf.step(0.3), expected)


@posix
@pytest.mark.filterwarnings("ignore")
def test_the_scheduler_is_killed_and_another_one_goes_on(tmp_path, calls, expected):
    with cluster(tmp_path, "threads") as (client, scheduler), another_cluster() as other:
        clients = iter([client, other])
        model = models.model(
            models.Noted(calls, 0.02),
            executor=lambda: next(clients).get_executor(),
            retries=1,
            timeout=60,
        )
        pf = filter_after_two_steps(model)
        with killed_after(6, calls, scheduler):
            assert_same_belief(pf.step(0.3), expected)


# --- use and misuse -------------------------------------------------------------------------------


def test_ask_and_tell_need_no_workers():
    pf = skh.ParticleFilter(models.model(executor=Serial()), skh.Stratified(), N, rng=1)
    question = pf.ask()
    assert pf.tell([models.log_likelihood(0, x, 0.1) for x in question.x]) is None
    assert_same_belief(pf.belief, run(models.model(), ys=[0.1])[0])


def test_a_copy_of_a_filter_shares_the_workers():
    with ThreadPoolExecutor(2) as threads:
        pf = filter_after_two_steps(models.model(executor=threads))
        assert_same_belief(deepcopy(pf).step(0.3), pf.step(0.3))


def test_a_pool_that_a_function_made_is_closed():
    with models.model(executor=partial(ThreadPoolExecutor, 2)) as model:
        run(model)
        threads = model.executor
    with pytest.raises(RuntimeError, match="after shutdown"):
        threads.submit(int)
    with ThreadPoolExecutor(2) as threads:
        models.model(executor=threads).close()
        assert threads.submit(int).result() == 0


def test_an_executor_that_is_refused_changes_nothing():
    with models.model(executor=partial(ThreadPoolExecutor, 2)) as model:
        with pytest.raises(TypeError, match="got 5"):
            model.executor = 5
        assert_same(run(model), run(models.model()))


def test_the_class_of_an_executor_makes_one():
    with models.model(executor=ThreadPoolExecutor) as model:
        assert_same(run(model), run(models.model()))


PLAIN = models.model()
WRAPPED = models.model(executor=Serial())


class Client:
    """As that of dask."""

    def get_executor(self):
        return Serial()

    def submit(self, *call):
        return None


class Deaf(Executor):
    """Returns no futures."""

    def submit(self, *call):
        return "a ticket"


def step(model, y=0.1):
    return skh.ParticleFilter(model, skh.Stratified(), 3, rng=0).step(y)


def returns(value, **options):
    return models.model(lambda t, x, y: value, executor=Serial(), **options)


class Records:
    """Carries records, and loses them."""

    prior = staticmethod(PLAIN.prior)

    def initial_carry(self, x):
        return np.zeros(len(x))

    def transition(self, t, x, carry):
        return x, 1.0

    def move(self, t, x, carry, x_next):
        return carry

    def log_likelihood(self, t, x, y, carry):
        return np.zeros(len(x)), {"few": carry[:0], "none": None}.get(y, np.zeros(len(x)))


def local():
    def log_likelihood(t, x, y):
        return 0.0

    return models.model(log_likelihood, executor=ProcessPoolExecutor(1))


BAD_INPUT = [
    (
        lambda: skh.parallel(3, Serial()),
        TypeError,
        "model must be an object with prior, transition",
    ),
    (lambda: skh.parallel(ParallelModel, Serial()), TypeError, "got the class"),
    (lambda: skh.parallel(WRAPPED, Serial()), TypeError, "model must not be parallel already"),
    (
        lambda: skh.parallel(PLAIN, 4),
        TypeError,
        "executor must be a concurrent.futures.Exec.*got 4$",
    ),
    (
        lambda: skh.parallel(PLAIN, None),
        TypeError,
        "executor must be .* ThreadPoolExecutor.8.*None",
    ),
    (lambda: skh.parallel(PLAIN, Client()), TypeError, r"write client.get_executor\(\)"),
    (lambda: step(skh.parallel(PLAIN, lambda: 4)), TypeError, "a function, must return .* got 4"),
    (lambda: step(skh.parallel(PLAIN, Deaf())), TypeError, "must return a concurrent.*a ticket"),
    (lambda: skh.parallel(PLAIN, Serial(), chunk=0), ValueError, "chunk must be a positive .* 0"),
    (lambda: skh.parallel(PLAIN, Serial(), chunk=2.0), TypeError, "chunk must be a pos.*got 2.0"),
    (lambda: skh.parallel(PLAIN, Serial(), timeout=0), ValueError, "timeout must be a positive n"),
    (lambda: skh.parallel(PLAIN, Serial(), timeout="1"), ValueError, "timeout must be .* got '1'"),
    (
        lambda: skh.parallel(PLAIN, Serial(), timeout=np.inf),
        ValueError,
        "timeout must be .*got inf",
    ),
    (
        lambda: skh.parallel(PLAIN, Serial(), retries=-1),
        ValueError,
        "retries must be a non-neg.* -1",
    ),
    (
        lambda: skh.parallel(PLAIN, Serial(), retries=True),
        TypeError,
        "retries must be a .*got True",
    ),
    (lambda: models.model(timeout=1.0), ValueError, "timeout needs an executor, such as"),
    (lambda: models.model(retries=1, chunk=2), ValueError, "chunk and retries need an executor"),
    (lambda: models.model(executor="threads"), TypeError, "executor must be .* got 'threads'"),
    (lambda: step(returns("a")), skh.LikelihoodError, "particle 0 at t=0 must return real numbers"),
    (lambda: step(returns([1.0, 2.0])), skh.LikelihoodError, "particle 0 .* return one number"),
    (lambda: step(returns(np.nan)), ValueError, "numbers below .inf, got nan for particle 0"),
    (
        lambda: step(skh.parallel(Records(), Serial(), chunk=3), "few"),
        skh.LikelihoodError,
        "particles 0 to 2 at t=0 raised ValueError: .* records with one row for each of the 3",
    ),
    (
        lambda: step(skh.parallel(Records(), Serial()), "none"),
        skh.LikelihoodError,
        "particle 0 at t=0 raised ValueError: .* must return the records of the 1 particles",
    ),
    (lambda: step(local()), TypeError, "the model cannot be sent to another process: .*top level"),
    (
        lambda: step(models.model(executor=ProcessPoolExecutor(1)), threading.Lock()),
        TypeError,
        "the observation of t=0 cannot be sent to another process: TypeError: cannot pickle",
    ),
    (
        lambda: pickle.dumps(WRAPPED),
        TypeError,
        "a model with workers cannot be pickled: pickle its",
    ),
    (lambda: setattr(WRAPPED, "executor", 5), TypeError, "executor must be .* got 5"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD_INPUT, ids=[c[2] for c in BAD_INPUT])
def test_bad_input(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
    assert_same(run(WRAPPED, ys=[0.1]), run(PLAIN, ys=[0.1]))  # not half changed
