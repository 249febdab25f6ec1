"""Records on disk: complete or absent, never silently wrong."""

import errno
import gzip
import json
import os
import re
from dataclasses import replace
from math import isnan

import pytest

from skh.reproduction.engine.record import Record
from skh.reproduction.engine.results import Results, archive, load
from skh.reproduction.engine.store import Store, StoreError, write_atomically
from skh.reproduction.engine.task import Task

RECORD = Record(experiment="mixture", model="m", rule="r", n=3, batch=0, seed=7, rmse=0.1 + 0.2)
TASK = Task("mixture", ("a", 1), 0)
FINGERPRINT = {"code": "1", "configuration": {}, "versions": {}}
MACHINE = {"processor": "p", "cores": "2"}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "mixture")
    store.open(FINGERPRINT, tasks=2, machine=MACHINE)
    store.write(TASK, [RECORD, RECORD], 1.5)
    return store


def test_records_come_back_exactly(store):
    first, _ = store.read()
    assert first.rmse == RECORD.rmse
    assert isnan(first.mmd)
    assert repr(first) == repr(RECORD)
    assert store.keys() == {"a_1_000"}
    assert store.seconds() == 1.5


@pytest.mark.parametrize("kept", [0, 10, 65, 100, -2])
def test_a_truncated_file_is_reported_and_left_unchanged(store, kept):
    path = next((store.folder / "tasks").iterdir())
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with pytest.raises(StoreError, match=r"a_1_000.json is damaged .* Delete this file"):
        store.read()
    assert path.read_bytes() == whole[:kept]


def test_an_edited_file_is_reported(store):
    path = next((store.folder / "tasks").iterdir())
    path.write_text(path.read_text().replace("0.3", "0.2"))
    with pytest.raises(StoreError, match="damaged"):
        store.read()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match="cannot be read"):
        store.read()


def test_a_file_of_another_task_is_reported(store):
    path = next((store.folder / "tasks").iterdir())
    path.rename(path.with_name("b_1_000.json"))
    with pytest.raises(StoreError, match=r"b_1_000.json is damaged .*task a_1_000\). Delete this"):
        store.read()


NOT_DESCRIPTIONS = ["{", "[]", "3", "null", '{"fingerprint": 1}', '{"fingerprint": {}, "tasks": 2}']


@pytest.mark.parametrize("text", NOT_DESCRIPTIONS)
def test_a_damaged_or_missing_manifest_is_reported(store, text):
    manifest = store.folder / "manifest.json"
    manifest.write_text(text)
    with pytest.raises(StoreError, match=r"manifest.json is damaged .* another output folder"):
        store.open({"code": "1"})
    manifest.unlink()
    with pytest.raises(StoreError, match="is missing"):
        store.open({"code": "1"})
    assert len(store.read()) == 2


def test_a_full_disk_loses_the_running_task_only(store, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"No space left.*the same command continues"):
            store.write(Task("mixture", ("b",), 1), [RECORD], 1.0)
    assert len(store.read()) == 2
    assert len(list((store.folder / "tasks").iterdir())) == 1
    store.write(Task("mixture", ("b",), 1), [RECORD], 1.0)
    assert len(store.read()) == 3


def test_left_over_temporary_files_are_removed(store):
    left = store.folder / "tasks" / "x.json.1.tmp"
    left.write_text("half")
    store.open({"code": "1"})
    assert not left.exists()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to"):
        Store(tmp_path / "file" / "mixture").open({})


