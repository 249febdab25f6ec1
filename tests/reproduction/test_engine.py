"""Records do not depend on the executor or on interruptions."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from skh.reproduction.engine import executor
from skh.reproduction.engine.executor import EngineError, cluster, complete, local
from skh.reproduction.engine.store import Store, StoreError
from skh.reproduction.engine.task import Task, run_tasks
from small import FILTERS, SMALL

HERE = Path(__file__).parents[1]
PROGRAM = """
import sys
from pathlib import Path
from small import FILTERS
from skh.reproduction.engine.executor import complete, local
if __name__ == "__main__":
    with local(2) as engine:
        complete(FILTERS, Path(sys.argv[1]), engine)
"""


def numbers(records):
    """All fields except the measured time, as text, so that NaN equals NaN."""
    return [repr(replace(r, seconds=0.0, rule_seconds=0.0)) for r in records]


pytestmark = pytest.mark.xdist_group("engine")  # one worker makes what all tests here read


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    with local(1) as engine:
        store = complete(FILTERS, tmp_path_factory.mktemp("one") / "filters", engine)
    return numbers(store.read())


def test_keys_and_seeds_are_distinct_and_do_not_depend_on_the_order():
    for experiment in SMALL:
        tasks = experiment.tasks()
        assert len({t.key for t in tasks}) == len({t.seed for t in tasks}) == len(tasks)
    assert Task("mixture", (100, 2, 1.0), 3).seed == Task("mixture", (100, 2, 1.0), 3).seed
    assert Task("mixture", (100, 2, 1.0), 3).seed == 268962967922672  # for ever


@pytest.mark.parametrize("experiment", SMALL, ids=lambda e: e.name)
def test_a_task_gives_the_same_records_alone_and_among_others(experiment):
    every = numbers(run_tasks(experiment))
    alone = numbers(experiment.work(experiment.tasks()[-1]))
    assert every[-len(alone) :] == alone
    assert len(set(every)) == len(every)


def test_two_workers_give_the_records_of_one(tmp_path, expected):
    counts = []
    with local(2) as engine:
        store = complete(FILTERS, tmp_path, engine, lambda cost, tasks: counts.append(tasks))
    assert numbers(store.read()) == expected
    assert counts == [0] + [1] * len(FILTERS.tasks())
    assert store.seconds() > 0


@pytest.mark.filterwarnings("ignore")  # of dask's own doing
def test_a_dask_cluster_gives_the_records_of_one_process(tmp_path, expected):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", **options) as dask,
        cluster(dask.scheduler_address) as engine,
    ):
        assert engine.workers == 2
        store = complete(FILTERS, tmp_path, engine)
    assert numbers(store.read()) == expected


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_scheduler_is_an_error():
    pytest.importorskip("distributed", reason="dask is not installed")
    nowhere = cluster("tcp://127.0.0.1:9", timeout=0.5)
    with pytest.raises(EngineError, match="no dask scheduler answers at"):
        nowhere.__enter__()


def _start(folder):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(HERE), *sys.path]))
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], env=environment)


def _finished(folder):
    return {p: p.stat().st_mtime_ns for p in (folder / "tasks").glob("*.json")}


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a matter of POSIX systems")
def test_a_run_killed_three_times_resumes_without_loss(tmp_path, expected):
    moments = random.Random()  # deliberately not seeded
    kept = {}
    for _ in range(3):
        process = _start(tmp_path)
        wanted = len(kept) + moments.randint(1, 5)
        deadline = time.monotonic() + 60
        while len(_finished(tmp_path)) < wanted and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        now = _finished(tmp_path)
        assert kept.items() <= now.items()  # nothing was lost or computed again
        kept = now
    assert 0 < len(kept) < len(FILTERS.tasks())
    assert _start(tmp_path).wait() == 0
    assert kept.items() <= _finished(tmp_path).items()
    assert numbers(Store(tmp_path).read()) == expected
    assert not list(tmp_path.rglob("*.tmp"))


@dataclass(frozen=True)
class Dice:
    """The example of the module `task`, with a task that fails."""

    name: ClassVar[str] = "dice"
    alone: ClassVar[bool] = True
    n: tuple[int, ...] = (1, 2, 3)
    lost: tuple[int, ...] = ()

    def tasks(self):
        return [Task(self.name, (n,), 0) for n in self.n]

    def work(self, task):
        if task.cell[0] in self.lost:
            raise RuntimeError("the die is lost")
        yield task.record(model="die", rule="throw", n=task.cell[0])


def test_a_task_that_fails_does_not_stop_the_others(tmp_path):
    with local(1) as engine, pytest.raises(EngineError, match=r"(?s)1 of the tasks.*die is lost"):
        complete(Dice(lost=(2,)), tmp_path, engine)
    assert [r.n for r in Store(tmp_path).read()] == [1, 3]


def test_another_configuration_or_code_is_rejected_and_named(tmp_path, monkeypatch):
    with local(1) as engine:
        complete(Dice(), tmp_path, engine)
        with pytest.raises(StoreError, match="records of another configuration; they are kept"):
            complete(Dice(n=(4,)), tmp_path, engine)
        changed = dict(executor.fingerprint_of(Dice()), code="0")
        monkeypatch.setattr(executor, "fingerprint_of", lambda experiment: changed)
        with pytest.raises(StoreError, match="records of another code; they are kept"):
            complete(Dice(), tmp_path, engine)
    assert len(Store(tmp_path).read()) == 3


def test_a_worker_with_another_version_is_rejected():
    asked = dict(executor.provenance(Dice()), code="another")
    outcome = executor.execute(Dice(), Dice().tasks()[0], asked)
    assert "this worker has other versions" in outcome.error


def test_a_killed_worker_is_reported():
    with local(2) as engine:
        future = engine.executor.submit(os.abort)
        with pytest.raises(EngineError, match="a worker process was killed"):
            executor._result(future)


def test_ctrl_c_ends_the_workers():
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _interrupted()
    assert time.monotonic() - start < 20


def _interrupted():
    with local(2) as engine:
        engine.executor.submit(time.sleep, 60)
        time.sleep(0.5)
        raise KeyboardInterrupt