def test_a_file_is_replaced_atomically(tmp_path):
    write_atomically(tmp_path / "a", "one")
    write_atomically(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_text() == "two"


def test_files_are_not_written_through_links(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("a", f"a.{os.getpid()}.tmp"):
        (out / name).symlink_to(precious)
    write_atomically(out / "a", "new")
    assert (out / "a").read_text() == "new"
    assert [path.name for path in out.iterdir()] == ["a"]
    (out / "lock").symlink_to(precious)
    with pytest.raises(StoreError, match=r"lock is a symbolic link.*remove it"):
        Store(out).alone().__enter__()
    (out / "lock").unlink()
    os.link(precious, out / "lock")
    with Store(out).alone():
        assert precious.read_text() == "kept"


@pytest.mark.parametrize("name", ["mixture", "mixture/tasks"])
def test_folders_are_not_made_through_links(tmp_path, name):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "out" / "mixture"
    elsewhere.mkdir()
    link = tmp_path / "out" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="is a symbolic link"):
        Store(folder).open(FINGERPRINT, tasks=2, machine=MACHINE)
    assert not list(elsewhere.iterdir())


# --- the archive ---------------------------------------------------------------------------------


def several(experiment, tasks):
    """Two records for each of some tasks."""
    seeds = [Task(experiment, (), batch).seed for batch in range(tasks)]
    each = [(seed, n) for seed in seeds for n in (1, 2)]
    return [replace(RECORD, experiment=experiment, seed=s, n=n) for s, n in each]


@pytest.fixture
def archived(tmp_path):
    """An archive of four tasks of one experiment and six of another."""
    for_all = {"fingerprint": FINGERPRINT, "machine": MACHINE, "seconds": 12.1}
    parts = {
        name: Results(several(name, tasks), tasks=tasks, finished=tasks, **for_all)
        for name, tasks in (("mixture", 4), ("uav", 6))
    }
    archive(tmp_path, parts)
    return tmp_path


def summary(found):
    return {name: (len(r.records), r.finished, r.lost, r.complete) for name, r in found.items()}


NAMES = ("mixture", "uav", "other")
WHOLE = {"mixture": (8, 4, 0, True), "uav": (12, 6, 0, True)}


def test_an_archive_holds_the_same_records(archived):
    files = [archived / "records.csv.gz", archived / "run.json"]
    before = [path.read_bytes() for path in files]
    found = load(archived, NAMES)
    assert list(map(repr, found["uav"].records)) == list(map(repr, several("uav", 6)))
    assert summary(found) == WHOLE
    archive(archived, found)
    assert [path.read_bytes() for path in files] == before


def test_an_archive_without_the_number_of_rows_is_whole(archived):
    about = json.loads((archived / "run.json").read_text())
    older = {name: {k: v for k, v in known.items() if k != "rows"} for name, known in about.items()}
    (archived / "run.json").write_text(json.dumps(older))
    assert summary(load(archived, NAMES)) == WHOLE


def test_tasks_without_records_lose_nothing(tmp_path):
    """Such as the map of a log whose true path nobody knows."""
    about = {"fingerprint": FINGERPRINT, "machine": MACHINE, "seconds": 12.1}
    archive(tmp_path, {"uav": Results(several("uav", 6), tasks=8, finished=8, **about)})
    assert summary(load(tmp_path, NAMES)) == {"uav": (12, 8, 0, True)}


def test_an_archive_that_was_cut_short_is_unfinished(archived):
    """Whatever the place of the cut: only whole tasks are left, and the others are counted."""
    path = archived / "records.csv.gz"
    whole = path.read_bytes()
    for kept in range(len(whole)):
        path.write_bytes(whole[:kept])
        found = load(archived, NAMES)
        assert not any(r.complete for name, r in found.items() if name == "uav")
        for name, r in found.items():
            assert r.finished + r.lost == r.tasks
            assert list(map(repr, r.records)) == list(map(repr, several(name, r.finished)))
            assert r.seconds == pytest.approx(12.1 * r.finished / r.tasks)
    assert summary(found) == {**WHOLE, "uav": (10, 5, 1, False)}


@pytest.mark.parametrize(("rows", "finished"), [(20, None), (19, 5), (18, 4), (17, 4), (9, 0)])
def test_an_archive_with_missing_rows_is_unfinished(archived, rows, finished):
    """The last task is left out as well: nobody knows whether it has all its records."""
    path = archived / "records.csv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[: 1 + rows])))
    found = summary(load(archived, NAMES))
    expected = {} if not finished else {"uav": (2 * finished, finished, 6 - finished, False)}
    assert found == (WHOLE if finished is None else {"mixture": WHOLE["mixture"], **expected})


def test_an_archive_that_was_cut_short_is_consistent_once_written_again(archived):
    path = archived / "records.csv.gz"
    path.write_bytes(path.read_bytes()[:-30])
    found = load(archived, NAMES)
    archive(archived, found)
    again = load(archived, NAMES)
    assert again["uav"] == replace(found["uav"], records=again["uav"].records, lost=0)
    assert not again["uav"].complete


def same_or_fewer(found, recorded):
    """Whether all records are among those recorded."""
    return set(map(str, found.records)) <= set(map(str, recorded.records))


def test_a_damaged_or_missing_archive_is_reported(archived):
    path, recorded = archived / "records.csv.gz", load(archived, NAMES)
    whole, complaints = path.read_bytes(), []
    for k in range(10, len(whole), 7):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 255]) + whole[k + 1 :])
        try:
            found = load(archived, NAMES)
        except StoreError as error:
            complaints.append(str(error))
        else:  # the end of the file cannot be told from a cut: its last tasks are left out
            assert summary(found) != WHOLE
            assert all(map(same_or_fewer, found.values(), map(recorded.get, found)))
    assert len(complaints) > 0.9 * len(whole) / 7
    assert all(re.search("is damaged .* computes its records", text) for text in complaints)
    path.unlink()
    with pytest.raises(StoreError, match=r"records.csv.gz is damaged \(.*No such file"):
        load(archived, NAMES)


@pytest.mark.parametrize(
    "text", [*NOT_DESCRIPTIONS, '{"mixture": []}', '{"mixture": {"fingerprint": {}}}']
)
def test_a_damaged_description_of_an_archive_is_reported(archived, text):
    (archived / "run.json").write_text(text)
    with pytest.raises(StoreError, match=r"run.json is damaged .* restore this file"):
        load(archived, NAMES)


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks")
def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with Store(tmp_path).alone(), pytest.raises(StoreError, match="another process is running"):
        Store(tmp_path).alone().__enter__()
    with Store(tmp_path).alone():
        pass
